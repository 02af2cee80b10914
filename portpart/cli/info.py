"""``portpart info``: describe a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import numpy as np

from portpart.cli import files, options
from portpart.cli.output import grouped, print_facts, print_json
from portpart.graphs import Graph, Hypergraph, irregularities

if TYPE_CHECKING:
    from portpart.backends.programs import Array
    from portpart.formats.netlist import Netlist


@click.command("info")
@options.graph_argument
@options.reading_options
@options.json_option
def command(graph: str, reading: options.ReadingOptions, as_json: bool) -> None:
    """Describe GRAPH: size, degrees, weights, components; for a netlist also its nets and pins.

    For a hypergraph: size, sizes of nets, degrees, weights, and special cases.
    """
    files.one_standard_input(GRAPH=graph, areas=reading.areas)
    netlist = files.read_netlist(graph, reading)
    if netlist is None:
        loaded = files.read_graph(graph, reading)
    else:
        loaded = files.graph_of_netlist(netlist, reading)
    if isinstance(loaded, Hypergraph):
        _print_hypergraph(graph, describe_hypergraph(loaded), as_json)
        return
    facts = describe(loaded)
    counts = {} if netlist is None else describe_netlist(netlist)
    if as_json:
        print_json({"graph": graph, **facts, **({"netlist": counts} if counts else {})})
        return
    about = {} if netlist is None else {
        "netlist": f"{grouped(counts['gates'])} gates of {counts['cell_types']} types, "
        f"{grouped(counts['nets'])} nets of up to {grouped(counts['largest_net'])} gates, "
        f"{grouped(counts['pins'])} pins, {grouped(counts['ports'])} ports"}
    print_facts(
        about
        | {
            "vertices": grouped(facts["num_vertices"]),
            "edges": grouped(facts["num_edges"]),
            "degrees": f"{facts['min_degree']} to {grouped(facts['max_degree'])}, "
            f"mean {facts['mean_degree']:.2f}",
            "isolated": f"{grouped(facts['isolated_vertices'])} vertices",
            "components": f"{grouped(facts['components'])}, the largest of "
            f"{grouped(facts['largest_component'])} vertices",
            "edge weights": _range(facts["edge_weights"]),
            "vertex weights": _range(facts["vertex_weights"]),
            "CSR memory": f"{facts['bytes'] / 1e6:,.1f} MB",
        }
    )


def _print_hypergraph(name: str, facts: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json({"graph": name, **facts})
        return
    print_facts({
        "vertices": grouped(facts["num_vertices"]),
        "nets": grouped(facts["num_nets"]),
        "pins": grouped(facts["num_pins"]),
        "net sizes": f"{facts['min_net_size']} to {grouped(facts['max_net_size'])}, "
        f"mean {facts['mean_net_size']:.2f}",
        "degrees": f"{facts['min_degree']} to {grouped(facts['max_degree'])}, "
        f"mean {facts['mean_degree']:.2f}",
        "net weights": _range(facts["net_weights"]),
        "vertex weights": _range(facts["vertex_weights"]),
        "unusual": ", ".join(f"{grouped(count)} {kind.replace('_', ' ')}" for kind, count in
                             facts["irregularities"].items() if count) or "nothing",
        "memory": f"{facts['bytes'] / 1e6:,.1f} MB",
    })


def describe_hypergraph(hypergraph: Hypergraph) -> dict[str, Any]:
    """Return the facts about a hypergraph in host memory as plain values."""
    h = hypergraph
    host = h.space.to_host
    sizes, degrees = np.diff(host(h.net_offsets)), np.diff(host(h.vertex_offsets))
    return {
        "num_vertices": h.num_vertices,
        "num_nets": h.num_nets,
        "num_pins": h.num_pins,
        "min_net_size": int(sizes.min()) if len(sizes) else 0,
        "mean_net_size": h.num_pins / max(1, h.num_nets),
        "max_net_size": h.max_net_size,
        "min_degree": int(degrees.min()) if len(degrees) else 0,
        "mean_degree": h.mean_degree,
        "max_degree": h.max_degree,
        "net_weights": _weights(h.net_weights),
        "vertex_weights": _weights(h.vertex_weights),
        "irregularities": irregularities(h),
        "bytes": sum(array.nbytes for array in h.arrays.values() if array is not None),
    }


def describe(graph: Graph) -> dict[str, Any]:
    """Return the facts about a graph in host memory as plain values."""
    from scipy.sparse.csgraph import connected_components

    degrees = np.diff(graph.space.to_host(graph.offsets))
    _, labels = connected_components(graph.to_scipy(), directed=False)
    sizes = np.bincount(labels) if len(labels) else np.zeros(0, int)
    arrays = (graph.offsets, graph.targets, graph.weights, graph.vertex_weights)
    return {
        "num_vertices": graph.num_vertices,
        "num_edges": graph.num_edges,
        "min_degree": int(degrees.min(initial=0 if not len(degrees) else degrees[0])),
        "mean_degree": graph.mean_degree,
        "max_degree": int(degrees.max(initial=0)),
        "isolated_vertices": int((degrees == 0).sum()),
        "components": len(sizes),
        "largest_component": int(sizes.max(initial=0)),
        "edge_weights": _weights(graph.weights),
        "vertex_weights": _weights(graph.vertex_weights),
        "bytes": sum(array.nbytes for array in arrays if array is not None),
    }


def describe_netlist(netlist: Netlist) -> dict[str, Any]:
    """Return the counts of a netlist as plain values."""
    sizes = np.diff(netlist.hypergraph()[0])
    return {
        "module": netlist.name,
        "gates": netlist.num_gates,
        "cell_types": len(netlist.cell_names),
        "nets": netlist.num_nets,
        "pins": netlist.num_pins,
        "ports": netlist.num_ports,
        "largest_net": int(sizes.max(initial=0)),
    }


def _weights(weights: Array | None) -> dict[str, int] | None:
    """Return smallest, largest and total weight, None if all are one."""
    if weights is None or len(weights) == 0:
        return None
    total = int(weights.sum(dtype=np.int64))
    return {"min": int(weights.min()), "max": int(weights.max()), "total": total}


def _range(weights: dict[str, int] | None) -> str:
    return "none" if weights is None else f"{weights['min']} to {grouped(weights['max'])}"

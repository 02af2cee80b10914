"""``portpart info``: describe a graph."""

from __future__ import annotations

from contextlib import suppress
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
    loaded = (files.read_graph(graph, reading) if netlist is None
              else files.graph_of_netlist(netlist, reading))
    facts = _of_nets(loaded) if isinstance(loaded, Hypergraph) else _of_graph(loaded)
    counts = {} if netlist is None else describe_netlist(netlist)
    if as_json:
        print_json({"graph": graph, **facts, **({"netlist": counts} if counts else {})})
    else:
        print_facts({name: text.format_map(counts) for name, text in OF_NETLIST.items() if counts}
                    | _lines(facts))


OF_NETLIST = {"netlist": "{gates:,} gates of {cell_types} types, {nets:,} nets of up to "
                         "{largest_net:,} gates, {pins:,} pins, {ports:,} ports"}

LINES = {
    "vertices": "{num_vertices:,}", "edges": "{num_edges:,}", "nets": "{num_nets:,}",
    "pins": "{num_pins:,}",
    "net sizes": "{min_net_size} to {max_net_size:,}, mean {mean_net_size:.2f}",
    "degrees": "{min_degree} to {max_degree:,}, mean {mean_degree:.2f}",
    "isolated": "{isolated_vertices:,} vertices",
    "components": "{components:,}, the largest of {largest_component:,} vertices",
}
"""Labels of the facts about a graph, or about a hypergraph."""


def _lines(facts: dict[str, Any]) -> dict[str, str]:
    """Return the text of the facts: lines of known facts, weights and memory."""
    found = {}
    for name, text in LINES.items():
        with suppress(KeyError):
            found[name] = text.format_map(facts)
    for name in ("edge_weights", "net_weights", "vertex_weights"):
        if name in facts:
            found[name.replace("_", " ")] = _range(facts[name])
    unusual = facts.get("irregularities")
    if unusual is not None:
        found["unusual"] = ", ".join(f"{grouped(count)} {kind.replace('_', ' ')}"
                                     for kind, count in unusual.items() if count) or "nothing"
    found["CSR memory" if unusual is None else "memory"] = f"{facts['bytes'] / 1e6:,.1f} MB"
    return found


def _of_nets(h: Hypergraph) -> dict[str, Any]:
    """Return the facts about a hypergraph in host memory as plain values."""
    return {
        "num_vertices": h.num_vertices, "num_nets": h.num_nets, "num_pins": h.num_pins,
        **_lengths(h.space.to_host(h.net_offsets), "net_size"),
        **_lengths(h.space.to_host(h.vertex_offsets), "degree"),
        "net_weights": _weights(h.net_weights), "vertex_weights": _weights(h.vertex_weights),
        "irregularities": irregularities(h),
        "bytes": sum(array.nbytes for array in h.arrays.values() if array is not None),
    }


def _of_graph(graph: Graph) -> dict[str, Any]:
    """Return the facts about a graph in host memory as plain values."""
    from scipy.sparse.csgraph import connected_components

    offsets = graph.space.to_host(graph.offsets)
    _, labels = connected_components(graph.to_scipy(), directed=False)
    sizes = np.bincount(labels) if len(labels) else np.zeros(0, int)
    arrays = (graph.offsets, graph.targets, graph.weights, graph.vertex_weights)
    return {
        "num_vertices": graph.num_vertices, "num_edges": graph.num_edges,
        **_lengths(offsets, "degree"),
        "isolated_vertices": int((np.diff(offsets) == 0).sum()),
        "components": len(sizes), "largest_component": int(sizes.max(initial=0)),
        "edge_weights": _weights(graph.weights), "vertex_weights": _weights(graph.vertex_weights),
        "bytes": sum(array.nbytes for array in arrays if array is not None),
    }


def _lengths(offsets: np.ndarray, what: str) -> dict[str, int | float]:
    """Return the minimum, the mean and the maximum number of entries of a row."""
    lengths = np.diff(offsets)
    return {f"min_{what}": int(lengths.min()) if len(lengths) else 0,
            f"mean_{what}": int(lengths.sum()) / max(1, len(lengths)),
            f"max_{what}": int(lengths.max(initial=0))}


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
    """Return the smallest, largest and total weight; None if all weights are 1."""
    if weights is None or len(weights) == 0:
        return None
    total = int(weights.sum(dtype=np.int64))
    return {"min": int(weights.min()), "max": int(weights.max()), "total": total}


def _range(weights: dict[str, int] | None) -> str:
    return "none" if weights is None else f"{weights['min']} to {grouped(weights['max'])}"

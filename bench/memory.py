"""Memory that partitions and mappings take, beside the library's estimates.

    python -m bench.memory --graphs 'delaunay_2^1[57],grid_1000x1000'
    python -m bench.memory --device cuda --graphs delaunay:22,rgg:22,rmat:20,grid:2048,cube:590
    python -m bench.memory --graphs netlist:17,circuit.hgr --algorithms portpart/default

real: the most bytes that the graph and all arrays of the library take at once; on a GPU what CuPy's
pool has given out.  estimate: by `memory_estimate` with the graph itself as ``like``; the last
columns tell how many times the real bytes it is, and so is the estimate from sizes alone.

Besides names of instances, ``delaunay:22`` stands for a graph of 2^22 vertices, so do ``rgg`` and
``rmat``; ``grid:2048`` and ``cube:590`` for grids of that many vertices along an edge, the latter
made on the device, with 64-bit offsets.  ``netlist:17`` is a hypergraph, and so is a path that ends
in ``.hgr`` or ``.hgr.xz``; their arcs are pins.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

import portpart
from bench.counting_space import bytes_of_arrays, bytes_of_mapping
from bench.device_runs import graph_bytes, peak_memory
from bench.instances import select
from bench.report import table
from bench.scale import cube
from portpart import generators
from portpart.algorithms.mapping.mappers import MAPPERS
from portpart.graphs.hypergraph import EitherGraph, Hypergraph
from portpart.graphs.topology import Topology

MIB = 2**20
MADE = {
    "delaunay": lambda size: generators.delaunay(2**size),
    "rgg": lambda size: generators.random_geometric(2**size),
    "rmat": generators.rmat,
    "grid": generators.grid_2d,
    "netlist": lambda size: generators.netlist(2**size),
}
ALGORITHMS = ("portpart/fast,portpart/default,portpart/strong,jet/default,gkway/default,"
              "gpmetis/default,im/default,hm/default,hm-ultra/default,two-phase/default")


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--graphs", default="delaunay_2^15,delaunay_2^17,grid_300x300", show_default=True)
@click.option("--k", "ks", default="64", show_default=True, help="Numbers of blocks.")
@click.option("--machine", default="4:8:2", show_default=True, help="What is mapped to.")
@click.option("--algorithms", default=ALGORITHMS, show_default=True, help="Each with its preset.")
@click.option("--device", default="cpu", show_default=True)
def main(graphs: str, ks: str, machine: str, algorithms: str, device: str) -> None:
    head = ["graph", "n", "arcs", "algorithm", "k", "real MiB", "estimate MiB", "ratio",
            "sizes alone"]  # fmt: skip
    topology = Topology(machine, [10**i for i in range(len(machine.split(":")))])
    body = [row(name, graph, named, target)
            for name, graph in graphs_called(graphs.split(","), device)
            for named in algorithms.split(",")
            for target in ([topology] if named.split("/")[0] in MAPPERS
                           else map(int, ks.split(",")))]
    print(table(head, body))


def graphs_called(names: list[str], device: str) -> Iterator[tuple[str, EitherGraph]]:
    """Yield graphs by name, in the memory of the device."""
    space = portpart.space(device)
    for name in names:
        family, _, size = name.partition(":")
        if ".hgr" in name:
            yield Path(name).name, portpart.io.read_hypergraph(name).to(space)
        elif size:
            yield name, (cube(space, int(size)) if family == "cube"
                         else MADE[family](int(size)).to(space))
        else:
            for instance in select([name]):
                yield instance.name, instance.make().portable.to(space)


def row(name: str, graph: EitherGraph, named: str, target: int | Topology) -> list[str]:
    """Measure one call."""
    algorithm, _, preset = named.partition("/")
    real = real_bytes(graph, target, algorithm, preset)
    estimate, alone = (estimated(graph, target, algorithm, preset, like) for like in (graph, None))
    k = target.num_elements if isinstance(target, Topology) else target
    return [name, f"{graph.num_vertices:,}", f"{graph.num_entries:,}", named, str(k),
            f"{real / MIB:.1f}", f"{estimate / MIB:.1f}", f"{estimate / real:.2f}",
            f"{alone / real:.2f}"]


def real_bytes(graph: EitherGraph, target: int | Topology, algorithm: str, preset: Any) -> int:
    """Return the most bytes in use at once, those of the graph among them."""
    if graph.space.kind != "cuda":
        count = bytes_of_mapping if isinstance(target, Topology) else bytes_of_arrays
        return count(graph, target, preset, algorithm)
    with peak_memory(graph.space) as peak:
        if isinstance(target, Topology):
            portpart.map_processes(graph, topology=target, algorithm=algorithm, preset=preset)
        else:
            portpart.partition(graph, target, algorithm=algorithm, preset=preset)
    return graph_bytes(graph) + peak[0]


def estimated(graph: EitherGraph, target: int | Topology, algorithm: str, preset: Any,
              like: EitherGraph | None = None) -> int:
    """Return the peak that the library announces."""
    if isinstance(graph, Hypergraph):
        return portpart.memory_estimate(
            graph.num_vertices, None, target, algorithm=algorithm, preset=preset,
            vertex_weights=graph.vertex_weights is not None,
            net_weights=graph.net_weights is not None, num_nets=graph.num_nets,
            num_pins=graph.num_pins, like=like).peak
    return portpart.memory_estimate(
        graph.num_vertices, graph.num_arcs, target, algorithm=algorithm, preset=preset,
        vertex_weights=graph.vertex_weights is not None, edge_weights=graph.weights is not None,
        offset_bytes=graph.offsets.dtype.itemsize,
        weight_bytes=graph.weight_sum_dtype.itemsize, like=like).peak


if __name__ == "__main__":
    main()

"""Memory of ranks that partition a graph together, beside the library's estimate.

    python -m bench.rank_memory --graphs mesh:900,cube:90,random:700 --ranks 2,4 -k 2,64

real: the most bytes that the rows and all arrays of the library take at once on the rank that takes
most.  estimate: by `memory_estimate` with the graph as ``like`` and the ghosts of that rank.  one:
real over what one process takes for the whole graph.  Ranks take turns in this process.

``mesh:900`` is a mesh of 900 x 900 vertices, ``random`` the same in random order, whose vertices
move to other ranks; ``cube:90`` is a grid of 90^3.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import click

import portpart
from bench.counting_space import CountingSpace, bytes_of_arrays
from bench.report import table
from portpart.algorithms.coarsening.ranks.hierarchy import CPU_FOLD, Fold
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.objectives.limits import Balance
from portpart.algorithms.recipes.portpart import PRESETS, PortpartConfig
from portpart.algorithms.recipes.portpart_ranks import partition_ranks
from portpart.backends.communication import Communicator, Local
from portpart.generators import shares
from portpart.generators.large_graphs import LargeGraph
from portpart.graphs.graph import Graph
from portpart.graphs.ranks.distribution import distributed
from portpart.graphs.row_range import VERTEX_COST, balanced_borders
from portpart.metrics import block_weight_limit

MIB = 2**20

GRAPHS = {
    "mesh": shares.jittered_mesh,
    "cube": shares.grid_3d,
    "random": lambda side: shares.permuted(shares.jittered_mesh(side), seed=1),
}


class Peak(NamedTuple):
    """The most bytes that a rank has taken, and its ghosts."""

    bytes: int
    ghosts: int


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--graphs", default="mesh:900,cube:90,random:700", show_default=True)
@click.option("--ranks", default="2,4", show_default=True)
@click.option("-k", "ks", default="2,64", show_default=True)
@click.option("--preset", default="fast", show_default=True)
def main(graphs: str, ranks: str, ks: str, preset: str) -> None:
    body = []
    for name in graphs.split(","):
        family, _, side = name.partition(":")
        drawn = GRAPHS[family](int(side))
        graph = whole_of(drawn)
        for k in map(int, ks.split(",")):
            one = bytes_of_arrays(graph, k, PRESETS[preset], "portpart")
            for size in map(int, ranks.split(",")):
                real, ghosts = max(peaks_of_ranks(drawn, k, PRESETS[preset], size))
                estimate = portpart.memory_estimate(k=k, preset=preset, like=graph, ranks=size,
                                                    ghosts=ghosts, moves=family == "random").peak
                body.append([name, f"{k}", f"{size}", f"{ghosts:,}", f"{real / MIB:.1f}",
                             f"{estimate / MIB:.1f}", f"{estimate / real:.3f}",
                             f"{real / one:.2f}"])
    print(table(["graph", "k", "ranks", "ghosts", "real MiB", "estimate MiB", "ratio", "one"],
                body))


def whole_of(drawn: LargeGraph) -> Graph:
    """The whole graph."""
    rows = drawn.rows(0, drawn.num_vertices)
    return portpart.as_graph((rows.offsets, rows.targets))


def peaks_of_ranks(drawn: LargeGraph, k: int, config: PortpartConfig, size: int,
                   fold: Fold = CPU_FOLD) -> list[Peak]:
    """The peaks of ranks that partition a graph; making the graph is not looked at."""
    offsets, total = whole_of(drawn).offsets, drawn.num_vertices
    first = balanced_borders(lambda v: int(offsets[v]), total, int(offsets[-1]), size, VERTEX_COST)
    balance = Balance(k, min(block_weight_limit(total, k), total), total // k)

    def main(comm: Communicator) -> Peak:
        space = CountingSpace(1)
        rows = drawn.rows(first[comm.rank], first[comm.rank + 1])
        graph = distributed(comm, replace(
            rows, offsets=space.asarray(rows.offsets), targets=space.asarray(rows.targets),
            space=space))
        del rows
        space.peak = space.live
        partition_ranks(graph, balance, config, 1, Trace(space, graph, None), fold)
        return Peak(space.peak, graph.num_ghosts)

    return Local(size).run(main)


if __name__ == "__main__":
    main()

"""Graphs of several MPI ranks beside one process: time, ghosts, and how many vertices move.

    mpiexec -n 2 python -m bench.distributed --graphs delaunay_2^20,rgg_2^20 --k 64

Every rank draws the graph and keeps its range of rows.  Calls by all ranks, each of which has
`--threads` threads, take turns with calls by rank 0 alone, which has as many threads as all ranks
together (`one`); `--calls` of both are timed behind one that compiles kernels.  ranks, one: the
median of seconds.  processor: seconds of all ranks together, which include waiting.  ghosts: of all
ranks, as the rows are given; moved: vertices that other ranks have worked on.  Blocks of all calls
are compared.  `bench.rank_memory` has the memory, `bench.communication` steps and bytes.

``cube`` and ``mesh`` are in natural order; ``permuted_cube``, ``rgg`` and ``delaunay`` in random
order.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import click
import numpy as np

import portpart
from bench.report import table
from portpart import generators
from portpart.generators import shares
from portpart.graphs.graph import Graph
from portpart.graphs.ranks.rank_graph import RankGraph

FAMILIES: dict[str, Callable[[int], Graph]] = {
    "delaunay": generators.delaunay,
    "rgg": generators.random_geometric,
    "rmat": lambda n: generators.rmat(n.bit_length() - 1, 8),
    "cube": lambda n: generators.grid_3d(round(n ** (1 / 3))),
    "mesh": lambda n: whole_of(shares.jittered_mesh(round(n**0.5))),
    "permuted_cube": lambda n: whole_of(shares.permuted(shares.grid_3d(round(n ** (1 / 3))), 1)),
}


def whole_of(drawn: shares.LargeGraph) -> Graph:
    """Return the whole graph."""
    rows = drawn.rows(0, drawn.num_vertices)
    return portpart.as_graph((rows.offsets, rows.targets))


def graph_of(name: str) -> Graph:
    """Return the graph of a name such as ``rgg_2^20``."""
    family, _, size = name.rpartition("_")
    base, _, exponent = size.partition("^")
    if family not in FAMILIES:
        raise click.BadParameter(f"{name}: one of {', '.join(FAMILIES)}, then _ and a size")
    return FAMILIES[family](int(base) ** int(exponent or 1))


def rows_of(graph: Graph, comm: Any) -> RankGraph:
    """Return the rows of this rank: as many vertices as others have."""
    n = graph.num_vertices
    first, last = (n * rank // comm.size for rank in (comm.rank, comm.rank + 1))
    offsets = np.asarray(graph.offsets[first : last + 1]).astype(np.int64)
    arcs = slice(offsets[0], offsets[-1])
    return portpart.distributed_graph(
        offsets - offsets[0], graph.targets[arcs],
        None if graph.weights is None else graph.weights[arcs],
        None if graph.vertex_weights is None else graph.vertex_weights[first:last], comm=comm)


class Timed:
    """Seconds and processor time of calls of a kind."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.processor: list[float] = []

    def time(self, call: Callable[[], Any]) -> Any:
        """Call, and note how long that takes."""
        begin, used = time.perf_counter(), time.process_time()
        result = call()
        self.seconds.append(time.perf_counter() - begin)
        self.processor.append(time.process_time() - used)
        return result


def wait(comm: Any) -> None:
    """Wait for all ranks, and leave the cores to those that work."""
    request = comm.Ibarrier()
    while not request.Test():
        time.sleep(0.01)


def measured(graph: Graph, comm: Any, k: int, preset: str, threads: int,
             calls: int) -> list[str]:
    """Time calls in turns, and return what is told of them; ranks but the first wait for it."""
    rows, together, alone = rows_of(graph, comm), Timed(), Timed()
    for _ in range(calls + 1):
        comm.Barrier()
        found = together.time(lambda: portpart.partition(rows, k, preset=preset, threads=threads))
        part = found.gather()
        if comm.rank == 0:
            one = alone.time(lambda: portpart.partition(graph, k, preset=preset,
                                                        threads=threads * comm.size))
            assert one.part.tolist() == part.tolist()
        wait(comm)
    processor = np.sum(comm.allgather(together.processor[1:]), axis=0)
    ghosts = sum(comm.allgather(rows.num_ghosts))
    rows.free()
    if comm.rank != 0:
        return []
    ours, theirs = median(together.seconds[1:]), median(alone.seconds[1:])
    return [f"{ours:.3f}", f"{theirs:.3f}", f"{ours / theirs:.2f}", f"{median(processor):.3f}",
            f"{median(alone.processor[1:]):.3f}", f"{ghosts:,}",
            f"{found.stats.get('moved_vertices', 0):,}", f"{found.cut:,}"]


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--graphs", default="delaunay_2^20,rgg_2^20", show_default=True)
@click.option("--k", default=64, show_default=True)
@click.option("--preset", default="default", show_default=True)
@click.option("--threads", default=1, show_default=True, help="Of each rank.")
@click.option("--calls", default=3, show_default=True)
def main(graphs: str, k: int, preset: str, threads: int, calls: int) -> None:
    from mpi4py import MPI

    comm, body = MPI.COMM_WORLD, []
    for name in graphs.split(","):
        body.append([name, *measured(graph_of(name), comm, k, preset, threads, calls)])
    if comm.rank == 0:
        print(f"{comm.size} ranks of {threads} threads, k = {k}, {preset}")
        print(table(["graph", "ranks, s", "one, s", "ratio", "processor, s", "one", "ghosts",
                     "moved", "cut"], body))


if __name__ == "__main__":
    main()

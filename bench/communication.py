"""Steps and bytes of coarsening over several ranks, level by level.

    python -m bench.communication --graphs cube,mesh,rmat --ranks 4

Ranks take turns in this process, so seconds mean nothing and are not told.  Bytes are what ranks
send to others, summed over the ranks; a level has the steps of its clusters, its contraction and
the making of the coarser graph.  Votes on errors are counted apart.  Lengths of parts,
and the few words that travel with them, are no bytes here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import click
import numpy as np

from bench.report import table
from portpart.algorithms.coarsening.options import ClusteringOptions
from portpart.algorithms.coarsening.ranks.hierarchy import Fold, coarsen_ranks
from portpart.backends.communication import Communicator, Local
from portpart.backends.programs.interface import Array
from portpart.backends.programs.steps import Parcel
from portpart.generators import shares
from portpart.generators.large_graphs import LargeGraph
from portpart.graphs.ranks.distribution import distributed
from portpart.graphs.ranks.rank_rows import DistributedGraph

GRAPHS: dict[str, Callable[[], LargeGraph]] = {
    "cube": lambda: shares.grid_3d(40),
    "mesh": lambda: shares.jittered_mesh(250),
    "points": lambda: shares.jittered_rgg(60, 12),
    "permuted": lambda: shares.permuted(shares.grid_3d(30)),
    "rmat": lambda: shares.rmat(14, 8),
}

STOP_AT = 1000


class Counted:
    """The communicator of a rank, which counts."""

    def __init__(self, comm: Communicator) -> None:
        self.comm, self.rank, self.size = comm, comm.rank, comm.size
        self.steps = self.votes = self.bytes = 0

    def all_reduce(self, words: Array, first: int, count: int, op: str) -> None:
        self.steps += 1
        self.comm.all_reduce(words, first, count, op)

    def all_to_all(self, parcel: Parcel) -> None:
        self.steps += 1
        self.comm.all_to_all(parcel)
        others = int(parcel.send_counts.sum()) - int(parcel.send_counts[self.rank])
        self.bytes += others * parcel.send.itemsize

    def post(self, send: Array, numbers: np.ndarray,
             room: Callable[[int], Array]) -> tuple[Array, np.ndarray]:
        self.steps += 1
        others = numbers.copy()
        others[self.rank] = 0
        self.bytes += int(others[:, 0].sum()) * send.itemsize
        return self.comm.post(send, numbers, room)

    def vote(self, problem: Exception | None) -> None:
        self.votes += 1
        self.comm.vote(problem)


@dataclass(frozen=True)
class Count:
    """What a rank has and has sent for one level, or for making the finest graph (level -1).

    Attributes
    ----------
    vertices, arcs : int
        Of the whole graph.
    ghosts : int
        Of the rank.
    """

    level: int
    vertices: int
    arcs: int
    ghosts: int
    steps: int
    votes: int
    bytes: int


def counts_of(large: LargeGraph, ranks: int, labelled: bool = False) -> list[list[Count]]:
    """Return the counts of each rank, the finest level first.

    With labels, all of which are equal, the clusters are the same.
    """
    n = large.num_vertices
    first = [n * rank // ranks for rank in range(ranks + 1)]

    def main(comm: Communicator) -> list[Count]:
        counted = Counted(comm)
        levels: list[DistributedGraph] = []
        marks = [(0, 0, 0)]

        def note(graph: Any, instead: bool) -> None:
            levels.append(graph)
            marks.append((counted.steps, counted.votes, counted.bytes))

        own = large.rows(*list(pairwise(first))[comm.rank])
        note(distributed(counted, own), False)
        label = levels[0].space.zeros(own.last - own.first, np.int32) if labelled else None
        coarsen_ranks(levels[0], STOP_AT, max(1, n // STOP_AT), ClusteringOptions(),
                      Fold(0, 0), stop_at=STOP_AT, max_kept=0.95, on_level=note,
                      labels=[label])
        between = [[b - a for a, b in zip(*pair)] for pair in pairwise(marks)]
        graphs = [levels[0], *levels]
        return [Count(level - 1, graph.totals.num_vertices, graph.totals.num_arcs,
                      graph.num_ghosts, *each)
                for level, (graph, each) in enumerate(zip(graphs, between))]

    return Local(ranks).run(main)


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--graphs", default="cube,mesh,rmat", show_default=True, help=", ".join(GRAPHS))
@click.option("--ranks", default=4, show_default=True)
@click.option("--labels", is_flag=True, help="Vertices have labels, as where some are fixed.")
def main(graphs: str, ranks: int, labels: bool) -> None:
    for name in graphs.split(","):
        rows = []
        for counts in zip(*counts_of(GRAPHS[name](), ranks, labels)):
            one, sent = counts[0], sum(each.bytes for each in counts)
            ghosts = sum(each.ghosts for each in counts)
            rows.append(["made" if one.level < 0 else str(one.level), f"{one.vertices:,}",
                         f"{ghosts:,}", f"{one.steps}", f"{one.votes}",
                         f"{sent / max(1, ghosts):.1f}", f"{sent / max(1, one.arcs):.2f}"])
        print(f"{name}, {ranks} ranks")
        print(table(["level", "vertices", "ghosts", "steps", "votes", "bytes per ghost",
                     "bytes per arc"], rows))


if __name__ == "__main__":
    main()

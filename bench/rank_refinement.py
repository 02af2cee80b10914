"""Steps and bytes of refinement over several ranks, level by level.

    python -m bench.rank_refinement --graphs cube,mesh --ranks 4 -k 8

Ranks take turns in this process, so seconds mean nothing and are not told.  Bytes are what ranks
send to others, summed over the ranks; levels are never folded.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import click

from bench.communication import GRAPHS, Counted
from bench.report import table
from portpart.algorithms.coarsening.ranks.hierarchy import Fold
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.objectives.limits import Balance
from portpart.algorithms.recipes.portpart import PRESETS
from portpart.algorithms.recipes.portpart_ranks import partition_ranks
from portpart.backends.communication import Communicator, Local
from portpart.generators.large_graphs import LargeGraph
from portpart.graphs.ranks.distribution import distributed
from portpart.graphs.ranks.rank_rows import DistributedGraph
from portpart.metrics import block_weight_limits
from portpart.options import changed


@dataclass
class Count:
    """What a rank has and has sent for a level.

    Attributes
    ----------
    vertices : int
        Of the whole graph.
    ghosts : int
        Of the rank.
    """

    depth: int
    vertices: int
    ghosts: int
    iterations: int
    steps: int
    bytes: int


class Marking(Trace):
    """Counts what has been sent when a level has been refined."""

    def __init__(self, graph: DistributedGraph, counted: Counted) -> None:
        super().__init__(graph.space, graph, None)
        self.counted, self.counts = counted, {}
        self.before = (0, 0)

    def refined_level(self, depth: int, graph: Any, outcome: Any) -> None:
        """Note a pass over a level."""
        super().refined_level(depth, graph, outcome)
        now = self.counted.steps, self.counted.bytes
        if isinstance(graph, DistributedGraph):
            count = self.counts.setdefault(depth, Count(
                depth, graph.totals.num_vertices, graph.num_ghosts, 0, 0, 0))
            count.iterations += outcome["iterations"]
            count.steps += now[0] - self.before[0]
            count.bytes += now[1] - self.before[1]
        self.before = now


def counts_of(large: LargeGraph, ranks: int, k: int, preset: str = "default") -> list[list[Count]]:
    """Return the counts of each rank, the coarsest level first.

    A level has what its projection takes, too; that of the first one has all before it.  There are
    no flows, for which ranks gather small levels.
    """
    config = changed(PRESETS[preset], {"flows.levels": 0})
    n = large.num_vertices
    first = [n * rank // ranks for rank in range(ranks + 1)]

    def main(comm: Communicator) -> list[Count]:
        counted = Counted(comm)
        graph = distributed(counted, large.rows(*list(pairwise(first))[comm.rank]))
        total = graph.totals.total_vertex_weight
        trace = Marking(graph, counted)
        limit = max(block_weight_limits(total, k, 0.03))
        balance = Balance(k, limit, total // k)
        partition_ranks(graph, balance, config, 0, trace, Fold(0, 0))
        return list(trace.counts.values())

    return Local(ranks).run(main)


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--graphs", default="cube,mesh", show_default=True, help=", ".join(GRAPHS))
@click.option("--ranks", default=4, show_default=True)
@click.option("-k", "blocks", default=8, show_default=True)
def main(graphs: str, ranks: int, blocks: int) -> None:
    for name in graphs.split(","):
        rows = []
        for counts in zip(*counts_of(GRAPHS[name](), ranks, blocks)):
            one, sent = counts[0], sum(each.bytes for each in counts)
            ghosts = sum(each.ghosts for each in counts)
            rounds = max(1, one.iterations)
            rows.append([f"{one.depth}", f"{one.vertices:,}", f"{ghosts:,}", f"{one.iterations}",
                         f"{one.steps / rounds:.1f}", f"{sent / max(1, ghosts) / rounds:.2f}"])
        print(f"{name}, {ranks} ranks, {blocks} blocks")
        print(table(["level", "vertices", "ghosts", "iterations", "steps per iteration",
                     "bytes per ghost and iteration"], rows))


if __name__ == "__main__":
    main()

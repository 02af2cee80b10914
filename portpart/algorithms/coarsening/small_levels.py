"""All levels below a small graph, made by one program.

On a GPU a level of few vertices takes less time than the host needs to begin two programs and to
wait for the sizes of the next graph.  Here a loop of the program finds clusters and contracts the
graph (`level_loop.py`), and the host waits once.  The clusters and graphs do not differ from
levels that are made one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from portpart.algorithms.coarsening.cluster_rounds import ISOLATED_KEYS
from portpart.algorithms.coarsening.clustering import (
    HEAVY_ARCS,
    NO_LIMIT,
    ArcProposals,
    ProposalRule,
)
from portpart.algorithms.coarsening.clusters import Clusters, Members
from portpart.algorithms.coarsening.contraction import Guess, guess_of_clusters
from portpart.algorithms.coarsening.hierarchy import MadeLevel
from portpart.algorithms.coarsening.level_loop import (
    LANES,
    MAX_LEVELS,
    SIZES,
    ClusterLimit,
    KeptLevels,
    PresentLevel,
    WhenToEnd,
    copy_graph,
    kept_arcs,
    record_levels,
)
from portpart.algorithms.coarsening.options import ClusteringOptions, FineSizes
from portpart.backends.programs import Array
from portpart.graphs import Graph

MAX_SIZES = {False: (2**12, 2**13), True: (2**19, 2**22)}
"""Maximum numbers of vertices and arcs of a small graph, by whether the space runs behind the host:
a CPU only saves the work of the host, and copies graphs.
"""

NO_MEMBERS = Members(None)


def is_small(graph: Graph) -> bool:
    """Whether a graph is so small that all levels below it are made at once."""
    max_vertices, max_arcs = MAX_SIZES[graph.space.runs_behind]
    return graph.num_vertices <= max_vertices and graph.num_arcs <= max_arcs


@dataclass(frozen=True)
class SmallLevels:
    """Makes all levels below a small graph.

    Attributes
    ----------
    limit : ClusterLimit
    options : ClusteringOptions
    proposal_rule : ProposalRule
        The rule by which vertices find their proposals: `ArcProposals` here.
    guess : callable
        A `Guess` of contractions.
    """

    limit: ClusterLimit
    options: ClusteringOptions
    proposal_rule: ProposalRule = HEAVY_ARCS
    guess: Guess = guess_of_clusters

    def below(self, graph: Graph, seed: int, stop_at: int, max_kept: float, weight_type: np.dtype,
              label: Array | None = None, max_levels: int = MAX_LEVELS) -> list[MadeLevel]:
        """Return the levels below a graph, down to one that ends coarsening.

        There may be fewer levels.

        Parameters
        ----------
        graph : Graph
            Must be small.
        seed : int
            Seed of the first clusters; each level adds one.
        stop_at : int
            Coarsening ends at a graph with at most this many vertices,
        max_kept : float
            or with more than this share of the vertices of the finer one.
        weight_type : dtype
            Type of the weights of coarse arcs.
        label : array of int32, shape (n,), optional
            Only vertices of equal label share a cluster.
        max_levels : int
        """
        space, n, arcs = graph.space, graph.num_vertices, graph.num_arcs
        sizes = FineSizes(n, arcs, n, np.dtype(weight_type))
        kept = KeptLevels.allocate(space, sizes, **({"label": None} if label is None else {}))
        end = WhenToEnd(stop_at, float(max_kept), min(max_levels, MAX_LEVELS), n,
                        kept_arcs(sizes))
        self._run(graph, sizes, kept, end, seed, label)
        found = space.read(kept.sizes, lambda: self._guess(graph, kept, end))
        return _made(graph, kept, found)

    def _run(self, graph: Graph, sizes: FineSizes, kept: KeptLevels, end: WhenToEnd, seed: int,
             label: Array | None) -> None:
        space, n, rule = graph.space, graph.num_vertices, self.proposal_rule
        assert isinstance(rule, ArcProposals)
        total = graph.total_arc_weight if rule.with_total else 0
        present = PresentLevel.outliving(
            space, sizes, label=None if label is None else space.copy(label)).with_words(
            goes_on=1, vertices=n, seed=seed, total=total)
        space.parallel_for(n, copy_graph, graph.csr, present, kept, team=LANES)
        records: dict[str, Any] = {"kept": kept, "limit": self.limit, "when": end,
                                   "members": NO_MEMBERS, "present": present}
        limited = self.limit.highest < NO_LIMIT
        executable = space.cached_executable(
            ("small levels", rule, sizes.sum_type, self.options, label is None, limited),
            lambda: record_levels(records, sizes, self.options, rule, limited,
                                  space.widest_team == 1))
        executable.run({**records, "count": kept.count}, n + ISOLATED_KEYS, sizes)

    def _guess(self, graph: Graph, kept: KeptLevels, end: WhenToEnd) -> list[int]:
        """Guess the sizes of all levels that there is space for."""
        sizes, coarse, goes_on = [0], graph, True
        while goes_on and sizes[0] < end.levels:
            before = coarse.num_vertices
            n, arcs, degree, weight = self.guess(coarse)
            n = min(n, before)
            arcs = min(arcs, n * n)
            if (n + sum(sizes[1::SIZES]) > end.vertices
                    or arcs + sum(sizes[2::SIZES]) > end.arcs):
                break
            sizes = [sizes[0] + 1, *sizes[1:], n, arcs, degree, weight]
            coarse = _made(graph, kept, sizes)[-1].coarse
            goes_on = end.stop_at < n <= end.max_kept * before
        return sizes


def _made(graph: Graph, kept: KeptLevels, sizes: list[int]) -> list[MadeLevel]:
    """Return the levels that are kept, whose sizes have been read."""
    levels, first_cluster, first, first_arc = list[MadeLevel](), 0, 0, 0
    before, total = graph.num_vertices, graph.total_vertex_weight
    for number in range(sizes[0]):
        place = 1 + SIZES * number
        n, arcs, max_degree, arc_weight = sizes[place : place + SIZES]
        end, arcs_end = first + n, first_arc + arcs
        known = {"vertex": total, "arc": arc_weight, "degree": max_degree, "parallel": 0}
        coarse = Graph(kept.offsets[first + number : end + number + 1],
                       kept.targets[first_arc:arcs_end], kept.weights[first_arc:arcs_end],
                       kept.vertex_weights[first:end], graph.space, known)
        clusters = Clusters(n, cluster=kept.cluster[first_cluster : first_cluster + before],
                            count=kept.sizes[place : place + 1])
        levels.append(MadeLevel(clusters, coarse,
                                None if kept.label is None else kept.label[first:end]))
        first_cluster, before, first, first_arc = first_cluster + before, n, end, arcs_end
    return levels

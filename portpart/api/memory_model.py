"""How much memory a partition or a mapping takes, by formula (docs/memory.md tells where from).

The library allocates before it works: matching and contraction per level, refinement once for the
whole hierarchy.  So the bytes follow from the sizes of the levels, which shrink geometrically.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from portpart.algorithms.coarsening.clustering import CLUSTERING_WORK
from portpart.algorithms.coarsening.contraction import (
    CONTRACTION_WORK,
    NUMBERING_WORK,
    Clusters,
)
from portpart.algorithms.coarsening.grouping import GROUPING_WORK
from portpart.algorithms.coarsening.matching import MATCHING_WORK
from portpart.algorithms.coarsening.options import CoarseningOptions
from portpart.algorithms.coarsening.sizes import FineSizes
from portpart.algorithms.coarsening.two_hop import TWO_HOP_WORK
from portpart.algorithms.initial.bisection_state import Candidates
from portpart.algorithms.initial.deep_multilevel import start_sizes
from portpart.algorithms.initial.fm_gains import Attempts
from portpart.algorithms.initial.options import InitialOptions
from portpart.algorithms.multilevel.options import SearchOptions
from portpart.algorithms.refinement.best_prefix import Trial
from portpart.algorithms.refinement.outcomes import ROOM, WORDS
from portpart.algorithms.refinement.state import PIECES, SIZE, Sizes
from portpart.backends.interface import ExecutionSpace
from portpart.backends.work import bytes_of
from portpart.errors import OutOfMemory
from portpart.graphs.limits import MAX_INT32_ARCS
from portpart.primitives.recorded_sort import SortArrays

CLUSTER = 4
"""Bytes per vertex of the map to a coarser graph."""

ASKED_FROM = 2**28
"""Less than so many bytes are taken without asking what is free."""

SORTING = 8 + 4 + 3 * 8
"""Bytes per key that is sorted: key, place in the order, words of both halves and spare ones."""

STATES, PAGES = 3, 2
"""States of refinement, and pages of outcomes, that are held at once."""

MARGIN = 1.05
"""The estimate is so many times what the formula gives, but for the input graph."""


@dataclass(frozen=True)
class Needs:
    """What an algorithm takes.

    Attributes
    ----------
    vertices, arcs : float
        Shares that a level keeps of the one before: so large that their sums over all levels are
        above all that were measured.
    finding : callable
        Bytes for finding clusters of a graph, these included.
    refinement : callable
        Bytes of what refinement keeps, for a largest graph of these sizes.
    """

    vertices: float
    arcs: float
    finding: Callable[[FineSizes], int]
    refinement: Callable[[Sizes], int]


def refining_bytes(sizes: Sizes) -> int:
    """Work arrays that all refinement has, limits of blocks, words and outcomes."""
    limits = 3 * 8 * sizes.blocks
    words = 8 * (STATES * SIZE + PAGES * ROOM * WORDS)
    return sum(piece.num_bytes(sizes) for piece in PIECES) + limits + words


def legal_moves_bytes(sizes: Sizes) -> int:
    """The same, with legal moves and what they are sorted with."""
    own = Trial.num_bytes(sizes) + SortArrays.num_bytes(sizes.vertices)
    return refining_bytes(sizes) + own


def clustering_bytes(sizes: FineSizes) -> int:
    """Clusters by label propagation, and what that works on."""
    return bytes_of((Clusters, *CLUSTERING_WORK), sizes)


def grouping_bytes(sizes: FineSizes) -> int:
    """Groups, and what making them takes."""
    return bytes_of((Clusters, *GROUPING_WORK), sizes)


def matching_bytes(sizes: FineSizes) -> int:
    """Pairs: the mates come first, then some of distance two, then the clusters."""
    return max(bytes_of(MATCHING_WORK, sizes), bytes_of(TWO_HOP_WORK, sizes),
               4 * sizes.vertices + bytes_of((Clusters, *NUMBERING_WORK), sizes))


NEEDS = {
    "portpart": Needs(0.4, 0.7, clustering_bytes, refining_bytes),
    "jet": Needs(0.62, 0.86, matching_bytes, refining_bytes),
    "gkway": Needs(0.5, 0.82, grouping_bytes, legal_moves_bytes),
}
MOST = Needs(
    0.62, 0.86, lambda sizes: max(each.finding(sizes) for each in NEEDS.values()),
    legal_moves_bytes,
)
"""What stands for algorithms that have no entry: the most of all."""


@dataclass(frozen=True)
class MemoryEstimate:
    """Bytes in use in each phase of a partition or a mapping.

    Attributes
    ----------
    graph : int
        Arrays of the input graph, in the memory of the device.
    hierarchy : int
        All coarser graphs and the maps between levels.
    coarsening, refinement : int
        Most bytes in use in the phase, graph and hierarchy included.
    swaps : int
        The same for the traffic between elements and swaps of blocks, after a mapping.
    """

    graph: int
    hierarchy: int
    coarsening: int
    refinement: int
    swaps: int = 0

    @property
    def peak(self) -> int:
        """Most bytes in use at once."""
        return max(self.coarsening, self.refinement, self.swaps)

    def __str__(self) -> str:
        lines = [
            f"{name:<22} {_readable(size):>10}" for name, size in (
                ("input graph", self.graph), ("coarser graphs", self.hierarchy),
                ("peak of coarsening", self.coarsening),
                ("peak of refinement", self.refinement), ("peak of swaps", self.swaps),
                ("peak", self.peak),
            ) if size
        ]  # fmt: skip
        return "\n".join(lines)


@dataclass(frozen=True)
class Size:
    """Size of a graph, its bytes, and those of sums of arc weights."""

    num_vertices: int
    num_arcs: int
    own_bytes: int
    weight_bytes: int


@dataclass(frozen=True)
class Plan:
    """The options that say how much memory a search takes."""

    coarsening: CoarseningOptions
    initial: InitialOptions
    search: SearchOptions


def plan_of(config: Any) -> Plan:
    """The plan of a configuration of a partitioner."""
    return Plan(config.coarsening, config.initial, getattr(config, "search", SearchOptions()))


def estimate_of(graph: Size, k: int, plan: Plan, needs: Needs,
                arc_shrink: float | None = None, labelled: bool = False) -> MemoryEstimate:
    """The estimate for a search by a plan; its clusters may keep to a label."""
    arcs_kept = needs.arcs if arc_shrink is None else arc_shrink
    weight_bytes = graph.weight_bytes
    sizes = list(_level_sizes(graph.num_vertices, graph.num_arcs, _coarsest(plan.coarsening, k),
                              needs.vertices, arcs_kept))
    graphs = [graph_bytes(n, arcs, 8, weight_bytes, None) for n, arcs in sizes]
    graphs[0] = graph.own_bytes
    below = sum(graphs[1:]) + sum(CLUSTER * n for n, _ in sizes[:-1])
    kept = _kept_bytes(sizes, plan.search)
    starting = _start_bytes(sizes, k, plan, weight_bytes, labelled)
    if labelled:  # the partition before, a label on each level; starts, also refined, their labels
        kept += 4 * sizes[0][0] + 4 * sum(n for n, _ in sizes)
        at_most = min(sizes[0][0], plan.coarsening.coarsest_vertices(k))
        starting += 4 * (3 * plan.initial.growing.refined + 2) * at_most
    refining = needs.refinement(Sizes(graph.num_vertices, graph.num_arcs, k))
    coarsening = _coarsening_peak(sizes, graphs, weight_bytes, needs) - graphs[0]
    return MemoryEstimate(
        graph=graphs[0],
        hierarchy=int(MARGIN * below),
        coarsening=graphs[0] + int(MARGIN * (kept + coarsening)),
        refinement=graphs[0] + int(MARGIN * (kept + below + refining + starting)),
    )


def _coarsest(options: CoarseningOptions, k: int) -> int:
    """Vertices at which coarsening stops, where it goes furthest."""
    dense = options.coarsest_dense_vertices(k)
    plain = options.coarsest_vertices(k)
    return max(1, plain if dense is None else min(plain, dense))


def _level_sizes(n: int, arcs: int, coarsest: int, vertices_kept: float,
                 arcs_kept: float) -> Iterator[tuple[int, int]]:
    """Vertices and arcs of the levels, finest first.

    One level more than the shares give: the first levels of some graphs keep more than that.
    """
    yield n, arcs
    last = n <= coarsest
    while not last:
        last = n <= coarsest
        n = int(vertices_kept * n)
        arcs = min(int(arcs_kept * arcs), n * n)
        yield n, arcs


def graph_bytes(n: int, arcs: int, vertex_weight: int, weight: int, offset: int | None) -> int:
    """Bytes of the arrays of a graph; None for an offset is as many as the arcs need."""
    if offset is None:
        offset = _offset_bytes(arcs)
    return offset * (n + 1) + (4 + weight) * arcs + vertex_weight * n


def fine_sizes(n: int, arcs: int, clusters: int, weight_bytes: int) -> FineSizes:
    """Sizes of a graph that is coarsened, with types of so many bytes."""
    return FineSizes(n, arcs, clusters, np.dtype(f"i{weight_bytes}"),
                     np.dtype(f"i{_offset_bytes(arcs)}"))


def _offset_bytes(arcs: int) -> int:
    return 4 if arcs <= MAX_INT32_ARCS else 8


def _coarsening_peak(sizes: list[tuple[int, int]], graphs: list[int], weight_bytes: int,
                     needs: Needs) -> int:
    """Most bytes of graphs and work arrays, over the levels."""
    held, peak = 0, graphs[0]
    for depth, (n, arcs) in enumerate(sizes):
        held += graphs[depth]
        fine = fine_sizes(n, arcs, n, weight_bytes)
        contraction = 0
        if depth + 1 < len(sizes):
            contraction = bytes_of((Clusters, *CONTRACTION_WORK), fine) + graphs[depth + 1]
        peak = max(peak, held + max(needs.finding(fine), contraction))
        held += CLUSTER * n
    return peak


def _kept_bytes(sizes: list[tuple[int, int]], options: SearchOptions) -> int:
    """Bytes of the partitions and labels that a search keeps beside its walk."""
    if options.is_one_walk:
        return 0
    return 4 * (options.runs + 1) * sizes[0][0] + 2 * 4 * sum(n for n, _ in sizes)


def _start_bytes(sizes: list[tuple[int, int]], k: int, plan: Plan,
                 weight_bytes: int, labelled: bool) -> int:
    """Bytes of starts on the coarsest graph, with the hierarchy below it if they are grown.

    Coarsening may end with as many vertices as it may end with.  With labels the vertices of all
    candidates are sorted by them.
    """
    most = plan.coarsening.coarsest_vertices(k)
    n = min(sizes[0][0], most)
    arcs = next((arcs for vertices, arcs in sizes if vertices <= most), sizes[-1][1])
    if plan.initial.method == "metis":
        return CLUSTER * n
    growing, shares = plan.initial.growing, NEEDS["portpart"]
    levels = [(max(vertices, min(n, growing.min_vertices * 5 // 4)), few_arcs)  # not far above
              for vertices, few_arcs in _level_sizes(n, arcs, growing.min_vertices,
                                                     shares.vertices, shares.arcs)]
    below = sum(graph_bytes(vertices, few_arcs, 8, weight_bytes, None) + CLUSTER * vertices
                for vertices, few_arcs in levels[1:])
    starts = start_sizes([vertices for vertices, _ in levels], k, growing)
    handed = 8 * starts.vertices + 8 * 8 * k
    return (below + bytes_of((Candidates, Attempts), starts) + handed
            + SORTING * labelled * starts.vertices)


def check_room(space: ExecutionSpace, k: int) -> None:
    """Raise if the arrays that every call has for k blocks exceed all memory."""
    needed, free = refining_bytes(Sizes(0, 0, k)), space.free_bytes()
    if free is not None and needed > max(free, ASKED_FROM):
        raise OutOfMemory(f"{k} blocks take {_readable(needed)}, whatever the graph, and "
                          f"{space.name} has {_readable(free)}")


def _readable(size: int) -> str:
    return f"{size / 2**30:.2f} GiB" if size >= 2**30 else f"{size / 2**20:.1f} MiB"

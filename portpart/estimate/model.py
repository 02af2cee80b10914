"""How much memory a search among partitions takes, from what its pieces declare."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from portpart.algorithms.coarsening import (
    ANY_DEGREE,
    BROKEN_UP_WORK,
    CLUSTERING_WORK,
    CONTRACTION_WORK,
    LINKING_WORK,
    MATCHING_WORK,
    MAX_SCRATCH,
    MAX_SPARE,
    Clusters,
    FineSizes,
    Members,
    is_one_piece,
    slots_for,
)
from portpart.algorithms.refinement import RefinementSizes, refining_bytes
from portpart.algorithms.refinement.prefix import MoveSequence
from portpart.backends.programs import ExecutionSpace, bytes_of, bytes_outliving, roomy
from portpart.errors import OutOfMemory
from portpart.graphs import MAX_INT32_ARCS, EitherGraph, Graph, Hypergraph, table
from portpart.primitives import SortArrays

if TYPE_CHECKING:
    from typing_extensions import Self

# How much memory a search among partitions takes, from what its pieces declare (docs/memory.md)
#
# Work arrays are declared with their lengths in the records of the pieces that use them.  Matching
# and contraction allocate theirs per level, refinement again where a finer level needs much more:
# so
# the bytes follow from the sizes of the levels, which `levels.py` finds.


OF_VERTEX = np.dtype(np.int32).itemsize
"""Bytes of a block, a cluster or a label of a vertex."""

OF_WORD = np.dtype(np.int64).itemsize
"""Bytes of a word, and of a vertex weight of a coarse graph."""

OF_PROJECTED = 9
"""Bytes that a finer level takes over from a vertex: its block, and whether it is on a boundary."""

SORTING_WORDS = 4
"""Words for each key while a library sorts: its copy of keys, of places, and as many again."""


@dataclass(frozen=True)
class LevelSize:
    """A graph of a hierarchy.

    Attributes
    ----------
    num_vertices, num_arcs : int
    own_bytes : int
        Bytes of its arrays.
    weight_bytes, offset_bytes : int
        Bytes of a sum of arc weights, and of an offset.
    max_degree : int
        No vertex has more arcs.
    long_arcs : int or None
        Arcs of vertices that may have hash rows in main memory, if they were counted.
    """

    num_vertices: int
    num_arcs: int
    own_bytes: int
    weight_bytes: int
    offset_bytes: int
    max_degree: int = ANY_DEGREE
    long_arcs: int | None = None

    @property
    def fine(self) -> FineSizes:
        """The same as a graph that is coarsened, where each vertex may be a cluster."""
        n = self.num_vertices
        return FineSizes(n, self.num_arcs, n, np.dtype(f"i{self.weight_bytes}"),
                         np.dtype(f"i{self.offset_bytes}"), self.max_degree, self.long_arcs)

    @property
    def clusters_bytes(self) -> int:
        """Bytes of the map to a coarser graph."""
        return Clusters.num_bytes(self.fine)

    def times(self, count: int) -> Self:
        """The size of this many copies."""
        counts = ("num_vertices", "num_arcs", "own_bytes", "num_nets", "large")
        return replace(self, **{name: count * value for name, value in vars(self).items()
                                if name in counts})


AnySize = TypeVar("AnySize", bound=LevelSize)


def level_size(n: int, arcs: int, weight_bytes: int, vertex_weight: int = OF_WORD,
               edge_weight: int | None = None, offset: int | None = None,
               max_degree: int = ANY_DEGREE, long_arcs: int | None = None) -> LevelSize:
    """A graph whose weights take this many bytes each; a coarse graph has weights of both kinds."""
    offset = offset_bytes(arcs) if offset is None else offset
    arc = OF_VERTEX + (weight_bytes if edge_weight is None else edge_weight)
    return LevelSize(n, arcs, offset * (n + 1) + arc * arcs + vertex_weight * n, weight_bytes,
                     offset, max_degree, long_arcs)


def size_of(graph: Graph) -> LevelSize:
    """A graph that there is."""
    own = sum(array.nbytes for array in graph.arrays.values() if array is not None)
    return LevelSize(graph.num_vertices, graph.num_arcs, own, graph.weight_sum_dtype.itemsize,
                     graph.offsets.dtype.itemsize, graph.max_degree, slots_for(graph))


def offset_bytes(num_arcs: int) -> int:
    """Bytes of an offset into this many arcs."""
    return 4 if num_arcs <= MAX_INT32_ARCS else 8


@dataclass(frozen=True)
class MemoryModel:
    """What the pieces of a partitioner declare.

    Attributes
    ----------
    vertices, arcs : float
        Shares that a level keeps of the one before: so large that their sums over all levels are
        above all that were measured.
    clusters : callable
        Bytes for finding clusters of a graph, these included.
    refinement : callable
        Bytes of what refinement keeps, for a level of these sizes.
    """

    vertices: float
    arcs: float
    clusters: Callable[[FineSizes], int]
    refinement: Callable[[RefinementSizes], int]

    def coarsening_bytes(self, levels: Sequence[LevelSize]) -> int:
        """Most bytes in addition to the finest graph while the levels are made."""
        return ingest_bytes(levels, lambda level: self.clusters(level.fine),
                            lambda level, coarse: contraction_bytes(level.fine, coarse))

    def refining_bytes(self, finest: LevelSize, num_blocks: int,
                       level: LevelSize | None = None) -> int:
        """Bytes of what refinement keeps for a level, by default the finest."""
        sizes = RefinementSizes(finest.num_vertices, finest.num_arcs, num_blocks)
        return self.refinement(sizes.with_room_for((level or finest).num_vertices))

    def peak_of_refining(self, walk: Sequence[LevelSize], num_blocks: int, starts: int = 0) -> int:
        """Most bytes of coarser graphs and of refinement, while level after level is given back.

        Parameters
        ----------
        walk : sequence of LevelSize
            Finest first.
        starts : int
            Bytes of the starts, without the coarsest graph.
        """
        work = [self.refining_bytes(walk[0], num_blocks, level) for level in walk]
        peak = hierarchy_bytes(walk) + work[-1] + starts
        for depth, level in enumerate(walk[:-1]):
            most = roomy(walk[depth + 1].num_vertices, walk[0].num_vertices)
            projected = OF_PROJECTED * most if work[depth] > work[depth + 1] else 0
            peak = max(peak, hierarchy_bytes(walk[: depth + 1]) + work[depth]
                       + level.clusters_bytes + projected)
        return peak


def ingest_bytes(levels: Sequence[AnySize], clusters: Callable[[AnySize], int],
                 contraction: Callable[[AnySize, AnySize], int]) -> int:
    """Most bytes in addition to the finest level while the others are made.

    Parameters
    ----------
    clusters : callable
        Bytes for finding clusters of a level, these included.
    contraction : callable
        Bytes for contracting a level to a coarser one, this included.
    """
    held, peak = 0, 0
    for depth, level in enumerate(levels):
        # the last one may be found to be too small or too large, and is given back
        coarse = levels[min(depth + 1, len(levels) - 1)]
        peak = max(peak, held + clusters(level),
                   held + level.clusters_bytes + contraction(level, coarse))
        held += level.clusters_bytes + coarse.own_bytes
    return peak


def contraction_bytes(fine: FineSizes, coarse: LevelSize) -> int:
    """Bytes that a contraction takes: work arrays, then what is left of them and the result.

    Piece by piece there are members, the result with what it has spare, and the scratch of a piece.
    """
    own = coarse.own_bytes
    if is_one_piece(fine):
        return max(bytes_of(CONTRACTION_WORK, fine), bytes_outliving(CONTRACTION_WORK, fine) + own)
    fine = fine._replace(arcs=0, clusters=coarse.num_vertices)
    members, count = Members.num_bytes(fine), Members.declared["count"].num_bytes(fine)
    spare = int(MAX_SPARE * (OF_VERTEX + coarse.weight_bytes) * coarse.num_arcs)
    return max(members, members - count + own + spare + MAX_SCRATCH)


def hierarchy_bytes(levels: Sequence[AnySize]) -> int:
    """Bytes of all graphs but the finest, and of the maps between them."""
    return sum(level.own_bytes for level in levels[1:]) + sum(
        level.clusters_bytes for level in levels[:-1])


def legal_moves_bytes(sizes: RefinementSizes) -> int:
    """The same, with legal moves and what they are sorted with."""
    return (refining_bytes(sizes) + MoveSequence.num_bytes(sizes)
            + SortArrays.num_bytes(sizes.vertices))


def clustering_bytes(sizes: FineSizes) -> int:
    """Clusters by label propagation, and what that works on."""
    return bytes_of((Clusters, *CLUSTERING_WORK), sizes)


def constrained_bytes(sizes: FineSizes) -> int:
    """Groups that are broken up, and what making them works on."""
    words = bytes_outliving(LINKING_WORK, sizes)
    return bytes_of((Clusters,), sizes) + max(
        bytes_of(LINKING_WORK, sizes), words + SORTING_WORDS * words,
        bytes_of(BROKEN_UP_WORK, sizes))


def matching_bytes(sizes: FineSizes) -> int:
    """Pairs, and what matching works on."""
    return bytes_of((Clusters, *MATCHING_WORK), sizes)


MODELS = {
    "portpart": MemoryModel(0.4, 0.7, clustering_bytes, refining_bytes),
    "jet": MemoryModel(0.62, 0.86, matching_bytes, refining_bytes),
    "gkway": MemoryModel(0.45, 0.78, clustering_bytes, legal_moves_bytes),
    "igkway": MemoryModel(0.5, 0.82, constrained_bytes, legal_moves_bytes),
    "gpmetis": MemoryModel(0.62, 0.86, matching_bytes, legal_moves_bytes),
}


@dataclass(frozen=True)
class MemoryEstimate:
    """Number of bytes in use in each phase of a partition or a mapping.

    Attributes
    ----------
    graph : int
        Arrays of the input graph, in the memory of the device.
    hierarchy : int
        All coarser graphs and the maps between levels.
    coarsening, refinement : int
        Maximum during the phase, including graph and hierarchy.
    swaps : int
        The same for the traffic between elements and swaps of blocks after a mapping.
    session : int
        Further arrays of a session, included in all peaks.

    Examples
    --------
    >>> import portpart
    >>> print(portpart.memory_estimate(2**20, 6 * 2**20, 64))
    input graph              28.0 MiB
    coarser graphs          126.9 MiB
    peak of coarsening      158.4 MiB
    peak of refinement      252.5 MiB
    peak                    252.5 MiB
    """

    graph: int
    hierarchy: int
    coarsening: int
    refinement: int
    swaps: int = 0
    session: int = 0

    @property
    def peak(self) -> int:
        """Most bytes in use at once."""
        return max(self.coarsening, self.refinement, self.swaps)

    def plus(self, size: int) -> MemoryEstimate:
        """The same with this many bytes that are in use all the time."""
        return replace(self, graph=self.graph + size, coarsening=self.coarsening + size,
                       refinement=self.refinement + size)

    def __str__(self) -> str:
        return "\n".join(f"{name:<22} {readable(size):>10}" for name, size in self._rows() if size)

    def _repr_html_(self) -> str:
        return table("MemoryEstimate", [(name, readable(size)) for name, size in self._rows()
                                        if size])

    def _rows(self) -> Iterator[tuple[str, int]]:
        yield "input graph", self.graph
        yield "kept by the session", self.session
        yield "coarser graphs", self.hierarchy
        yield "peak of coarsening", self.coarsening
        yield "peak of refinement", self.refinement
        yield "peak of swaps", self.swaps
        yield "peak", self.peak


def readable(size: int) -> str:
    """A number of bytes for people."""
    return f"{size / 2**30:.2f} GiB" if size >= 2**30 else f"{size / 2**20:.1f} MiB"


# What can be known to be too much for a space before any work ----------------------------------


ASKED_FROM = 2**28
"""Less than this many bytes are taken without asking what is free."""


def check_memory_limit(space: ExecutionSpace, k: int, graph: EitherGraph | None = None) -> None:
    """Raise if the arrays that every call has for k blocks, or those of nets, exceed all memory."""
    needed, cause = refining_bytes(RefinementSizes(0, 0, k)), "whatever the graph,"
    if isinstance(graph, Hypergraph):
        from portpart.algorithms.objectives import net_sizes
        from portpart.algorithms.refinement.nets import net_bytes

        needed += net_bytes(net_sizes(graph, k))
        cause = f"for {graph.num_nets:,} nets,"
    if needed <= ASKED_FROM:
        return
    free = space.free_bytes()
    if free is not None and needed > free:

        raise OutOfMemory(f"{k} blocks take {readable(needed)}, {cause} and "
                          f"{space.name} has {readable(free)}")

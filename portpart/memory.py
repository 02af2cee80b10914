"""How much memory a partition takes, by formula (docs/memory.md tells where the numbers are from).

The library allocates before it works: matching and contraction per level, refinement once for the
whole hierarchy.  So the bytes follow from the sizes of the levels, which shrink geometrically.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from portpart.algorithms.coarsening.cluster_wishes import MAX_NARROW
from portpart.algorithms.coarsening.coarse_rows import WIDE_ROW
from portpart.algorithms.refinement import buckets as leaving
from portpart.algorithms.refinement import state as at
from portpart.algorithms.refinement.destinations import most_arcs
from portpart.algorithms.refinement.jet_refinement import WEIGHT_COPIES
from portpart.errors import InputError
from portpart.graph import MAX_INT32_ARCS
from portpart.primitives.scan import TILE

VERTEX_SHRINK = 0.6
"""Share of the vertices that a level of matchings keeps, measured 0.53 to 0.65; clusters keep a
third."""

COARSEST = 512
"""Vertices at which coarsening stops for small k; smaller levels count for nothing."""

MATCHING = 4 * 4
"""Bytes per vertex: mate, wish, two lists of active vertices."""

TWO_HOP = 4 + 2 * 8 + 5 * 4
"""Bytes per vertex: mate; key and leader; crowd, slot, wish, two lists of active vertices."""

CLUSTERING = 3 * 8 + 6 * 4 + 2
"""Bytes per vertex: weights of clusters and of those who ask and are chosen; leaders, members,
wishes, two lists, first fans; flags.  Besides, hash rows and lists for high degrees."""

CLUSTER = 4
MEMBERS = 4
CONTRACTION = 3 * 4 + 2 * 8
"""Bytes per coarse vertex: members, where they begin and degree; the row's capacity and weight."""

GROUPING = 2 * 4 + 8 + 36 + 1
"""Bytes per vertex of G-kway's groups: links and subsets, weights, what pairing takes, flags."""

REFINEMENT = 13 * 4 + 2 * 8 + 1 + 8 + (4 + 8 + 2)
"""Bytes per vertex of refinement: 13 arrays of int32, 2 of int64, flags, positions; and with G-kway
legal moves and what they are sorted with."""

BLOCK = 9 * 8 + 4 + 8 * leaving.BUCKETS
"""Bytes per block of refinement, but for the striped weights and the sub-buckets."""


@dataclass(frozen=True)
class MemoryEstimate:
    """Bytes in use in each phase of a partition.

    Attributes
    ----------
    graph : int
        Arrays of the input graph, in the memory of the device.
    hierarchy : int
        All coarser graphs and the maps between levels.
    coarsening, refinement : int
        Most bytes in use in the phase, graph and hierarchy included.
    """

    graph: int
    hierarchy: int
    coarsening: int
    refinement: int

    @property
    def peak(self) -> int:
        """Most bytes in use at once."""
        return max(self.coarsening, self.refinement)

    def __str__(self) -> str:
        lines = [
            f"{name:<22} {_readable(size):>10}" for name, size in (
                ("input graph", self.graph), ("coarser graphs", self.hierarchy),
                ("peak of coarsening", self.coarsening),
                ("peak of refinement", self.refinement), ("peak", self.peak),
            )
        ]  # fmt: skip
        return "\n".join(lines)


def memory_estimate(
    num_vertices: int,
    num_arcs: int,
    k: int,
    *,
    vertex_weights: bool = False,
    edge_weights: bool = False,
    offset_bytes: int | None = None,
    weight_bytes: int = 4,
    arc_shrink: float = 0.86,
) -> MemoryEstimate:
    """Memory that :func:`portpart.partition` takes on its device, the graph included.

    Parameters
    ----------
    num_vertices, num_arcs : int
        Sizes of the graph; an undirected edge has two arcs.
    k : int
        Number of blocks.
    vertex_weights, edge_weights : bool, default False
        Whether the graph has them.
    offset_bytes : int, optional
        Bytes of an offset: 4 for less than 2^31 arcs, else 8, by default.
    weight_bytes : int, default 4
        Bytes of an arc weight and of sums of them: 8 if the total is 2^31 or more.
    arc_shrink : float, default 0.86
        Share of the arcs that a level keeps.  The default is for graphs of skewed degrees
        (measured 0.74 to 0.86); meshes and roads keep 0.46 to 0.67.

    Returns
    -------
    MemoryEstimate
        ``peak`` and its parts in bytes; printing it gives a table.

    Raises
    ------
    InputError
        If a size is negative, k below 1, or a share not between 0 and 1.

    Examples
    --------
    >>> import portpart
    >>> estimate = portpart.memory_estimate(2**20, 6 * 2**20, 64, arc_shrink=0.6)
    >>> estimate.peak // 2**20
    225
    """
    _check(num_vertices, num_arcs, k, arc_shrink)
    sizes = list(_level_sizes(num_vertices, num_arcs, k, arc_shrink))
    graphs = [_graph_bytes(n, arcs, 8, weight_bytes, None) for n, arcs in sizes]
    graphs[0] = _graph_bytes(num_vertices, num_arcs, 8 * vertex_weights,
                             weight_bytes * edge_weights, offset_bytes)
    maps = [CLUSTER * n for n, _ in sizes[:-1]]
    whole = sum(graphs) + sum(maps)
    return MemoryEstimate(
        graph=graphs[0],
        hierarchy=whole - graphs[0],
        coarsening=_coarsening_peak(sizes, graphs, weight_bytes),
        refinement=whole + _refinement_bytes(num_vertices, num_arcs, k),
    )


def _check(num_vertices: int, num_arcs: int, k: int, arc_shrink: float) -> None:
    for name, value, least in (
        ("num_vertices", num_vertices, 0), ("num_arcs", num_arcs, 0), ("k", k, 1)
    ):  # fmt: skip
        if value < least:
            raise InputError(f"{name} is {value}; it must be at least {least}")
    if not 0 < arc_shrink < 1:
        raise InputError(f"arc_shrink is {arc_shrink}; it must be between 0 and 1")


def _level_sizes(n: int, arcs: int, k: int, arc_shrink: float) -> Iterator[tuple[int, int]]:
    """Vertices and arcs of the levels, finest first."""
    yield n, arcs
    while n > max(COARSEST, 2 * k):
        n = int(VERTEX_SHRINK * n)
        arcs = min(int(arc_shrink * arcs), n * n)
        yield n, arcs


def _graph_bytes(n: int, arcs: int, vertex_weight: int, weight: int, offset: int | None) -> int:
    if offset is None:
        offset = _offset_bytes(arcs)
    return offset * (n + 1) + (4 + weight) * arcs + vertex_weight * n


def _offset_bytes(arcs: int) -> int:
    return 4 if arcs <= MAX_INT32_ARCS else 8


def _coarsening_peak(sizes: list[tuple[int, int]], graphs: list[int], weight_bytes: int) -> int:
    """Most bytes of graphs and work arrays, over the levels."""
    held, peak = 0, graphs[0]
    for depth, (n, arcs) in enumerate(sizes):
        held += graphs[depth]
        clustering = CLUSTERING * n + (4 + weight_bytes) * arcs + 8 * (arcs // (MAX_NARROW + 1))
        matching = max(MATCHING * n, TWO_HOP * n, GROUPING * n, clustering)
        contraction = 0
        if depth + 1 < len(sizes):
            coarse, _ = sizes[depth + 1]
            row_bytes = CONTRACTION + 2 * _offset_bytes(arcs)
            contraction = (CLUSTER + MEMBERS) * n + (4 + weight_bytes) * arcs
            contraction += row_bytes * coarse + graphs[depth + 1] + 4 * (arcs // (WIDE_ROW + 1))
        peak = max(peak, held + max(matching, contraction))
        held += CLUSTER * n
    return peak


def _refinement_bytes(n: int, arcs: int, k: int) -> int:
    """Bytes of the arrays of refinement."""
    hubs = 2 * 4 * (arcs // most_arcs(1) + 1)  # all, and those that leave
    stripes = 2 * 8 * max(WEIGHT_COPIES, k)  # weights, and those that are tried
    buckets = 8 * k * leaving.BUCKETS * leaving.sub_buckets_for(k, n)
    tiles = 8 * (n // TILE + 1)
    fixed = 8 * (at.STRIPES + at.SIZE)
    return REFINEMENT * n + hubs + BLOCK * k + stripes + buckets + tiles + fixed


def _readable(size: int) -> str:
    return f"{size / 2**30:.2f} GiB" if size >= 2**30 else f"{size / 2**20:.1f} MiB"

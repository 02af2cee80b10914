"""How much memory a rank takes of several that partition a graph together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from portpart.algorithms.coarsening.rank_hierarchy import CPU_FOLD, GPU_FOLD, Fold
from portpart.algorithms.refinement.ranks.state import RankTotals
from portpart.algorithms.refinement.sizes import RefinementSizes
from portpart.api.memory_model import OF_WORD, LevelSize, MemoryEstimate
from portpart.api.memory_search import SearchLevels, SearchModel

OF_OWN, OF_GHOST = 10, 28
"""Additional bytes of a vertex of the rank, and of a ghost: their ids, and what other ranks know
and receive of them, as measured by ``python -m bench.rank_memory``.
"""

OF_MOVED, OF_LEFT = 24, 16
"""Bytes of a moved vertex, in addition to its row, which is stored twice, and of a ghost that the
rank had before, measured in the same way.
"""


def rank_estimate(levels: Sequence[SearchLevels], search: SearchModel, ranks: int, ghosts: int,
                  kind: str = "cpu", moves: bool = False) -> MemoryEstimate:
    """The estimate for the largest rank, each of which has its share of the vertices and arcs.

    Parameters
    ----------
    levels : sequence of Levels
        Of the whole graph.
    search : SearchModel
    ranks : int
    ghosts : int
        Those of the rank, of the finest level.
    kind : str
        ``"cpu"`` or ``"cuda"``: where ranks work.
    moves : bool
        Whether vertices move to where they have few ghosts.
    """
    fold = CPU_FOLD if kind == "cpu" else GPU_FOLD
    finest = levels[0].walk[0]
    own, rows = (-(-size // ranks) for size in (finest.num_vertices, finest.own_bytes))
    extra = OF_OWN * own + (OF_LEFT if moves else OF_GHOST) * ghosts
    if _is_folded(finest, fold):  # the rows, and the whole graph
        return search.estimate(levels).plus(extra + rows)
    share = 0 if moves else ghosts / finest.num_vertices
    extra += moves * (rows + OF_MOVED * own)
    divided = [replace(each, walk=[_of_rank(level, ranks, share, fold) for level in each.walk])
               for each in levels]
    return search.estimate(divided).plus(
        extra - search.kept_bytes(0 if moves else ghosts)  # partitions are kept of own vertices
        + sums_bytes(finest.num_vertices, search.num_blocks, ranks))


def sums_bytes(num_vertices: int, num_blocks: int, ranks: int) -> int:
    """Bytes of what ranks add up while they refine a graph of this many vertices."""
    sizes = RefinementSizes(num_vertices, 0, num_blocks, num_vertices)
    return RankTotals.num_bytes(sizes) + OF_WORD * ranks


def _is_folded(level: LevelSize, fold: Fold) -> bool:
    """Whether every rank has a level as a whole."""
    return level.num_vertices <= fold.max_vertices and level.num_arcs <= fold.max_arcs


def _of_rank(level: LevelSize, ranks: int, ghosts: float, fold: Fold) -> LevelSize:
    """What a rank has of a level, with this many ghosts for each vertex of all ranks."""
    if _is_folded(level, fold):
        return level
    own = -(-level.num_vertices // ranks)
    return replace(level, num_vertices=own + int(ghosts * level.num_vertices),
                   num_arcs=-(-level.num_arcs // ranks),
                   own_bytes=-(-level.own_bytes // ranks))

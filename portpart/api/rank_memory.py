"""Estimates of the memory of one of several ranks that partition a graph together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from portpart import estimate
from portpart.algorithms.coarsening.ranks import CPU_FOLD, GPU_FOLD, Fold
from portpart.algorithms.recipes import DEFAULT, find
from portpart.algorithms.refinement import FlowOptions, RefinementSizes, refining_bytes
from portpart.algorithms.refinement.flows import BAND_SHARE, FlowSizes, flow_bytes
from portpart.algorithms.refinement.ranks import RankTotals
from portpart.errors import InputError, shown
from portpart.graphs import EitherGraph

if TYPE_CHECKING:
    from portpart.options import Configuration

OF_NUMBER, OF_WORD = 4, 8
"""Bytes of a block, and of a weight."""

OF_OWN, OF_GHOST = 6, 28
"""Bytes of a vertex of the rank and of a ghost, in addition to those of a vertex on one device:
ids, and copies for other ranks. Figures of ``python -m bench.rank_memory``."""

OF_MOVED, OF_LEFT = 24, 16
"""Bytes of a vertex that has moved, without its row, which exists twice, and of a ghost that the
rank had before. Figures of the same program."""

NO_FLOWS = FlowOptions(levels=0)

CountedCall = Callable[[EitherGraph, estimate.SizingSpace], None]


def rank_estimate(sizes: estimate.GivenSizes, ways: Sequence[estimate.Shrinking], call: CountedCall,
                  num_blocks: int, ranks: int, ghosts: int, kind: str = "cpu",
                  moves: bool = False, flows: FlowOptions = NO_FLOWS) -> estimate.MemoryEstimate:
    """Return the estimate for the largest rank; each has its share of the vertices and arcs.

    Parameters
    ----------
    sizes : GivenSizes
        Sizes of the whole graph.
    ways : sequence of Shrinking
    call : callable
        Partitions a graph in a space.
    num_blocks, ranks : int
    ghosts : int
        Ghosts of the rank on the finest level.
    kind : str
        Device of the ranks: ``"cpu"`` or ``"cuda"``.
    moves : bool
        Whether vertices move to ranks where they have few ghosts.
    flows : FlowOptions
        Options of flows; ranks gather the levels that are refined by flows.
    """
    fold = CPU_FOLD if kind == "cpu" else GPU_FOLD
    n, arcs = sizes.counts
    own, rows = -(-n // ranks), -(-sizes.own_bytes // ranks)
    further = OF_OWN * own + (OF_LEFT if moves else OF_GHOST) * ghosts
    if _is_folded(sizes.counts, fold):  # the rows, and the whole graph
        return estimate.counted(sizes, ways, call).plus(further + rows)
    further += moves * (rows + OF_MOVED * own) + sums_bytes(n, num_blocks, ranks)
    divided = replace(sizes, counts=(own + (0 if moves else ghosts), -(-arcs // ranks)))
    of_rank = estimate.counted(divided, [_divided(way, ranks) for way in ways], call)
    coarse = replace(sizes, vertex_weights=OF_WORD, weights=sizes.weight_bytes, degree=None)
    space, level = estimate.SizingSpace(ways[0]), sizes.counts
    depth = between = gathered = 0
    coarser = space.coarser(level)[0]
    # maps between levels, and distributed levels; every rank holds the coarsest one
    while not _is_folded(level, fold) and coarser != level:
        if not gathered and depth < flows.levels and (
                num_blocks <= flows.max_blocks and flows.take(*level)):
            gathered = _gathered_bytes(replace(sizes if between == 0 else coarse, counts=level),
                                       num_blocks, ranks, flows)
        between += OF_NUMBER * -(-level[0] // ranks)
        level, coarser, depth = coarser, space.coarser(coarser)[0], depth + 1
        if not _is_folded(level, fold) and coarser != level:
            share = tuple(-(-size // ranks) for size in level)
            between += replace(coarse, counts=share).own_bytes
    of_whole = estimate.counted(replace(coarse, counts=level), ways, call)
    # the refiner is made for the finest level before the initial partitions
    of_finest, of_folded = (
        refining_bytes(RefinementSizes(vertices, entries, num_blocks).with_capacity_for(level[0]))
        for vertices, entries in (divided.counts, level))
    together = of_rank.graph + between + max(0, of_finest - of_folded)
    return estimate.MemoryEstimate(
        of_rank.graph, between + of_whole.graph + of_whole.hierarchy,
        max(of_rank.coarsening + of_whole.graph, together + of_whole.coarsening),
        max(of_rank.refinement + gathered, together + of_whole.refinement)).plus(further)


def _gathered_bytes(level: estimate.GivenSizes, num_blocks: int, ranks: int,
                    flows: FlowOptions) -> int:
    """Return a rank's bytes for refining a distributed level by flows, in addition to its share.

    The share of flows on a band graph is not counted before.
    """
    if flows.on_band:
        level = replace(level, counts=tuple(size // BAND_SHARE for size in level.counts),
                        vertex_weights=OF_WORD)
    counter = np.dtype(f"i{level.weight_bytes}")
    shared = [0 if flows.on_band else -(-size // ranks) for size in level.counts]
    whole, share = (flow_bytes(FlowSizes(vertices, arcs, num_blocks, counter,
                                         of_bands=flows.on_band))
                    for vertices, arcs in (level.counts, shared))
    return level.own_bytes * (ranks + 1) // ranks + 2 * OF_NUMBER * level.counts[0] + whole - share


def _divided(way: estimate.Shrinking, ranks: int) -> estimate.Shrinking:
    """Return levels of which each rank has its share."""
    walk = [tuple(-(-size // ranks) for size in sizes) for sizes in way.walk]
    return replace(way, walk=walk, slots={})


def sums_bytes(num_vertices: int, num_blocks: int, ranks: int) -> int:
    """Return the bytes of sums over ranks while a graph of this size is refined."""
    sizes = RefinementSizes(num_vertices, 0, num_blocks, num_vertices)
    return RankTotals.num_bytes(sizes) + OF_WORD * ranks


def _is_folded(sizes: Sequence[int], fold: Fold) -> bool:
    """Whether every rank holds a level whole."""
    return sizes[0] <= fold.max_vertices and sizes[1] <= fold.max_arcs


def of_ranks(sizes: estimate.GivenSizes, k: int, algorithm: str | None, preset: str | Configuration,
             arc_shrink: float | None, like: EitherGraph | None, ranks: int, ghosts: int,
             device: str, moves: bool) -> estimate.MemoryEstimate:
    """Return the estimate for a rank, if the ranks support the call."""
    kind = device.partition(":")[0] if isinstance(device, str) else device
    if kind not in ("cpu", "cuda"):
        raise InputError(f"device is {shown(device)}; it must be 'cpu' or 'cuda'")

    found, config = find(algorithm, preset)
    if found.name != DEFAULT:
        raise InputError(f"several ranks support only the algorithm {DEFAULT!r}; without ranks= "
                         "the estimate is for one process")
    if like is not None and estimate.sizes_of(like).counts == sizes.counts:
        sizes = estimate.sizes_of(like)
    flows = config.flows
    if not flows.take(*sizes.counts) and (flows.levels == 1 or config.large_flows):
        # a rank's share may be small, the graph is not
        flows = config.large_flows if flows.levels and config.large_flows else NO_FLOWS
        config = replace(config, flows=NO_FLOWS, large_flows=None)
    ways = estimate.ways_to_shrink(estimate.Search(found, config, k), sizes.counts, arc_shrink,
                                   like)
    return rank_estimate(sizes, ways, estimate.partition_call(found, config, k), k, ranks, ghosts,
                         kind, moves, flows)

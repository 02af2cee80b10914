"""The best partition so far, and the vertices that have moved since."""

from __future__ import annotations

import numpy as np

from portpart.algorithms.refinement import Figures
from portpart.algorithms.refinement.blocks import Blocks
from portpart.algorithms.refinement.moves import Moves, keep_moves
from portpart.backends import language as kl
from portpart.backends.programs import Array

# The best partition so far ---------------------------------------------------------------------


class Incumbent(kl.Record):
    """The best partition so far, and the vertices that have moved since.

    Attributes
    ----------
    best : array of int32, shape (n,)
    best_weight : array of int64, shape (k,)
    touched : array of int8, shape (n,)
        Whether a vertex may be on a boundary of the partition that a level starts from.
    is_unsaved : array of int8, shape (n,)
        Whether a vertex is on `unsaved_list`.
    unsaved_list : array of int32
    tolerance : float
        The cost must fall below this share of the best one to count as progress.
    """

    best: Array = kl.work(np.int32, "vertices")
    best_weight: Array = kl.work(np.int64, "blocks")
    touched: Array = kl.work(np.int8, "vertices")
    is_unsaved: Array = kl.work(np.int8, "vertices")
    unsaved_list: Array = kl.work(np.int32, "vertices")
    tolerance: float = 1.0

    restored_blocks: int = kl.word()  # blocks whose weights are set to those of the best partition
    restored_stripes: int = kl.word()  # words of the cost that are set to the best cost
    saves: int = kl.word()  # work items of `save_best`: maximum of the next two, at least one
    saved_vertices: int = kl.word()  # vertices to copy to the best partition: moved ones or none
    saved_blocks: int = kl.word()  # blocks whose weights are copied
    unsaved: int = kl.word()  # vertices that have moved since the best partition
    best_is_balanced: int = kl.word()
    best_cost: int = kl.word()
    best_overload: int = kl.word()


# Comparison with the best partition so far, and what is copied if it is better -----------------


NOT_BETTER, BETTER, MUCH_BETTER = 0, 1, 2


@kl.device
def compare_with_best(cost, overload, tolerance, incumbent: Incumbent, figures: Figures):
    """Compare the partition with the best: return NOT_BETTER, BETTER or MUCH_BETTER.

    Iteration -1 evaluates the partition that refinement starts from, which is the best so far.
    """
    result = kl.int64(NOT_BETTER)
    best_cost = incumbent.best_cost
    if figures.iteration < 0:
        result = kl.int64(MUCH_BETTER)
    elif incumbent.best_is_balanced == 0:
        if overload < incumbent.best_overload:
            result = kl.int64(MUCH_BETTER)
    elif overload <= 0 and cost < best_cost:
        result = kl.int64(BETTER)
        if kl.float64(cost) < tolerance * kl.float64(best_cost):
            result = kl.int64(MUCH_BETTER)
    return result


@kl.device
def keep_if_better(improvement, cost, overload, incumbent: Incumbent, figures: Figures):
    """Store the values of a new best partition, and the number of vertices and blocks to copy."""
    incumbent.saved_vertices = 0
    incumbent.saved_blocks = 0
    if improvement != NOT_BETTER:
        incumbent.best_cost = cost
        incumbent.best_overload = overload
        incumbent.best_is_balanced = kl.int64(overload <= 0)
        incumbent.saved_vertices = incumbent.unsaved
        incumbent.unsaved = 0
        incumbent.saved_blocks = figures.blocks


@kl.device
def plan_saving(incumbent: Incumbent):
    """Set the number of work items that copy the best partition."""
    incumbent.saves = max(1, max(incumbent.saved_vertices, incumbent.saved_blocks))


# The best partition, and the list of vertices that have moved since ----------------------------


@kl.device
def set_best(v, block, incumbent: Incumbent):
    """Set the block of v in the best partition."""
    incumbent.best[v] = block


@kl.device
def reset_saved(v, incumbent: Incumbent):
    """Mark v as not on the list of vertices moved since the best partition, and return v."""
    incumbent.is_unsaved[v] = kl.int8(0)
    return v


@kl.device
def set_touched(v, touched, incumbent: Incumbent):
    """Set whether v may be on a boundary of the partition that a level starts from."""
    incumbent.touched[v] = kl.int8(touched)


@kl.device
def list_unsaved(v, incumbent: Incumbent):
    """Put v on the list of vertices that have moved since the best partition, once."""
    if incumbent.is_unsaved[v] == 0:
        incumbent.is_unsaved[v] = kl.int8(1)
        incumbent.unsaved_list[kl.atomic_next(incumbent, Incumbent.unsaved)] = kl.int32(v)


@kl.device
def save_vertex(i, moves: Moves, incumbent: Incumbent):
    """Save the block of vertex i of the unsaved list in the best partition; return the vertex."""
    v = incumbent.unsaved_list[i]
    set_best(v, moves.part[v], incumbent)
    return reset_saved(v, incumbent)


@kl.device
def save_block(i, moves: Moves, incumbent: Incumbent, blocks: Blocks):
    """Save the weight of block i if this partition is the best; block 0 empties the moves."""
    if i < incumbent.saved_blocks:
        incumbent.best_weight[i] = blocks.weight[i]
    if i == 0:
        keep_moves(0, moves)


@kl.kernel
def save_best(i, moves: Moves, incumbent: Incumbent, blocks: Blocks):
    """Save vertex i and block i if this partition is the best."""
    if i < incumbent.saved_vertices:
        save_vertex(i, moves, incumbent)
    save_block(i, moves, incumbent, blocks)

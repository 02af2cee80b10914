"""The best partition, and the list of vertices that have moved since."""

from __future__ import annotations

from portpart.algorithms.refinement.blocks.state import Blocks
from portpart.algorithms.refinement.incumbent.state import Incumbent
from portpart.algorithms.refinement.moves.list_moves import keep_moves
from portpart.algorithms.refinement.moves.state import Moves
from portpart.backends import language as kl


@kl.device
def set_best(v, block, incumbent: Incumbent):
    """The block of v in the best partition."""
    incumbent.best[v] = block
    return block


@kl.device
def reset_saved(v, incumbent: Incumbent):
    """Vertex v has not moved since the best partition; if it did, the list is done with."""
    incumbent.is_unsaved[v] = kl.int8(0)
    return v


@kl.device
def set_touched(v, touched, incumbent: Incumbent):
    """Whether v may be on a boundary of the partition that a level starts from."""
    incumbent.touched[v] = kl.int8(touched)
    return v


@kl.device
def list_unsaved(v, incumbent: Incumbent):
    """Put v on the list of vertices that have moved since the best partition, once."""
    if incumbent.is_unsaved[v] == 0:
        incumbent.is_unsaved[v] = kl.int8(1)
        incumbent.unsaved_list[kl.atomic_next(incumbent, Incumbent.unsaved)] = kl.int32(v)
    return v


@kl.device
def save_vertex(i, moves: Moves, incumbent: Incumbent):
    """Keep vertex i of the list of vertices moved since the best partition, and return it."""
    v = incumbent.unsaved_list[i]
    set_best(v, moves.part[v], incumbent)
    return reset_saved(v, incumbent)


@kl.device
def save_block(i, moves: Moves, incumbent: Incumbent, blocks: Blocks):
    """Keep the weight of block i if this partition is the best; the list of moves is done with."""
    if i < incumbent.saved_blocks:
        incumbent.best_weight[i] = blocks.weight[i]
    if i == 0:
        keep_moves(0, moves)
    return i


@kl.kernel
def save_best(i, moves: Moves, incumbent: Incumbent, blocks: Blocks):
    """Keep vertex and block i if this partition is the best."""
    if i < incumbent.saved_vertices:
        save_vertex(i, moves, incumbent)
    save_block(i, moves, incumbent, blocks)

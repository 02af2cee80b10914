"""Requests to move in one direction, in a buffer for each block (GP-metis, section III.C).

A vertex asks for the block it gains most with.  In one round only blocks of higher numbers are
asked for, in the next one only blocks of lower ones, so that two neighbours never change places.
If a block is asked for more than it has room for, the requests are sorted by vertex, by gain and by
block, each sort stable: a buffer for each block, best requests first.  A block takes requests as
long as all up to them fit; weight that leaves it in the same round does not count.

    request of     7  2  9  4  1        sorted     | 2  4  1 | 9  7 |
    for block      3  1  3  1  1    ->  block      | 1  1  1 | 3  3 |
    gain           2  5  4  5  0        weight to  | 1  2  3 | 1  2 |  from the buffer's beginning
"""

from __future__ import annotations

from portpart.algorithms.refinement.blocks.state import Blocks
from portpart.algorithms.refinement.figures import Figures
from portpart.algorithms.refinement.gains.state import ActiveSets
from portpart.algorithms.refinement.moves.list_moves import add_move_to, list_at, revoke_move
from portpart.algorithms.refinement.moves.state import Moves
from portpart.algorithms.refinement.moves.weight_copies import copy_for
from portpart.algorithms.refinement.piece import Recording
from portpart.algorithms.refinement.prefix.best_prefix import (
    WIDEST,
    exceeds,
    shorten_list,
    try_all,
)
from portpart.algorithms.refinement.prefix.trial import Sequence, Trial, record_order, trial_of
from portpart.backends import language as kl
from portpart.graphs.rows import Csr
from portpart.primitives.recorded_sort import set_largest
from portpart.primitives.scan import TILE, record_scan

NONE = -1


BY_VERTEX, BY_GAIN, BY_BLOCK = range(3)
"""By what requests are being sorted: `Sequence.by_gain`; `Sequence.kept` is how many tiles of them
there are."""


def record_requests(this: Recording) -> None:
    """Record how vertices with legal moves ask, and which requests are granted."""
    program, run, trial = this.program, this.run, trial_of(this)
    program.launch(run.level.next_movable, request_move)
    program.launch(1, try_all, team=WIDEST)
    with program.if_nonzero(trial.sequence.too_heavy):
        record_order(this, fill_request_key, order_requests_next)
        program.launch(run.level.moves, lay_out_request)
        record_scan(program, trial.other_keys, trial.keys, run.rebalancing.tile_sums,
                    run.level.moves, trial.sequence.kept)
        program.launch(run.level.moves, grant_request)
        program.launch(1, shorten_list)


@kl.kernel
def spare_source(i, graph: Csr, moves: Moves, active: ActiveSets, blocks: Blocks, figures: Figures,
                 trial: Trial):
    """Drop the legal move of a vertex without which its block would be too light.

    Too light is below mean / (1 + imbalance), as in METIS; all operations are IEEE's.
    """
    v = active.movable_list[figures.vertices - active.movable_begin + i]
    here = moves.part[v]
    left = blocks.weight[here] - kl.value_or(graph.vertex_weights, v, 1)
    mean = kl.float64(blocks.means[here])
    if kl.float64(left) * kl.float64(blocks.limits[here]) < mean * mean:
        trial.legal[v] = kl.int32(NONE)


@kl.kernel
def request_move(i, graph: Csr, moves: Moves, active: ActiveSets, figures: Figures, trial: Trial):
    """Enter the legal move of a vertex if it goes in the direction of the round.

    Atomic; the order of the list is free.
    """
    v = active.movable_list[figures.vertices - active.movable_begin + i]
    there = trial.legal[v]
    upwards = figures.iteration & 1 == 0
    if there != NONE and (there > moves.part[v]) == upwards:
        add_move_to(v, there, moves, figures)
        kl.atomic_max(trial.sequence, Sequence.top_gain, trial.gain[v])
        weight = kl.value_or(graph.vertex_weights, v, 1)
        kl.atomic_add(trial.weight_sums, copy_for(v, moves, figures) + there, weight)


@kl.kernel
def fill_request_key(i, moves: Moves, trial: Trial):
    """Key of a request: its vertex, how much less it gains than the best one, or its block."""
    v = moves.listed[i]
    key = kl.int64(v)
    if trial.sequence.by_gain == BY_GAIN:
        key = trial.sequence.top_gain - trial.gain[v]
    elif trial.sequence.by_gain == BY_BLOCK:
        key = kl.int64(moves.target[v])
    trial.keys[i] = key


@kl.kernel
def order_requests_next(_, moves: Moves, figures: Figures, trial: Trial):
    """After the vertices come the gains, then the blocks, and then the buffers are filled."""
    trial.sequence.ordering = kl.int64(trial.sequence.by_gain < BY_BLOCK)
    trial.sequence.by_gain += 1
    highest = trial.sequence.top_gain if trial.sequence.by_gain == BY_GAIN else figures.blocks
    set_largest(highest, trial.sorting.words)
    trial.sequence.kept = max(kl.int64(1), (moves.moves + TILE - 1) // TILE)
    trial.sequence.made = 0


@kl.kernel
def lay_out_request(i, graph: Csr, moves: Moves, trial: Trial):
    """Weight of a request; the first one for a block marks where the block's buffer begins."""
    v = moves.listed[i]
    trial.other_list[i] = v
    trial.other_keys[i] = kl.value_or(graph.vertex_weights, v, 1)
    begins = i == 0
    if not begins:
        begins = moves.target[moves.listed[i - 1]] != moves.target[v]
    if begins:
        trial.buffer_begin[moves.target[v]] = i


@kl.kernel
def grant_request(i, moves: Moves, blocks: Blocks, figures: Figures, trial: Trial):
    """List a request if its block has room for all up to it; the order of the list is free."""
    v = trial.other_list[i]
    block = moves.target[v]
    offered = trial.keys[i + 1] - trial.keys[trial.buffer_begin[block]]
    if exceeds(blocks.weight[block] + offered, block, blocks, figures) == 0:
        list_at(kl.atomic_next(trial.sequence, Sequence.made), v, moves)
    else:
        revoke_move(v, moves)

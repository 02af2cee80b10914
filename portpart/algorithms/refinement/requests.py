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

from portpart.algorithms.refinement.best_prefix import (
    NEVER,
    WIDEST,
    exceeds,
    shorten_list,
    try_all,
)
from portpart.algorithms.refinement.program import Recording
from portpart.algorithms.refinement.state import Level, Run
from portpart.algorithms.refinement.trial import Sequence, Trial, bits_of, record_order
from portpart.backends.language import (
    atomic_add,
    atomic_max,
    atomic_next,
    float64,
    int32,
    int64,
    kernel,
    value_or,
)
from portpart.graphs.rows import Csr
from portpart.primitives.scan import TILE, record_scan

NONE = -1


BY_VERTEX, BY_GAIN, BY_BLOCK = range(3)
"""By what requests are being sorted: `Sequence.by_gain`; `Sequence.kept` is how many tiles of them
there are."""


def record_requests(this: Recording, trial: Trial) -> None:
    """Record how vertices with legal moves ask, and which requests are granted."""
    program, run, sequence = this.program, this.run, trial.sequence
    program.launch(run.level.next_movable, request_move)
    program.launch(1, try_all, team=WIDEST)
    with program.if_nonzero(sequence.too_heavy):
        record_order(program, run, trial, fill_request_key, order_requests_next)
        program.launch(run.level.moves, lay_out_request)
        record_scan(program, trial.other_keys, run.leavers.position, run.leavers.tile_sums,
                    run.level.moves, sequence.kept)
        program.launch(run.level.moves, grant_request)
        program.launch(1, shorten_list)


@kernel
def spare_source(i, graph: Csr, run: Run, trial: Trial):
    """Drop the legal move of a vertex without which its block would be too light.

    Too light is below mean / (1 + imbalance), as in METIS; all operations are IEEE's.
    """
    v = run.active.movable[run.level.vertices - run.level.movable_begin + i]
    here = run.moves.part[v]
    left = run.blocks.weight[here] - value_or(graph.vertex_weights, v, 1)
    mean = float64(run.blocks.means[here])
    if float64(left) * float64(run.blocks.limits[here]) < mean * mean:
        trial.legal[v] = int32(NONE)


@kernel
def request_move(i, graph: Csr, run: Run, trial: Trial):
    """Enter the legal move of a vertex if it goes in the direction of the round.

    Atomic; the order of the list is free.
    """
    v = run.active.movable[run.level.vertices - run.level.movable_begin + i]
    there = trial.legal[v]
    upwards = run.level.iteration & 1 == 0
    if there != NONE and (there > run.moves.part[v]) == upwards:
        run.moves.moved_in[v] = int32(run.level.iteration)
        run.moves.target[v] = there
        run.moves.listed[atomic_next(run.level, Level.moves)] = int32(v)
        atomic_max(trial.sequence, Sequence.top_gain, trial.gain[v])
        stripe = int64(v) % run.level.weight_stripes * run.level.blocks
        atomic_add(trial.weight_sums, stripe + there, value_or(graph.vertex_weights, v, 1))


@kernel
def fill_request_key(i, run: Run, trial: Trial):
    """Key of a request: its vertex, how much less it gains than the best one, or its block."""
    v = run.moves.listed[i]
    key = int64(v)
    if trial.sequence.by_gain == BY_GAIN:
        key = trial.sequence.top_gain - trial.gain[v]
    elif trial.sequence.by_gain == BY_BLOCK:
        key = int64(run.moves.target[v])
    trial.keys[i] = key


@kernel
def order_requests_next(_, run: Run, trial: Trial):
    """After the vertices come the gains, then the blocks, and then the buffers are filled."""
    trial.sequence.ordering = int64(trial.sequence.by_gain < BY_BLOCK)
    trial.sequence.by_gain += 1
    highest = trial.sequence.top_gain if trial.sequence.by_gain == BY_GAIN else run.level.blocks
    trial.sorting.words.bits = bits_of(highest)
    trial.sequence.kept = max(int64(1), (run.level.moves + TILE - 1) // TILE)
    trial.sequence.made = 0


@kernel
def lay_out_request(i, graph: Csr, run: Run, trial: Trial):
    """Weight of a request; the first one for a block marks where the block's buffer begins."""
    v = run.moves.listed[i]
    trial.other_list[i] = v
    trial.other_keys[i] = value_or(graph.vertex_weights, v, 1)
    begins = i == 0
    if not begins:
        begins = run.moves.target[run.moves.listed[i - 1]] != run.moves.target[v]
    if begins:
        trial.buffer_begin[run.moves.target[v]] = i


@kernel
def grant_request(i, run: Run, trial: Trial):
    """List a request if its block has room for all up to it; the order of the list is free."""
    v = trial.other_list[i]
    block = run.moves.target[v]
    offered = run.leavers.position[i + 1] - run.leavers.position[trial.buffer_begin[block]]
    if exceeds(run.blocks.weight[block] + offered, block, run.blocks, run.level) == 0:
        run.moves.listed[atomic_next(trial.sequence, Sequence.made)] = v
    else:
        run.moves.moved_in[v] = int32(NEVER)

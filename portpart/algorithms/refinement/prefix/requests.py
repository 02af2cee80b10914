"""Requests to move in one direction, in a buffer for each block (GP-metis, section III.C).

A vertex requests its best target.  In one round only requests for blocks of higher numbers are
made, in the next one only requests for blocks of lower numbers, so that two neighbours never swap
their blocks.  If the requests for a block exceed its capacity, the requests are sorted by vertex,
by gain and by block, each sort stable: each block has a buffer, best requests first.  A block
grants requests as long as all up to them fit; weight that leaves it in the same round does not
count.

    request of     7  2  9  4  1        sorted     | 2  4  1 | 9  7 |
    for block      3  1  3  1  1    ->  block      | 1  1  1 | 3  3 |
    gain           2  5  4  5  0        weight to  | 1  2  3 | 1  2 |  from the buffer's beginning
"""

from __future__ import annotations

from dataclasses import dataclass

from portpart.algorithms.objectives import CUT, Balance, Objective
from portpart.algorithms.refinement import Figures, Recording, Refiner, TwoDirectionOptions, shared
from portpart.algorithms.refinement.blocks import Blocks
from portpart.algorithms.refinement.gains import ActiveSets
from portpart.algorithms.refinement.moves import (
    NEVER,
    Moves,
    add_move_to,
    copy_for,
    list_at,
    mark_moved,
)
from portpart.algorithms.refinement.prefix.best_prefix import (
    WIDEST,
    apply_all,
    exceeds,
    shorten_list,
)
from portpart.algorithms.refinement.prefix.independent_sets import (
    IndependentSets,
    moving_by,
    record_legal_moves,
)
from portpart.algorithms.refinement.prefix.move_sequence import (
    MoveSequence,
    PrefixWords,
    record_order,
    sequence_of,
)
from portpart.backends import language as kl
from portpart.backends.programs import ExecutionSpace
from portpart.graphs import Csr, Graph
from portpart.primitives import SCAN_TILE, record_scan, set_largest

NONE = -1


BY_VERTEX, BY_GAIN, BY_BLOCK = range(3)
"""The current sort key of requests, stored in `PrefixWords.by_gain`.  `PrefixWords.kept` is the
number of tiles of requests.
"""


def record_requests(this: Recording) -> None:
    """Record which vertices with legal moves make a request, and which requests are granted."""
    program, run, sequence = this.program, this.run, sequence_of(this)
    program.launch(run.level.next_movable, request_move)
    program.launch(1, apply_all, team=WIDEST)
    with program.if_nonzero(sequence.prefix.too_heavy):
        record_order(this, fill_request_key, order_requests_next)
        program.launch(run.level.moves, lay_out_request)
        record_scan(program, sequence.other_keys, sequence.keys, run.rebalancing.tile_sums,
                    run.level.moves, sequence.prefix.kept)
        program.launch(run.level.moves, grant_request)
        program.launch(1, shorten_list)


@kl.kernel
def protect_light_source(i, graph: Csr, moves: Moves, active: ActiveSets, blocks: Blocks,
                         figures: Figures, sequence: MoveSequence):
    """Drop the legal move of vertex i if its block would become too light without it.

    Too light is below mean / (1 + imbalance), as in METIS; all operations are IEEE's.
    """
    v = active.movable_list[figures.vertices - active.movable_begin + i]
    here = moves.part[v]
    left = blocks.weight[here] - kl.value_or(graph.vertex_weights, v, 1)
    mean = kl.float64(blocks.means[here])
    if kl.float64(left) * kl.float64(blocks.limits[here]) < mean * mean:
        sequence.legal[v] = kl.int32(NONE)


@kl.kernel
def request_move(i, graph: Csr, moves: Moves, active: ActiveSets, figures: Figures,
                 sequence: MoveSequence):
    """List the legal move of vertex i if it has the direction of the round.

    Atomic; the order of the list is arbitrary.
    """
    v = active.movable_list[figures.vertices - active.movable_begin + i]
    there = sequence.legal[v]
    upwards = figures.iteration & 1 == 0
    if there != NONE and (there > moves.part[v]) == upwards:
        add_move_to(v, there, moves, figures)
        kl.atomic_max(sequence.prefix, PrefixWords.top_gain, sequence.gain[v])
        weight = kl.value_or(graph.vertex_weights, v, 1)
        kl.atomic_add(sequence.weight_sums, copy_for(v, moves, figures) + there, weight)


@kl.kernel
def fill_request_key(i, moves: Moves, sequence: MoveSequence):
    """Store the key of request i: its vertex, the largest gain minus its gain, or its block."""
    v = moves.listed[i]
    key = kl.int64(v)
    if sequence.prefix.by_gain == BY_GAIN:
        key = sequence.prefix.top_gain - sequence.gain[v]
    elif sequence.prefix.by_gain == BY_BLOCK:
        key = kl.int64(moves.target[v])
    sequence.keys[i] = key


@kl.kernel
def order_requests_next(_, moves: Moves, figures: Figures, sequence: MoveSequence):
    """Sort by gain after the vertices, then by block, then end and fill the buffers."""
    sequence.prefix.ordering = kl.int64(sequence.prefix.by_gain < BY_BLOCK)
    sequence.prefix.by_gain += 1
    highest = sequence.prefix.top_gain if sequence.prefix.by_gain == BY_GAIN else figures.blocks
    set_largest(highest, sequence.sorting.words)
    sequence.prefix.kept = max(kl.int64(1), (moves.moves + SCAN_TILE - 1) // SCAN_TILE)
    sequence.prefix.made = 0


@kl.kernel
def lay_out_request(i, graph: Csr, moves: Moves, sequence: MoveSequence):
    """Store the weight of request i; the first request for a block begins its buffer."""
    v = moves.listed[i]
    sequence.other_list[i] = v
    sequence.other_keys[i] = kl.value_or(graph.vertex_weights, v, 1)
    begins = i == 0
    if not begins:
        begins = moves.target[moves.listed[i - 1]] != moves.target[v]
    if begins:
        sequence.buffer_begin[moves.target[v]] = i


@kl.kernel
def grant_request(i, moves: Moves, blocks: Blocks, figures: Figures, sequence: MoveSequence):
    """List request i if its block has capacity for all requests up to it, else drop it.

    The order of the list is arbitrary.
    """
    v = sequence.other_list[i]
    block = moves.target[v]
    offered = sequence.keys[i + 1] - sequence.keys[sequence.buffer_begin[block]]
    if exceeds(blocks.weight[block] + offered, block, blocks, figures) == 0:
        list_at(kl.atomic_next(sequence.prefix, PrefixWords.made), v, moves)
    else:
        mark_moved(v, NEVER, moves)


# Refinement in two alternating directions (GP-metis, section III.C), a program for each level
#
# The legal moves are those of independent-set refinement.  Here neighbours may move together, as
# they move in one direction.  Except for the moves of balanced partitions, all is shared with Jet:
# the gain cache, the sums of weights and cut, the best partition so far, and rebalancing.


@dataclass(frozen=True)
class TwoDirections(IndependentSets):
    """Requests in two alternating directions.

    Attributes
    ----------
    spares : bool
        Whether light blocks keep their vertices.
    """

    spares: bool = False

    def move(self, this: Recording) -> None:
        """Record legal moves, requests in the direction of the round, and which are granted."""
        record_legal_moves(this)
        if self.spares:
            this.program.launch(this.run.level.next_movable, protect_light_source)
        record_requests(this)


def two_direction_refiner(space: ExecutionSpace, finest: Graph, balance: Balance,
                          options: TwoDirectionOptions, seed: int,
                          objective: Objective = CUT) -> Refiner:
    """Return GP-metis's refinement of a hierarchy; see `Refiner`."""
    rule = TwoDirections(options.zero_gain, False, options.spare_sources)
    return Refiner(space, finest, balance, shared(options, 2 * options.pass_limit), seed,
                   objective=objective, pieces=moving_by(rule, options.rebalance))

"""HyperG's sequences of moves (dissertation 2.3, algorithms 8 and 9), of vertices of hypergraphs.

Every vertex that gains by a move to another block of its nets is a candidate.  They are put in
order, the largest gain first, of equal ones the smaller id, and the gain of each is computed once
all before it have moved: the afterburner over nets, in the order of gains.  Of the prefixes of the
sequence after which every block keeps its limit the one that gains most is made, the longest of
these; without any gain, none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from portpart.algorithms.objectives import Balance, Objective
from portpart.algorithms.refinement import (
    Figures,
    Piece,
    Recording,
    RefinementSizes,
    Refiner,
    Run,
    SequenceOptions,
    prefix,
    shared,
)
from portpart.algorithms.refinement.blocks import Blocks
from portpart.algorithms.refinement.gains import GainCache
from portpart.algorithms.refinement.moves import Moves
from portpart.algorithms.refinement.nets.state import NetAfterburner
from portpart.algorithms.refinement.nets.steps import NetPropagation, accept_all, moving_on_nets
from portpart.backends import language as kl
from portpart.backends.programs import ExecutionSpace
from portpart.graphs import Hypergraph


@kl.device
def has_positive_gain(v, moves: Moves, cache: GainCache):
    """Whether v gains by moving to its best target."""
    result = cache.best_target[v] >= 0
    if result:
        result = cache.gain[v] > 0
    return result


@dataclass(frozen=True)
class Sequences(NetPropagation):
    """Sequences of moves; those behind the best prefix are made where there is room, or not."""

    order: str = "gain"
    apply_later_moves: bool = True

    loses = False
    wants: ClassVar[kl.DeviceFunction] = has_positive_gain
    agree: ClassVar[kl.DeviceFunction] = accept_all

    def records(self, space: ExecutionSpace, sizes: RefinementSizes,
                run: Run) -> dict[str, kl.Record]:
        """The sequence."""
        return {"sequence": prefix.sequence_for(space, sizes, run, False, self.apply_later_moves)}

    def move(self, this: Recording) -> None:
        """Candidates, what they gain one by one, and the best prefix."""
        super().move(this)
        program, level = this.program, this.run.level
        program.launch(1, begin_order, team=prefix.WIDEST)
        program.launch(level.moves, take_first_gain)
        prefix.record_order(this, prefix.fill_key, prefix.order_by_gain_next)
        program.launch(level.moves, take_later_gain)
        prefix.record_cut(this, by_sum=True)


def sequence_pieces(options: SequenceOptions) -> tuple[Piece, ...]:
    """HyperG's refinement."""
    rule = Sequences(holds_heavy=options.hold_heavy, apply_later_moves=options.apply_later_moves)
    return moving_on_nets(rule, *prefix.relaxed_limits(options.rebalance))


def sequence_refiner(space: ExecutionSpace, finest: Hypergraph, balance: Balance,
                     options: SequenceOptions, seed: int, objective: Objective) -> Refiner:
    """HyperG's refinement of a hierarchy; see `Refiner`."""
    return Refiner(space, finest, balance, shared(options, options.round_limit), seed,
                   objective=objective, pieces=sequence_pieces(options))


@kl.kernel
def begin_order(_, moves: Moves, blocks: Blocks, figures: Figures, sequence: prefix.MoveSequence):
    """Begin to sort the moves by vertex, then by gain; nothing has moved.  Called by one team."""
    prefix.begin_weights(blocks, figures, sequence)
    if kl.lane() == 0:
        prefix.set_top_gain(0, sequence.prefix)
        prefix.order_by_vertex(1, moves, figures, sequence)


@kl.kernel
def take_first_gain(i, moves: Moves, cache: GainCache, sequence: prefix.MoveSequence):
    """A move is sorted by what it gains alone; atomic, independent of order."""
    v = moves.listed[i]
    prefix.note_gain(v, cache.gain[v], sequence)


@kl.kernel
def take_later_gain(i, moves: Moves, afterburner: NetAfterburner, sequence: prefix.MoveSequence):
    """What a move gains after those before it takes the place of what it was sorted by."""
    v = moves.listed[i]
    prefix.set_gain(v, afterburner.after[v], sequence)

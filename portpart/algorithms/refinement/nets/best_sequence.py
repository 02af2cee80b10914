"""HyperG's sequences of moves (dissertation 2.3, algorithms 8 and 9), of vertices of hypergraphs.

Every vertex that gains by a move to another block of its nets is a candidate.  The candidates are
sorted by decreasing gain, then by id, and the gain of each move is computed again after all moves
before it: the afterburner over nets, in the order of gains.  Of all prefixes of the sequence after
which every block keeps its limit, the one that gains most is applied; the longest of several, and
none without a gain.
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
    """Sequences of moves.

    Moves behind the best prefix are optionally made if their target has capacity.
    """

    order: str = "gain"
    apply_later_moves: bool = True

    loses = False
    proposes: ClassVar[kl.DeviceFunction] = has_positive_gain
    accepts: ClassVar[kl.DeviceFunction] = accept_all

    def records(self, space: ExecutionSpace, sizes: RefinementSizes,
                run: Run) -> dict[str, kl.Record]:
        """Return the record of the sequence."""
        return {"sequence": prefix.sequence_for(space, sizes, run, False, self.apply_later_moves)}

    def move(self, this: Recording) -> None:
        """Record the candidates, their gains one after another, and the best prefix."""
        super().move(this)
        program, level = this.program, this.run.level
        program.launch(1, begin_order, team=prefix.WIDEST)
        program.launch(level.moves, store_own_gain)
        prefix.record_order(this, prefix.fill_key, prefix.order_by_gain_next)
        program.launch(level.moves, store_later_gain)
        prefix.record_cut(this, by_sum=True)


def sequence_pieces(options: SequenceOptions) -> tuple[Piece, ...]:
    """Return the pieces of HyperG's refinement."""
    rule = Sequences(holds_heavy=options.hold_heavy, apply_later_moves=options.apply_later_moves)
    return moving_on_nets(rule, *prefix.relaxed_limits(options.rebalance))


def sequence_refiner(space: ExecutionSpace, finest: Hypergraph, balance: Balance,
                     options: SequenceOptions, seed: int, objective: Objective) -> Refiner:
    """Return HyperG's refinement of a hierarchy; see `Refiner`."""
    return Refiner(space, finest, balance, shared(options, options.round_limit), seed,
                   objective=objective, pieces=sequence_pieces(options))


@kl.kernel
def begin_order(_, moves: Moves, blocks: Blocks, figures: Figures, sequence: prefix.MoveSequence):
    """Start to sort the moves by vertex, then by gain, with the current weights.

    Called by one team.
    """
    prefix.begin_weights(blocks, figures, sequence)
    if kl.lane() == 0:
        prefix.set_top_gain(0, sequence.prefix)
        prefix.order_by_vertex(1, moves, figures, sequence)


@kl.kernel
def store_own_gain(i, moves: Moves, cache: GainCache, sequence: prefix.MoveSequence):
    """Store the gain of move i alone, by which it is sorted.  Atomic, independent of order."""
    v = moves.listed[i]
    prefix.note_gain(v, cache.gain[v], sequence)


@kl.kernel
def store_later_gain(i, moves: Moves, afterburner: NetAfterburner, sequence: prefix.MoveSequence):
    """Replace the gain of move i by its gain after the moves before it."""
    v = moves.listed[i]
    prefix.set_gain(v, afterburner.after[v], sequence)

"""HyperG's sequences of moves (dissertation 2.3, algorithms 8 and 9), of vertices of hypergraphs.

Every vertex that gains by a move to another block of its nets is a candidate.  They are put in
order, the largest gain first, of equal ones the smaller id, and each is told what it gains once all
before it have moved: the afterburner over nets, in the order of gains.  Of the prefixes of the
sequence after which every block keeps its limit the one that gains most is made, the longest of
these; without any gain, none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from portpart.algorithms.balance.limits import Balance
from portpart.algorithms.objectives.objective import Objective
from portpart.algorithms.refinement.blocks.state import Blocks
from portpart.algorithms.refinement.figures import Figures
from portpart.algorithms.refinement.gains.state import GainCache
from portpart.algorithms.refinement.level import Run
from portpart.algorithms.refinement.moves.state import Moves
from portpart.algorithms.refinement.nets.move_rule import OnNets
from portpart.algorithms.refinement.nets.state import NetAfterburner
from portpart.algorithms.refinement.nets.wants import agree_to_all
from portpart.algorithms.refinement.options import SequenceOptions
from portpart.algorithms.refinement.prefix.best_prefix import WIDEST, record_cut
from portpart.algorithms.refinement.prefix.held_limits import (
    record_held,
    record_lifted,
    with_own_limits,
)
from portpart.algorithms.refinement.prefix.trial import (
    Trial,
    begin_weights,
    fill_key,
    note_gain,
    order_by_gain_next,
    order_by_vertex,
    record_order,
    set_gain,
    set_top_gain,
    trial_for,
)
from portpart.algorithms.refinement.program import Recording
from portpart.algorithms.refinement.refiner import Refiner
from portpart.algorithms.refinement.sizes import Sizes
from portpart.backends import language as kl
from portpart.backends.interface import ExecutionSpace
from portpart.backends.language import DeviceFunction
from portpart.graphs.hypergraph import Hypergraph


@kl.device
def would_gain(v, moves: Moves, cache: GainCache):
    """Whether v gains by moving to its best target."""
    result = cache.best_target[v] >= 0
    if result:
        result = cache.gain[v] > 0
    return result


@dataclass(frozen=True)
class Sequences(OnNets):
    """Sequences of moves as a move rule."""

    order: str = "gain"
    options: SequenceOptions = field(default_factory=SequenceOptions)

    loses = False
    wants: ClassVar[DeviceFunction] = would_gain
    agree: ClassVar[DeviceFunction] = agree_to_all

    @property
    def name(self) -> str:
        return f"sequences on nets, {self.options.rebalance}"

    def work_on(self, space: ExecutionSpace, run: Run) -> Run:
        return run if self.options.rebalance else with_own_limits(space, run)

    def more(self, space: ExecutionSpace, sizes: Sizes, run: Run) -> Trial:
        return trial_for(space, sizes, run, False, self.options.fill_rooms)

    def record_begin(self, this: Recording) -> None:
        super().record_begin(this)
        if not self.options.rebalance:
            record_lifted(this)

    def record(self, this: Recording, more: Any) -> None:
        """Record a round: candidates, what they gain one after the other, and the best prefix."""
        program, level = this.program, this.run.level
        if not self.options.rebalance:
            record_held(this)
        super().record(this, more)
        program.launch(1, begin_order, team=WIDEST)
        program.launch(level.moves, take_first_gain)
        record_order(program, this.run, more, fill_key, order_by_gain_next)
        program.launch(level.moves, take_later_gain)
        record_cut(program, this.run, more, by_sum=True)


def sequence_refiner(space: ExecutionSpace, finest: Hypergraph, balance: Balance,
                     options: SequenceOptions, seed: int, objective: Objective) -> Refiner:
    """HyperG's refinement of a hierarchy; see `Refiner`."""
    return Refiner(space, finest, balance, options.shared(), seed, objective=objective,
                   rule=Sequences(holds_heavy=options.hold_heavy, options=options))


@kl.kernel
def begin_order(_, moves: Moves, blocks: Blocks, figures: Figures, trial: Trial):
    """The moves are to be sorted by vertex, then by gain; nothing has moved.  One team."""
    begin_weights(blocks, figures, trial)
    if kl.lane() == 0:
        set_top_gain(0, trial.sequence)
        order_by_vertex(1, moves, figures, trial)


@kl.kernel
def take_first_gain(i, moves: Moves, cache: GainCache, trial: Trial):
    """A move is sorted by what it gains alone; atomic, order-free."""
    v = moves.listed[i]
    note_gain(v, cache.gain[v], trial)


@kl.kernel
def take_later_gain(i, moves: Moves, afterburner: NetAfterburner, trial: Trial):
    """What a move gains after those before it takes the place of what it was sorted by."""
    v = moves.listed[i]
    set_gain(v, afterburner.after[v], trial)

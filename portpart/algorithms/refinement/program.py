"""Jet refinement of a level, as one recorded program (Jet, algorithm 4.1).

Label propagation runs while the blocks are balanced, rebalancing while they are not; the best
balanced partition is kept.  Nothing returns to the host until the level is done.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, NamedTuple

from portpart.algorithms.objectives.cut import COUNTING_TEAM, HUB_TEAM
from portpart.algorithms.objectives.objective import Rules
from portpart.algorithms.refinement.accounting import weigh_moves, weigh_moves_of_hubs
from portpart.algorithms.refinement.evaluation import evaluate, restore_block, restore_cost
from portpart.algorithms.refinement.gains.active_sets import keep_movable, keep_on_boundary
from portpart.algorithms.refinement.gains.by_degree import DIRTY, UNRATED, Asking, Body, ByDegree
from portpart.algorithms.refinement.gains.gain_cache import begin_vertex, refreshed
from portpart.algorithms.refinement.incumbent.unsaved_list import save_best
from portpart.algorithms.refinement.level import More, Run
from portpart.algorithms.refinement.moves.list_moves import move_vertex
from portpart.algorithms.refinement.propagation.label_propagation import (
    keep_paying_moves,
    keep_paying_moves_of_hubs,
    rest_by_chance,
)
from portpart.algorithms.refinement.rebalancing.eviction import (
    gather_other_leavers,
    list_all_leavers,
    list_movable_leavers,
    list_other_leavers,
    rate_gathered,
)
from portpart.algorithms.refinement.rebalancing.loss_buckets import set_threshold
from portpart.algorithms.refinement.rebalancing.plan import turn_boundary
from portpart.algorithms.refinement.rebalancing.rebalance import (
    Rated,
    clear_waiting,
    leave_strongly,
    leave_weakly,
    leave_where_it_fits,
    place_waiting,
    weigh_leaving,
)
from portpart.algorithms.refinement.rebalancing.relief import BY_WEIGHT, Relief
from portpart.algorithms.refinement.sizes import Sizes
from portpart.backends.interface import ExecutionSpace
from portpart.backends.language import Kernel, Word
from portpart.backends.program import Element, Program
from portpart.graphs.rows import Csr
from portpart.primitives.scan import record_scan

GATHERING_TEAM = 32
"""Lanes that gather vertices from a batch of a list."""


class Widths(NamedTuple):
    """Teams for the vertices of a graph: all of them, those with many neighbours, and hubs.

    Attributes
    ----------
    of_many : int
        Lanes for a vertex of a list that may be long,
    team : int
        and of one that seldom is.
    many, hubs : bool
        Whether there are vertices of these kinds.
    counter : Word
        Type of numbers that hold any sum of arc weights.
    few : int
        Vertices of higher degree are those with many neighbours.
    one_lane : int
        Most neighbours of a vertex, if these are so few that long lists are work for single lanes;
        else 0.
    summed : bool
        Whether the ties of hubs are summed up before anybody asks for them.
    """

    of_many: int
    team: int
    many: bool
    hubs: bool
    counter: Word
    few: int
    one_lane: int = 0
    summed: bool = False

    def of_list(self, team: int) -> tuple[tuple[int, int], ...]:
        """Lanes, and whether each vertex has one, for each launch over a list of any length."""
        return ((team, 0), (1, 1)) if self.one_lane else ((team, 0),)


@dataclass(frozen=True, eq=False)
class Recording:
    """A program that is being recorded, and what its launches are made of.

    Attributes
    ----------
    program : Program
    run : Run
        Slots.
    widths : Widths
    rules : Rules
    relief : Relief
    save : Kernel
        Keeps what the best partition has elsewhere than the one before.
    """

    program: Program
    run: Run
    widths: Widths
    rules: Rules
    relief: Relief = BY_WEIGHT
    save: Kernel = save_best

    def __post_init__(self) -> None:
        self.program.statics.update(rules=self.rules, relief=self.relief, price=self.rules.price)

    def by_degree(self, body: Body, asking: Asking) -> ByDegree:
        """The kernels of a body for the objective."""
        return ByDegree(body, asking, self.rules)


class MoveRule:
    """What moves vertices while the blocks are balanced: Jet's label propagation, or another rule.

    Attributes
    ----------
    loses : bool
        Whether moves may lose as much as the filter ratio allows.
    holds_heavy : bool
        Whether vertices that are heavy for a block stay.
    """

    loses = True
    holds_heavy = False

    @property
    def name(self) -> str:
        """A part of the key of compiled programs."""
        return "label propagation"

    def work_on(self, space: ExecutionSpace, run: Run) -> Run:
        """The work arrays, with some of the rule's own if it wants that."""
        return run

    def more(self, space: ExecutionSpace, sizes: Sizes, run: Run) -> More:
        """Work arrays of the rule's own; they are called ``trial`` in programs."""
        return More()

    def rows(self, space: ExecutionSpace, finest: Any, num_blocks: int) -> Callable[[Any], Csr]:
        """What makes the rows of a graph that is refined, as kernels take them."""
        return attrgetter("csr")

    def sums_hubs(self, num_blocks: int) -> bool:
        """Whether the ties of hubs are summed up before their gains are brought up to date."""
        return False

    def record_sums(self, this: Recording) -> None:
        """Record that, for all that are out of date."""

    def record_begin(self, this: Recording) -> None:
        """Record what is done before the partition that a level starts with is looked at."""

    def record_woken(self, this: Recording, more: Any) -> None:
        """Record what is done about vertices that are woken, before they are looked at."""

    def record(self, this: Recording, more: Any) -> None:
        """Record a round: a movable vertex moves if that still pays after better moves."""
        movable = this.run.level.movable
        with this.program.side_by_side():
            this.program.launch(movable, keep_movable)
            launch_with_hubs(this, movable, (keep_paying_moves, keep_paying_moves_of_hubs),
                             this.widths.of_many)

    def record_accounting(self, this: Recording) -> None:
        """Record how weights and costs change with the moves, and whose gains are out of date."""
        launch_with_hubs(this, this.run.level.moves, (weigh_moves, weigh_moves_of_hubs),
                         this.widths.team)

    def record_end(self, this: Recording) -> None:
        """Record what is done beside the evaluation of a partition."""


LABEL_PROPAGATION = MoveRule()


def record_refinement(this: Recording, rule: MoveRule, more: More) -> None:
    """Record the refinement of a level.

    The records of the program are called ``graph``, ``run``, ``tables`` and ``trial``, which is
    `more`.
    """
    _record_begin(this)
    rule.record_begin(this)
    record_iterations(this, rule, more)


def record_iterations(this: Recording, rule: MoveRule, more: More) -> None:
    """Record what follows where all is known of the partition to begin with."""
    program, run = this.program, this.run
    _record_evaluation(this, rule)
    with program.while_loop(run.level.running):
        _refresh(this, rule)
        with program.if_nonzero(run.level.overloaded):
            _rebalance(this)
        with program.otherwise():
            if this.relief.until_balanced:
                with program.if_nonzero(run.level.thinned):
                    program.launch(run.level.movable, rest_by_chance)
            rule.record(this, more)
        rule.record_accounting(this)
        _record_evaluation(this, rule)
    program.launch(run.level.saves, this.save)


def _record_begin(this: Recording) -> None:
    """Start from the weights and the cost of the best partition, if any."""
    level = this.run.level
    this.program.launch(level.vertices, begin_vertex)
    this.program.launch(level.restored_blocks, restore_block)
    this.program.launch(level.restored_stripes, restore_cost)


def _refresh(this: Recording, rule: MoveRule) -> None:
    """Bring the gains of vertices beside moves up to date; keep what was the best."""
    program, level, widths = this.program, this.run.level, this.widths
    kernels = this.by_degree(refreshed, DIRTY)
    with program.side_by_side():
        program.launch(level.saves, this.save)
        for team, one_lane in widths.of_list(widths.team):
            max_degree = widths.one_lane if one_lane else widths.few
            if max_degree >= 0:
                program.launch(level.dirty, kernels.few(widths.counter, max_degree), team=team,
                               one_lane=one_lane, more=More())
        launch_many(this, level.dirty_groups, kernels)
        if widths.summed:
            rule.record_sums(this)
        else:
            launch_hubs(this, level.hubs, kernels)
    if widths.summed:
        launch_hubs(this, level.hubs, kernels)


def launch_by_degree(this: Recording, count: Element, hubs: Element, kernels: ByDegree,
                     more: More | None = None) -> None:
    """Launch the kernels for vertices with few and with many neighbours, and for hubs.

    Of the kernels for kinds of vertices that the graph has not, none.  They get `more`.
    """
    widths = this.widths
    if widths.few >= 0:
        this.program.launch(count, kernels.few(widths.counter, widths.few), team=widths.team,
                            one_lane=0, more=more or More())
    launch_many(this, count, kernels, more)
    launch_hubs(this, hubs, kernels, more)


def launch_many(this: Recording, count: Element, kernels: ByDegree,
                more: More | None = None) -> None:
    """Launch the kernel for vertices with many neighbours, if there are any."""
    if this.widths.many:
        this.program.launch(count, kernels.many(this.widths.counter), team=this.rules.team_of_many,
                            more=more or More())


def launch_hubs(this: Recording, hubs: Element, kernels: ByDegree,
                more: More | None = None) -> None:
    """Launch the kernel for hubs, if there are any; those with sums are work for fewer lanes."""
    widths = this.widths
    if widths.hubs:
        this.program.launch(hubs, kernels.of_hub(widths.counter, widths.summed),
                            team=COUNTING_TEAM if widths.summed else HUB_TEAM,
                            more=more or More())


def launch_with_hubs(this: Recording, count: Element, kernels: tuple[Kernel, Kernel],
                     team: int, pieces: Element | None = None) -> None:
    """Launch the kernel for a list, by so many lanes, and the one for hubs, side by side.

    The latter for their pieces, if they are given.
    """
    program, widths = this.program, this.widths
    with program.side_by_side():
        for lanes, one_lane in widths.of_list(team):
            program.launch(count, kernels[0], team=lanes, one_lane=one_lane)
        if widths.hubs:
            hubs = this.run.level.hubs if pieces is None else pieces
            program.launch(hubs, kernels[1], team=HUB_TEAM)


def _rebalance(this: Recording) -> None:
    program, level = this.program, this.run.level
    with program.if_nonzero(level.crowded):
        program.launch(level.on_boundary, keep_on_boundary)
        program.launch(1, turn_boundary)
    with program.side_by_side():
        if this.relief.rates_boundary:
            program.launch(level.movable, list_movable_leavers)
            _list_others(this)
        program.launch(level.swept, list_all_leavers)
    _rate(this)
    if this.relief.rates_boundary:
        with program.if_nonzero(level.short):
            with program.side_by_side():
                _list_others(this)
            _rate(this)
    _record_leaving(this)


def _list_others(this: Recording) -> None:
    """List vertices of a boundary that are not movable, or gather them from a long list."""
    this.program.launch(this.run.level.single, list_other_leavers)
    this.program.launch(this.run.level.batches, gather_other_leavers, team=GATHERING_TEAM)


def _record_leaving(this: Recording) -> None:
    """How those up to the thresholds leave: strongly or weakly, as the level says."""
    program, level, own = this.program, this.run.level, this.run.rebalancing
    with program.if_nonzero(level.strong):
        program.launch(level.leavers, weigh_leaving)
        record_scan(program, own.leaving, own.position, own.tile_sums, level.vertices, level.tiles)
        if this.relief.waits:
            program.launch(level.blocks, clear_waiting)
            program.launch(level.leavers, leave_where_it_fits)
            program.launch(1, place_waiting, team=256)
        else:
            program.launch(level.leavers, leave_strongly)
    with program.otherwise():
        program.launch(level.leavers, leave_weakly)


def _rate(this: Recording) -> None:
    """Rate those that have only been listed so far, then see who has to leave."""
    program, level = this.program, this.run.level
    if this.relief.rates_boundary:
        with program.if_nonzero(level.batches):
            program.launch(level.leavers, rate_gathered)
    with program.side_by_side():
        launch_by_degree(this, level.unrated, level.unrated_hubs,
                         this.by_degree(Rated(this.relief), UNRATED))
    program.launch(level.blocks, set_threshold, team=32)


def _record_evaluation(this: Recording, rule: MoveRule) -> None:
    """How a partition is evaluated, while what has been decided on moves."""
    with this.program.side_by_side():
        this.program.launch(1, evaluate, team=256)
        rule.record_end(this)
        this.program.launch(this.run.level.moves, move_vertex)

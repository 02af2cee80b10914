"""Pieces for nets: their state, and label propagation with nets instead of arcs.

Vertices with a proposed move list their nets, and move if the nets accept.  Device functions select
the proposed and the accepted moves, so that label propagation and sequences of moves share the
rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from portpart.algorithms import objectives
from portpart.algorithms.refinement import (
    SHARED,
    Figures,
    Piece,
    Recording,
    RefinementSizes,
    gains,
    is_proposed,
    launch_with_hubs,
)
from portpart.algorithms.refinement.blocks import Blocks, migration_gain
from portpart.algorithms.refinement.moves import Moves, commit_move, move_vertex
from portpart.algorithms.refinement.nets import lists, moves
from portpart.algorithms.refinement.nets.afterburner import (
    afterburner_large_net,
    afterburner_small_net,
)
from portpart.algorithms.refinement.nets.move_order import MoveOrder, order_by
from portpart.algorithms.refinement.nets.state import (
    HubChunks,
    NetAfterburner,
    NetLists,
    RefinedNetsOf,
)
from portpart.backends import language as kl
from portpart.backends.language import DeviceFunction
from portpart.backends.programs import ExecutionSpace
from portpart.graphs import Csr, degree_of


class ActingOnNets(kl.Scope):
    """Records that determine which moves are proposed and accepted, and list them."""

    moves: Moves
    cache: gains.GainCache
    active: gains.ActiveSets
    blocks: Blocks
    lists: NetLists
    pin_counts: objectives.PinCounts
    afterburner: NetAfterburner
    figures: Figures


@kl.device
def needs_afterburner(row, proposed, here, there, sets: objectives.PinSets,
                      pin_counts: objectives.PinCounts, afterburner: NetAfterburner):
    """Return 1 if the afterburner must examine a net for a proposed move, else 0.

    `row` is its row of counters, below zero without counters.  A net with counters costs the same
    after all proposed moves if none of its blocks may lose all its pins and none gets its first
    one: then it is not examined.
    """
    selected = kl.int64(proposed != 0)
    if selected != 0 and row >= 0:
        first = kl.int64(row) * sets.blocks
        leaving = kl.atomic_add(afterburner.leaving, first + here, 1) + 1
        stays = leaving < pin_counts.counts[first + here] and pin_counts.counts[first + there] != 0
        selected = 1 - kl.int64(stays)
    return selected


@kl.device
def list_nets_of(v, begin, end, graph: objectives.NetRows, state: ActingOnNets):
    """List the nets of v, whose move is proposed, at places begin ... end-1.

    Independent of order.  Called by all lanes of a team.
    """
    here = state.moves.part[v]
    there = state.cache.best_target[v]
    if kl.lane() == 0 and begin == graph.begin[v]:
        state.afterburner.after[v] = (migration_gain(v, there, state.blocks)
                                      - migration_gain(v, here, state.blocks))
    width = kl.team_size()
    nets = objectives.AtOnce()
    rows = objectives.AtOnce()
    for base in range(begin, end, objectives.AT_ONCE * width):
        place = base + kl.lane()
        for j in kl.static_range(objectives.AT_ONCE):
            nets[j] = objectives.net_at(place + j * width, end, graph)
        for j in kl.static_range(objectives.AT_ONCE):
            rows[j] = graph.sets.row[nets[j]]
        within = lists.nets_within(place, end)
        selected = kl.int64(0)
        for j in kl.static_range(objectives.AT_ONCE):
            selected += needs_afterburner(rows[j], within & (1 << j), here, there, graph.sets,
                                          state.pin_counts, state.afterburner) << j
        lists.list_nets(nets, selected, NetLists.small_listed, NetLists.large_listed, graph.sets,
                        state.lists)


@kl.device
def accept_all(v, afterburner: NetAfterburner):
    """Return True: every proposed move is kept, to select from later."""
    return True


@kl.device
def accept_non_losing(v, afterburner: NetAfterburner):
    """Whether moving v does not increase the cost of its nets plus its migration cost."""
    return afterburner.after[v] >= 0


@kl.device
def move_if_accepted(v, begin, end, graph: objectives.NetRows, state: ActingOnNets,
                     accepts: kl.StaticValue, commits: kl.StaticValue):
    """Commit v's move if it is accepted, and reset counts of proposals at places begin ... end-1.

    Called by all lanes of a team.
    """
    here = state.moves.part[v]
    width = kl.team_size()
    rows = objectives.AtOnce()
    for place in range(begin + kl.lane(), end, objectives.AT_ONCE * width):
        for j in kl.static_range(objectives.AT_ONCE):
            rows[j] = graph.sets.row[objectives.net_at(place + j * width, end, graph)]
        for j in kl.static_range(objectives.AT_ONCE):
            if rows[j] >= 0:
                first = kl.int64(rows[j]) * graph.sets.blocks
                state.afterburner.leaving[first + here] = kl.int32(0)
    if kl.lane() == 0 and begin == graph.begin[v] and accepts(v, state.afterburner):
        commits(v, state.cache.best_target[v], state.moves, state.figures)


@kl.kernel
def act_for_movable(i, graph: objectives.NetRows, state: ActingOnNets, one_lane,
                    proposes: kl.StaticValue, act: kl.StaticValue):
    """Apply `act` to movable vertex i if its move is proposed, unless it is a hub."""
    if gains.uses_lanes(one_lane, state.active.movable, state.figures):
        v = gains.movable_vertex(i, state.active)
        is_hub = degree_of(v, graph) > state.figures.hub_degree
        if not is_hub and proposes(v, state.moves, state.cache):
            act(v, kl.int64(graph.begin[v]), kl.int64(graph.end[v]), graph, state)


@kl.kernel
def act_for_chunks(p, graph: objectives.NetRows, state: ActingOnNets, hub_chunks: HubChunks,
                   proposes: kl.StaticValue, act: kl.StaticValue):
    """Apply `act` to a chunk of a hub whose move is proposed."""
    v = hub_chunks.vertex[p]
    if proposes(v, state.moves, state.cache):
        act(v, hub_chunks.begin[p], lists.end_of_chunk(p, graph, hub_chunks), graph, state)


def of_proposed(proposes: kl.DeviceFunction, act: kl.DeviceFunction) -> tuple[kl.Kernel, kl.Kernel]:
    """Return the kernels that call `act` for proposed moves: of other vertices, and of hubs.

    `act` is `list_nets_of`, or `move_if_accepted` with a rule.
    """
    return (act_for_movable.bound(proposes=proposes, act=act),
            act_for_chunks.bound(proposes=proposes, act=act))


@dataclass(frozen=True)
class NetSteps(Piece):
    """The state of the nets, and the sums of weights and cost.

    Attributes
    ----------
    sorts : bool
        Whether moves are sorted, which takes more memory.
    """

    sorts: bool = False

    concerns: ClassVar[DeviceFunction] = moves.concerns_some

    def rows(self, space: ExecutionSpace, finest: Any, num_blocks: int) -> Callable[[Any], Csr]:
        """Return a function from a hypergraph to its rows with the state of its nets."""
        hubs = RefinementSizes(finest.num_vertices, finest.num_pins, num_blocks).hubs
        return RefinedNetsOf(space, objectives.net_sizes(finest, num_blocks, self.sorts, hubs))

    def sums_hubs(self, num_blocks: int) -> bool:
        """Whether hubs are summed up: if a word holds the blocks of a net."""
        return objectives.words_for(num_blocks) == 1

    def begin(self, this: Recording) -> None:
        """Compute the state of all nets."""
        program, sets, part = this.program, rows_of(this).sets, this.run.moves.part
        if this.widths.hubs:
            program.launch(this.run.level.hubs, lists.split_hub)
        program.launch(sets.nets, objectives.begin_net, part=part)
        program.launch(sets.listing, objectives.begin_listing_net, team=objectives.SMALL_TEAM,
                       part=part, store=objectives.store_list)
        program.launch(sets.large, objectives.begin_large_net, team=objectives.LARGE_TEAM,
                       part=part)

    def refresh(self, this: Recording) -> None:
        """Sum up the chunks of hubs."""
        if this.widths.summed:
            this.program.launch(rows_of(this).hub_chunks.chunks, lists.sum_chunk,
                                team=objectives.HUB_TEAM,
                                sums=objectives.PieceSums(this.rules, this.widths.counter))

    def account(self, this: Recording) -> None:
        """Update weights, nets and costs after the moves."""
        program, rows = this.program, rows_of(this)
        launch_with_hubs(this, this.run.level.moves,
                         (moves.touch_nets_of_moves, moves.touch_nets_of_chunks),
                         this.widths.team, rows.hub_chunks.chunks)
        with program.side_by_side():
            program.launch(rows.lists.small_touched, moves.update_small_net,
                           team=objectives.SMALL_TEAM, concerns=self.concerns)
            program.launch(rows.lists.large_touched, moves.update_large_net,
                           team=objectives.LARGE_TEAM, concerns=self.concerns)

    def end(self, this: Recording) -> None:
        """Move the vertices, and empty the lists of nets."""
        this.program.launch(1, lists.empty_lists)
        if this.widths.summed:
            this.program.launch(this.run.level.hubs, lists.clear_sums,
                                team=objectives.COUNTING_TEAM)
        this.program.launch(this.run.level.moves, move_vertex)


@dataclass(frozen=True)
class NetPropagation(Piece):
    """Label propagation with the afterburner over nets.

    Attributes
    ----------
    order : str
        The order in which the afterburner applies moves: one of `move_order.ORDERS`.
    holds_heavy : bool
        Whether heavy vertices stay.
    """

    order: str = "id"
    holds_heavy: bool = True

    loses = True
    proposes: ClassVar[DeviceFunction] = is_proposed
    accepts: ClassVar[DeviceFunction] = accept_non_losing
    commits: ClassVar[DeviceFunction] = commit_move

    @property
    def move_order(self) -> MoveOrder:
        """The order of the proposed moves."""
        return order_by(self.order, self.proposes)

    def move(self, this: Recording) -> None:
        """Propose moves, and make the moves that the nets accept."""
        program, movable, rows = this.program, this.run.level.movable, rows_of(this)
        with program.side_by_side():
            program.launch(movable, gains.keep_movable)
            launch_with_hubs(this, movable, of_proposed(self.proposes, list_nets_of),
                             this.widths.of_many, rows.hub_chunks.chunks)
        with program.side_by_side():
            program.launch(rows.lists.small_listed, afterburner_small_net,
                           team=objectives.SMALL_TEAM, move_order=self.move_order)
            program.launch(rows.lists.large_listed, afterburner_large_net,
                           team=objectives.LARGE_TEAM, move_order=self.move_order)
        move = move_if_accepted.bound(accepts=self.accepts, commits=self.commits)
        launch_with_hubs(this, movable, of_proposed(self.proposes, move), this.widths.of_many,
                         rows.hub_chunks.chunks)


def jet_on_nets(order: str = "id") -> tuple[Piece, ...]:
    """Return the pieces of Jet's refinement with nets instead of arcs."""
    return moving_on_nets(NetPropagation(order))


def moving_on_nets(rule: NetPropagation, *others: Piece) -> tuple[Piece, ...]:
    """Return the pieces of refinement by a rule over nets, preceded by `others`."""
    return (*SHARED, *others, rule, NetSteps(rule.move_order.sorts))


def rows_of(this: Recording) -> Any:
    """Return the rows of the level and the state of its nets, as slots."""
    return this.program.records["graph"]

"""Pieces about nets: what is known of them, and label propagation with nets in place of arcs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from portpart.algorithms.objectives import (
    COUNTING_TEAM,
    HUB_TEAM,
    LARGE_TEAM,
    SMALL_TEAM,
    PieceSums,
    begin_large_net,
    begin_listing_net,
    begin_net,
    net_sizes,
    store_list,
    words_for,
)
from portpart.algorithms.refinement import (
    SHARED,
    Piece,
    Recording,
    RefinementSizes,
    is_proposed,
    launch_with_hubs,
)
from portpart.algorithms.refinement.gains import keep_movable
from portpart.algorithms.refinement.moves import move_vertex
from portpart.algorithms.refinement.nets.afterburner import (
    afterburner_large_net,
    afterburner_small_net,
)
from portpart.algorithms.refinement.nets.lists import clear_sums, empty_lists, split_hub, sum_chunk
from portpart.algorithms.refinement.nets.move_order import MoveOrder, turns_by
from portpart.algorithms.refinement.nets.moves import (
    concerns_some,
    touch_nets_of_chunks,
    touch_nets_of_moves,
    update_large_net,
    update_small_net,
)
from portpart.algorithms.refinement.nets.state import RefinedNetsOf
from portpart.algorithms.refinement.nets.wants import (
    accept_non_losing,
    list_nets_of,
    move_if_nets_agree,
    of_proposed,
)
from portpart.backends.language import DeviceFunction
from portpart.backends.programs import ExecutionSpace
from portpart.graphs import Csr


@dataclass(frozen=True)
class NetSteps(Piece):
    """What is known of the nets, and the sums of weights and cost.

    Attributes
    ----------
    sorts : bool
        Whether moves are put in order, which takes more memory.
    """

    sorts: bool = False

    concerns: ClassVar[DeviceFunction] = concerns_some

    def rows(self, space: ExecutionSpace, finest: Any, num_blocks: int) -> Callable[[Any], Csr]:
        """The rows of a hypergraph with what is known of its nets."""
        hubs = RefinementSizes(finest.num_vertices, finest.num_pins, num_blocks).hubs
        return RefinedNetsOf(space, net_sizes(finest, num_blocks, self.sorts, hubs))

    def sums_hubs(self, num_blocks: int) -> bool:
        """Hubs are summed up where a word holds the blocks of a net."""
        return words_for(num_blocks) == 1

    def begin(self, this: Recording) -> None:
        """Find the state of all nets."""
        program, sets, part = this.program, rows_of(this).sets, this.run.moves.part
        if this.widths.hubs:
            program.launch(this.run.level.hubs, split_hub)
        program.launch(sets.nets, begin_net, part=part)
        program.launch(sets.listing, begin_listing_net, team=SMALL_TEAM, part=part,
                       store=store_list)
        program.launch(sets.large, begin_large_net, team=LARGE_TEAM, part=part)

    def refresh(self, this: Recording) -> None:
        """Sum up the pieces of hubs."""
        if this.widths.summed:
            this.program.launch(rows_of(this).hub_chunks.chunks, sum_chunk, team=HUB_TEAM,
                                sums=PieceSums(this.rules, this.widths.counter))

    def account(self, this: Recording) -> None:
        """Weights, nets and costs change with the moves."""
        program, rows = this.program, rows_of(this)
        launch_with_hubs(this, this.run.level.moves, (touch_nets_of_moves, touch_nets_of_chunks),
                         this.widths.team, rows.hub_chunks.chunks)
        with program.side_by_side():
            program.launch(rows.lists.small_touched, update_small_net, team=SMALL_TEAM,
                           concerns=self.concerns)
            program.launch(rows.lists.large_touched, update_large_net, team=LARGE_TEAM,
                           concerns=self.concerns)

    def end(self, this: Recording) -> None:
        """Vertices move, and lists of nets are emptied."""
        this.program.launch(1, empty_lists)
        if this.widths.summed:
            this.program.launch(this.run.level.hubs, clear_sums, team=COUNTING_TEAM)
        this.program.launch(this.run.level.moves, move_vertex)


@dataclass(frozen=True)
class NetPropagation(Piece):
    """Label propagation with the afterburner over nets.

    Attributes
    ----------
    order : str
        In what order the afterburner thinks of moves as made: one of `move_order.ORDERS`.
    holds_heavy : bool
        Macros stay.
    """

    order: str = "id"
    holds_heavy: bool = True

    loses = True
    wants: ClassVar[DeviceFunction] = is_proposed
    agree: ClassVar[DeviceFunction] = accept_non_losing

    @property
    def move_order(self) -> MoveOrder:
        """The order, of the moves that vertices want."""
        return turns_by(self.order, self.wants)

    def move(self, this: Recording) -> None:
        """Vertices propose moves, and move if their nets accept."""
        program, movable, rows = this.program, this.run.level.movable, rows_of(this)
        with program.side_by_side():
            program.launch(movable, keep_movable)
            launch_with_hubs(this, movable, of_proposed(self.wants, list_nets_of),
                             this.widths.of_many,
                             rows.hub_chunks.chunks)
        with program.side_by_side():
            program.launch(rows.lists.small_listed, afterburner_small_net, team=SMALL_TEAM,
                           move_order=self.move_order)
            program.launch(rows.lists.large_listed, afterburner_large_net, team=LARGE_TEAM,
                           move_order=self.move_order)
        move = move_if_nets_agree.bound(agree=self.agree)
        launch_with_hubs(this, movable, of_proposed(self.wants, move), this.widths.of_many,
                         rows.hub_chunks.chunks)


def jet_on_nets(order: str = "id") -> tuple[Piece, ...]:
    """Jet's refinement with nets in place of arcs."""
    return moving_on_nets(NetPropagation(order))


def moving_on_nets(rule: NetPropagation, *others: Piece) -> tuple[Piece, ...]:
    """Refinement by a rule over nets, and by others before it."""
    return (*SHARED, *others, rule, NetSteps(rule.move_order.sorts))


def rows_of(this: Recording) -> Any:
    """The rows of the level and what is known of its nets, as slots."""
    return this.program.records["graph"]

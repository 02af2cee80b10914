"""How the state of nets follows the edits of a hypergraph.

Only nets are looked at that were edited.  What one costs more is what it costs now less what it
cost by the spread that is known of it; its sets of blocks are made anew, from its pins or from its
counters, and if they change its pins are woken.  A net may get so many pins that it needs counters;
its row stays its own when it has fewer again.
"""

from __future__ import annotations

from typing import Any

from portpart.algorithms.edits.living import ALIVE, Dying, Weighings
from portpart.algorithms.edits.operations import LOW_HALF, Changes
from portpart.algorithms.edits.rewrite import begins_row
from portpart.algorithms.objectives.net_sets import (
    clear_counters,
    store_large,
    store_small,
    write_list,
)
from portpart.algorithms.objectives.pin_state import (
    MAX_SMALL,
    PRESENT_CHANGED,
    SMALL_TEAM,
    NetRows,
    NetWords,
    PinState,
    is_alone,
    size_of_net,
)
from portpart.algorithms.refinement.dirty_list import mark_dirty
from portpart.algorithms.refinement.list_moves import add_cost
from portpart.algorithms.refinement.nets.settling import concerns_few, settle_net, ties_pins
from portpart.algorithms.refinement.program import Recording
from portpart.algorithms.refinement.scopes import Settling
from portpart.algorithms.refinement.state import GainCache, Moves
from portpart.backends.interface import Array
from portpart.backends.language import (
    Record,
    StaticValue,
    Words,
    atomic_add,
    atomic_next,
    device,
    int32,
    int64,
    kernel,
    lane,
    team_array,
    team_atomic_add,
    team_size,
    team_sum,
    team_sync,
)

NONE = -1

NET_TEAM = 32
"""Lanes for a net that was edited, of any size."""


class NetCounts(Words):
    """How many nets there are of each kind; pins that have changed are as many as pairs.

    Attributes
    ----------
    died, weighed : int
        Nets that have died, and those that are weighed anew.
    relisted : int
        Nets that write again what they list.
    wakes : int
        Whether refinement is to look at the pins that are concerned.
    """

    died: int
    weighed: int
    relisted: int
    wakes: int


class NetDeaths(Record):
    """When nets die, as `Living` has it."""

    deaths: Array


def record_pins(this: Recording) -> None:
    """Record the accounts that need the nets as they were, and who is a pin now."""
    program = this.program
    counts: Any = program.records["net_counts"]
    pins: Any = program.records["counts"]
    program.launch(counts.relisted, relist_net, team=SMALL_TEAM)
    program.launch(counts.died, bury_net)
    program.launch(counts.weighed, weigh_net, team=NET_TEAM)
    program.launch(pins.changed, follow_pin)


def record_nets(this: Recording) -> None:
    """Record how the sets of edited nets are made anew, and whom that wakes."""
    pins: Any = this.program.records["counts"]
    this.program.launch(pins.changed, follow_net, team=SMALL_TEAM)


@kernel
def weigh_net(i, net_weighed: Weighings, net_deaths: NetDeaths, net_counts: NetCounts,
              graph: NetRows, moves: Moves, cache: GainCache, price: StaticValue):
    """Account for the new weight of a net that is alive, and wake its pins.

    Of a net of many pins those that were alone in their block.  Atomic, order-free.
    """
    heavier = int64(net_weighed.will[i]) - int64(net_weighed.was[i])
    net = int32(net_weighed.ids[i])
    if heavier != 0 and net_deaths.deaths[net] == ALIVE:
        spread = int64(graph.state.spread[net])
        if lane() == 0:
            add_cost(net, 2 * heavier * price(spread), moves)
        if net_counts.wakes != 0 and ties_pins(spread, price):
            for place in range(graph.nets.begin[net] + lane(), graph.nets.end[net],
                               team_size()):
                v = graph.nets.pins[place]
                concerned = graph.state.row[net] < 0
                if not concerned:
                    concerned = is_alone(net, moves.part[v], graph)
                if concerned:
                    mark_dirty(v, cache)


@kernel
def bury_net(j, net_dying: Dying, graph: NetRows, moves: Moves, price: StaticValue):
    """Account for a net that has died, and weighs nothing now; atomic, order-free."""
    net = int64(net_dying.died[j])
    if net >= 0:
        cost = price(int64(graph.state.spread[net])) * int64(net_dying.weights[j])
        add_cost(net, -2 * cost, moves)


@kernel
def follow_pin(i, pins: Changes, net_counts: NetCounts, graph: NetRows, moves: Moves,
               cache: GainCache):
    """Count a vertex that is a pin now or no longer, and wake it; atomic, order-free."""
    if pins.was[i] != pins.will[i]:
        v = pins.keys[i] & LOW_HALF
        row = int64(graph.state.row[pins.keys[i] >> 32])
        if net_counts.wakes != 0:
            mark_dirty(int32(v), cache)
        if row >= 0:
            atomic_add(graph.state.counts, row * graph.state.words.blocks + moves.part[v],
                       1 if pins.will[i] >= 0 else -1)


@device
def reserved_row(row):
    """What stands for a row of counters of a net that needs none now; and the row for that."""
    return int32(-2 - row)


@device
def take_row(net, row, state: PinState):
    """The row of a net that needs counters: that reserved for it, or one that is free.

    In any order.
    """
    taken = int64(row)
    if row == NONE:
        taken = int64(atomic_next(state.words, NetWords.large))
        state.large[taken] = net
    else:
        taken = int64(reserved_row(row))
    state.row[net] = int32(taken)
    return taken


@device
def find_small(net, size, blocks, graph: NetRows, part):
    """Make the sets of a net without counters anew; returns what changes.

    What it lists is written in any case: its pins may have moved.  All lanes of a team together.
    """
    begin = int64(graph.nets.begin[net])
    row = int64(graph.state.row[net])
    team_sync()
    if lane() == 0:
        if row >= 0:
            graph.state.row[net] = reserved_row(row)
        if graph.state.words.width != 1:
            graph.state.spread[net] = int32(0)
    for j in range(lane(), size, team_size()):
        blocks[j] = part[graph.nets.pins[begin + j]]
    team_sync()
    return store_small(net, size, blocks, graph)


@device
def find_large(net, graph: NetRows, part):
    """Make the sets of a net with counters anew, which are counted if they have not been.

    Returns what changes.  All lanes of a team together.
    """
    row = int64(graph.state.row[net])
    changed = int64(0)
    team_sync()
    if row < 0:
        taken = int64(0)
        if lane() == 0:
            taken = take_row(net, row, graph.state)
        first = clear_counters(team_sum(taken), graph.state)
        for place in range(graph.nets.begin[net] + lane(), graph.nets.end[net], team_size()):
            team_atomic_add(graph.state.counts, first + part[graph.nets.pins[place]], 1)
        team_sync()
    changed = store_large(net, graph.state)
    if row < 0 and graph.state.words.width != 1:
        changed = int64(PRESENT_CHANGED)
    return changed


@kernel
def follow_net(i, pins: Changes, net_counts: NetCounts, graph: NetRows, state: Settling,
               price: StaticValue):
    """Make the sets of a net anew, where its changes begin, and account for what it costs.

    Its pins are woken if sets change.
    """
    blocks = team_array(int32, MAX_SMALL)
    if begins_row(i, pins.keys):
        net = int32(pins.keys[i] >> 32)
        size = size_of_net(net, graph.nets)
        spread = int64(graph.state.spread[net])
        changed = int64(0)
        team_sync()
        if size <= MAX_SMALL:
            changed = find_small(net, size, blocks, graph, state.moves.part)
        else:
            changed = find_large(net, graph, state.moves.part)
        settle_net(net, spread, changed * net_counts.wakes, graph, state, price, concerns_few)


@kernel
def relist_net(net, graph: NetRows, moves: Moves):
    """Write again what a net without counters lists; those that were edited are yet to follow."""
    blocks = team_array(int32, MAX_SMALL)
    size = size_of_net(net, graph.nets)
    if size <= MAX_SMALL:
        begin = int64(graph.nets.begin[net])
        for j in range(lane(), size, team_size()):
            blocks[j] = moves.part[graph.nets.pins[begin + j]]
        team_sync()
        write_list(net, size, blocks, graph)


@kernel
def find_newly_large(i, pins: Changes, graph: NetRows, found):
    """Count a net that needs a row of counters and has none, where its changes begin; atomic."""
    if begins_row(i, pins.keys):
        net = int64(pins.keys[i] >> 32)
        if size_of_net(net, graph.nets) > MAX_SMALL and graph.state.row[net] == NONE:
            atomic_add(found, 0, 1)

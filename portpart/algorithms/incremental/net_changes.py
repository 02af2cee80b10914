"""Updates the state of nets after edits of a hypergraph, and reverts it."""

from __future__ import annotations

from portpart.algorithms import edits
from portpart.algorithms.incremental.edits import EditCounts
from portpart.algorithms.objectives import (
    MAX_SMALL,
    SMALL_TEAM,
    NetRows,
    PinCounts,
    add_pins,
    begin_listing_net,
    find_large,
    find_small,
    is_alone,
    move_pin,
    size_of_net,
    write_list,
)
from portpart.algorithms.refinement import Recording, nets
from portpart.algorithms.refinement.gains import GainCache, mark_dirty
from portpart.algorithms.refinement.moves import Moves, add_cost
from portpart.backends import language as kl
from portpart.backends.programs import Array

# Updates of the state of nets after edits ------------------------------------------------------
#
# Only edited nets are examined.  The cost of a net changes by its new cost minus the cost of its
# stored connectivity.  Its sets of blocks are rebuilt from its pins or its counters
# (`net_sets.py`).  If the sets change, its pins are activated.


NONE = -1

NET_TEAM = 32
"""Lanes for a net that was edited, of any size."""


class NetEditCounts(kl.Words):
    """Numbers of edited nets; `EditCounts.changed` is the number of changed pins.

    Attributes
    ----------
    deleted, weighed : int
        Nets that are deleted, and nets with new weights.
    relisted : int
        Nets whose lists of blocks are written again.
    activates : int
        Whether refinement examines the affected pins.
    """

    deleted: int
    weighed: int
    relisted: int
    activates: int


class NetDeletions(kl.Record):
    """The state of each net id, as in `IdTable`."""

    deletions: Array


def record_pins(this: Recording) -> None:
    """Record the cost updates that need the old state of nets, and the counts of changed pins."""
    program = this.program
    counts = program.find("net_counts", NetEditCounts)
    pins = program.find("counts", EditCounts)
    program.launch(counts.relisted, begin_listing_net, team=SMALL_TEAM,
                   part=this.run.moves.part, store=write_list)
    program.launch(counts.deleted, account_deleted_net)
    program.launch(counts.weighed, weigh_net, team=NET_TEAM)
    program.launch(pins.changed, update_edited_pin)


def record_nets(this: Recording) -> None:
    """Record how the sets of edited nets are rebuilt, and which vertices are activated."""
    pins = this.program.find("counts", EditCounts)
    this.program.launch(pins.changed, update_edited_net, team=SMALL_TEAM)


@kl.kernel
def weigh_net(i, net_weighed: edits.WeightChanges, net_deletions: NetDeletions,
              net_counts: NetEditCounts, graph: NetRows, moves: Moves, cache: GainCache,
              net_cost: kl.StaticValue):
    """Account for the new weight of an existing net, and activate its pins.

    Of a net of many pins only those alone in their block are activated.  Atomic, independent of
    order.
    """
    heavier = kl.int64(net_weighed.will[i]) - kl.int64(net_weighed.was[i])
    net = kl.int32(net_weighed.ids[i])
    if heavier != 0 and net_deletions.deletions[net] == edits.ALIVE:
        connectivity = kl.int64(graph.sets.connectivity[net])
        if kl.lane() == 0:
            add_cost(net, 2 * heavier * net_cost(connectivity), moves)
        if net_counts.activates != 0 and nets.affects_gains(connectivity, net_cost):
            for place in range(graph.nets.begin[net] + kl.lane(), graph.nets.end[net],
                               kl.team_size()):
                v = graph.nets.pins[place]
                concerned = graph.sets.row[net] < 0
                if not concerned:
                    concerned = is_alone(net, moves.part[v], graph)
                if concerned:
                    mark_dirty(v, cache)


@kl.kernel
def account_deleted_net(j, net_deleted: edits.DeletedIds, graph: NetRows, moves: Moves,
                        net_cost: kl.StaticValue):
    """Account for a deleted net, whose weight is now 0; atomic, independent of order."""
    net = kl.int64(net_deleted.effective[j])
    if net >= 0:
        cost = net_cost(kl.int64(graph.sets.connectivity[net])) * kl.int64(net_deleted.weights[j])
        add_cost(net, -2 * cost, moves)


@kl.kernel
def update_edited_pin(i, pins: edits.Changes, net_counts: NetEditCounts, graph: NetRows,
                      pin_counts: PinCounts, moves: Moves, cache: GainCache):
    """Count an inserted or deleted pin, and activate its vertex; atomic, independent of order."""
    if pins.was[i] != pins.will[i]:
        v = pins.keys[i] & edits.LOW_HALF
        row = kl.int64(graph.sets.row[pins.keys[i] >> 32])
        if net_counts.activates != 0:
            mark_dirty(kl.int32(v), cache)
        add_pins(row, moves.part[v], 1 if pins.will[i] >= 0 else -1, graph.sets, pin_counts)


@kl.kernel
def update_edited_net(i, pins: edits.Changes, net_counts: NetEditCounts, graph: NetRows,
                      state: nets.NetUpdate, net_cost: kl.StaticValue):
    """Rebuild the sets of the net whose changes begin at i, and account for its new cost.

    If the sets change, its pins are activated.
    """
    blocks = kl.team_array(kl.int32, MAX_SMALL)
    if edits.begins_row(i, pins.keys):
        net = kl.int32(pins.keys[i] >> 32)
        size = size_of_net(net, graph.nets)
        connectivity = kl.int64(graph.sets.connectivity[net])
        kl.team_sync()
        if size <= MAX_SMALL:
            changed = find_small(net, size, blocks, graph, state.moves.part)
        else:
            changed = find_large(net, graph, state.pin_counts, state.moves.part)
        nets.update_net(net, connectivity, changed * net_counts.activates, graph, state, net_cost,
                        nets.concerns_few)


@kl.kernel
def find_newly_large(i, pins: edits.Changes, graph: NetRows, found):
    """Count the net whose changes begin at i if it needs a row of counters but has none; atomic."""
    if edits.begins_row(i, pins.keys):
        net = kl.int64(pins.keys[i] >> 32)
        if size_of_net(net, graph.nets) > MAX_SMALL and graph.sets.row[net] == NONE:
            kl.atomic_add(found, 0, 1)


# Undo: the state of nets is reverted
#
# First vertices move back, then edits are undone.  Both update the counters of nets pin by pin and
# list the nets.  In the end the sets of listed nets are rebuilt.


@kl.kernel
def return_pins(i, listed, left, graph: NetRows, pin_counts: PinCounts, lists: nets.NetLists,
                moves: Moves):
    """Count listed vertex i in the block that it returns to, and list its nets.

    Atomic, independent of order.
    """
    here = kl.int64(moves.part[listed[i]])
    there = kl.int64(left[i])
    if there >= 0 and there != here:
        for place in range(graph.begin[listed[i]] + kl.lane(), graph.end[listed[i]],
                           kl.team_size()):
            net = graph.targets[place]
            row = kl.int64(graph.sets.row[net])
            nets.list_net(net, nets.NetLists.small_touched, nets.NetLists.large_touched, graph.sets,
                          lists)
            move_pin(row, here, there, graph.sets, pin_counts)


@kl.kernel
def revert_pin(i, pins: edits.Changes, graph: NetRows, pin_counts: PinCounts, lists: nets.NetLists,
               moves: Moves):
    """Revert the count of an inserted or deleted pin, and list its net; atomic, independent of
    order.
    """
    if pins.was[i] != pins.will[i]:
        net = kl.int32(pins.keys[i] >> 32)
        row = kl.int64(graph.sets.row[net])
        nets.list_net(net, nets.NetLists.small_touched, nets.NetLists.large_touched, graph.sets,
                      lists)
        block = kl.int64(moves.part[pins.keys[i] & edits.LOW_HALF])
        add_pins(row, block, 1 if pins.was[i] >= 0 else -1, graph.sets, pin_counts)


@kl.kernel
def find_listed(i, listed, graph: NetRows, pin_counts: PinCounts, lists: nets.NetLists,
                moves: Moves):
    """Rebuild the sets of listed net i, and remove it from the list."""
    blocks = kl.team_array(kl.int32, MAX_SMALL)
    net = listed[i]
    size = size_of_net(net, graph.nets)
    kl.team_sync()
    if kl.lane() == 0:
        nets.unlist(net, lists)
    if size <= MAX_SMALL:
        find_small(net, size, blocks, graph, moves.part)
    else:
        find_large(net, graph, pin_counts, moves.part)

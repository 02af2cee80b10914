"""How the state of nets goes back with edits that are undone, and with vertices that move back.

First vertices move back, then edits are undone: counters of nets follow pin by pin, and nets are
listed; in the end the sets of listed nets are rebuilt.
"""

from __future__ import annotations

from portpart.algorithms.edits.operations import LOW_HALF, Changes
from portpart.algorithms.objectives.edited_nets import find_large, find_small
from portpart.algorithms.objectives.pin_counts import add_pins, move_pin
from portpart.algorithms.objectives.pin_state import MAX_SMALL, NetRows, PinCounts, size_of_net
from portpart.algorithms.refinement.moves.state import Moves
from portpart.algorithms.refinement.nets.lists import list_net, unlist
from portpart.algorithms.refinement.nets.state import NetLists
from portpart.backends import language as kl


@kl.kernel
def return_pins(i, listed, left, graph: NetRows, pin_counts: PinCounts, lists: NetLists,
                moves: Moves):
    """Count vertex i of the list where it goes back to, and list its nets; atomic, independent of
    order.
    """
    here = kl.int64(moves.part[listed[i]])
    there = kl.int64(left[i])
    if there >= 0 and there != here:
        for place in range(graph.begin[listed[i]] + kl.lane(), graph.end[listed[i]],
                           kl.team_size()):
            net = graph.targets[place]
            row = kl.int64(graph.sets.row[net])
            list_net(net, NetLists.small_touched, NetLists.large_touched, graph.sets, lists)
            move_pin(row, here, there, graph.sets, pin_counts)


@kl.kernel
def revert_pin(i, pins: Changes, graph: NetRows, pin_counts: PinCounts, lists: NetLists,
               moves: Moves):
    """Count a vertex that is a pin again, or no longer, and list the net; atomic, independent of
    order.
    """
    if pins.was[i] != pins.will[i]:
        net = kl.int32(pins.keys[i] >> 32)
        row = kl.int64(graph.sets.row[net])
        list_net(net, NetLists.small_touched, NetLists.large_touched, graph.sets, lists)
        block = kl.int64(moves.part[pins.keys[i] & LOW_HALF])
        add_pins(row, block, 1 if pins.was[i] >= 0 else -1, graph.sets, pin_counts)


@kl.kernel
def find_listed(i, listed, graph: NetRows, pin_counts: PinCounts, lists: NetLists, moves: Moves):
    """Make the sets of net i of a list again."""
    blocks = kl.team_array(kl.int32, MAX_SMALL)
    net = listed[i]
    size = size_of_net(net, graph.nets)
    kl.team_sync()
    if kl.lane() == 0:
        unlist(net, lists)
    if size <= MAX_SMALL:
        find_small(net, size, blocks, graph, moves.part)
    else:
        find_large(net, graph, pin_counts, moves.part)

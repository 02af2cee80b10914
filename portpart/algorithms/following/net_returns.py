"""How the state of nets goes back with edits that are undone, and with vertices that move back.

First vertices move back, then edits are undone: counters of nets follow pin by pin, and nets are
listed; in the end the sets of those that are listed are made anew.
"""

from __future__ import annotations

from portpart.algorithms.edits.operations import LOW_HALF, Changes
from portpart.algorithms.following.net_changes import find_large, find_small
from portpart.algorithms.objectives.pin_state import MAX_SMALL, NetRows, NetWords, size_of_net
from portpart.algorithms.refinement.nets.moves import list_net
from portpart.algorithms.refinement.state import Moves
from portpart.backends.language import (
    atomic_add,
    int32,
    int64,
    kernel,
    lane,
    team_array,
    team_size,
    team_sync,
)


@kernel
def return_pins(i, listed, left, graph: NetRows, moves: Moves):
    """Count vertex i of the list where it goes back to, and list its nets; atomic, order-free."""
    here = int64(moves.part[listed[i]])
    there = int64(left[i])
    if there >= 0 and there != here:
        for place in range(graph.begin[listed[i]] + lane(), graph.end[listed[i]], team_size()):
            net = graph.targets[place]
            row = int64(graph.state.row[net])
            list_net(net, NetWords.small_touched, NetWords.large_touched, graph.state)
            if row >= 0:
                atomic_add(graph.state.counts, row * graph.state.words.blocks + here, -1)
                atomic_add(graph.state.counts, row * graph.state.words.blocks + there, 1)


@kernel
def unfollow_pin(i, pins: Changes, graph: NetRows, moves: Moves):
    """Count a vertex that is a pin again, or no longer, and list the net; atomic, order-free."""
    if pins.was[i] != pins.will[i]:
        net = int32(pins.keys[i] >> 32)
        row = int64(graph.state.row[net])
        list_net(net, NetWords.small_touched, NetWords.large_touched, graph.state)
        if row >= 0:
            block = int64(moves.part[pins.keys[i] & LOW_HALF])
            atomic_add(graph.state.counts, row * graph.state.words.blocks + block,
                       1 if pins.was[i] >= 0 else -1)


@kernel
def find_listed(i, listed, graph: NetRows, moves: Moves):
    """Make the sets of net i of a list anew."""
    blocks = team_array(int32, MAX_SMALL)
    net = listed[i]
    size = size_of_net(net, graph.nets)
    team_sync()
    if lane() == 0:
        graph.state.is_listed[net] = int32(0)
    if size <= MAX_SMALL:
        find_small(net, size, blocks, graph, moves.part)
    else:
        find_large(net, graph, moves.part)

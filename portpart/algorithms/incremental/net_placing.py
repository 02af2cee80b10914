"""The most connected block of a new vertex, by a limited number of pins of its nets."""

from __future__ import annotations

from portpart.algorithms.incremental.placing import may_enter
from portpart.algorithms.objectives.pin_state import NetRows, size_of_net
from portpart.algorithms.refinement.blocks.state import Blocks
from portpart.algorithms.refinement.figures import Figures
from portpart.algorithms.refinement.moves.state import Moves
from portpart.backends import language as kl

NONE = -1

MAX_PINS = 64
"""Pins of a net that is examined: larger ones say little about where a vertex belongs."""

MAX_SEEN = 128
"""Pins that are examined, but for those of the last net."""


@kl.device
def sampled_pins(net, graph: NetRows):
    """How many pins of a net are examined."""
    size = size_of_net(net, graph.nets)
    if size > MAX_PINS:
        size = kl.int64(0)
    return size


@kl.device
def end_of_look(v, graph: NetRows):
    """Where the nets of v end that are examined."""
    place = kl.int64(graph.begin[v])
    seen = kl.int64(0)
    while place < graph.end[v] and seen < MAX_SEEN:
        seen += sampled_pins(graph.targets[place], graph)
        place += 1
    return place


@kl.device
def has_pin_in(net, block, graph: NetRows, moves: Moves):
    """Whether one of the pins of a net that are examined is in a block."""
    found = False
    begin = kl.int64(graph.nets.begin[net])
    for pin in range(begin, begin + sampled_pins(net, graph)):
        if moves.part[graph.nets.pins[pin]] == block:
            found = True
            break
    return found


@kl.device
def tie_of_nets(v, block, end, graph: NetRows, moves: Moves):
    """What ties v to a block, of its nets up to a place."""
    total = kl.int64(0)
    for place in range(graph.begin[v], end):
        net = graph.targets[place]
        if has_pin_in(net, block, graph, moves):
            total += kl.value_or(graph.nets.weights, net, 1)
    return total


@kl.device
def most_connected_by_nets(v, graph: NetRows, moves: Moves, blocks: Blocks, figures: Figures):
    """The most connected block that accepts v, -1 if none; the smaller of equals."""
    best = kl.int64(NONE)
    most = kl.int64(0)
    weight = kl.value_or(graph.vertex_weights, v, 1)
    end = end_of_look(v, graph)
    for place in range(graph.begin[v], end):
        begin = kl.int64(graph.nets.begin[graph.targets[place]])
        for pin in range(begin, begin + sampled_pins(graph.targets[place], graph)):
            block = kl.int64(moves.part[graph.nets.pins[pin]])
            if block >= 0 and block != best:
                if may_enter(block, weight, blocks, figures):
                    total = tie_of_nets(v, block, end, graph, moves)
                    if total > most or (total == most and block < best):
                        most = total
                        best = block
    return best

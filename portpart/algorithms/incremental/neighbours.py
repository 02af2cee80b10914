"""Vertices around some that were put into other blocks: they gain or lose by moves now."""

from __future__ import annotations

from portpart.algorithms.objectives.pin_state import NetRows, is_alone
from portpart.algorithms.refinement.moves.state import Moves
from portpart.backends import language as kl
from portpart.graphs.rows import Csr

TEAM = 32

NEAR = -1
"""The flag of vertices around the chosen ones, which are among them; others have 0."""


@kl.kernel
def flag_neighbours(i, chosen, graph: Csr, near):
    """Flag a vertex and its neighbours; atomic, independent of order."""
    v = chosen[i]
    if kl.lane() == 0:
        kl.atomic_min(near, v, NEAR)
    for arc in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
        kl.atomic_min(near, graph.targets[arc], NEAR)


@kl.kernel
def flag_pins(i, chosen, graph: NetRows, moves: Moves, near):
    """Flag a vertex and the pins of its nets; atomic, independent of order.

    Of a net of many pins the ones that are alone in their block.
    """
    v = chosen[i]
    if kl.lane() == 0:
        kl.atomic_min(near, v, NEAR)
    for at in range(graph.begin[v], graph.end[v]):
        net = graph.targets[at]
        for place in range(graph.nets.begin[net] + kl.lane(), graph.nets.end[net], kl.team_size()):
            u = graph.nets.pins[place]
            concerned = graph.sets.row[net] < 0
            if not concerned:
                concerned = is_alone(net, moves.part[u], graph)
            if concerned:
                kl.atomic_min(near, u, NEAR)

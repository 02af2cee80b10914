"""Activates neighbours of active vertices in overloaded blocks.

Only active vertices may leave an overloaded block, and the best block of most of them is that one.
So they activate neighbours in the same block, hop by hop, until there are enough candidates.
"""

from __future__ import annotations

from dataclasses import dataclass

from portpart.algorithms.incremental.pseudo_rounds import weigh_blocks
from portpart.algorithms.objectives import NetRows, is_alone, size_of_net
from portpart.algorithms.refinement import Figures, Journal, Piece, Recording, count_activated
from portpart.algorithms.refinement.blocks import Blocks, find_overloaded, free_capacity
from portpart.algorithms.refinement.gains import GainCache, mark_dirty
from portpart.algorithms.refinement.moves import Moves
from portpart.backends import language as kl
from portpart.graphs import Csr

BLOCKS_TEAM, TEAM = 32, 8

MAX_HOPS = 8

ENOUGH, TIMES = 256, 4
"""No hop begins with more than ENOUGH active vertices if that is also more than TIMES the number
that edits activate.
"""

MAX_PINS, MAX_ARCS = 16, 64
"""Nets of more pins, and further arcs of a vertex, activate no vertex."""


class Hops(kl.Words):
    """Counts of the hops around edits; see `plan_hop`."""

    looking: int  # vertices that activate neighbours next
    enough: int  # this many active vertices suffice
    made: int  # hops so far


@dataclass(frozen=True)
class Widening(Piece):
    """Activates more vertices in overloaded blocks.

    Attributes
    ----------
    activate_around : Kernel
        Activates neighbours of an active vertex, along arcs or nets.
    """

    activate_around: kl.Kernel

    def activate(self, this: Recording) -> None:
        """Record the activation of neighbours of active vertices in overloaded blocks."""
        program = this.program
        hops = program.zeros("hops", Hops)
        program.launch(1, begin_hops, team=BLOCKS_TEAM)
        with program.while_loop(hops.looking):
            program.launch(hops.looking, self.activate_around, team=TEAM)
            program.launch(1, plan_hop)


@kl.kernel
def begin_hops(_, moves: Moves, cache: GainCache, blocks: Blocks, figures: Figures,
               journal: Journal, hops: Hops):
    """Plan a hop from all active vertices if a block is overloaded and vertices may move.

    Called by one team.
    """
    weigh_blocks(moves, blocks, figures)
    overloaded = find_overloaded(blocks, figures)
    if kl.lane() == 0:
        count_activated(cache, journal)
    if kl.lane() == 0 and overloaded != 0 and figures.iteration_limit > 0:
        hops.looking = cache.marked
        hops.enough = max(kl.int64(ENOUGH), TIMES * cache.marked)


@kl.kernel
def activate_neighbours(i, graph: Csr, moves: Moves, cache: GainCache, blocks: Blocks,
                        figures: Figures):
    """Activate the first neighbours of an active vertex in its block, if it is overloaded.

    Atomic, independent of order.
    """
    v = cache.dirty_list[i]
    here = moves.part[v]
    if free_capacity(here, blocks, figures) < 0:
        begin = kl.int64(graph.begin[v])
        for arc in range(begin + kl.lane(), min(begin + MAX_ARCS, kl.int64(graph.end[v])),
                         kl.team_size()):
            if moves.part[graph.targets[arc]] == here:
                mark_dirty(graph.targets[arc], cache)


@kl.kernel
def activate_pins_around(i, graph: NetRows, moves: Moves, cache: GainCache, blocks: Blocks,
                         figures: Figures):
    """Activate the pins of small nets of an active vertex in its block, if it is overloaded.

    Atomic, independent of order.
    """
    v = cache.dirty_list[i]
    here = moves.part[v]
    if free_capacity(here, blocks, figures) < 0:
        for place in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
            net = graph.targets[place]
            if size_of_net(net, graph.nets) <= MAX_PINS:
                for pin in range(graph.nets.begin[net], graph.nets.end[net]):
                    if moves.part[graph.nets.pins[pin]] == here:
                        mark_dirty(graph.nets.pins[pin], cache)


@kl.kernel
def plan_hop(_, cache: GainCache, hops: Hops):
    """Plan another hop, unless the active vertices suffice or are no more than before."""
    activated = cache.marked
    hops.made += 1
    ends = activated == hops.looking or hops.made == MAX_HOPS
    if ends or activated > hops.enough:
        activated = kl.int64(0)
    hops.looking = activated


# Vertices around those whose blocks were replaced: their gains have changed --------------------


NEIGHBOUR_TEAM = 32

NEAR = -1
"""The flag of the chosen vertices and of those around them; others have 0."""


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

    Of a net of many pins only those alone in their block are flagged.
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

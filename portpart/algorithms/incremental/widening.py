"""Activates more vertices where a block is too heavy: neighbours of active ones.

Only active vertices may leave a block that is too heavy, and most of them belong there.  So they
activate neighbours in the same block, hop by hop, until they are enough.
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
"""No hop begins with more vertices, or with more than this many times the vertices that edits
activate.
"""

MAX_PINS, MAX_ARCS = 16, 64
"""Pins of nets that lead on, and arcs of a vertex that do."""


class Hops(kl.Words):
    """How far activation has gone around edits; see `plan_hop`."""

    looking: int  # vertices that look around next
    enough: int  # this many active ones suffice
    made: int


@dataclass(frozen=True)
class Widening(Piece):
    """More active vertices where blocks are too heavy.

    Attributes
    ----------
    activate_around : Kernel
        Activates neighbours of an active vertex, along arcs or nets.
    """

    activate_around: kl.Kernel

    def activate(self, this: Recording) -> None:
        """Active vertices activate others where blocks are too heavy."""
        program = this.program
        hops = program.zeros("hops", Hops)
        program.launch(1, begin_hops, team=BLOCKS_TEAM)
        with program.while_loop(hops.looking):
            program.launch(hops.looking, self.activate_around, team=TEAM)
            program.launch(1, plan_hop)


@kl.kernel
def begin_hops(_, moves: Moves, cache: GainCache, blocks: Blocks, figures: Figures,
               journal: Journal, hops: Hops):
    """Let all active vertices activate neighbours if a block is too heavy and any may move.  Called
    by one team.
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
    """Activate the first neighbours of an active vertex in its block, if that is too heavy.

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
    """Activate the pins of small nets of an active vertex in its block, if that is too heavy.

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
    """Let active vertices activate neighbours, unless they are enough or no more than before."""
    activated = cache.marked
    hops.made += 1
    ends = activated == hops.looking or hops.made == MAX_HOPS
    if ends or activated > hops.enough:
        activated = kl.int64(0)
    hops.looking = activated


# Vertices around some that were put into other blocks: they gain or lose by moves now ----------


NEIGHBOUR_TEAM = 32

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

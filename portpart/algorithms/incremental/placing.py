"""Places new vertices in the most connected block with free capacity, else in the lightest."""

from __future__ import annotations

from portpart.algorithms.incremental.edits import EditCounts, NewVertices, new_vertex
from portpart.algorithms.objectives import NetRows, size_of_net
from portpart.algorithms.refinement import Figures, Journal, set_previous_block
from portpart.algorithms.refinement.blocks import (
    Blocks,
    add_block_weight,
    first_of_most,
    set_move_cost,
)
from portpart.algorithms.refinement.incumbent import Incumbent
from portpart.algorithms.refinement.moves import Moves, join_block, join_target, set_target
from portpart.backends import language as kl
from portpart.backends.programs import Program
from portpart.graphs import Csr

# The block of a new vertex: the most connected one in which it fits, else the lightest ---------


NONE = -1

ROUNDS = 4
"""Rounds in which a new vertex can choose the block of a neighbour that has been placed."""

MAX_SEEN = 64
"""Neighbours that are examined to place a vertex."""

SHARE = 16
"""New vertices may overload a block by 1 / SHARE of its limit, until refinement."""

TEAM, LIGHTEST_TEAM = 256, 32


@kl.device
def arc_connectivity(block, begin, end, graph: Csr, moves: Moves):
    """Return the weight of the arcs begin ... end - 1 into a block."""
    total = kl.int64(0)
    for arc in range(begin, end):
        if moves.part[graph.targets[arc]] == block:
            total += kl.value_or(graph.weights, arc, 1)
    return total


@kl.device
def may_enter(block, weight, blocks: Blocks, figures: Figures):
    """Whether a block accepts a new vertex.

    If refinement follows, a slight overload is allowed: rebalancing costs less than placing the
    vertex elsewhere.
    """
    limit = kl.int64(blocks.limits[block])
    if figures.iteration_limit > 0:
        limit += limit // SHARE
    return blocks.weight[block] + weight <= limit


@kl.device
def most_connected_block(v, graph: Csr, moves: Moves, blocks: Blocks, figures: Figures):
    """Return the most connected block that accepts v, -1 if none; ties go to the smaller id."""
    best = kl.int64(NONE)
    most = kl.int64(0)
    weight = kl.value_or(graph.vertex_weights, v, 1)
    begin = kl.int64(graph.begin[v])
    end = min(begin + MAX_SEEN, kl.int64(graph.end[v]))
    for arc in range(begin, end):
        block = kl.int64(moves.part[graph.targets[arc]])
        if block >= 0:
            if may_enter(block, weight, blocks, figures):
                total = arc_connectivity(block, begin, end, graph, moves)
                if total > most or (total == most and block < best):
                    most = total
                    best = block
    return best


@kl.device
def lightness(b, blocks: Blocks, figures: Figures):
    """Return minus the weight of block b."""
    return -blocks.weight[b]


@kl.device
def place_lightest(v, weight, moves: Moves, blocks: Blocks, figures: Figures):
    """Put v into the lightest block, the first of equal ones.  Called by all lanes of a team."""
    block = first_of_most(blocks, figures, lightness)
    kl.team_sync()
    if kl.lane() == 0:
        join_block(v, block, moves)
        add_block_weight(block, weight, blocks)
    kl.team_sync()


@kl.device
def place_in_lightest(inserted: NewVertices, counts: EditCounts, graph: Csr, moves: Moves,
                      blocks: Blocks, figures: Figures):
    """Put each vertex without a block into the lightest block, in order.  Called by one team."""
    for i in range(counts.inserted):
        v = new_vertex(i, inserted, counts)
        if moves.part[v] < 0:
            place_lightest(v, kl.value_or(graph.vertex_weights, v, 1), moves, blocks, figures)


@kl.kernel
def begin_inserted(i, inserted: NewVertices, counts: EditCounts, moves: Moves, journal: Journal):
    """Reset a new vertex: it has neither a block nor a previous block."""
    v = new_vertex(i, inserted, counts)
    join_block(v, NONE, moves)
    set_previous_block(v, NONE, journal)


@kl.kernel
def connect_inserted(i, inserted: NewVertices, counts: EditCounts, blocks: Blocks,
                     migration_factor):
    """Set the migration cost of a new vertex."""
    set_move_cost(new_vertex(i, inserted, counts), migration_factor, blocks)


@kl.kernel
def finish_inserted(i, inserted: NewVertices, counts: EditCounts, incumbent: Incumbent,
                    journal: Journal):
    """Make the block of a new vertex its previous block."""
    v = new_vertex(i, inserted, counts)
    set_previous_block(v, incumbent.best[v], journal)


@kl.device
def choose_for(v, graph: Csr, moves: Moves, blocks: Blocks, figures: Figures,
               most_connected: kl.StaticValue):
    """Set the target of v: its block, or the most connected block if it has none."""
    block = kl.int64(moves.part[v])
    if block < 0:
        block = kl.int64(most_connected(v, graph, moves, blocks, figures))
    set_target(v, block, moves)


@kl.kernel
def choose_block(i, inserted: NewVertices, counts: EditCounts, graph: Csr, moves: Moves,
                 blocks: Blocks, figures: Figures, most_connected: kl.StaticValue):
    """Set the target of a new vertex: its block, or the most connected block if it has none."""
    choose_for(new_vertex(i, inserted, counts), graph, moves, blocks, figures, most_connected)


@kl.kernel
def place_few(_, inserted: NewVertices, counts: EditCounts, graph: Csr, moves: Moves,
              blocks: Blocks, figures: Figures, most_connected: kl.StaticValue):
    """Place a few new vertices in all rounds.  Called by one team."""
    for _round in range(ROUNDS):
        for i in range(kl.lane(), counts.inserted, kl.team_size()):
            choose_for(new_vertex(i, inserted, counts), graph, moves, blocks, figures,
                       most_connected)
        kl.team_sync()
        for i in range(kl.lane(), counts.inserted, kl.team_size()):
            join_target(new_vertex(i, inserted, counts), moves)
        kl.team_sync()
    place_in_lightest(inserted, counts, graph, moves, blocks, figures)


@kl.kernel
def take_block(i, inserted: NewVertices, counts: EditCounts, moves: Moves):
    """Move a new vertex to its target."""
    join_target(new_vertex(i, inserted, counts), moves)


@kl.kernel
def place_rest(_, inserted: NewVertices, counts: EditCounts, graph: Csr, moves: Moves,
               blocks: Blocks, figures: Figures):
    """Place the new vertices that still have no block.  Called by one team."""
    place_in_lightest(inserted, counts, graph, moves, blocks, figures)


def record_placing(program: Program, most_connected: kl.DeviceFunction) -> None:
    """Record how new vertices are placed, after `begin_inserted`.

    Each vertex joins its most connected block, once neighbours have blocks.  Block weights are
    those before the batch.  The lightest blocks accept the remaining vertices in order.

    Parameters
    ----------
    most_connected : DeviceFunction
        ``most_connected(v, graph, moves, blocks, figures)``, such as `most_connected_block`.
    """
    counts = program.find("counts", EditCounts)
    program.launch(counts.few, place_few, team=TEAM, most_connected=most_connected)
    with program.if_nonzero(counts.many):
        for _ in range(ROUNDS):
            program.launch(counts.inserted, choose_block, most_connected=most_connected)
            program.launch(counts.inserted, take_block)
        program.launch(1, place_rest, team=LIGHTEST_TEAM)


# The most connected block of a new vertex, from a limited number of pins of its nets -----------


MAX_PINS = 64
"""Nets of more pins are not examined: they say little about the best block of a vertex."""

MAX_PINS_SEEN = 128
"""No further net is examined after this many pins."""


@kl.device
def sampled_pins(net, graph: NetRows):
    """Return the number of pins of a net that are examined: all or none."""
    size = size_of_net(net, graph.nets)
    if size > MAX_PINS:
        size = kl.int64(0)
    return size


@kl.device
def examined_end(v, graph: NetRows):
    """Return the end of the examined nets in the row of v."""
    place = kl.int64(graph.begin[v])
    seen = kl.int64(0)
    while place < graph.end[v] and seen < MAX_PINS_SEEN:
        seen += sampled_pins(graph.targets[place], graph)
        place += 1
    return place


@kl.device
def has_pin_in(net, block, graph: NetRows, moves: Moves):
    """Whether an examined pin of a net is in a block."""
    found = False
    begin = kl.int64(graph.nets.begin[net])
    for pin in range(begin, begin + sampled_pins(net, graph)):
        if moves.part[graph.nets.pins[pin]] == block:
            found = True
            break
    return found


@kl.device
def net_connectivity(v, block, end, graph: NetRows, moves: Moves):
    """Return the weight of the nets of v, before place `end` of its row, with a pin in a block."""
    total = kl.int64(0)
    for place in range(graph.begin[v], end):
        net = graph.targets[place]
        if has_pin_in(net, block, graph, moves):
            total += kl.value_or(graph.nets.weights, net, 1)
    return total


@kl.device
def most_connected_by_nets(v, graph: NetRows, moves: Moves, blocks: Blocks, figures: Figures):
    """Return the most connected block that accepts v, -1 if none; ties go to the smaller id."""
    best = kl.int64(NONE)
    most = kl.int64(0)
    weight = kl.value_or(graph.vertex_weights, v, 1)
    end = examined_end(v, graph)
    for place in range(graph.begin[v], end):
        begin = kl.int64(graph.nets.begin[graph.targets[place]])
        for pin in range(begin, begin + sampled_pins(graph.targets[place], graph)):
            block = kl.int64(moves.part[graph.nets.pins[pin]])
            if block >= 0 and block != best:
                if may_enter(block, weight, blocks, figures):
                    total = net_connectivity(v, block, end, graph, moves)
                    if total > most or (total == most and block < best):
                        most = total
                        best = block
    return best

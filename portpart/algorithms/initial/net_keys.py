"""First keys of the vertices of a hypergraph, and costs of nets."""

from __future__ import annotations

from portpart.algorithms.initial.bisection_state import Candidates, Keyed, Keys
from portpart.algorithms.initial.fm_gains import NUM_TOTALS, Attempts, BisectionTotals
from portpart.algorithms.initial.project_bisection import side_at, store_key
from portpart.backends import language as kl
from portpart.backends.programs import Array
from portpart.graphs import Csr, Hypergraph, Nets

# Gains of the nets of a hypergraph; nets with pins on two sides have costs ---------------------
#
# A cut net costs its weight, plus ``1 / (s - 1)`` of it for each pair of its s pins on two sides.
# With the first term alone, nearly all moves have gain 0, because a net gains or loses only by its
# last pin on a side. The second term alone is the cut of a graph of cliques. With both, moves that
# bring a net closer to one side also have gains.
#
# Only pins inside a bisection count. So each part of a cut net is a separate net in the next
# bisections, and the cuts of all bisections add up to the connectivity minus one (km1).


PRICE = 840
"""Cost of a cut net of weight 1: a multiple of 1 ... 8, so that most shares are exact."""


class VertexNets(Csr):
    """The nets of each vertex, and their pins."""

    nets: Nets


def incidence_of(hypergraph: Hypergraph) -> VertexNets:
    """Return the rows of a hypergraph in both directions."""
    return VertexNets(**dict(hypergraph.csr.named()), nets=hypergraph.nets)


@kl.device
def size_of(net, graph: VertexNets):
    """Number of pins of a net."""
    return kl.int64(graph.nets.end[net]) - kl.int64(graph.nets.begin[net])


@kl.device
def scaled_cost(net, shift, graph: VertexNets):
    """Return the cost of a cut net, without the term of pairs."""
    return PRICE * (kl.value_or(graph.nets.weights, net, 1) >> shift)


@kl.device
def cost_of(near, across, net, shift, graph: VertexNets):
    """Return the cost of a net: pin here, `near` others on its side, `across` on the other."""
    result = kl.int64(0)
    if across > 0:
        cost = scaled_cost(net, shift, graph)
        result = cost + cost // (size_of(net, graph) - 1) * across * (near + 1)
    return result


@kl.device
def gain_of(near, across, net, shift, graph: VertexNets):
    """Return the gain of a net if one pin changes sides; arguments as for `cost_of`."""
    cost = scaled_cost(net, shift, graph)
    share = cost // max(kl.int64(1), size_of(net, graph) - 1)
    return cost * (kl.int64(near == 0) - kl.int64(across == 0)) + share * (across - near)


# First keys of the vertices of a hypergraph: gains of moves at the begin of a bisection --------
#
# Every net updates its pins, so that a vertex of many nets is not the work of few lanes. Most nets
# have few pins, which are compared with each other; pins of larger nets are counted.


MAX_COMPARED = 32
"""Maximum number of pins of a net that are compared with each other."""

COUNTED = 64
"""Number of blocks in which a net's pins are counted at a time."""

GROUP_OF_NETS = 4
"""Nets that a team searches for large ones."""

CODES = 2 * COUNTED
"""Number of values of `code_of` in these blocks."""


class PinCodes(kl.Record):
    """Scratch memory of a team for one net: the code of each pin, or counts of pins by code."""

    codes: Array


@kl.kernel
def begin_net_key(i, candidates: Candidates, attempts: Attempts, state: Keyed):
    """Begin the key of vertex i without gains.

    A vertex without a projected side goes to its better connected side.
    """
    n = state.sizes.vertices
    here = side_at(i // n * n + candidates.place[i], attempts)
    gain = kl.int64(0)
    store_key(i, here, gain, candidates, attempts, state)


@kl.device
def code_of(place, base, graph: VertexNets, candidates: Candidates, attempts: Attempts):
    """Return twice the first block of a pin's bisection, plus its side without marks.

    Blocks that are not bisected any more keep their last marks.
    """
    w = base + graph.nets.pins[place]
    return 2 * kl.int64(candidates.part[w]) + (attempts.side[base + candidates.place[w]] & 1)


@kl.device
def update_key(place, base, gain, graph: VertexNets, candidates: Candidates, attempts: Attempts,
               keys: Keys):
    """Add the gain of a net to the key of one of its pins. Atomic."""
    if gain != 0:
        w = base + graph.nets.pins[place]
        kl.atomic_add(attempts.key, base + candidates.place[w],
                      gain * (kl.int64(1) << keys.key_bits))


@kl.device
def add_cut(block, near, across, net, base, graph: VertexNets, attempts: Attempts, state: Keyed):
    """Add the cost of a cut net to the bisection from `block` on. Atomic."""
    cut = cost_of(near, across, net, state.keys.weight_shift, graph)
    if cut > 0:
        begin = NUM_TOTALS * (base // state.sizes.vertices * state.sizes.blocks + block)
        kl.atomic_add(attempts.totals, begin + BisectionTotals.cut, cut)


@kl.kernel
def add_gains_of_small_net(i, graph: VertexNets, candidates: Candidates, attempts: Attempts,
                           state: Keyed):
    """Add the gains of the pins of net i to their keys, and its cost, if it has few pins.

    i counts the nets of all candidates. The first pin in a bisection adds the cost.
    """
    codes = kl.team_array(kl.int32, MAX_COMPARED)
    net = i % state.sizes.nets
    base = i // state.sizes.nets * state.sizes.vertices
    begin = kl.int64(graph.nets.begin[net])
    size = size_of(net, graph)
    if size <= MAX_COMPARED:
        for j in range(kl.lane(), size, kl.team_size()):
            codes[j] = kl.int32(code_of(begin + j, base, graph, candidates, attempts))
        kl.team_sync()
        for j in range(kl.lane(), size, kl.team_size()):
            mine = kl.int64(codes[j])
            near = kl.int64(-1)  # excludes the pin itself
            across = kl.int64(0)
            before = kl.int64(0)
            for other in range(size):
                found = kl.int64(codes[other])
                near += kl.int64(found == mine)
                across += kl.int64(found ^ 1 == mine)
                before += kl.int64(found >> 1 == mine >> 1 and other < j)
            gain = gain_of(near, across, net, state.keys.weight_shift, graph)
            update_key(begin + j, base, gain, graph, candidates, attempts, state.keys)
            if before == 0:
                add_cut(mine >> 1, near, across, net, base, graph, attempts, state)


@kl.device
def update_blocks(low, net, base, known: PinCodes, graph: VertexNets, candidates: Candidates,
                attempts: Attempts, state: Keyed):
    """Update the pins of a net in COUNTED blocks from `low` on. Called by all lanes of a team."""
    begin = kl.int64(graph.nets.begin[net])
    end = kl.int64(graph.nets.end[net])
    for code in range(kl.lane(), CODES, kl.team_size()):
        known.codes[code] = kl.int32(0)
    kl.team_sync()
    for place in range(begin + kl.lane(), end, kl.team_size()):
        code = code_of(place, base, graph, candidates, attempts) - 2 * low
        if code >= 0 and code < CODES:
            kl.team_atomic_add(known.codes, code, 1)
    kl.team_sync()
    for place in range(begin + kl.lane(), end, kl.team_size()):
        code = code_of(place, base, graph, candidates, attempts) - 2 * low
        if code >= 0 and code < CODES:
            near = kl.int64(known.codes[code]) - 1
            across = kl.int64(known.codes[code ^ 1])
            gain = gain_of(near, across, net, state.keys.weight_shift, graph)
            update_key(place, base, gain, graph, candidates, attempts, state.keys)
    for block in range(kl.lane(), COUNTED, kl.team_size()):
        near = kl.int64(known.codes[2 * block])
        across = kl.int64(known.codes[2 * block + 1])
        if near > 0:
            add_cut(low + block, near - 1, across, net, base, graph, attempts, state)
    kl.team_sync()


@kl.kernel
def add_gains_of_large_nets(i, graph: VertexNets, candidates: Candidates, attempts: Attempts,
                            state: Keyed):
    """Do the same for the nets with many pins in group i, one net at a time."""
    known = PinCodes(codes=kl.team_array(kl.int32, CODES))
    first = i * GROUP_OF_NETS
    large = kl.int64(0)
    for j in range(kl.lane(), min(GROUP_OF_NETS, state.sizes.nets_of_all - first), kl.team_size()):
        if size_of((first + j) % state.sizes.nets, graph) > MAX_COMPARED:
            large |= kl.int64(1) << j
    large = kl.team_sum(large)
    while large != 0:
        each = first + kl.ctz(kl.uint64(large))
        base = each // state.sizes.nets * state.sizes.vertices
        net = each % state.sizes.nets
        lowest = kl.int64(state.sizes.blocks)
        highest = kl.int64(0)
        for place in range(graph.nets.begin[net] + kl.lane(), graph.nets.end[net], kl.team_size()):
            block = code_of(place, base, graph, candidates, attempts) >> 1
            lowest = min(lowest, block)
            highest = max(highest, block)
        lowest = kl.team_min(lowest)
        highest = kl.team_max(highest)
        for low in range(lowest, highest + 1, COUNTED):
            update_blocks(low, net, base, known, graph, candidates, attempts, state)
        large &= large - 1

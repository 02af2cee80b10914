"""First keys of the vertices of a hypergraph, and what its nets cost."""

from __future__ import annotations

from portpart.algorithms.initial.bisection_state import Candidates, Keyed, Keys
from portpart.algorithms.initial.fm_gains import NUM_TOTALS, Attempts, BisectionTotals
from portpart.algorithms.initial.project_bisection import side_at, store_key
from portpart.backends import language as kl
from portpart.backends.programs import Array
from portpart.graphs import Csr, Hypergraph, Nets

# Gains of the nets of a hypergraph, of which those cost that have pins on two sides ------------
#
# Such a net costs its weight, and for each of its s pins on one side and each on the other a share
# of
# ``1 / (s - 1)`` of that.  The first alone leaves nearly all moves without a gain, for a net gains
# or
# loses by its last pin on a side only; the second alone is the cut of a graph of cliques.  With
# both,
# moves that bring a net closer to one side count as well.
#
# Only pins inside a bisection count.  So each part of a net that a bisection cuts is a separate
# net
# in the next ones, and what all bisections cut together is the connectivity less one (km1).


PRICE = 840
"""What a cut net of weight 1 costs: a multiple of 1 ... 8, so that shares are exact for most."""


class VertexNets(Csr):
    """The nets of each vertex, and their pins."""

    nets: Nets


def incidence_of(hypergraph: Hypergraph) -> VertexNets:
    """The rows of a hypergraph in both directions."""
    return VertexNets(**dict(hypergraph.csr.named()), nets=hypergraph.nets)


@kl.device
def size_of(net, graph: VertexNets):
    """Number of pins of a net."""
    return kl.int64(graph.nets.end[net]) - kl.int64(graph.nets.begin[net])


@kl.device
def scaled_cost(net, shift, graph: VertexNets):
    """What it costs to cut a net, pairs of pins aside."""
    return PRICE * (kl.value_or(graph.nets.weights, net, 1) >> shift)


@kl.device
def cost_of(near, across, net, shift, graph: VertexNets):
    """What a net costs with a pin here, this many others on its side, and this many across."""
    result = kl.int64(0)
    if across > 0:
        cost = scaled_cost(net, shift, graph)
        result = cost + cost // (size_of(net, graph) - 1) * across * (near + 1)
    return result


@kl.device
def gain_of(near, across, net, shift, graph: VertexNets):
    """What a net gains if one pin changes sides, with this many others on its side and across."""
    cost = scaled_cost(net, shift, graph)
    share = cost // max(kl.int64(1), size_of(net, graph) - 1)
    return cost * (kl.int64(near == 0) - kl.int64(across == 0)) + share * (across - near)


# First keys of the vertices of a hypergraph: what its nets gain by moves as a bisection begins
#
# Every net updates its pins, so that no vertex of many nets is the work of few lanes.  Most nets
# have
# few pins, which are compared with each other; those of the others are counted.


MAX_COMPARED = 32
"""Pins of a net that are compared with each other, at most."""

COUNTED = 64
"""Blocks whose pins of a net are counted at a time."""

GROUP_OF_NETS = 4
"""Nets that a team looks through for those of many pins."""

CODES = 2 * COUNTED
"""What `code_of` may say of pins there."""


class PinCodes(kl.Record):
    """What a team knows of a net, in scratch memory: `code_of` of each pin, or pins by code."""

    codes: Array


@kl.kernel
def begin_net_key(i, candidates: Candidates, attempts: Attempts, state: Keyed):
    """Begin the key of vertex i without gains; one without a projected side goes to its better
    side.
    """
    n = state.sizes.vertices
    here = side_at(i // n * n + candidates.place[i], attempts)
    gain = kl.int64(0)
    store_key(i, here, gain, candidates, attempts, state)


@kl.device
def code_of(place, base, graph: VertexNets, candidates: Candidates, attempts: Attempts):
    """Twice the first block of the bisection that a pin is in, and its side; marks do not count.

    Blocks that are bisected no more keep the marks of the last time.
    """
    w = base + graph.nets.pins[place]
    return 2 * kl.int64(candidates.part[w]) + (attempts.side[base + candidates.place[w]] & 1)


@kl.device
def update_key(place, base, gain, graph: VertexNets, candidates: Candidates, attempts: Attempts,
               keys: Keys):
    """Add what a net gains by a pin to the pin's key."""
    if gain != 0:
        w = base + graph.nets.pins[place]
        kl.atomic_add(attempts.key, base + candidates.place[w],
                      gain * (kl.int64(1) << keys.key_bits))


@kl.device
def add_cut(block, near, across, net, base, graph: VertexNets, attempts: Attempts, state: Keyed):
    """Add what a net is cut to the bisection of a block and others, if it is."""
    cut = cost_of(near, across, net, state.keys.weight_shift, graph)
    if cut > 0:
        begin = NUM_TOTALS * (base // state.sizes.vertices * state.sizes.blocks + block)
        kl.atomic_add(attempts.totals, begin + BisectionTotals.cut, cut)


@kl.kernel
def add_gains_of_small_net(i, graph: VertexNets, candidates: Candidates, attempts: Attempts,
                           state: Keyed):
    """Add what net i of all candidates gains by its few pins to their keys, and what it is cut.

    The first pin in a bisection adds the cut.
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
            near = kl.int64(-1)  # the pin itself is counted
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
def copy_blocks(low, net, base, known: PinCodes, graph: VertexNets, candidates: Candidates,
                attempts: Attempts, state: Keyed):
    """Update the pins of a net in COUNTED blocks from `low` on.  All lanes of a team together."""
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
    """The same for the nets of many pins in group i, which a team takes in turn."""
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
            copy_blocks(low, net, base, known, graph, candidates, attempts, state)
        large &= large - 1

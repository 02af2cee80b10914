"""Gains of the nets of a hypergraph, of which those cost that have pins on two sides.

Such a net costs its weight, and for each of its s pins on one side and each on the other a share of
``1 / (s - 1)`` of that.  The first alone leaves nearly all moves without a gain, for a net gains or
loses by its last pin on a side only; the second alone is the cut of a graph of cliques.  With both,
moves that bring a net closer to one side count as well.

Only pins inside a bisection count.  So each part of a net that a bisection cuts is a net of its own
in the next ones, and what all bisections cut together is the connectivity less one (km1).
"""

from __future__ import annotations

from portpart.algorithms.initial.bisection_state import Candidates, Run
from portpart.algorithms.initial.fm_gains import Attempts, Bisection, keep_best, turn_gain
from portpart.algorithms.initial.gain_rule import GainRule
from portpart.algorithms.initial.project_bisection import keep_first_key, side_at
from portpart.backends.language import (
    Record,
    device,
    int8,
    int64,
    kernel,
    lane,
    team_atomic_add,
    team_size,
    team_sum,
    team_sync,
    value_or,
)
from portpart.graphs.hypergraph import Hypergraph, Nets
from portpart.graphs.rows import Csr

PRICE = 840
"""What a cut net of weight 1 costs: a multiple of 1 ... 8, so that shares are exact for most."""

MAX_ALONE = 32
"""A net of more pins is work for a whole team, not for one of its lanes."""


class Incidence(Csr):
    """The nets of each vertex, and their pins."""

    nets: Nets


def incidence_of(hypergraph: Hypergraph) -> Incidence:
    """The rows of a hypergraph in both directions."""
    return Incidence(**dict(hypergraph.csr.named()), nets=hypergraph.nets)


class Mover(Record):
    """A vertex that moves, and which pins of its nets a lane looks at.

    Attributes
    ----------
    position : int
    here : int
        The side that it leaves.
    opening : int
        The state of those that may leave side 1 from now on.
    first, step : int
        The first of the pins of each net, and the distance to the next.
    """

    position: int
    here: int
    opening: int
    first: int
    step: int


@device
def size_of(net, graph: Incidence):
    """Number of pins of a net."""
    return int64(graph.nets.end[net]) - int64(graph.nets.begin[net])


@device
def price_of(net, shift, graph: Incidence):
    """What it costs to cut a net, pairs of pins aside."""
    return PRICE * (value_or(graph.nets.weights, net, 1) >> shift)


@device
def cost_of(beside, across, net, shift, graph: Incidence):
    """What a net costs with a pin here, so many others beside it, and so many across."""
    result = int64(0)
    if across > 0:
        price = price_of(net, shift, graph)
        result = price + price // (size_of(net, graph) - 1) * across * (beside + 1)
    return result


@device
def gain_of(beside, across, net, shift, graph: Incidence):
    """What a net gains if one pin changes sides, with so many others beside it and across."""
    price = price_of(net, shift, graph)
    share = price // max(int64(1), size_of(net, graph) - 1)
    return price * (int64(beside == 0) - int64(across == 0)) + share * (across - beside)


@device
def others_inside(net, i, graph: Incidence, candidates: Candidates, run: Run):
    """How many other pins a net of vertex i has in the same bisection."""
    base = i // run.vertices * run.vertices
    found = int64(0)
    for pin in range(graph.nets.begin[net], graph.nets.end[net]):
        w = base + graph.nets.pins[pin]
        if w != i and candidates.part[w] == candidates.part[i]:
            found += 1
    return found


@device
def nets_inside(i, graph: Incidence, candidates: Candidates, run: Run):
    """What its nets with other pins in the bisection would cost."""
    v = i % run.vertices
    total = int64(0)
    zero = int64(0)
    for place in range(graph.begin[v] + lane(), graph.end[v], team_size()):
        net = graph.targets[place]
        others = others_inside(net, i, graph, candidates, run)
        total += cost_of(zero, others, net, run.weight_shift, graph)
    return total


@device
def pull_of_nets(i, graph: Incidence, candidates: Candidates, attempts: Attempts, run: Run):
    """What its nets gain if it changes from side 0 to side 1."""
    base = i // run.vertices * run.vertices
    pull = int64(0)
    for place in range(graph.begin[i - base] + lane(), graph.end[i - base], team_size()):
        net = graph.targets[place]
        on0 = int64(0)
        on1 = int64(0)
        for pin in range(graph.nets.begin[net], graph.nets.end[net]):
            w = base + graph.nets.pins[pin]
            if candidates.part[w] == candidates.part[i]:
                there = attempts.side[base + candidates.place[w]]
                if there == 1:
                    on1 += 1
                elif there == 0:
                    on0 += 1
        pull += gain_of(on0, on1, net, run.weight_shift, graph)
    return pull


@device
def pins_beside(net, i, here, graph: Incidence, candidates: Candidates, attempts: Attempts,
                run: Run):
    """How many other pins a net of vertex i has on side `here`, and 2^32 times those across.

    Negative, less one, if there is none before i in the order of numbers.
    """
    base = i // run.vertices * run.vertices
    result = int64(0)
    is_first = True
    for pin in range(graph.nets.begin[net], graph.nets.end[net]):
        w = base + graph.nets.pins[pin]
        if w != i and candidates.part[w] == candidates.part[i]:
            if side_at(base + candidates.place[w], attempts) == here:
                result += 1
            else:
                result += int64(1) << 32
            if w < i:
                is_first = False
    return -1 - result if is_first else result


@kernel
def begin_net_key(i, graph: Incidence, candidates: Candidates, attempts: Attempts, run: Run):
    """Compute the key of vertex i, and add up the cut of the nets that it is the first pin of.

    Strays go where they want to: whether a stray's side is read before or after does not matter.
    """
    n = run.vertices
    v = i % n
    here = side_at(i // n * n + candidates.place[i], attempts)
    gain = int64(0)
    cut = int64(0)
    for place in range(graph.begin[v] + lane(), graph.end[v], team_size()):
        net = graph.targets[place]
        pins = pins_beside(net, i, here, graph, candidates, attempts, run)
        is_first = pins < 0
        if is_first:
            pins = -1 - pins
        beside = pins & 0xFFFFFFFF
        across = pins >> 32
        gain += gain_of(beside, across, net, run.weight_shift, graph)
        if is_first:
            cut += cost_of(beside, across, net, run.weight_shift, graph)
    gain = team_sum(gain)
    cut = team_sum(cut)
    keep_first_key(i, here, gain, cut, candidates, attempts, run)


@device
def other_pins(net, mover: Mover, bisection: Bisection, graph: Incidence, candidates: Candidates,
               attempts: Attempts):
    """How many other pins the net has on the side that is left, and 2^32 times those across."""
    result = int64(0)
    for pin in range(graph.nets.begin[net] + mover.first, graph.nets.end[net], mover.step):
        q = int64(candidates.place[bisection.base + graph.nets.pins[pin]])
        if bisection.lower <= q and q < bisection.upper and q != mover.position:
            across = int64(attempts.side[bisection.own + q] & 1) ^ mover.here
            result += int64(1) << (32 * across)
    return result


@device
def tell_pins(net, pins, mover: Mover, bisection: Bisection, graph: Incidence,
              candidates: Candidates, attempts: Attempts):
    """Let gains of a net's pins follow a move, where it had, but for the mover, such `pins`.

    The price counts where a side had, or has now, one pin or none (Fiduccia, Mattheyses, 1982).
    """
    beside = pins & 0xFFFFFFFF
    across = pins >> 32
    price = price_of(net, bisection.shift, graph)
    shares = 2 * (price // max(int64(1), size_of(net, graph) - 1))
    scale = int64(1) << bisection.bits
    change_beside = (shares + price * (int64(across == 0) + int64(beside == 1))) * scale
    change_across = -(shares + price * (int64(across == 1) + int64(beside == 0))) * scale
    for pin in range(graph.nets.begin[net] + mover.first, graph.nets.end[net], mover.step):
        q = int64(candidates.place[bisection.base + graph.nets.pins[pin]])
        if bisection.lower <= q and q < bisection.upper and q != mover.position:
            slot = bisection.own + q
            change = change_beside
            if (attempts.side[slot] & 1) != mover.here:
                change = change_across
            team_atomic_add(attempts.key, slot, change)
            if attempts.side[slot] == mover.opening:
                attempts.side[slot] = int8(1)
            if team_size() == 1:
                keep_best(q, bisection, attempts)
    return beside


@device
def follow_nets(p, here, opening, bisection: Bisection, graph: Incidence, candidates: Candidates,
                attempts: Attempts):
    """Small nets are shared out among the lanes, and so are the pins of large ones."""
    v = candidates.order[bisection.base + p]
    none = int64(0)
    one = int64(1)
    mine = lane()
    lanes = team_size()
    alone = Mover(p, here, opening, none, one)
    together = Mover(p, here, opening, mine, lanes)
    large = int64(0)
    for place in range(graph.begin[v] + lane(), graph.end[v], team_size()):
        net = graph.targets[place]
        if team_size() == 1 or size_of(net, graph) <= MAX_ALONE:
            pins = other_pins(net, alone, bisection, graph, candidates, attempts)
            tell_pins(net, pins, alone, bisection, graph, candidates, attempts)
        else:
            large += 1
    if team_size() > 1 and team_sum(large) > 0:
        for place in range(graph.begin[v], graph.end[v]):
            net = graph.targets[place]
            if size_of(net, graph) > MAX_ALONE:
                pins = team_sum(other_pins(net, together, bisection, graph, candidates, attempts))
                tell_pins(net, pins, together, bisection, graph, candidates, attempts)
    return v


@device
def take_back_nets(made, kept, again, bisection: Bisection, graph: Incidence,
                   candidates: Candidates, attempts: Attempts):
    """Go back move by move, the last one first."""
    own = bisection.own
    for m in range(made - kept):
        p = int64(attempts.moves[own + bisection.lower + made - 1 - m])
        here = int64(attempts.side[own + p] & 1)
        if again:
            follow_nets(p, here, -1, bisection, graph, candidates, attempts)
        if lane() == 0:
            turn_gain(p, bisection, attempts)
            attempts.side[own + p] = int8(attempts.side[own + p] ^ 1)
        team_sync()
    return made - kept


NETS = GainRule("nets", nets_inside, pull_of_nets, begin_net_key, follow_nets, take_back_nets)
"""For hypergraphs."""

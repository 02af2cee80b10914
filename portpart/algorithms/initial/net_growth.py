"""Greedy growing net by net: a side of a bisection takes all pins of one net after another.

Each step takes the net whose pins outside the side weigh least per cost of the net, until the side
has its target weight. Nets that were taken are not cut. If a hypergraph has few nets, each with
many pins, as in set covering, no move of a single vertex saves a net, and the gains of moves do not
show which nets can be saved. Several attempts begin at different nets; the best is used without
refinement.
"""

from __future__ import annotations

import numpy as np

from portpart.algorithms.initial.bisection import record_recursion, split_sides, splits_of
from portpart.algorithms.initial.bisection_state import (
    BisectionSizes,
    BisectionWords,
    Candidates,
    Keys,
    ProjectedState,
    Recursion,
    Splits,
    StartSizes,
)
from portpart.algorithms.initial.deep_multilevel import run_on
from portpart.algorithms.initial.fm_gains import NUM_TOTALS, Attempts, Bisection, store_totals
from portpart.algorithms.initial.net_keys import VertexNets, incidence_of
from portpart.algorithms.initial.options import GrowingOptions
from portpart.algorithms.initial.side_weights import min_vertices, target_side_weight, weight_at
from portpart.backends import language as kl
from portpart.backends.programs import Array, Program, Records
from portpart.graphs import Hypergraph
from portpart.primitives import hash_of

MAX_NETS = 4096
"""With more nets no partition grows net by net: each step examines all of them."""

MAX_NET_WEIGHTS = 2**24
"""Nor with more nets of all attempts together."""

NO_NET = -1

LARGEST = 2**62


class NetWeights(kl.Record):
    """Weights of the nets of each attempt at a bisection: a * m of m nets.

    Attributes
    ----------
    whole : array of int64, shape (a * m,)
        Weight of the pins of each net in the bisection.
    left : array of int64, shape (a * m,)
        Weight of those of them on side 1.
    """

    whole: Array
    left: Array


class NetGrowing(kl.Scope):
    """The records that growing depends on."""

    sizes: BisectionSizes
    recursion: Recursion
    keys: Keys


class OwnNets(kl.Record):
    """The nets of an attempt.

    Attributes
    ----------
    first : int
        Where their weights begin.
    count : int
    """

    first: int
    count: int


class SideGoal(kl.Record):
    """Goal of side 0 of an attempt.

    Attributes
    ----------
    weight : int
        Target weight.
    min_count, max_count : int
        Minimum and maximum number of vertices.
    """

    weight: int
    min_count: int
    max_count: int


def partition_net_by_net(hypergraph: Hypergraph, num_blocks: int, shares: np.ndarray | None,
                         limits: np.ndarray, seed: int, options: GrowingOptions) -> Array | None:
    """Return the best of ``options.net_by_net`` partitions that grow net by net.

    Parameters
    ----------
    hypergraph : Hypergraph
    num_blocks : int
    shares : numpy.ndarray, shape (num_blocks,), optional
        Target weight of each block (positive; only ratios matter); equal by default.
    limits : numpy.ndarray, shape (num_blocks,)
        Limit of each block.
    seed : int
    options : GrowingOptions

    Returns
    -------
    array of int32, shape (n,), or None
        The best by the cost of the nets that bisections cut. A block may exceed its limit. None if
        there are fewer vertices than blocks, no nets, or too many.
    """
    space, n, tried = hypergraph.space, hypergraph.num_vertices, options.net_by_net
    rows, level_begin = splits_of(num_blocks)
    attempts = tried * options.trials * int(np.diff(level_begin).max(initial=0))
    weights = hypergraph.num_nets * attempts
    is_possible = 0 < hypergraph.num_nets <= MAX_NETS and 0 < num_blocks <= n
    if not is_possible or weights > MAX_NET_WEIGHTS:
        return None
    run = run_on(hypergraph)
    run.blocks, run.seed, run.level, run.levels = num_blocks, seed, -1, len(level_begin) - 1
    run.finest, run.grown_trials, run.candidates, run.kept = 1, options.trials, tried, 1
    run.vertices_of_all, run.kept_vertices = tried * n, n
    sizes = StartSizes(tried, tried * n, 0, options.trials, num_blocks)
    side = space.empty(options.trials * tried * n, np.int8)  # no keys and moves
    goals = np.ones(num_blocks) if shares is None else shares
    part, none = space.empty(n, np.int32), space.empty(0, np.int32)
    records: Records = {
        "graph": incidence_of(hypergraph),
        "splits": Splits.on(space, rows, level_begin, goals, limits),
        "candidates": Candidates.allocate(space, sizes),
        "attempts": Attempts.allocate(space, sizes._replace(vertices=0)).replaced(side=side),
        "weights": NetWeights(*(space.empty(weights, np.int64) for _ in range(2))),
        "handover": ProjectedState(none, none, part),
        "start": BisectionWords(space.asarray(run.array)),
    }
    program = space.cached_executable(
        ("growing net by net", *hypergraph.type_key),
        lambda: record_recursion("growing net by net", records, _bisect, ordered=False))
    program.run(records, tried * n)
    return part


def _bisect(program: Program, run: BisectionWords) -> None:
    """Record one level."""
    with program.if_nonzero(run.wide):
        program.launch(run.attempts, grow_net_by_net, team=256)
    with program.otherwise():
        program.launch(run.attempts, grow_net_by_net, team=32)
    program.launch(run.splits_of_all, split_sides, team=256)


@kl.kernel
def grow_net_by_net(i, splits: Splits, graph: VertexNets, candidates: Candidates,
                    attempts: Attempts, weights: NetWeights, state: NetGrowing):
    """Grow side 0 of attempt i at the bisections of a level."""
    n = state.sizes.vertices
    k = state.sizes.blocks
    attempt = i // state.recursion.splits
    split = state.recursion.first_split + i % state.recursion.splits
    first = kl.int64(splits.first[split])
    segments = attempt // state.recursion.trials * (k + 1)
    lower = candidates.segment[segments + first]
    upper = candidates.segment[segments + splits.last[split]]
    base = attempt // state.recursion.trials * n
    own = attempt * n
    totals = NUM_TOTALS * (attempt * k + first)
    zero = kl.int64(0)
    bisection = Bisection(attempt, split, base, own, lower, upper, zero, totals, zero, zero, zero)
    count = state.sizes.nets
    begin = i * count
    nets = OwnNets(begin, count)
    grow_attempt(nets, bisection, splits, graph, candidates, attempts, weights, state)


@kl.device
def grow_attempt(nets: OwnNets, bisection: Bisection, splits: Splits, graph: VertexNets,
                 candidates: Candidates, attempts: Attempts, weights: NetWeights,
                 state: NetGrowing):
    """Grow side 0 of a bisection to its target weight."""
    split = bisection.split
    total = weigh_nets(nets, bisection, graph, candidates, attempts, weights)
    middle = splits.middle[split]
    min_count = min_vertices(middle - splits.first[split], state.recursion)
    max_count = (bisection.upper - bisection.lower
                 - min_vertices(splits.last[split] - middle, state.recursion))
    wanted = target_side_weight(total, split, splits)
    goal = SideGoal(wanted, min_count, max_count)
    net = cheapest_net(nets, graph, weights)
    if bisection.attempt % state.recursion.trials != 0:
        drawn = hash_of((bisection.attempt << 32) + split, state.keys.seed) & 0x7FFFFFFF
        net = next_net(drawn, nets, weights)
    grow_side(net, goal, nets, bisection, graph, candidates, attempts, weights)
    return total


@kl.device
def cost_of_net(net, graph: VertexNets):
    """Return the cost of a net if it is cut."""
    return kl.int64(kl.value_or(graph.nets.weights, net, 1))


@kl.device
def weigh_nets(nets: OwnNets, bisection: Bisection, graph: VertexNets, candidates: Candidates,
               attempts: Attempts, weights: NetWeights):
    """Put all vertices on side 1, and weigh the nets' pins; return the weight of all vertices."""
    for net in range(kl.lane(), nets.count, kl.team_size()):
        weights.left[nets.first + net] = 0
    kl.team_sync()
    total = kl.int64(0)
    for p in range(bisection.lower + kl.lane(), bisection.upper, kl.team_size()):
        attempts.side[bisection.own + p] = kl.int8(1)
        v = candidates.order[bisection.base + p]
        heavy = kl.int64(kl.value_or(graph.vertex_weights, v, 1))
        total += heavy
        add_to_nets(v, heavy, nets, graph, weights)
    kl.team_sync()
    for net in range(kl.lane(), nets.count, kl.team_size()):
        weights.whole[nets.first + net] = weights.left[nets.first + net]
    return kl.team_sum(total)


@kl.device
def add_to_nets(v, weight, nets: OwnNets, graph: VertexNets, weights: NetWeights):
    """Add a weight to what is left of all nets of a vertex. Atomic."""
    for place in range(graph.begin[v], graph.end[v]):
        kl.atomic_add(weights.left, nets.first + graph.targets[place], weight)
    return v


@kl.device
def next_net(drawn, nets: OwnNets, weights: NetWeights):
    """Return the first net with weight on side 1, cyclically from the drawn one on; or NO_NET."""
    found = kl.int64(nets.count)
    for turn in range(kl.lane(), nets.count, kl.team_size()):
        if weights.left[nets.first + (drawn + turn) % nets.count] > 0:
            found = min(found, kl.int64(turn))
    found = kl.team_min(found)
    return (drawn + found) % nets.count if found < nets.count else kl.int64(NO_NET)


@kl.device
def cheapest_net(nets: OwnNets, graph: VertexNets, weights: NetWeights):
    """Return the net with the least weight on side 1 per cost; or NO_NET if no net has any."""
    least = kl.float64(LARGEST)
    found = kl.int64(nets.count)
    for net in range(kl.lane(), nets.count, kl.team_size()):
        left = weights.left[nets.first + net]
        cost = cost_of_net(net, graph)
        ratio = kl.float64(left) / kl.float64(max(kl.int64(1), cost))
        if left > 0 and cost > 0 and ratio < least:
            least = ratio
            found = kl.int64(net)
    best = kl.team_min(least)
    found = kl.team_min(found if least == best else kl.int64(nets.count))
    return found if found < nets.count else kl.int64(NO_NET)


@kl.device
def position_of(item, end, net, bisection: Bisection, graph: VertexNets, candidates: Candidates,
                attempts: Attempts):
    """Return the position of a pin of a net, or of an item of all vertices, on side 1; else -1."""
    p = kl.int64(-1)
    if item < end:
        p = kl.int64(item)
        if net != NO_NET:
            p = kl.int64(candidates.place[bisection.base + graph.nets.pins[item]])
        if p < bisection.lower or p >= bisection.upper:
            p = kl.int64(-1)
        elif attempts.side[bisection.own + p] == 0:
            p = kl.int64(-1)
    return p


@kl.device
def may_take(weight, heavy, count, goal: SideGoal):
    """Whether a vertex may join side 0, which has this weight before and this count with it."""
    room = goal.weight - weight
    wanted = room > 0 and room >= (heavy + 1) // 2
    return (wanted or count <= goal.min_count) and count <= goal.max_count


@kl.device
def grow_side(first, goal: SideGoal, nets: OwnNets, bisection: Bisection, graph: VertexNets,
              candidates: Candidates, attempts: Attempts, weights: NetWeights):
    """Move the pins of net after net to side 0, until one does not fit; store the totals.

    If no net has any weight, vertices follow in the order of their positions.
    """
    net = kl.int64(first)
    weight = kl.int64(0)
    count = kl.int64(0)
    growing = True
    while growing:
        growing = net != NO_NET
        begin = kl.int64(bisection.lower)
        end = kl.int64(bisection.upper)
        if net != NO_NET:
            begin = kl.int64(graph.nets.begin[net])
            end = kl.int64(graph.nets.end[net])
        for tile in range(begin, end, kl.team_size()):
            p = position_of(tile + kl.lane(), end, net, bisection, graph, candidates, attempts)
            there = p >= 0
            heavy = kl.int64(0)
            if there:
                heavy = weight_at(p, bisection.base, graph.vertex_weights, candidates.order)
            before = weight + kl.team_scan(heavy) - heavy
            number = count + kl.team_scan(kl.int64(there))
            misfit = there and not may_take(before, heavy, number, goal)
            stop = kl.team_min(kl.lane() if misfit else kl.team_size())
            joins = there and kl.lane() < stop
            if joins:
                attempts.side[bisection.own + p] = kl.int8(0)
                add_to_nets(candidates.order[bisection.base + p], -heavy, nets, graph, weights)
            weight += kl.team_sum(heavy if joins else kl.int64(0))
            count += kl.team_sum(kl.int64(joins))
            kl.team_sync()
            growing = growing and stop == kl.team_size()
            if stop < kl.team_size():
                break
        if growing:
            net = cheapest_net(nets, graph, weights)
    cut = cost_of_cut(nets, graph, weights)
    store_totals(attempts.totals, bisection.totals, weight, count, cut)
    return cut


@kl.device
def cost_of_cut(nets: OwnNets, graph: VertexNets, weights: NetWeights):
    """Return the cost of the nets with weight on both sides."""
    cut = kl.int64(0)
    for net in range(kl.lane(), nets.count, kl.team_size()):
        left = weights.left[nets.first + net]
        if left > 0 and left < weights.whole[nets.first + net]:
            cut += cost_of_net(net, graph)
    return kl.team_sum(cut)

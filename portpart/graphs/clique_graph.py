"""A graph in place of a hypergraph: an edge for each two pins of a net.

A net of weight w and s pins becomes edges of weight ``w / (s - 1)``, so that the edges of a vertex
weigh what its nets do.  Large nets become circulant graphs instead: pin j is joined to the pins 1,
2, 4, 8 ... places on, with heavier edges.
"""

from __future__ import annotations

import numpy as np

from portpart.backends import language as kl
from portpart.backends.interface import Array
from portpart.backends.language import Record
from portpart.graphs.csr import directed_rows, tails
from portpart.graphs.graph import Graph
from portpart.graphs.hypergraph import Hypergraph, Nets
from portpart.graphs.limits import MAX_TOTAL_WEIGHT
from portpart.primitives.reduce import longest_row, sum_of
from portpart.primitives.scan import TEAM, TILE, offsets_from_counts, tiles_of

MAX_CLIQUE = 256
"""Most pins of a net that becomes a clique,"""

MAX_ARCS = 2**24
"""or fewer, if all cliques together would have more arcs."""

EDGE_WEIGHT = 840
"""What the edges of a pin weigh for a net of weight 1: a multiple of 1 ... 8."""


class Pairs(Record):
    """Where the arcs of pins go.

    Attributes
    ----------
    net_of : array of int32, shape (num_pins,)
    begin : array of int64, shape (num_pins + 1,)
        Where the arcs of each pin begin.
    tails, heads, weights : array
        Both ends and the weight of each arc.
    max_clique : int
    shift : int
        Bits that weights of nets lose, for huge ones would add up to too much.
    """

    net_of: Array
    begin: Array
    tails: Array
    heads: Array
    weights: Array
    max_clique: int
    shift: int


def plain_graph(graph: Graph | Hypergraph) -> Graph:
    """The graph itself, or the one in place of a hypergraph."""
    return graph if isinstance(graph, Graph) else clique_graph(graph)


ARCS_OF_A_PIN = 6
MEAN_DEGREE = 40
"""Guesses: with few vertices most nets share their edges."""


def clique_graph(hypergraph: Hypergraph) -> Graph:
    """The graph of a hypergraph's vertices; edges of several nets add up.

    Time and memory are linear in the arcs: at most `MAX_ARCS` of cliques, and for each pin of a
    larger net two for each time that its number of pins can be halved.
    """
    space, nets = hypergraph.space, hypergraph.nets
    net_of = tails(space, hypergraph.net_offsets, hypergraph.num_pins)
    counts = space.empty(hypergraph.num_pins, np.int64)
    max_clique, nothing = _max_clique(hypergraph), space.empty(1, np.int64)
    space.parallel_for(hypergraph.num_pins, count_arcs, nets,
                       Pairs(net_of, counts, nothing, nothing, nothing, max_clique, 0))
    begin = offsets_from_counts(space, counts)
    length, = space.read(begin[-1:], lambda: [min(
        ARCS_OF_A_PIN * hypergraph.num_pins, MEAN_DEGREE * hypergraph.num_vertices)])
    sources, targets = (space.empty(length, np.int32) for _ in range(2))
    heaviest = 2 * EDGE_WEIGHT * hypergraph.total_net_weight * max(1, hypergraph.max_net_size)
    pairs = Pairs(net_of, begin, sources, targets, space.empty(length, np.int64), max_clique,
                  max(0, heaviest.bit_length() - MAX_TOTAL_WEIGHT.bit_length()))
    space.parallel_for(hypergraph.num_pins, join_pins, nets, pairs, team=8)
    offsets, targets, weights = directed_rows(space, hypergraph.num_vertices, sources, targets,
                                              pairs.weights, loops=False)
    known = {"vertex": hypergraph.total_vertex_weight}
    if space.is_dry_run:
        targets, weights = (space.zeros(length, np.int32) for _ in range(2))
    else:
        degree = space.fetch(longest_row(space, offsets))
        known["arc"] = 0 if weights is None else sum_of(space, weights)
        known["degree"] = int(degree()[0])
    return Graph(offsets, targets, weights, hypergraph.vertex_weights, space, known)


def num_pairs(hypergraph: Hypergraph) -> int:
    """How many arcs the clique graph is made of, before those of several nets add up."""
    sizes = np.diff(hypergraph.space.to_host(hypergraph.net_offsets)).astype(np.int64)
    limit = _max_clique(hypergraph)
    small, large = sizes[sizes <= limit], sizes[sizes > limit]
    steps = np.ceil(np.log2(np.maximum(large, 2))).astype(np.int64) - 1
    return int((small * (small - 1)).sum() + (2 * steps * large).sum())


def _max_clique(hypergraph: Hypergraph) -> int:
    """Most pins of a net that becomes a clique."""
    limit = MAX_CLIQUE
    while limit > 4 and _clique_arcs(hypergraph, limit) > MAX_ARCS:
        limit //= 2
    return limit


def _clique_arcs(hypergraph: Hypergraph, max_clique: int) -> int:
    """Arcs of the nets that become cliques, or a bound for it that is small enough."""
    space, m = hypergraph.space, hypergraph.num_nets
    bound = hypergraph.num_pins * (min(max_clique, hypergraph.max_net_size) - 1)
    if bound <= MAX_ARCS:
        return bound
    total = space.zeros(1, np.int64)
    space.parallel_for(tiles_of(m), add_clique_arcs, m, hypergraph.nets, max_clique, total,
                       team=TEAM)
    return space.read(total, lambda: [0])[0]


@kl.device
def steps_of(size):
    """How often a number of pins can be halved: 1, 2, 4 ... are less than half of it."""
    steps = kl.int64(0)
    while (kl.int64(2) << steps) < size:
        steps += 1
    return steps


@kl.device
def arcs_of_pin(size, max_clique):
    """How many arcs leave a pin of a net of this size."""
    count = kl.int64(size) - 1
    if size > max_clique:
        count = 2 * steps_of(size)
    return count


@kl.device
def place_beside(place, j, size, max_clique):
    """The place in the net that arc j of the pin at `place` leads to."""
    other = kl.int64(j)
    if j >= place:
        other += 1
    if size > max_clique:
        distance = kl.int64(1) << (j >> 1)
        if j & 1 != 0:
            distance = size - distance
        other = (place + distance) % size
    return other


@kl.kernel
def add_clique_arcs(tile, num_nets, nets: Nets, max_clique, total):
    """Add the arcs of a tile's nets that become cliques."""
    arcs = kl.int64(0)
    for net in range(tile * TILE + kl.lane(), min((tile + 1) * TILE, num_nets), kl.team_size()):
        size = kl.int64(nets.end[net]) - kl.int64(nets.begin[net])
        if size <= max_clique:
            arcs += size * (size - 1)
    arcs = kl.team_sum(arcs)
    if kl.lane() == 0:
        kl.atomic_add(total, 0, arcs)


@kl.kernel
def count_arcs(p, nets: Nets, pairs: Pairs):
    """Count the arcs of pin p, into pairs.begin."""
    e = pairs.net_of[p]
    pairs.begin[p] = arcs_of_pin(kl.int64(nets.end[e]) - kl.int64(nets.begin[e]), pairs.max_clique)


@kl.kernel
def join_pins(p, nets: Nets, pairs: Pairs):
    """Write the arcs of pin p."""
    e = pairs.net_of[p]
    first = kl.int64(nets.begin[e])
    size = kl.int64(nets.end[e]) - first
    count = arcs_of_pin(size, pairs.max_clique)
    weight = kl.value_or(nets.weights, e, 1)
    if weight > 0 and count > 0:
        weight = max(kl.int64(1), ((weight >> pairs.shift) * EDGE_WEIGHT + count // 2) // count)
    for j in range(kl.lane(), count, kl.team_size()):
        arc = pairs.begin[p] + j
        pairs.tails[arc] = nets.pins[p]
        pairs.heads[arc] = nets.pins[first + place_beside(p - first, j, size, pairs.max_clique)]
        pairs.weights[arc] = weight

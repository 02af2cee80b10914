"""Models of graphs as hypergraphs and of hypergraphs as graphs, such as the clique expansion."""

from __future__ import annotations

import numpy as np

from portpart import primitives
from portpart.backends import language as kl
from portpart.backends.programs import Array
from portpart.graphs.csr import (
    Runs,
    copy_first,
    directed_rows,
    pack_arc,
    pack_pair,
    tails,
    undirected_rows,
    unpacked,
)
from portpart.graphs.graph import Graph
from portpart.graphs.hypergraph import Hypergraph, Nets
from portpart.graphs.structure import Csr
from portpart.graphs.weights import MAX_TOTAL_WEIGHT

# The clique expansion of a hypergraph: an edge for each two pins of a net ----------------------
#
# A net of weight w and s pins becomes edges of weight ``w / (s - 1)``.  So the edges of a vertex
# have the weight of its nets.  Large nets become circulant graphs with heavier edges instead: pin j
# is joined to the pins j + 1, j + 2, j + 4, j + 8 ...


MAX_CLIQUE = 256
"""Most pins of a net that becomes a clique,"""

MAX_ARCS = 2**24
"""or fewer, if all cliques together would have more arcs."""

EDGE_WEIGHT = 840
"""Weight of the edges of a pin for a net of weight 1: a multiple of 1 ... 8."""


class Pairs(kl.Record):
    """The arcs of pins.

    Attributes
    ----------
    net_of : array of int32, shape (num_pins,)
    begin : array of int64, shape (num_pins + 1,)
        The first arc of each pin.
    tails, heads, weights : array
        Both ends and the weight of each arc.
    max_clique : int
    shift : int
        Bits by which weights of nets are shifted down, so that sums of huge ones do not overflow.
    """

    net_of: Array
    begin: Array
    tails: Array
    heads: Array
    weights: Array
    max_clique: int
    shift: int


def plain_graph(graph: Graph | Hypergraph) -> Graph:
    """Return the graph, or the clique graph of a hypergraph."""
    return graph if isinstance(graph, Graph) else clique_graph(graph)


ARCS_OF_A_PIN = 6
MEAN_DEGREE = 40
"""Guesses for dry runs: with few vertices most nets share their edges."""


def clique_graph(hypergraph: Hypergraph) -> Graph:
    """Return the clique graph of a hypergraph; weights of edges of several nets are added.

    Time and memory are linear in the arcs.  Cliques have at most `MAX_ARCS`; each pin of a larger
    net has two for each halving of the number of pins.
    """
    space, nets = hypergraph.space, hypergraph.nets
    net_of = tails(space, hypergraph.net_offsets, hypergraph.num_pins)
    counts = space.empty(hypergraph.num_pins, np.int64)
    max_clique, nothing = _max_clique(hypergraph), space.empty(1, np.int64)
    space.parallel_for(hypergraph.num_pins, count_arcs, nets,
                       Pairs(net_of, counts, nothing, nothing, nothing, max_clique, 0))
    begin = primitives.offsets_from_counts(space, counts)
    length, = space.read(begin[-1:], lambda: space.guess("pairs", hypergraph, [min(
        ARCS_OF_A_PIN * hypergraph.num_pins, MEAN_DEGREE * hypergraph.num_vertices)]))
    sources, targets = (space.empty(length, np.int32) for _ in range(2))
    heaviest = 2 * EDGE_WEIGHT * hypergraph.total_net_weight * max(1, hypergraph.max_net_size)
    pairs = Pairs(net_of, begin, sources, targets, space.empty(length, np.int64), max_clique,
                  max(0, heaviest.bit_length() - MAX_TOTAL_WEIGHT.bit_length()))
    space.parallel_for(hypergraph.num_pins, join_pins, nets, pairs, team=8)
    offsets, targets, weights = directed_rows(space, hypergraph.num_vertices, sources, targets,
                                              pairs.weights, loops=False)
    known = {"vertex": hypergraph.total_vertex_weight, "parallel": 0}
    if space.is_dry_run:
        arcs, = space.guess("arcs", hypergraph, [length])
        wide, = space.guess("wide", hypergraph, [0])
        targets, weights = (space.zeros(arcs, kind) for kind in (
            np.int32, np.int64 if wide else np.int32))
        known["arc"] = EDGE_WEIGHT * hypergraph.mean_joint_weight(hypergraph.num_pins)
    else:
        degree = space.fetch(primitives.row_measures(space, offsets))
        known["arc"] = 0 if weights is None else primitives.sum_of(space, weights)
        known["degree"] = int(degree()[0])
    return Graph(offsets, targets, weights, hypergraph.vertex_weights, space, known)


def num_pairs(hypergraph: Hypergraph) -> int:
    """Return the number of arcs of the clique graph before parallel arcs are merged."""
    sizes = np.diff(hypergraph.space.to_host(hypergraph.net_offsets)).astype(np.int64)
    limit = _max_clique(hypergraph)
    small, large = sizes[sizes <= limit], sizes[sizes > limit]
    steps = np.ceil(np.log2(np.maximum(large, 2))).astype(np.int64) - 1
    return int((small * (small - 1)).sum() + (2 * steps * large).sum())


def _max_clique(hypergraph: Hypergraph) -> int:
    """Return the maximum number of pins of a net that becomes a clique."""
    limit = MAX_CLIQUE
    while limit > 4 and _clique_arcs(hypergraph, limit) > MAX_ARCS:
        limit //= 2
    return limit


def _clique_arcs(hypergraph: Hypergraph, max_clique: int) -> int:
    """Return the arcs of nets that become cliques, or an upper limit if that is small enough."""
    space, m = hypergraph.space, hypergraph.num_nets
    bound = hypergraph.num_pins * (min(max_clique, hypergraph.max_net_size) - 1)
    if bound <= MAX_ARCS:
        return bound
    total = space.zeros(1, np.int64)
    space.parallel_for(primitives.tiles_of(m), add_clique_arcs, m, hypergraph.nets, max_clique,
                       total, team=primitives.TEAM)
    return space.read(total, lambda: [0])[0]


@kl.device
def steps_of(size):
    """Return the number of steps 1, 2, 4 ... that are less than half of the number of pins."""
    steps = kl.int64(0)
    while (kl.int64(2) << steps) < size:
        steps += 1
    return steps


@kl.device
def arcs_of_pin(size, max_clique):
    """Return the number of arcs that leave a pin of a net of this size."""
    count = kl.int64(size) - 1
    if size > max_clique:
        count = 2 * steps_of(size)
    return count


@kl.device
def place_beside(place, j, size, max_clique):
    """Return the place in the net of the head of arc j of the pin at `place`."""
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
    last = min((tile + 1) * primitives.SCAN_TILE, num_nets)
    for net in range(tile * primitives.SCAN_TILE + kl.lane(), last, kl.team_size()):
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


# Exact models of graphs as hypergraphs and of hypergraphs as graphs ----------------------------


def neighbourhood_hypergraph(graph: Graph, sizes: Array | None = None) -> Hypergraph:
    """Return the hypergraph with a net for each vertex: the vertex and its neighbours.

    A net that spans b blocks costs its weight times b - 1, the data that its vertex sends to other
    blocks (Catalyurek, Aykanat 1999).  Edge weights are ignored.

    Parameters
    ----------
    sizes : array of int, shape (n,), optional
        The data that a vertex sends to each block: the weights of the nets.
    """
    space, n, m = graph.space, graph.num_vertices, graph.num_arcs
    keys = space.empty(m + n, np.int64)
    space.parallel_for(m, pack_arc, tails(space, graph.offsets, m), graph.targets, keys)
    own = primitives.iota(space, n)
    space.parallel_for(n, pack_pair, own, own, keys[m:])
    keys = primitives.sorted_pairs(space, keys, n, n)
    offsets, members, _ = unpacked(space, n, Runs(space, keys).first_of(keys), None)
    return Hypergraph(offsets, members, sizes, offsets, members, graph.vertex_weights, space,
                      names=graph.names)


def edge_hypergraph(graph: Graph) -> Hypergraph:
    """Return the hypergraph whose vertices are the edges of a graph, and whose nets its vertices.

    Vertex e is the e-th arc to a vertex of a larger number, in the order of the rows; its two nets
    are the ends of the arc.  It has the weight of the edge, and a net the weight of its vertex.  So
    km1 of blocks of edges is the cost of all copies of vertices except the first of each.  Rows may
    be in any order; each parallel edge counts.  Time and memory are linear in the arcs.
    """
    space, arcs, m = graph.space, graph.num_arcs, graph.num_edges
    sources = tails(space, graph.offsets, arcs)
    ahead = space.empty(arcs, np.int8)
    space.parallel_for(arcs, mark_ahead, sources, graph.targets, ahead)
    before = primitives.offsets_from_counts(space, ahead)
    heads, ends, pins = (space.empty(count, np.int32) for count in (m, 2 * m, arcs))
    loads = None if graph.weights is None else space.empty(m, np.int64)
    if graph.weights is not None:
        space.parallel_for(arcs, copy_first, graph.weights, before, loads)
    space.parallel_for(arcs, write_ends, sources, graph.targets, before, heads, ends)
    # edges in the order of their larger ends, whose rows begin with them
    order = primitives.sort_keys(space, heads)[1]
    space.parallel_for(arcs, write_pin, sources, graph.csr, before, order, pins)
    offsets = space.empty(m + 1, graph.offsets.dtype)
    space.parallel_for(m + 1, write_even, offsets)
    return Hypergraph(graph.offsets, pins, graph.vertex_weights, offsets, ends, loads, space,
                      {"degree": 2 if m else 0}, net_names=graph.names)


def copies_of_vertices(edges: Hypergraph, part: Array) -> tuple[Array, Array]:
    """Return rows (offsets, blocks) of the blocks in which each vertex has edges, ascending.

    Parameters
    ----------
    edges : Hypergraph
        The result of `edge_hypergraph`.
    part : array of int32, shape (m,)
        Block of each edge.
    """
    space, n = edges.space, edges.num_nets
    keys = space.empty(edges.num_pins, np.int64)
    space.parallel_for(len(keys), pack_copy, edges.vertex_nets, part, keys)
    keys = primitives.sorted_pairs(space, keys, n, 2**31)
    offsets, blocks, _ = unpacked(space, n, Runs(space, keys).first_of(keys), None)
    return offsets, blocks


def graph_of_pairs(hypergraph: Hypergraph) -> Graph:
    """Return the graph whose edges are the nets of two pins; nets of fewer pins cost nothing.

    The weights of equal nets are added.
    """
    pairs = hypergraph.net_offsets[1:] - hypergraph.net_offsets[:-1] == 2
    first = hypergraph.net_offsets[:-1][pairs]
    weights = hypergraph.net_weights
    weights = hypergraph.space.full(len(first), 1, np.int64) if weights is None else (
        weights[pairs].astype(np.int64))
    offsets, targets, weights = undirected_rows(
        hypergraph.space, hypergraph.num_vertices, hypergraph.net_pins[first],
        hypergraph.net_pins[first + 1], weights)
    return Graph(offsets, targets, weights, hypergraph.vertex_weights, hypergraph.space,
                 names=hypergraph.names)


@kl.kernel
def mark_ahead(arc, sources, targets, ahead):
    """Set ahead[arc] to whether the arc leads to a vertex of a larger number."""
    ahead[arc] = kl.int8(targets[arc] > sources[arc])


@kl.kernel
def write_ends(arc, sources, targets, before, heads, ends):
    """Write the ends of the edge of an arc to a larger number."""
    e = before[arc]
    if before[arc + 1] > e:
        heads[e] = targets[arc]
        ends[2 * e] = sources[arc]
        ends[2 * e + 1] = targets[arc]


@kl.kernel
def write_pin(p, sources, graph: Csr, before, order, pins):
    """Write pin p: the edges of a vertex from smaller vertices, then its edges to larger ones."""
    v = sources[p]
    begin = kl.int64(graph.begin[v])
    end = kl.int64(graph.end[v])
    place = p - begin
    from_smaller = end - begin - (before[end] - before[begin])
    if place < from_smaller:
        pins[p] = order[begin - before[begin] + place]
    else:
        pins[p] = before[begin] + place - from_smaller


@kl.kernel
def write_even(e, offsets):
    """Set offsets[e] to 2 e."""
    offsets[e] = 2 * e


@kl.kernel
def pack_copy(i, ends, part, keys):
    """Set keys[i] to an end of an edge with the edge's block."""
    keys[i] = (kl.int64(ends[i]) << 32) | kl.int64(part[i // 2])

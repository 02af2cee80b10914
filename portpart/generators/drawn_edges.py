"""Random graphs with a skewed degree distribution: R-MAT (Chakrabarti, Zhan, Faloutsos, 2004)."""

from __future__ import annotations

import numpy as np

from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.errors import InputError
from portpart.generators.hashed import VertexOrder, place_of
from portpart.graphs import Graph, Runs, edges_graph, id_dtype, turned, unpack_arc
from portpart.primitives import hash_of, offsets_from_counts, sorted_pairs

MAX_SCALE = 30


def rmat(
    scale: int,
    edge_factor: int = 16,
    seed: int = 3,
    *,
    a: float = 0.57,
    b: float = 0.19,
    c: float = 0.19,
) -> Graph:
    """R-MAT graph of ``2**scale`` vertices.

    Parameters
    ----------
    scale : int
    edge_factor : int
        Edges drawn per vertex; loops and duplicates are dropped, so fewer remain.
    seed : int
        ``rng = numpy.random.default_rng(seed)``; for each of the `scale` bits of the vertex
        numbers, the highest first, ``rng.random(number of edges)`` picks the quadrants.
    a, b, c : float
        Probabilities of the upper left, upper right and lower left quadrant of the adjacency
        matrix; the lower right one has the rest.

    Returns
    -------
    Graph
        Without weights; vertices without an edge are kept.

    Examples
    --------
    >>> import portpart
    >>> portpart.generators.rmat(8, 4)
    <Graph: 256 vertices, 751 edges, on cpu>
    """
    if not 0 <= scale <= MAX_SCALE:
        raise InputError(f"scale is {scale}; it must lie in 0 ... {MAX_SCALE}")
    check_shares(a, b, c)
    random = np.random.default_rng(seed)
    n = 1 << scale
    sources, targets = (np.zeros(n * edge_factor, np.int32) for _ in range(2))
    for bit in reversed(range(scale)):
        draw = random.random(len(sources))
        lower, right = draw >= a + b, ((draw >= a) & (draw < a + b)) | (draw >= a + b + c)
        sources |= lower.astype(np.int32) << bit
        targets |= right.astype(np.int32) << bit
    return edges_graph(n, sources, targets)


def check_shares(a: float, b: float, c: float) -> None:
    """Raise unless three quadrants may have these probabilities."""
    if min(a, b, c) < 0 or not a + b + c <= 1:
        raise InputError(f"a, b, c = {a}, {b}, {c} are not probabilities: they must be >= 0 and "
                         "add up to at most 1")


# Rows of graphs whose edges are drawn one by one, each from its number --------------------------
#
# An arc is one number, its source above its target in 32 bits each, so that arcs can be shipped to
# the owners of their sources and sorted there.


HALF = 32
LOW_HALF = (1 << HALF) - 1

EDGES_PER_ITEM = 128

DRAW_BITS = 31
MAX_BITS = 64
"""Maximum number of draws of an edge."""


class Quadrants(kl.Record):
    """Parameters for drawing the ends of edges.

    Attributes
    ----------
    scale : int
        Bits of a vertex.
    upper_left, upper, not_last : int
        Probabilities of the upper left quadrant, of both upper ones, and of all but the lower
        right one, each times 2^31.
    seed : int
    """

    scale: int
    upper_left: int
    upper: int
    not_last: int
    seed: int


class ArcRange(kl.Record):
    """A range of edges, and a range of places: the arcs of these edges with sources there.

    Attributes
    ----------
    begin, end : int
        Numbers of edges.
    first, last : int
        Places of vertices.
    """

    begin: int
    end: int
    first: int
    last: int


def drawn_arcs(space: ExecutionSpace, quadrants: Quadrants, order: VertexOrder,
               wanted: ArcRange) -> Array:
    """Return both arcs of each drawn edge that is no loop, as numbers, if they are wanted."""
    items = -(-(wanted.end - wanted.begin) // EDGES_PER_ITEM)
    counts = space.empty(items, np.int64)
    space.parallel_for(items, draw_arcs.bound(writes=False), quadrants, order, wanted, counts, None)
    places = offsets_from_counts(space, counts, np.int64)
    del counts
    arcs: Array = space.empty(int(space.to_host(places[items:])[0]), np.int64)
    space.parallel_for(items, draw_arcs.bound(writes=True), quadrants, order, wanted, places, arcs)
    return arcs


def rows_of_arcs(space: ExecutionSpace, arcs: Array, first: int, last: int,
                 num_vertices: int) -> tuple[Array, Array]:
    """Return offsets and ascending targets of the rows of arcs; duplicates count once.

    The contents of `arcs` are lost.
    """
    space.parallel_for(len(arcs), shift_source, arcs, first)
    arcs = sorted_pairs(space, arcs, max(1, last - first), max(1, num_vertices))
    arcs = Runs(space, arcs).first_of(arcs)
    targets = space.empty(len(arcs), id_dtype(num_vertices))
    offsets = space.empty(last - first + 1, np.int64)
    space.parallel_for(len(arcs) + 1, unpack_arc, arcs, last - first, len(arcs), offsets, targets)
    return offsets, targets


@kl.device
def edge_ends(edge, quadrants: Quadrants):
    """Return both ends of an edge as one number; their bits are drawn from the highest on."""
    ends = kl.int64(0)
    for bit in range(quadrants.scale):
        draw = hash_of(edge * MAX_BITS + bit, quadrants.seed) & ((1 << DRAW_BITS) - 1)
        lower = kl.int64(draw >= quadrants.upper)
        left = draw < quadrants.upper_left or (lower == 1 and draw < quadrants.not_last)
        ends = (ends << 1) | (lower << HALF) | kl.int64(not left)
    return ends


@kl.device
def is_wanted(arc, wanted: ArcRange):
    """Whether an arc is no loop and its source is in the range."""
    source = arc >> HALF
    return source >= wanted.first and source < wanted.last and source != (arc & LOW_HALF)


@kl.device
def arc_of(edge, quadrants: Quadrants, order: VertexOrder):
    """Return the arc from one end of an edge to the other."""
    ends = edge_ends(edge, quadrants)
    return (place_of(ends >> HALF, order) << HALF) | place_of(ends & LOW_HALF, order)


@kl.kernel
def draw_arcs(item, quadrants: Quadrants, order: VertexOrder, wanted: ArcRange, places, arcs,
              writes: kl.StaticValue):
    """places[item] = wanted arcs of the edges of this item; or write the arcs from there on."""
    place = kl.int64(places[item]) if writes else kl.int64(0)
    begin = wanted.begin + item * EDGES_PER_ITEM
    for edge in range(begin, min(begin + EDGES_PER_ITEM, wanted.end)):
        arc = arc_of(edge, quadrants, order)
        for _ in range(2):
            if is_wanted(arc, wanted):
                if writes:
                    arcs[place] = arc
                place += 1
            arc = turned(arc)
    if not writes:
        places[item] = place


@kl.kernel
def shift_source(i, arcs, first):
    """Count the source of arc i from the first vertex of the range."""
    arcs[i] -= first << HALF

"""Band graphs: the vertices near the cuts of a partition, and an anchor for the rest of each block.

After Chevalier, Pellegrini (2008): refinement of a cut needs only the vertices near it.  They are
found layer by layer.  The other vertices of a block are one vertex, its *anchor*, which stays.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.graphs import MAX_INT32_ARCS, Csr, Graph, team_for
from portpart.primitives import (
    gather,
    histogram,
    offsets_from_counts,
    positions_of,
)

BAND_SHARE = 2
"""A band has at most 1 / BAND_SHARE of the vertices and arcs; layers beyond that are left out."""

OUTSIDE = -1
"""The layer and the number of a vertex outside the band; the fixed block of one that may move."""


class Layers(kl.Record):
    """Vertices by their distance from the boundary.

    Sizes are the number of own vertices, and of these and ghosts.

    Attributes
    ----------
    layer : array of int32
        The layer of a vertex or ghost, or -1.
    listed : array of int32
        Own vertices, one layer after the other.
    ghosts : array of int32
        Ghosts that own vertices have reached.
    own : int
    num_listed, num_arcs, num_ghosts : int
        Lengths of the lists, and the sum of the degrees of listed vertices.
    """

    layer: Array
    listed: Array = kl.work(np.int32, lambda sizes: sizes[0])
    ghosts: Array = kl.work(np.int32, lambda sizes: sizes[1] - sizes[0])
    own: int = kl.word()
    num_listed: int = kl.word()
    num_arcs: int = kl.word()
    num_ghosts: int = kl.word()


class BandNumbers(kl.Record):
    """The numbers of vertices in a band graph.

    Attributes
    ----------
    own : array of int32
        Numbers of the vertices of the band; others have -1.
    part : array of int32
        The block of each vertex.
    anchors : array of int32, shape (k,)
        The number of the anchor of each block, if it has one.
    """

    own: Array
    part: Array
    anchors: Array


class BandRows(NamedTuple):
    """The rows of the vertices of a band, or of those of a rank.

    Attributes
    ----------
    degrees : array of int64
    targets : array of int32
        Numbers in the band.
    weights : array, or None
        Weights of arcs.
    masses : array of int64, or None
        Weights of vertices.
    part : array of int32
    fixed : array of int32, or None
    """

    degrees: Array
    targets: Array
    weights: Array | None
    masses: Array | None
    part: Array
    fixed: Array | None


class Anchors(NamedTuple):
    """The vertices that stand for the rest of each block, on the host.

    Attributes
    ----------
    blocks : numpy.ndarray of int32
        Blocks with vertices outside the band.
    weights : numpy.ndarray of int64
    rest : numpy.ndarray of int64, shape (k,)
        Number of vertices of each block that are not in the band graph: all outside the band but
        the anchor.
    """

    blocks: np.ndarray
    weights: np.ndarray
    rest: np.ndarray

    def numbers(self, first: int, num_blocks: int) -> np.ndarray:
        """Return the number of the anchor of each block, of int32; they begin with `first`."""
        found = np.full(num_blocks, OUTSIDE, np.int32)
        found[self.blocks] = np.arange(first, first + len(self.blocks))
        return found


class Band(NamedTuple):
    """A band graph with a partition.

    Attributes
    ----------
    graph : Graph
        The vertices of the band in their order, then the anchors, which have no arcs.
    part, fixed : array of int32
        The block of each vertex, and the fixed block or -1; anchors are fixed.
    rest : array of int64, shape (k,)
        As in `Anchors`.
    """

    graph: Graph
    part: Array
    fixed: Array
    rest: Array


def band_of(graph: Graph, part: Array, fixed: Array | None, num_blocks: int,
            depth: int) -> tuple[Band, Array] | None:
    """Return the band graph of a partition, and the numbers of its vertices in the whole graph.

    Parameters
    ----------
    graph : Graph
    part : array of int32, shape (n,)
    fixed : array of int32, shape (n,), optional
        Vertices with an entry of 0 or more stay in their block.
    num_blocks : int
    depth : int
        Number of layers beyond the boundary.

    Returns
    -------
    band : Band
    vertices : array of int32
        Ascending.

    Notes
    -----
    None if no vertex is on a boundary, or too many are.  Waits for the device once a layer, and
    twice more.
    """
    space, n = graph.space, graph.num_vertices
    layers = begun(space, n, n)
    space.parallel_for(n, list_boundary, graph.csr, part, layers)
    most = n // BAND_SHARE, graph.num_arcs // BAND_SHARE
    before, reached, layer = (0, 0), listed(space, layers, most), 0
    while layer < depth and before[0] < reached[0] and fits(reached, most):
        space.parallel_for(reached[0] - before[0], list_layer, before[0], layer + 1, graph.csr,
                           layers)
        before, reached, layer = reached, listed(space, layers, most), layer + 1
    if not fits(reached, most):
        reached, layer = before, layer - 1
    count, num_arcs = reached
    if count == 0:
        return None
    vertices, numbers = numbered(space, layers, layer, count, 0)
    rest = outside(graph, numbers, part, num_blocks)
    anchors = anchors_of(space.to_host(rest))
    there = BandNumbers(numbers, part, space.asarray(anchors.numbers(count, num_blocks)))
    rows = rows_of_band(graph, vertices, num_arcs, there, fixed)
    return with_anchors(space, rows, anchors), vertices


def begun(space: ExecutionSpace, own: int, local: int) -> Layers:
    """Return the state in which no vertex is listed."""
    return Layers.allocate(space, (own, local), layer=space.full(local, OUTSIDE, np.int32)).over(
        Layers.own_words(space.asarray(np.array([own, 0, 0, 0]))))


def listed(space: ExecutionSpace, layers: Layers, guess: tuple[int, int]) -> tuple[int, int]:
    """Return the number of listed vertices, and the sum of their degrees."""
    _, count, arcs, _ = space.read(layers.own_words.array, lambda: [0, *guess, 0])
    return count, arcs


def fits(sizes: tuple[int, int], most: tuple[int, int]) -> bool:
    """Whether these numbers of vertices and arcs are at most these."""
    return sizes[0] <= most[0] and sizes[1] <= most[1]


def numbered(space: ExecutionSpace, layers: Layers, last_layer: int, count: int,
             first: int) -> tuple[Array, Array]:
    """Return the own vertices up to a layer, ascending, and the numbers of own vertices.

    Numbers begin with `first`; vertices outside the band have -1.  The layers are no longer needed.
    """
    own = len(layers.listed)
    flags = space.empty(own, np.int8)
    space.parallel_for(own, flag_layers, last_layer, layers.layer, flags)
    vertices = positions_of(space, flags, count)
    numbers = layers.layer
    numbers[:] = OUTSIDE
    space.parallel_for(count, number_vertex, vertices, first, numbers)
    return vertices, numbers


def outside(graph: Graph, numbers: Array, part: Array, num_blocks: int) -> Array:
    """Return the number, then the weight, of the own vertices of each block outside the band.

    Returns
    -------
    array of int64, shape (2 * num_blocks,)
    """
    space, own, masses = graph.space, graph.num_vertices, graph.vertex_weights
    keys = space.empty(own, np.int32)
    space.parallel_for(own, write_block_outside, numbers, part, num_blocks, keys)
    found = space.empty(2 * num_blocks, np.int64)
    counts = histogram(space, keys, num_blocks + 1)
    found[:num_blocks] = counts[:num_blocks]
    if masses is not None:
        counts = histogram(space, keys, num_blocks + 1, masses[:own])
    found[num_blocks:] = counts[:num_blocks]
    return found


def anchors_of(outside: np.ndarray) -> Anchors:
    """Return the anchors, from the numbers and weights of vertices outside the band."""
    counts, weights = outside.reshape(2, -1)
    blocks = np.flatnonzero(counts).astype(np.int32)
    return Anchors(blocks, weights[blocks], np.maximum(counts - 1, 0))


def rows_of_band(graph: Graph, vertices: Array, num_arcs: int, numbers: BandNumbers,
                 fixed: Array | None) -> BandRows:
    """Return the rows of these vertices, which have this many arcs together."""
    space, count, team = graph.space, len(vertices), team_for(graph.mean_degree)
    degrees = space.empty(count, np.int64)
    space.parallel_for(count, write_degree_of, vertices, graph.csr, degrees)
    offsets = offsets_from_counts(space, degrees, np.int64)
    targets = space.empty(num_arcs, np.int32)
    space.parallel_for(count, write_targets, vertices, graph.csr, numbers, offsets, targets,
                       team=team)
    weights, masses = None, graph.vertex_weights
    if graph.weights is not None:
        weights = space.empty(num_arcs, graph.weights.dtype)
        space.parallel_for(count, write_weights, vertices, graph.csr, offsets, weights, team=team)
    return BandRows(degrees, targets, weights,
                    None if masses is None else gather(space, masses, vertices),
                    gather(space, numbers.part, vertices),
                    None if fixed is None else gather(space, fixed, vertices))


def offset_type(num_arcs: int) -> type[np.signedinteger]:
    """Return the type of the offsets of a band graph."""
    return np.int32 if num_arcs <= MAX_INT32_ARCS else np.int64


def with_anchors(space: ExecutionSpace, rows: BandRows, anchors: Anchors) -> Band:
    """Return the band graph with these rows."""
    count, further = len(rows.degrees), len(anchors.blocks)
    size = count + further
    degrees, masses = space.zeros(size, np.int64), space.full(size, 1, np.int64)
    part, fixed = space.empty(size, np.int32), space.full(size, OUTSIDE, np.int32)
    degrees[:count] = rows.degrees
    part[:count] = rows.part
    if rows.masses is not None:
        masses[:count] = rows.masses
    if rows.fixed is not None:
        fixed[:count] = rows.fixed
    masses[count:] = space.asarray(anchors.weights)
    part[count:] = fixed[count:] = space.asarray(anchors.blocks)
    offsets = offsets_from_counts(space, degrees, offset_type(len(rows.targets)))
    return Band(Graph(offsets, rows.targets, rows.weights, masses, space), part, fixed,
                space.asarray(anchors.rest))


@kl.kernel
def list_boundary(v, graph: Csr, part, layers: Layers):
    """List v as a part of layer 0 if it has neighbours in another block.  Atomic, in any order."""
    here = part[v]
    arc = kl.int64(graph.begin[v])
    end = kl.int64(graph.end[v])
    while arc < end:
        if part[graph.targets[arc]] != here:
            layers.layer[v] = kl.int32(0)
            append_vertex(v, graph, layers)
            arc = end
        arc += 1


@kl.device
def append_vertex(v, graph: Csr, layers: Layers):
    """Put v on the list.  Atomic, in any order."""
    layers.listed[kl.atomic_next(layers, Layers.num_listed)] = kl.int32(v)
    kl.atomic_add(layers, Layers.num_arcs, kl.int64(graph.end[v]) - kl.int64(graph.begin[v]))


@kl.device
def joins(v, layer, layers: Layers):
    """Store the layer of v, and return whether it had none.  Atomic."""
    if kl.atomic_load(layers.layer, v) >= 0:
        return False
    return kl.atomic_cas(layers.layer, v, kl.int32(OUTSIDE), kl.int32(layer)) < 0


@kl.kernel
def list_layer(i, first, layer, graph: Csr, layers: Layers):
    """List the neighbours of a vertex of the layer before.  Atomic, in any order."""
    v = kl.int64(layers.listed[first + i])
    for arc in range(graph.begin[v], graph.end[v]):
        u = kl.int64(graph.targets[arc])
        if joins(u, layer, layers):
            if u < layers.own:
                append_vertex(u, graph, layers)
            else:
                layers.ghosts[kl.atomic_next(layers, Layers.num_ghosts)] = kl.int32(u)


@kl.kernel
def flag_layers(v, last_layer, layer, flags):
    """Set flags[v] to whether v is in a layer up to the last one."""
    flags[v] = kl.int8(0 <= layer[v] and layer[v] <= last_layer)


@kl.kernel
def number_vertex(i, vertices, first, numbers):
    """Set the number of listed vertex i."""
    numbers[vertices[i]] = kl.int32(first + i)


@kl.kernel
def write_block_outside(v, numbers, part, otherwise, keys):
    """Set keys[v] to the block of v if v is outside the band, else to `otherwise`."""
    keys[v] = part[v] if numbers[v] < 0 else kl.int32(otherwise)


@kl.kernel
def write_degree_of(i, vertices, graph: Csr, degrees):
    """Set degrees[i] to the degree of listed vertex i."""
    v = kl.int64(vertices[i])
    degrees[i] = kl.int64(graph.end[v]) - kl.int64(graph.begin[v])


@kl.kernel
def write_targets(i, vertices, graph: Csr, numbers: BandNumbers, offsets, targets):
    """Write the heads of the arcs of listed vertex i.  Called by one team."""
    v = kl.int64(vertices[i])
    begin = kl.int64(graph.begin[v])
    for arc in range(begin + kl.lane(), graph.end[v], kl.team_size()):
        u = kl.int64(graph.targets[arc])
        number = kl.int32(numbers.own[u])
        if number < 0:
            number = kl.int32(numbers.anchors[numbers.part[u]])
        targets[offsets[i] + arc - begin] = number


@kl.kernel
def write_weights(i, vertices, graph: Csr, offsets, weights):
    """Write the weights of the arcs of listed vertex i.  Called by one team."""
    begin = kl.int64(graph.begin[vertices[i]])
    for arc in range(begin + kl.lane(), graph.end[vertices[i]], kl.team_size()):
        weights[offsets[i] + arc - begin] = kl.value_or(graph.weights, arc, 1)

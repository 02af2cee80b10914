"""Band graphs of graphs of several ranks.

Each rank finds those of its vertices that are near the cuts, and sends their rows to rank 0, which
refines.  The band graph is that of one device for the whole graph.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from portpart.algorithms.refinement.flows import (
    BAND_SHARE,
    Band,
    BandNumbers,
    BandRows,
    Layers,
    anchors_of,
    append_vertex,
    begun,
    fits,
    joins,
    list_boundary,
    list_layer,
    listed,
    numbered,
    offset_type,
    outside,
    rows_of_band,
    with_anchors,
)
from portpart.backends import language as kl
from portpart.backends.communication import planned, sum_over_ranks
from portpart.backends.programs import Array, ExecutionSpace
from portpart.graphs import Csr, Graph, rows_in_order
from portpart.graphs.ranks import DistributedGraph, owned, values_for_ghosts, with_ghost_values
from portpart.primitives import (
    Message,
    Part,
    Talk,
    gather,
    grouped,
    held,
    iota,
    offsets_from_counts,
    put_one,
    put_to,
    ship,
    sort_keys,
)


class RankBand(NamedTuple):
    """The vertices of a rank in the band graph.

    Attributes
    ----------
    vertices : array of int32
        Own vertices in the band.
    numbers : array of int32
        Numbers of own vertices and of ghosts in the band, those of rank 0 first, or -1.
    part : array of int32
        Blocks of own vertices and of ghosts.
    sizes : numpy.ndarray of int64, shape (ranks, 2)
        Number of vertices in the band on each rank, and the sum of their degrees.
    """

    vertices: Array
    numbers: Array
    part: Array
    sizes: np.ndarray

    @property
    def total(self) -> int:
        """Number of vertices in the band on all ranks."""
        return int(self.sizes[:, 0].sum())


def refine_band(graph: DistributedGraph, part: Array, fixed: Array | None, num_blocks: int,
                depth: int, refine: Callable[[Band], int]) -> tuple[int | None, Array]:
    """Refine a partition on its band graph.  All ranks call it.

    Parameters
    ----------
    graph : DistributedGraph
    part, fixed : array of int32, shape (own vertices,)
        As in `band_of`.
    num_blocks, depth : int
    refine : callable
        Refines the partition of a band graph in place and returns the gain.  Rank 0 calls it.

    Returns
    -------
    gain : int or None
        None if there is no band graph.
    part : array of int32
        The new blocks of own vertices and of ghosts.
    """
    comm, space, own = graph.comm, graph.space, graph.local.num_vertices
    found = held(comm, space, _vertices_near(graph, part, depth))
    if found.total == 0:
        return None, found.part
    rest = planned(comm, lambda: space.to_host(
        outside(graph.local, found.numbers, found.part, num_blocks)))
    anchors = anchors_of(sum_over_ranks(comm, rest))
    rows, ids = _gathered(graph, found, fixed, anchors.numbers(found.total, num_blocks))

    def refined() -> tuple[int, Array]:
        if comm.rank > 0:
            return 0, space.empty(0, np.int32)
        assert rows is not None
        if ids is None:
            band = with_anchors(space, rows, anchors)
            return refine(band), space.copy(band.part[: found.total])
        order, places = _by_ids(space, ids)
        band = with_anchors(space, _in_order(space, rows, places, len(anchors.blocks)), anchors)
        return refine(band), put_to(space, order, space.copy(band.part[: found.total]))

    gain, blocks = planned(comm, refined)
    (mine,), _ = ship(comm, space, [blocks], found.sizes[:, 0] * (comm.rank == 0))
    gain = int(sum_over_ranks(comm, [gain])[0])

    def settled() -> Array:
        result = space.copy(found.part[:own])
        space.parallel_for(len(found.vertices), put_one, found.vertices, mine, result)
        return result

    result = planned(comm, settled)
    (result,), _ = held(comm, space, with_ghost_values(space, graph.halo, [result]))
    return gain, result


def _vertices_near(graph: DistributedGraph, part: Array, depth: int) -> Talk[RankBand]:
    """Find the vertices near the cuts; as `band_of`, with a message for each layer."""
    space, local, rank = graph.space, graph.local, graph.comm.rank
    own, totals = local.num_vertices, graph.totals
    (known,), _ = yield from with_ghost_values(space, graph.halo, [part])
    layers = begun(space, own, own + graph.num_ghosts)
    space.parallel_for(own, list_boundary, local.csr, known, layers)
    most = totals.num_vertices // BAND_SHARE, totals.num_arcs // BAND_SHARE
    first = np.zeros((graph.comm.size, 2), np.int64)
    last = (yield Message([], listed(space, layers, most))).words
    layer = 0
    while layer < depth and first[:, 0].sum() < last[:, 0].sum() and fits(last.sum(axis=0), most):
        low, high = int(first[rank, 0]), int(last[rank, 0])
        space.parallel_for(high - low, list_layer, low, layer + 1, local.csr, layers)
        received = yield Message([_reached_ghosts(graph, layers)])
        vertices = owned(graph, received.parts[0].columns[0])
        space.parallel_for(len(vertices), list_reached, vertices, layer + 1, local.csr, layers)
        first, last = last, (yield Message([], listed(space, layers, most))).words
        layer += 1
    if not fits(last.sum(axis=0), most):
        last, layer = first, layer - 1
    vertices, numbers = numbered(space, layers, layer, int(last[rank, 0]),
                                 int(last[:rank, 0].sum()))
    received = yield Message([values_for_ghosts(space, graph.halo, [numbers])])
    numbers[own:] = received.parts[0].columns[0]
    return RankBand(vertices, numbers, known, last)


def _reached_ghosts(graph: DistributedGraph, layers: Layers) -> Part:
    """Return the names of the ghosts that have just been reached, for their owners."""
    space = graph.space
    count = int(space.to_host(layers.own_words.array)[-1])
    names = gather(space, graph.names, layers.ghosts[:count])
    layers.own_words.array[-1:] = 0
    order, counts = grouped(space, graph.owners.first, graph.comm.size, names)
    return Part([names], counts, order=order)


def _gathered(graph: DistributedGraph, found: RankBand, fixed: Array | None,
              anchors: np.ndarray) -> tuple[BandRows | None, Array | None]:
    """Return on rank 0 the rows of all ranks, and the global ids of their vertices if some have
    moved.
    """
    space, count, to = graph.space, len(found.vertices), np.arange(graph.comm.size) == 0
    there = BandNumbers(found.numbers, found.part, space.asarray(anchors))
    num_arcs = int(found.sizes[graph.comm.rank, 1])
    own = planned(graph.comm, partial(rows_of_band, graph.local, found.vertices, num_arcs, there,
                                      fixed))
    degrees, masses, part, held_blocks = graph.shipped_to(to, count, lambda: [
        own.degrees, own.masses, own.part, own.fixed])
    ids, = graph.shipped_to(to, count, lambda: [
        gather(space, graph.global_ids, found.vertices) if graph.are_moved else None])
    targets, weights = graph.shipped_to(to, len(own.targets), lambda: [own.targets, own.weights])
    if degrees is None or targets is None or part is None:
        return None, ids
    return BandRows(degrees, targets, weights, masses, part, held_blocks), ids


def _by_ids(space: ExecutionSpace, ids: Array) -> tuple[Array, Array]:
    """Return the vertices in the order of their ids, and the place of each in that order."""
    _, order = sort_keys(space, ids)
    return order, put_to(space, order, iota(space, len(order)))


def _in_order(space: ExecutionSpace, rows: BandRows, places: Array, further: int) -> BandRows:
    """Return the rows with row v at ``places[v]``; heads are renamed, but for the anchors."""
    count = len(places)
    names = iota(space, count + further)
    names[:count] = places
    offsets = offsets_from_counts(space, rows.degrees, offset_type(len(rows.targets)))
    graph = rows_in_order(Graph(offsets, gather(space, names, rows.targets), rows.weights,
                                rows.masses, space), places)
    return BandRows(put_to(space, places, rows.degrees), graph.targets, graph.weights,
                    graph.vertex_weights, put_to(space, places, rows.part),
                    None if rows.fixed is None else put_to(space, places, rows.fixed))


@kl.kernel
def list_reached(i, vertices, layer, graph: Csr, layers: Layers):
    """List an own vertex that another rank has reached.  Atomic, in any order."""
    v = kl.int64(vertices[i])
    if joins(v, layer, layers):
        append_vertex(v, graph, layers)

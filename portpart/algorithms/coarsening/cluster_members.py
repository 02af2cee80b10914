"""The members of each cluster, as lists."""

from __future__ import annotations

import numpy as np

from portpart.algorithms.coarsening.sizes import (
    around_clusters,
    of_cluster_tiles,
    of_clusters,
    of_vertices,
)
from portpart.backends import language as kl
from portpart.backends.declared import work
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.work import WorkRecord
from portpart.graphs.rows import Csr, degree_of
from portpart.primitives.scan import TILE, tiles_of

MIN_WIDE_ROW = 64
"""No narrow team leaves clusters of so few arcs to the widest one."""


class Members(WorkRecord):
    """The members of at most c clusters of n vertices.

    Attributes
    ----------
    cluster : array of int32, shape (n,)
        The number of each vertex's cluster.
    first : array of int64, shape (1,), or None
        The number of the first cluster, where arrays have those of a piece.
    count : array of int32, shape (c,)
        Members of each cluster; counted down while they are listed.
    num_arcs : array of int64, shape (c,)
        Arcs that leave the members.
    offsets : array of int32, shape (c + 1,)
        Members of cluster i are ``listed[offsets[i]] ... listed[offsets[i + 1] - 1]``.
    listed : array of int32, shape (n,)
    wide : array of int32
        Clusters with many arcs.
    tile_sums : array of int64
        For the scan of the members, and then the arcs of each tile of clusters.
    """

    cluster: Array
    first: Array | None = None
    count: Array = work(np.int32, of_clusters)
    num_arcs: Array = work(np.int64, of_clusters)
    offsets: Array = work(np.int32, around_clusters)
    listed: Array = work(np.int32, of_vertices)
    wide: Array = work(np.int32, lambda sizes: sizes.arcs // (MIN_WIDE_ROW + 1))
    tile_sums: Array = work(np.int64, of_cluster_tiles)

    vertices: int = kl.word()
    clusters: int = kl.word()
    tiles: int = kl.word()  # tiles of clusters
    num_wide: int = kl.word()  # clusters with many arcs

    def of_piece(self, space: ExecutionSpace, first: int, clusters: int) -> Members:
        """Those of clusters that follow each other; what they work on is scratch."""
        return Members(
            self.cluster, space.asarray(np.array([first])), listed=self.listed,
            num_arcs=self.num_arcs[first : first + clusters],
            offsets=self.offsets[first : first + clusters + 1],
        ).with_words(clusters=clusters, tiles=tiles_of(clusters))


@kl.device
def number_of(c, members: Members):
    """The number of cluster c in the arrays."""
    return kl.int64(c) + kl.value_or(members.first, 0, 0)


@kl.kernel
def clear_clusters(tile, members: Members):
    """Nothing has been counted for the clusters of the tile."""
    end = min((tile + 1) * TILE, members.clusters)
    for c in range(tile * TILE + kl.lane(), end, kl.team_size()):
        members.count[c] = kl.int32(0)
        members.num_arcs[c] = 0


@kl.kernel
def count_member(v, graph: Csr, members: Members):
    """Count v and its arcs for its cluster; atomic, independent of order."""
    c = members.cluster[v]
    kl.atomic_add(members.count, c, 1)
    kl.atomic_add(members.num_arcs, c, degree_of(v, graph))


@kl.kernel
def place_member(v, members: Members):
    """Put v on the list of its cluster, last place first; atomic, the order in a list is free."""
    c = members.cluster[v]
    place = kl.int64(members.offsets[c]) + kl.atomic_add(members.count, c, -1) - 1
    members.listed[place] = kl.int32(v)

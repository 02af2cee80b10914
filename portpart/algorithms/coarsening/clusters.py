"""Clusters: maps from vertices to clusters, their numbers, and lists of their members."""

from __future__ import annotations

import numpy as np

from portpart.algorithms.coarsening.options import around_clusters, of_cluster_tiles
from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace, Program, Slot
from portpart.graphs import Csr, degree_of
from portpart.primitives import SCAN_TILE, record_scan, tiles_of

MIN_WIDE_ROW = 64
"""Clusters of at most this many arcs are never left to the widest team."""


class Clusters(kl.Record):
    """A map from vertices to clusters 0 ... count-1.

    Attributes
    ----------
    cluster : array of int32, shape (n,)
    count : array of int64, shape (1,)
        Number of clusters, in the space, so that clustering need not synchronise.
    max_count : int
        Maximum number of clusters.
    heads : array of int64, shape (1,), or None
        Number of clusters that arcs lead to, if some of these have no vertices here, and have
        numbers from the number of clusters on.
    """

    max_count: int
    cluster: Array = kl.work(np.int32, "vertices")
    count: Array = kl.work(np.int64, lambda sizes: 1)
    heads: Array | None = kl.absent()


class Numbering(kl.Record):
    """Whether each of n vertices leads a cluster, and the number of leaders before it."""

    flags: Array = kl.work(np.int8, "vertices")
    number: Array = kl.work(np.int32, lambda sizes: sizes.vertices + 1)
    tile_sums: Array = kl.work(np.int64, lambda sizes: tiles_of(sizes.vertices))

    vertices: int = kl.word()
    tiles: int = kl.word()  # tiles of vertices

    @classmethod
    def of(cls, n: int) -> Numbering:
        """Return the record for n vertices."""
        return cls().with_words(vertices=n, tiles=tiles_of(n))


class Members(kl.Record):
    """The members of at most c clusters of n vertices.

    Attributes
    ----------
    cluster : array of int32, shape (n,)
        The number of each vertex's cluster.
    first : array of int64, shape (1,), or None
        The number of the first cluster, if arrays are those of a piece.
    count : array of int32, shape (c,)
        Number of members of each cluster; counted down while they are listed.
    num_arcs : array of int64, shape (c,)
        Number of arcs of the members.
    offsets : array of int32, shape (c + 1,)
        Members of cluster i are ``listed[offsets[i]] ... listed[offsets[i + 1] - 1]``.
    listed : array of int32, shape (n,)
    wide : array of int32
        Clusters with many arcs.
    tile_sums : array of int64
        Scratch for the scan of the members, then the number of arcs of each tile of clusters.
    """

    cluster: Array
    first: Array | None = None
    count: Array = kl.work(np.int32, "clusters")
    num_arcs: Array = kl.work(np.int64, "clusters")
    offsets: Array = kl.work(np.int32, around_clusters)
    listed: Array = kl.work(np.int32, "vertices")
    wide: Array = kl.work(np.int32, lambda sizes: sizes.arcs // (MIN_WIDE_ROW + 1))
    tile_sums: Array = kl.work(np.int64, of_cluster_tiles)

    vertices: int = kl.word()
    clusters: int = kl.word()
    tiles: int = kl.word()  # tiles of clusters
    num_wide: int = kl.word()  # clusters with many arcs

    def of_piece(self, space: ExecutionSpace, first: int, clusters: int) -> Members:
        """Return the members of consecutive clusters; the other arrays are scratch."""
        return Members(
            self.cluster, space.asarray(np.array([first])), listed=self.listed,
            num_arcs=self.num_arcs[first : first + clusters],
            offsets=self.offsets[first : first + clusters + 1],
        ).with_words(clusters=clusters, tiles=tiles_of(clusters))


def record_numbering(program: Program, leader: Slot) -> None:
    """Record that clusters are numbered in the order of their leaders and counted in ``count``.

    Parameters
    ----------
    program : Program
        With the record ``numbering``.
    leader : array of int32, shape (n,)
        The leader of each vertex's cluster; it is replaced by the number of the cluster.
    """
    found = program.find("numbering", Numbering)
    program.array("count", np.int64)
    program.launch(found.vertices, flag_leader, leader=leader)
    record_scan(program, found.flags, found.number, found.tile_sums, found.vertices, found.tiles)
    with program.side_by_side():
        program.launch(found.vertices, number_cluster, leader=leader)
        program.launch(1, count_clusters)


@kl.kernel
def flag_leader(v, leader, numbering: Numbering):
    """flags[v] = whether v leads its cluster."""
    numbering.flags[v] = leader[v] == v


@kl.kernel
def number_cluster(v, leader, numbering: Numbering):
    """Replace v's leader by the number of its cluster."""
    leader[v] = numbering.number[leader[v]]


@kl.kernel
def count_clusters(_, numbering: Numbering, count):
    """Store the number of clusters."""
    count[0] = numbering.number[numbering.vertices]


@kl.device
def number_of(c, members: Members):
    """Return the number of the c-th cluster of the arrays."""
    return kl.int64(c) + kl.value_or(members.first, 0, 0)


@kl.kernel
def clear_clusters(tile, members: Members):
    """Set the counts of the clusters of a tile to 0."""
    end = min((tile + 1) * SCAN_TILE, members.clusters)
    for c in range(tile * SCAN_TILE + kl.lane(), end, kl.team_size()):
        members.count[c] = kl.int32(0)
        members.num_arcs[c] = 0


@kl.kernel
def count_member(v, graph: Csr, members: Members):
    """Count v and its arcs for its cluster.  Atomic; the result does not depend on the order."""
    c = members.cluster[v]
    kl.atomic_add(members.count, c, 1)
    kl.atomic_add(members.num_arcs, c, degree_of(v, graph))


@kl.kernel
def place_member(v, members: Members):
    """Put v on the list of its cluster, last place first.  Atomic; the list has any order."""
    c = members.cluster[v]
    place = kl.int64(members.offsets[c]) + kl.atomic_add(members.count, c, -1) - 1
    members.listed[place] = kl.int32(v)


@kl.device
def first_alike(place, keys, mask):
    """Return the first place of the keys that equal that at `place` in the bits of a mask.

    All keys are ascending in these bits.
    """
    first = kl.int64(place)
    step = kl.int64(1)
    while step > 0:
        is_alike = first >= step
        if is_alike:
            is_alike = (keys[first - step] ^ keys[place]) & mask == 0
        if is_alike:
            first -= step
            step *= 2
        else:
            step >>= 1
    return first

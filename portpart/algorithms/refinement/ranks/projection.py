"""Projection between two levels of several ranks: owners of clusters send their blocks.

Nearly all clusters of a rank's vertices are its own; what is known of the others is fetched.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from portpart.algorithms.refinement.evaluation import Coarser, may_touch, project_vertex
from portpart.algorithms.refinement.incumbent.state import Incumbent
from portpart.algorithms.refinement.moves.state import Moves
from portpart.backends import language as kl
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import Record
from portpart.graphs.distributed import DistributedGraph
from portpart.graphs.route import Route
from portpart.primitives.basic import gather
from portpart.primitives.bisection import lower_bound
from portpart.primitives.select import positions_of


class ProjectedClusters(Record):
    """What a rank knows of clusters.

    Attributes
    ----------
    own : Coarser
        The known state of own clusters,
    foreign : Coarser
        and of others,
    names : array of int64
        which have these numbers, ascending.
    """

    own: Coarser
    foreign: Coarser
    names: Array


class Fetched(NamedTuple):
    """The same, for a kernel of which each vertex of the finer graph is an item.

    Attributes
    ----------
    clusters : ProjectedClusters
    first, last : int
        Numbers of own clusters.
    """

    clusters: ProjectedClusters
    first: int
    last: int

    def project(self, space: ExecutionSpace, cluster: Array, moves: Moves,
                incumbent: Incumbent) -> None:
        """Vertices and ghosts of the finer graph start in the blocks of their clusters."""
        space.parallel_for(len(cluster), project_from, cluster, self.clusters, self.first,
                           self.last, len(self.clusters.names), moves, incumbent)


def fetched(coarser: DistributedGraph, known: Coarser, cluster: Array) -> Fetched:
    """What is known of the clusters of all vertices and ghosts of the finer graph.

    All ranks call it.

    Parameters
    ----------
    coarser : DistributedGraph
        The graph of the clusters.
    known : Coarser
        The known state of this rank's clusters.
    cluster : array of int64
        The number of the cluster of each vertex and each ghost, among all ranks.
    """
    space, own = coarser.space, coarser.local.num_vertices
    first = int(coarser.first[coarser.comm.rank])
    outside = space.empty(len(cluster), np.int8)
    space.parallel_for(len(cluster), mark_foreign, cluster, first, first + own, outside)
    route = Route(coarser, gather(space, cluster, positions_of(space, outside)))
    touched = space.empty(own, np.int8)
    space.parallel_for(own, note_touched, known, touched)
    best, flags = route.fetch([known.best, touched])
    foreign = Coarser(best, flags, space.zeros(len(best), np.int32))
    return Fetched(ProjectedClusters(known, foreign, route.names), first, first + own)


@kl.kernel
def mark_foreign(v, cluster, first, last, outside):
    """outside[v] = whether v's cluster is not in a range."""
    outside[v] = kl.int8(cluster[v] < first or cluster[v] >= last)


@kl.kernel
def note_touched(c, known: Coarser, touched):
    """touched[c] = whether c may be on a boundary of its best partition."""
    touched[c] = may_touch(known.flags[c], known.is_dirty[c])


@kl.kernel
def project_from(v, cluster, clusters: ProjectedClusters, first, last, count, moves: Moves,
                 incumbent: Incumbent):
    """A vertex or a ghost starts in the block of its cluster, and inside it if that was."""
    c = cluster[v]
    if c >= first and c < last:
        project_vertex(v, c - first, clusters.own, moves, incumbent)
    else:
        project_vertex(v, lower_bound(clusters.names, 0, count, c), clusters.foreign, moves,
                       incumbent)

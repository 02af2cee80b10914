"""Projection between two levels of several ranks: the owners of clusters tell their blocks."""

from __future__ import annotations

import numpy as np

from portpart.algorithms.refinement.evaluation import Coarser, may_touch
from portpart.backends import language as kl
from portpart.backends.interface import Array
from portpart.graphs.distributed import DistributedGraph
from portpart.graphs.route import Route
from portpart.primitives.bisection import lower_bound


def fetched(coarser: DistributedGraph, known: Coarser, cluster: Array) -> tuple[Coarser, Array]:
    """What is known of the clusters that a rank names, and a number of each of them there.

    All ranks call it.

    Parameters
    ----------
    coarser : DistributedGraph
        The graph of the clusters.
    known : Coarser
        What this rank knows of its own clusters.
    cluster : array of int64
        Global ids of clusters, as often as they come.

    Returns
    -------
    known : Coarser
    place : array of int32, as long as `cluster`
    """
    space, own = coarser.space, coarser.local.num_vertices
    touched = space.empty(own, np.int8)
    space.parallel_for(own, note_touched, known, touched)
    route = Route(coarser, cluster)
    best, flags = route.fetch([known.best, touched])
    place = space.empty(len(cluster), np.int32)
    space.parallel_for(len(cluster), find_place, cluster, route.names, len(route.names), place)
    return Coarser(best, flags, space.zeros(len(best), np.int32)), place


@kl.kernel
def note_touched(c, known: Coarser, touched):
    """touched[c] = whether c may be on a boundary of its best partition."""
    touched[c] = may_touch(known.flags[c], known.is_dirty[c])


@kl.kernel
def find_place(v, cluster, names, count, place):
    """place[v] = where v's cluster stands among the names."""
    place[v] = kl.int32(lower_bound(names, 0, count, cluster[v]))

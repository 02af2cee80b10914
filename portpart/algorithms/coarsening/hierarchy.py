"""The hierarchy of successively coarser graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from portpart.algorithms.coarsening.clusters import Clusters
from portpart.algorithms.coarsening.contraction import contract
from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.graphs import Graph, Hypergraph
from portpart.primitives import gather

AnyGraph = TypeVar("AnyGraph", Graph, Hypergraph)


@dataclass
class Level(Generic[AnyGraph]):
    """A graph of the hierarchy, the map of its vertices to the next coarser graph, and labels."""

    graph: AnyGraph
    cluster: Array | None = None
    label: Array | None = None

    def taken(self) -> Array:
        """Return the map and remove it here, so that the caller may hold the last reference."""
        cluster, self.cluster = self.cluster, None
        assert cluster is not None
        return cluster


ClusterRule = Callable[[AnyGraph, int, "Array | None"], Clusters]
"""Returns clusters of a graph for the seed of its level; with labels, only of equal ones."""


class MadeLevel(NamedTuple):
    """Clusters of a graph, the graph of these, and its labels, if they are known."""

    clusters: Clusters
    coarse: Any
    label: Array | None


Contraction = Callable[[AnyGraph, Clusters, "np.dtype"], AnyGraph]
"""Returns the graph of clusters, with edge or net weights of a type."""


class NextLevels:
    """Makes levels in turn: one by one, or several at once if the cluster rule can do that.

    Parameters
    ----------
    find_clusters : callable
        A `ClusterRule`. If it has a method `below`, which is as that of `SmallLevels`, it can make
        several levels at once.
    contraction : callable
        A `Contraction`, for levels that are made one by one.
    """

    def __init__(self, find_clusters: ClusterRule[Any], contraction: Contraction[Any]) -> None:
        self._find_clusters, self._contraction = find_clusters, contraction
        self._at_once = getattr(find_clusters, "below", None)
        self._made: list[MadeLevel] = []

    def below(self, graph: Any, seed: int, weight_type: np.dtype, label: Array | None,
              contracts: bool = True, **until: Any) -> MadeLevel:
        """Return the level below a graph; `until` says which levels may be made at once.

        Each graph is the one that was returned before, while labels are the same.  The graph of the
        clusters may be None if `contracts` is false.
        """
        if self._at_once is not None and not self._made and until:
            self._made = self._at_once(graph, seed, weight_type=weight_type, label=label,
                                       **until)[::-1]
        found = self._made.pop() if self._made else None
        if found is None or (graph.space.is_dry_run and graph.space.runs_behind):
            # code is compiled ahead, and a run may make more levels one by one
            clusters = self._find_clusters(graph, seed, label)
            coarse = self._contraction(graph, clusters, weight_type) if contracts else None
            found = found or MadeLevel(clusters, coarse, None)
        return found


Through = Callable[[AnyGraph, Any, Clusters], Array]
"""``through(between, cluster, further)`` returns the map past a graph between two levels."""


def cluster_of_cluster(between: Graph | Hypergraph, cluster: Array, further: Clusters) -> Array:
    """Return the further cluster of each vertex's cluster."""
    return gather(between.space, further.cluster, cluster)


Carry = Callable[[AnyGraph, Array, Array, AnyGraph], Array]
"""``carry(graph, cluster, values, coarse)`` returns the value of each cluster, which all of its
vertices have."""


def value_of_clusters(graph: Graph | Hypergraph, cluster: Array, values: Array,
                      coarse: Graph | Hypergraph) -> Array:
    """Return the value of each cluster as int32, on one device."""
    return label_of_clusters(graph.space, values, cluster, coarse.num_vertices)


DENSE_DEGREE = 128
"""A graph of higher mean degree is dense: its initial partition takes long for its size."""


def coarsen(
    space: ExecutionSpace,
    graph: AnyGraph,
    find_clusters: ClusterRule[AnyGraph],
    *,
    stop_at: int,
    max_kept: float,
    stop_dense_at: int | None = None,
    seed: int = 0,
    labels: Sequence[Array | None] = (None,),
    on_level: Callable[[AnyGraph, bool], None] = lambda graph, instead: None,
    contraction: Contraction[Any] = contract,
    drop_below: float = 0.25,
    skip_above: float = 1,
    through: Through[AnyGraph] = cluster_of_cluster,
    carry: Carry[AnyGraph] = value_of_clusters,
) -> list[Level[AnyGraph]]:
    """Return the levels from `graph` down to at most `stop_at` vertices.

    Parameters
    ----------
    find_clusters : callable
        Returns the clusters of a level's graph, or makes several levels at once.
    seed : int
        The rule receives this plus the number of the level, which is 0 for the finest.
    stop_at : int
        Coarsening ends at the first graph with at most this many vertices.
    max_kept : float
        Coarsening ends when a level keeps more than this share of its vertices.
    stop_dense_at : int, optional
        The same while a graph is dense, if that is less than `stop_at`.
    labels : sequence of (array of int32, shape (n,), or None)
        Only vertices of equal label share a cluster.  If that stalls coarsening, the next labels
        are used from there on.
    on_level : callable
        ``on_level(graph, instead)`` is called with each coarser graph, and whether it replaces the
        previous one.
    contraction : callable
        Returns the graph of clusters; `contract_nets` for hypergraphs.
    drop_below : float
        A graph with less than this share of `stop_at` vertices is discarded (Jet's released code).
    skip_above : float
        A graph with more than this share of the arcs or pins of the finer one is not used as a
        level if there is a coarser one: refining it would take as long as the finer one.
    through : callable
        Returns the cluster map past a graph that is not used as a level.
    carry : callable
        Returns the labels of clusters.

    Returns
    -------
    list of Level
        Finest first; the last one has no cluster map.
    """
    labels = list(labels)
    levels = [Level(graph, label=labels[0])]
    weight_type, number = graph.whole.weight_sum_dtype, 0
    levels_in_turn = NextLevels(find_clusters, contraction)
    while graph.whole.num_vertices > (end := end_for(graph, stop_at, stop_dense_at)):
        until: Any = {"stop_at": end, "max_kept": max_kept} if len(labels) == 1 else {}
        clusters, coarse, known = levels_in_turn.below(graph, (seed + number) % 2**63, weight_type,
                                                       labels[0], **until)
        too_small = coarse.whole.num_vertices < drop_below * end
        stalled = coarse.whole.num_vertices > max_kept * graph.whole.num_vertices
        if stalled and len(labels) > 1:
            del labels[0]
            continue
        if too_small or stalled:
            break
        skipped = (len(levels) > 1
                   and graph.whole.num_entries
                   > skip_above * levels[-2].graph.whole.num_entries)
        if skipped:
            between = levels.pop().graph
            levels[-1].cluster = through(between, levels[-1].cluster, clusters)
        else:
            levels[-1].cluster = clusters.cluster
        labels = [label if label is None else
                  carry(graph, clusters.cluster, label, coarse) if known is None else known
                  for label in labels]
        levels.append(Level(coarse, label=labels[0]))
        graph, number = coarse, number + 1
        on_level(graph, skipped)
    if space.is_dry_run and len(labels) > 1:
        find_clusters(graph, seed, labels[-1])  # a run may stall
    return levels


def end_for(graph: Graph | Hypergraph, stop_at: int, stop_dense_at: int | None) -> int:
    """Return the number of vertices at which coarsening ends."""
    if stop_dense_at is None or graph.whole.mean_degree <= DENSE_DEGREE:
        return stop_at
    return min(stop_at, stop_dense_at)


def label_of_clusters(space: ExecutionSpace, label: Array, cluster: Array, count: int) -> Array:
    """Return the label of each of the `count` clusters, which all of its vertices have."""
    result = space.empty(count, np.int32)
    space.parallel_for(len(label), give_label, label, cluster, result)
    return result


@kl.kernel
def give_label(v, label, cluster, result):
    """Give the cluster of v the label of v; all threads write the same value."""
    result[cluster[v]] = label[v]

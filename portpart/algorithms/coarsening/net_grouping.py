"""Balanced groups of the vertices of a hypergraph (HyperG, dissertation 2.3, algorithms 6 and 7).

Every vertex selects the one with which its nets tie it most: each net of weight w and of |e| pins
counts w / |e|.  All that selections link become a group, whose leader is the vertex of the largest
id, and groups are broken up (`linked_groups.py`).  Nothing depends on the order of nets or of
threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from portpart.algorithms.coarsening.cluster_program import ClusteringInputs
from portpart.algorithms.coarsening.cluster_ratings import Clustering, HashRows
from portpart.algorithms.coarsening.cluster_rounds import VertexList, append
from portpart.algorithms.coarsening.contraction import Clusters
from portpart.algorithms.coarsening.linked_groups import (
    LinkedGroups,
    begin_singleton,
    record_joining,
    split_groups,
)
from portpart.algorithms.coarsening.net_proposals import NetProposals, launches
from portpart.algorithms.coarsening.net_ratings import BY_SUM
from portpart.algorithms.coarsening.options import NetOptions
from portpart.algorithms.coarsening.sizes import of_vertices
from portpart.backends import language as kl
from portpart.backends.declared import work
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.program import Program
from portpart.backends.work import WorkRecord
from portpart.graphs.hypergraph import Hypergraph
from portpart.graphs.rows import Csr


class NetGroups(Clustering, WorkRecord):  # type: ignore[misc]  # what has to be given comes first
    """The selections of n vertices.

    Attributes
    ----------
    cluster : array of int32, shape (n,)
        Each vertex itself while it selects; in the end the first vertex of what becomes one.
    """

    proposal: Array = work(np.int32, of_vertices)
    cluster_weight: Array = work(np.int64, of_vertices)


def group_by_nets(hypergraph: Hypergraph, max_weight: int, group_size: int, seed: int,
                  max_rated: int, label: Array | None = None) -> Clusters:
    """Groups of at most `group_size` vertices that nets tie together.

    Parameters
    ----------
    hypergraph : Hypergraph
    max_weight : int
        No vertex selects one that together with it weighs more; groups may.
    group_size : int
        The paper's s.
    seed : int
        Decides between vertices of one score.
    max_rated : int
        Nets of more pins do not count.
    label : array of int32, shape (n,), optional
        Only vertices of equal label share a group.

    Returns
    -------
    Clusters
        Numbered in the order of their first vertices.
    """
    space, n = hypergraph.space, hypergraph.num_vertices
    around = NetProposals(NetOptions(max_rated)).around(hypergraph, seed, without=0)
    clusters = Clusters.allocate(space, around.sizes, max_count=n)
    groups = NetGroups(seed=seed, max_weight=max_weight, label=label, total=None,
                       cluster=clusters.cluster)
    records = _records(space, around, groups)
    executable = space.cached_executable(
        ("groups of nets", hypergraph.type_key, label is not None),
        lambda: _record(records, around.sizes, space.widest_team == 1))
    executable.run(records, n, around.sizes)
    split_groups(space, records.pop("joined"), group_size, clusters, around.sizes)
    return clusters


def _records(space: ExecutionSpace, around: ClusteringInputs, groups: NetGroups) -> dict[str, Any]:
    """What grouping works on."""
    sizes = around.sizes
    return {**around.records, "listed": around.scratch["list_0"], "rows": HashRows(),
            "groups": groups,
            "joined": LinkedGroups.outliving(space, sizes).with_words(vertices=sizes.vertices)}


def _record(records: dict[str, Any], sizes_like: Any, one_lane: bool) -> Program:
    program = Program("groups of nets", sweeps=True, sizes=sizes_like)
    slots = program.declare(records)
    groups = slots["groups"]
    program.launch(slots["joined"].vertices, begin_group)
    with program.side_by_side():
        for count, proposal, team, given in launches(slots["listed"], one_lane, BY_SUM):
            program.launch(count, proposal, team=team, clusters=groups, **given)
    record_joining(program, groups.proposal)
    return program


@kl.kernel
def begin_group(v, graph: Csr, groups: NetGroups, listed: VertexList, joined: LinkedGroups):
    """Every vertex is a group of itself, and is to select another."""
    groups.cluster[v] = kl.int32(v)
    groups.cluster_weight[v] = kl.value_or(graph.vertex_weights, v, 1)
    begin_singleton(v, v, joined)
    append(v, graph, listed)

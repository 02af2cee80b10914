"""Groups of vertices that selections link, split into runs of a few (dissertation, 2.3 and 3.4).

Every vertex has selected another vertex or none.  In a graph scores decide (`groups.py`).  In a
hypergraph a vertex selects the one that it shares the largest net weight with, where each net of
weight w and of |e| pins counts w / |e| (HyperG, algorithms 6 and 7).  Linked vertices form a group.
Its leader is the vertex of the first id: the smallest id in a graph, the largest in a hypergraph.
In a round both ends of a selection get the id that comes first.  A word keeps the group of a vertex
and, in its low bits, the round in which the vertex joined.  Each round reads the words of the
previous round, so the round is the distance from the leader.  The vertices of a group are sorted by
word and then by id, and each run of `group_size` of them becomes one vertex:

    0 -> 1 <- 2 -> 3,  3 -> 2      words  3.3 3.2 3.1 3.0      in pairs  {3 2} {1 0}

Nothing depends on the order of nets or of threads.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from portpart.algorithms.coarsening.cluster_ratings import HashRows
from portpart.algorithms.coarsening.cluster_rounds import VertexList, append
from portpart.algorithms.coarsening.clustering import ClusteringInputs
from portpart.algorithms.coarsening.clusters import (
    Clusters,
    Numbering,
    first_alike,
    record_numbering,
)
from portpart.algorithms.coarsening.net_proposals import BY_SUM, NetProposals, launches
from portpart.algorithms.coarsening.options import NetOptions
from portpart.algorithms.coarsening.proposals import Proposals
from portpart.backends import language as kl
from portpart.backends.programs import MANY, Array, ExecutionSpace, Program, Records, Slot
from portpart.graphs import Csr, Hypergraph
from portpart.primitives import NO_VERTEX, sort_keys

ROUND_BITS = 7
"""Bits of a word that hold a round."""

MAX_ROUNDS = 64
"""Maximum number of rounds.  Chains of selections can be longer; the vertices at their ends then
keep the groups that they have.
"""


class LinkedGroups(kl.Record):
    """The groups of n vertices.

    Attributes
    ----------
    word, next_word : array of int64, shape (n,)
        The group of a vertex and the round in which it joined, before and after a round.
    """

    word: Array = kl.work(np.int64, "vertices", outlives=True)
    next_word: Array = kl.work(np.int64, "vertices")

    vertices: int = kl.word()
    round: int = kl.word()
    changing: int = kl.word()  # whether groups still change


class NetGroups(Proposals):
    """The selections of n vertices of a hypergraph.

    Attributes
    ----------
    cluster : array of int32, shape (n,)
        Each vertex itself during selection; in the end the first vertex of its run.
    """

    proposal: Array = kl.work(np.int32, "vertices")
    cluster_weight: Array = kl.work(np.int64, "vertices")


class Ordered(kl.Record):
    """Vertices in the order of their words.

    Attributes
    ----------
    group_size : int
    word : array of int64, shape (n,)
        Ascending.
    order : array of int32, shape (n,)
        The vertex of each word.
    """

    group_size: int
    word: Array = kl.work(np.int64, "vertices")
    order: Array = kl.work(np.int32, "vertices")


def group_by_nets(hypergraph: Hypergraph, max_weight: int, group_size: int, seed: int,
                  max_rated: int, label: Array | None = None) -> Clusters:
    """Return groups of at most `group_size` vertices that selections by nets link.

    Parameters
    ----------
    hypergraph : Hypergraph
    max_weight : int
        Maximum weight of a vertex and the vertex that it selects; groups may weigh more.
    group_size : int
        The paper's s.
    seed : int
        Breaks ties between vertices of equal score.
    max_rated : int
        Nets with more pins do not count.
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
    groups = NetGroups(seed=seed, max_weight=max_weight, label=label, cluster=clusters.cluster)
    records = _records(space, around, groups)
    executable = space.cached_executable(
        ("groups of nets", hypergraph.type_key, label is not None),
        lambda: _record(records, around.sizes, space.widest_team == 1))
    executable.run(records, n, around.sizes)
    split_groups(space, cast("LinkedGroups", records.pop("joined")), group_size, clusters,
                 around.sizes)
    return clusters


def split_groups(space: ExecutionSpace, joined: LinkedGroups, group_size: int, clusters: Clusters,
                 sizes: Any) -> None:
    """Split groups into runs of `group_size` vertices, and number the runs.

    A library sorts the words: sorting in a program took a third of the time of coarsening.
    """
    word, order = sort_keys(space, joined.word)
    del joined
    records: dict[str, kl.Record | kl.Words] = {"ordered": Ordered(group_size, word, order),
                                                "numbering": Numbering.of(sizes.vertices)}
    executable = space.cached_executable("groups broken up", lambda: _record_runs(records))
    executable.run({**records, "cluster": clusters.cluster, "count": clusters.count},
                   sizes.vertices, sizes)


def record_joining(program: Program, proposal: Slot) -> None:
    """Record rounds that link vertices with those they select, in the record ``joined``."""
    joined = program.find("joined", LinkedGroups)
    with program.while_loop(joined.changing):
        program.launch(1, begin_round)
        program.launch(joined.vertices, propagate_label, proposal=proposal)
        program.launch(joined.vertices, adopt_label)


def _records(space: ExecutionSpace, around: ClusteringInputs,
             groups: NetGroups) -> dict[str, kl.Record | kl.Words]:
    """Return the records of grouping by nets."""
    sizes = around.sizes
    return {**around.records, "listed": around.scratch["list_0"], "rows": HashRows(),
            "groups": groups,
            "joined": LinkedGroups.outliving(space, sizes).with_words(vertices=sizes.vertices)}


def _record(records: Records, sizes_like: Any, one_lane: bool) -> Program:
    program = Program("groups of nets", threads=MANY, sizes=sizes_like)
    slots = program.declare(records)
    groups = slots["groups"]
    program.launch(slots["joined"].vertices, begin_group)
    with program.side_by_side():
        for count, proposal, team, given in launches(slots["listed"], one_lane, BY_SUM):
            program.launch(count, proposal, team=team, clusters=groups, **given)
    record_joining(program, groups.proposal)
    return program


def _record_runs(records: Records) -> Program:
    program = Program("groups broken up", threads=MANY)
    slots = program.declare(records)
    cluster, vertices = program.array("cluster", np.int32), slots["numbering"].vertices
    program.launch(vertices, join_run)
    record_numbering(program, cluster)
    return program


@kl.device
def begin_singleton(v, rank, joined: LinkedGroups):
    """Put v alone into a group; of two groups, the one of higher rank comes first."""
    word = kl.int64(rank) << ROUND_BITS
    joined.word[v] = word
    joined.next_word[v] = word
    if v == 0:
        joined.changing = 1


@kl.kernel
def begin_group(v, graph: Csr, groups: NetGroups, listed: VertexList, joined: LinkedGroups):
    """Put v alone into a group, and list it for selection; the largest id leads."""
    groups.cluster[v] = kl.int32(v)
    groups.cluster_weight[v] = kl.value_or(graph.vertex_weights, v, 1)
    begin_singleton(v, v, joined)
    append(v, graph, listed)


@kl.kernel
def begin_round(_, joined: LinkedGroups):
    """Begin a round, in which no group has changed."""
    joined.changing = 0
    joined.round += 1


@kl.kernel
def propagate_label(v, proposal, joined: LinkedGroups):
    """Give v and the vertex that it selects the first of their two groups.

    Atomic; the result does not depend on the order.
    """
    u = proposal[v]
    if u != NO_VERTEX:
        own = joined.word[v] >> ROUND_BITS
        other = joined.word[u] >> ROUND_BITS
        word = (max(own, other) << ROUND_BITS) | joined.round
        if own > other:
            kl.atomic_max(joined.next_word, u, word)
        elif own < other:
            kl.atomic_max(joined.next_word, v, word)
        if own != other and joined.changing == 0:  # millions of stores to one place are slow
            joined.changing = 1


@kl.kernel
def adopt_label(v, joined: LinkedGroups):
    """Use the group that v has been given from now on; end after `MAX_ROUNDS`."""
    joined.word[v] = joined.next_word[v]
    if v == 0 and joined.round >= MAX_ROUNDS:
        joined.changing = 0


@kl.kernel
def join_run(i, cluster, ordered: Ordered):
    """Map the i-th vertex of the order to the first vertex of its run of `group_size`."""
    first = first_alike(i, ordered.word, -1 << ROUND_BITS)
    place = first + (i - first) // ordered.group_size * ordered.group_size
    cluster[ordered.order[i]] = ordered.order[place]

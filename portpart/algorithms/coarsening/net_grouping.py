"""Balanced groups of the vertices of a hypergraph (HyperG, dissertation 2.3, algorithms 6 and 7).

Every vertex selects the one with which its nets tie it most: each net of weight w and of |e| pins
counts w / |e|.  All that selections link become a group, whose leader is the vertex of the largest
id.  In a round the larger of the two group ids at the ends of a selection becomes that of both, and
a word keeps the group of a vertex and, below it, the round in which it joined.  All see the words
of the round before, so the round is a distance from the leader.  Sorted by their words and then by
id, each `group_size` vertices of a group in a row become one:

    0 -> 1 <- 2 -> 3,  3 -> 2      words  3.3 3.2 3.1 3.0      in pairs  {3 2} {1 0}

Nothing depends on the order of nets or of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from portpart.algorithms.coarsening.cluster_program import Surroundings
from portpart.algorithms.coarsening.cluster_ratings import Clustering, HashRows
from portpart.algorithms.coarsening.cluster_rounds import ListLengths, VertexList, append
from portpart.algorithms.coarsening.contraction import Clusters, Numbering, record_numbering
from portpart.algorithms.coarsening.net_ratings import BY_SUM
from portpart.algorithms.coarsening.net_wishes import NetWishes, launches
from portpart.algorithms.coarsening.options import NetOptions
from portpart.algorithms.coarsening.sizes import of_vertices
from portpart.backends.declared import work
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import Words, atomic_max, int32, int64, kernel, value_or
from portpart.backends.program import Program
from portpart.backends.work import WorkRecord
from portpart.graphs.hypergraph import Hypergraph
from portpart.graphs.rows import Csr
from portpart.primitives.recorded_sort import SortSlots, SortWords, record_sort, sort_arrays
from portpart.primitives.scan import tiles_of
from portpart.primitives.team_winner import NOBODY

ROUND_BITS = 7
"""Bits of a word that hold a round."""

MAX_ROUNDS = 64
"""Chains of selections may be as long as there are vertices; who has not joined by then stays."""


class GroupSizes(Words):
    """Numbers of vertices and of tiles of them; the round, and whether groups still change."""

    vertices: int
    tiles: int
    round: int
    changing: int


class NetGroups(Clustering, WorkRecord):  # type: ignore[misc]  # what has to be given comes first
    """The groups of n vertices.

    Attributes
    ----------
    cluster : array of int32, shape (n,)
        Each vertex itself while it selects; in the end the first vertex of what becomes one.
    word, next_word : array of int64, shape (n,)
        The group of a vertex and the round in which it joined, before and after a round.
    order, other_order : array of int32, shape (n,)
        Vertices in the order of their words.
    first : array of int32, shape (n,)
        Where a group begins in that order.
    group_size : int
    """

    group_size: int = 1
    wish: Array = work(np.int32, of_vertices)
    cluster_weight: Array = work(np.int64, of_vertices)
    word: Array = work(np.int64, of_vertices)
    next_word: Array = work(np.int64, of_vertices)
    order: Array = work(np.int32, of_vertices)
    other_order: Array = work(np.int32, of_vertices)
    first: Array = work(np.int32, of_vertices)


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
    around = NetWishes(NetOptions(max_rated)).around(hypergraph, seed, without=0)
    clusters = Clusters.allocate(space, around.sizes, max_count=n)
    groups = NetGroups(seed=seed, max_weight=max_weight, label=label, total=None,
                       cluster=clusters.cluster, group_size=group_size)
    records = _records(space, n, around, groups)
    executable = space.cached_executable(
        ("groups of nets", hypergraph.type_key, label is not None),
        lambda: _record(records, around.sizes, space.widest_team == 1))
    executable.run({**records, "count": clusters.count}, n, around.sizes)
    return clusters


def _records(space: ExecutionSpace, n: int, around: Surroundings,
             groups: NetGroups) -> dict[str, Any]:
    """What grouping works on."""
    words = SortWords.of(keys=n, bits=n.bit_length() + ROUND_BITS)
    sorting = sort_arrays(space, n).replaced(words=SortWords(space.asarray(np.array(words.array))))
    return {
        **around.records, "listed": around.scratch["list_0"], "rows": HashRows(),
        "numbering": Numbering(), "sorting": sorting, "groups": groups,
        "sizes": GroupSizes.of(vertices=n, tiles=tiles_of(n)),
    }


def _record(records: dict[str, Any], sizes_like: Any, one_lane: bool) -> Program:
    program = Program("groups of nets", sweeps=True, sizes=sizes_like)
    slots = {name: program.record(name, record) for name, record in records.items()}
    groups, sizes, numbering = slots["groups"], slots["sizes"], slots["numbering"]
    lengths = program.zeros("lengths", ListLengths)
    program.launch(sizes.vertices, begin_group)
    with program.side_by_side():
        for count, wish, team, given in launches(slots["listed"], lengths, one_lane, BY_SUM):
            program.launch(count, wish, team=team, clusters=groups, **given)
    with program.while_loop(sizes.changing):
        program.launch(1, begin_round)
        program.launch(sizes.vertices, hand_on_group)
        program.launch(sizes.vertices, take_over_group)
    record_sort(program, slots["sorting"], SortSlots(groups.word, groups.order, groups.next_word,
                                                     groups.other_order))
    program.launch(sizes.vertices, mark_first)
    program.launch(sizes.vertices, break_up)
    record_numbering(program, groups.cluster, numbering.flags, numbering.number,
                     numbering.tile_sums, program.array("count", np.int64), sizes.vertices,
                     sizes.tiles)
    return program


@kernel
def begin_group(v, graph: Csr, groups: NetGroups, listed: VertexList, lengths: ListLengths,
                sizes: GroupSizes):
    """Every vertex is a group of itself, and is to select another."""
    word = int64(v) << ROUND_BITS
    groups.cluster[v] = int32(v)
    groups.cluster_weight[v] = value_or(graph.vertex_weights, v, 1)
    groups.word[v] = word
    groups.next_word[v] = word
    groups.order[v] = int32(v)
    append(v, graph, listed, lengths)
    if v == 0:
        sizes.changing = 1


@kernel
def begin_round(_, sizes: GroupSizes):
    """No group has changed in this round so far."""
    sizes.changing = 0
    sizes.round += 1


@kernel
def hand_on_group(v, groups: NetGroups, sizes: GroupSizes):
    """Of v and of whom it selects, the one of the smaller group gets the larger; order-free."""
    u = groups.wish[v]
    if u != NOBODY:
        own = groups.word[v] >> ROUND_BITS
        other = groups.word[u] >> ROUND_BITS
        word = (max(own, other) << ROUND_BITS) | sizes.round
        if own > other:
            atomic_max(groups.next_word, u, word)
            sizes.changing = 1
        elif own < other:
            atomic_max(groups.next_word, v, word)
            sizes.changing = 1


@kernel
def take_over_group(v, groups: NetGroups, sizes: GroupSizes):
    """What v has been handed holds from the next round on, if there is one."""
    groups.word[v] = groups.next_word[v]
    if v == 0 and sizes.round >= MAX_ROUNDS:
        sizes.changing = 0


@kernel
def mark_first(i, groups: NetGroups):
    """Note where the group of vertex i of the order begins, if that is here."""
    group = groups.word[i] >> ROUND_BITS
    before = int64(NOBODY)
    if i > 0:
        before = groups.word[i - 1] >> ROUND_BITS
    if before != group:
        groups.first[group] = int32(i)


@kernel
def break_up(i, groups: NetGroups):
    """Vertex i of the order becomes one with the others of its run of `group_size`."""
    first = int64(groups.first[groups.word[i] >> ROUND_BITS])
    place = first + (i - first) // groups.group_size * groups.group_size
    groups.cluster[groups.order[i]] = groups.order[place]

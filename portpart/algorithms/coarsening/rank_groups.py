"""Groups of what clustering leaves single, over several ranks: `two_hop_clusters`.

Vertices go to the owner of their favourite, which knows all that have it, deals them into groups
and tells each the leader of its group.  Isolated vertices go to the owner of the first vertex.
"""

from __future__ import annotations

import numpy as np

from portpart.algorithms.coarsening.cluster_rounds import ISOLATED_KEYS, Rounds, VertexList
from portpart.algorithms.coarsening.two_hop_clusters import FILL
from portpart.backends import language as kl
from portpart.backends.declared import work
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.work import WorkRecord
from portpart.graphs.distributed import DistributedGraph
from portpart.graphs.rows import Csr, global_id
from portpart.graphs.runs import Runs
from portpart.primitives.basic import gather
from portpart.primitives.bisection import lower_bound
from portpart.primitives.hashing import hash_of, is_drawn, mixed
from portpart.primitives.ranks import rank_of
from portpart.primitives.ship import exchanged, sent
from portpart.primitives.sort import sort_keys
from portpart.primitives.team_winner import NOBODY

LARGEST = 2**63 - 1


class Leftovers(WorkRecord):
    """Vertices that are left over; sizes are their number.

    Attributes
    ----------
    keys : array of int64
        The favourite of each, by its global id, or a key behind all ids.
    names, weights : array of int64
        Their global ids and weights.
    """

    keys: Array = work(np.int64, int)
    names: Array = work(np.int64, int)
    weights: Array = work(np.int64, int)


class Dealt(WorkRecord):
    """Sums over favourites or groups, which are numbered; sizes are their number.

    Attributes
    ----------
    keys : array of int64
        Ascending.
    counts, weights, chosen : array of int64
        Vertices, their weight, and that of those that are chosen.
    leaders : array of int64
        The smallest global id.
    """

    keys: Array
    counts: Array = work(np.int64, int, zeros=True)
    weights: Array = work(np.int64, int, zeros=True)
    chosen: Array = work(np.int64, int, zeros=True)
    leaders: Array = work(np.int64, int)

    length: int = kl.word()


def group_leftovers(graph: DistributedGraph, listed: VertexList, count: int, rounds: Rounds,
                    wished: Array, lead: Array) -> None:
    """Group listed vertices of equal favourites: `lead` becomes the leader of their group.

    Parameters
    ----------
    graph : DistributedGraph
    listed : VertexList
        With `count` vertices.
    count : int
    rounds : Rounds
    wished : array of int64
        The favourite of each own vertex, -1 for none.
    lead : array of int64
    """
    space, comm, csr = graph.space, graph.comm, graph.local.csr
    rows, homes = Leftovers.allocate(space, count), space.empty(count, np.int32)
    space.parallel_for(count, write_leftover, listed, csr, wished, rows,
                       graph.totals.num_vertices)
    space.parallel_for(count, find_home, rows, graph.owners.first, comm.size,
                       graph.totals.num_vertices, homes)
    by_home, order = sort_keys(space, homes)
    there = np.bincount(space.to_host(by_home), minlength=comm.size)
    here = exchanged(comm, there)
    columns = [gather(space, each, order) for each in (rows.keys, rows.names, rows.weights)]
    answers = _leaders(space, Leftovers(*sent(comm, space, columns, there, here)), rounds)
    answers, = sent(comm, space, [answers], here, there)
    space.parallel_for(count, take_leader, listed, order, answers, lead)


def _leaders(space: ExecutionSpace, rows: Leftovers, rounds: Rounds) -> Array:
    """The leader of the group of each vertex, -1 for those that stay single."""
    count = len(rows.keys)
    favourites = _numbered(space, rows.keys)
    space.parallel_for(count, count_leftover, rows, favourites)
    groups, chosen = space.empty(count, np.int64), space.empty(count, np.int8)
    space.parallel_for(count, deal, rows, favourites, rounds, groups)
    dealt = _numbered(space, groups)
    space.parallel_for(count, enter_dealt, rows, groups, dealt)
    space.parallel_for(count, choose_dealt, rows, groups, dealt, rounds, chosen)
    answers = space.empty(count, np.int64)
    space.parallel_for(count, answer_dealt, groups, dealt, rounds, chosen, answers)
    return answers


def _numbered(space: ExecutionSpace, keys: Array) -> Dealt:
    """Distinct keys, with sums of nothing."""
    ordered, _ = sort_keys(space, keys)
    distinct = Runs(space, ordered).first_of(ordered)
    made = Dealt.allocate(space, len(distinct), keys=distinct,
                          leaders=space.full(len(distinct), LARGEST, np.int64))
    return made.over(Dealt.own_words(space.full(1, len(distinct), np.int64)))


@kl.kernel
def write_leftover(i, listed: VertexList, graph: Csr, wished, rows: Leftovers, num_vertices):
    """The favourite, the id and the weight of a vertex; isolated ones share a key."""
    v = listed.active[i]
    key = kl.int64(wished[v])
    if key == NOBODY:
        key = num_vertices + (hash_of(0, 0) & (ISOLATED_KEYS - 1))
    rows.keys[i] = key
    rows.names[i] = global_id(v, graph)
    rows.weights[i] = kl.value_or(graph.vertex_weights, v, 1)


@kl.kernel
def find_home(i, rows: Leftovers, firsts, size, num_vertices, homes):
    """homes[i] = the rank that owns the favourite of vertex i."""
    key = rows.keys[i]
    homes[i] = kl.int32(rank_of(firsts, key if key < num_vertices else kl.int64(0), size))


@kl.device
def place_in(key, dealt: Dealt):
    """The number of a key."""
    return lower_bound(dealt.keys, 0, dealt.length, key)


@kl.kernel
def count_leftover(i, rows: Leftovers, favourites: Dealt):
    """Count a vertex for its favourite; atomic, order-free."""
    place = place_in(rows.keys[i], favourites)
    kl.atomic_add(favourites.counts, place, 1)
    kl.atomic_add(favourites.weights, place, rows.weights[i])


@kl.kernel
def deal(i, rows: Leftovers, favourites: Dealt, rounds: Rounds, groups):
    """groups[i] = the group, of its favourite, that a vertex is dealt into by a hash."""
    place = place_in(rows.keys[i], favourites)
    wanted = FILL * (favourites.weights[place] // max(1, rounds.max_weight)) + FILL
    count = min(wanted, (favourites.counts[place] + 1) // 2)
    groups[i] = (place << 32) + (hash_of(rows.names[i], rounds.seed) & 0x7FFFFFFF) % count


@kl.kernel
def enter_dealt(i, rows: Leftovers, groups, dealt: Dealt):
    """The smallest vertex leads a group; atomic, order-free."""
    place = place_in(groups[i], dealt)
    kl.atomic_min(dealt.leaders, place, rows.names[i])
    kl.atomic_add(dealt.weights, place, rows.weights[i])


@kl.kernel
def choose_dealt(i, rows: Leftovers, groups, dealt: Dealt, rounds: Rounds, chosen):
    """Choose the leader of a group, and of the others about as many as fit; atomic, order-free."""
    place = place_in(groups[i], dealt)
    weight = dealt.weights[place]
    chance = kl.float64(rounds.max_weight) / kl.float64(FILL * max(1, weight))
    takes = is_drawn(hash_of(rows.names[i], mixed(rounds.seed)), chance)
    if dealt.leaders[place] == rows.names[i] or weight <= rounds.max_weight:
        takes = True
    chosen[i] = kl.int8(takes)
    if takes:
        kl.atomic_add(dealt.chosen, place, rows.weights[i])


@kl.kernel
def answer_dealt(i, groups, dealt: Dealt, rounds: Rounds, chosen, answers):
    """answers[i] = the leader of the group if all that are chosen fit and this one is, else -1."""
    place = place_in(groups[i], dealt)
    answer = kl.int64(NOBODY)
    if chosen[i] != 0 and dealt.chosen[place] <= rounds.max_weight:
        answer = dealt.leaders[place]
    answers[i] = answer


@kl.kernel
def take_leader(i, listed: VertexList, order, answers, lead):
    """Put a vertex into the cluster of its group's leader."""
    if answers[i] != NOBODY:
        lead[listed.active[kl.int64(order[i])]] = answers[i]

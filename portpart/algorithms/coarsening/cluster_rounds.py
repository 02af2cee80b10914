"""A round of clustering: who is active, who moves and who stays, and for whom there is room."""

from __future__ import annotations

from portpart.algorithms.coarsening.cluster_ratings import MAX_NARROW
from portpart.backends.language import (
    atomic_add,
    atomic_next,
    device,
    float64,
    int8,
    int32,
    int64,
    kernel,
    value_or,
)
from portpart.primitives.hashing import hash_of, mixed
from portpart.primitives.team_winner import NOBODY

# Words of `sizes`: lengths of lists (two of a kind) and of the arrays, a counter, a flag, tiles.
ACTIVE, WIDE = 0, 2
VERTICES, KEYS = 4, 5
GROUPS, LEFT = 6, 7
TILES = 8
SIZES = 9

MAX_WARP = 1024
"""Vertices of higher degree get the widest team: they must not hold up the others."""

MAX_DEPTH = 32
"""Wishes are followed so far; chains of heavier and heavier edges can be longer."""

CHANCE = 0.5
"""Share of a cluster's room that is given away if too many ask: more would often be too many."""

ASKS, IS_CHOSEN = 1, 2


@kernel
def begin_single(v, vertex_weights, cluster, cluster_weight, others, moves, asks, asked, chosen):
    """Every vertex leads a cluster of itself."""
    weight = value_or(vertex_weights, v, 1)
    cluster[v] = int32(v)
    cluster_weight[v] = weight
    asked[v] = weight
    chosen[v] = weight
    others[v] = int32(0)
    moves[v] = int8(0)
    asks[v] = int8(0)


@device
def append(v, active, wide, offsets, sizes, at):
    """Put v on the lists; their order depends on the threads, no result depends on their order."""
    active[atomic_next(sizes, ACTIVE + at)] = int32(v)
    if int64(offsets[v + 1]) - int64(offsets[v]) > MAX_NARROW:
        wide[atomic_next(sizes, WIDE + at)] = int32(v)
    return v


@kernel
def list_singles(v, offsets, active, wide, sizes):
    """All vertices are active; those of the highest degrees are wide."""
    active[v] = int32(v)
    if int64(offsets[v + 1]) - int64(offsets[v]) > MAX_WARP:
        wide[atomic_next(sizes, WIDE)] = int32(v)
    if v == 0:
        sizes[ACTIVE] = sizes[VERTICES]


@kernel
def empty_lists(_, sizes, at):
    """Empty the lists that come next."""
    sizes[ACTIVE + at] = 0
    sizes[WIDE + at] = 0


@kernel
def list_rest(i, active, offsets, cluster, others, wish, next_active, next_wide, sizes, at):
    """Keep v active if it is single still and found somebody to wish for."""
    v = active[i]
    if wish[v] != NOBODY and cluster[v] == v and others[v] == 0:
        append(v, next_active, next_wide, offsets, sizes, at)


@kernel
def list_movers(v, offsets, cluster, others, active, wide, seed, turn, sizes, at):
    """Let v be active in this turn if a hash says so, unless it leads others."""
    if cluster[v] != v or others[v] == 0:
        if (hash_of(v, mixed(seed) ^ (turn >> 1)) ^ turn) & 1 == 0:
            append(v, active, wide, offsets, sizes, at)


@kernel
def list_leftovers(v, offsets, cluster, others, active, wide, sizes, at):
    """List the vertices that are single still."""
    if cluster[v] == v and others[v] == 0:
        append(v, active, wide, offsets, sizes, at)


@kernel
def judge_leftovers(_, sizes, least, at):
    """Those that are left are many if they are more than so many thousandths of all."""
    sizes[LEFT] = int64(1000 * sizes[ACTIVE + at] > least * sizes[VERTICES])


@kernel
def choose_by_depth(i, active, wish, others, moves, seed):
    """Of the trees that the wishes of single vertices form, those at odd depth move.

    A root wishes for nobody, or is one of two vertices that wish for each other; what wishes for
    a cluster of several is at depth one.  Chains that are too long begin with a hash.
    """
    v = active[i]
    depth = int64(0)
    u = v
    following = True
    while following:
        c = wish[u]
        following = c != NOBODY
        if following and others[c] > 0:
            depth += 1
            following = False
        elif following and wish[c] == u and hash_of(u, seed) > hash_of(c, seed):
            following = False
        elif following:
            depth += 1
            u = c
            if depth >= MAX_DEPTH:
                depth += hash_of(u, seed) & 1
                following = False
    moves[v] = int8(depth & 1)


@kernel
def choose_all(i, active, cluster, wish, moves):
    """Whoever wishes for another cluster moves."""
    v = active[i]
    moves[v] = int8(wish[v] != NOBODY and wish[v] != cluster[v])


@kernel
def ask_for_room(i, active, vertex_weights, wish, moves, asks, asked):
    """If v moves and the leader it wishes for stays, ask for room there; atomic, order-free."""
    v = active[i]
    asks[v] = int8(0)
    if moves[v] != 0:
        c = wish[v]
        if moves[c] == 0:
            asks[v] = int8(ASKS)
            atomic_add(asked, c, value_or(vertex_weights, v, 1))


@kernel
def choose_by_chance(i, active, vertex_weights, wish, asks, asked, chosen, cluster_weight,
                     max_weight, seed, turn):
    """Where too many ask, choose about as many as fill half of the room; atomic, order-free."""
    v = active[i]
    if asks[v] != 0:
        c = wish[v]
        if asked[c] > max_weight:
            room = float64(max_weight - cluster_weight[c])
            chance = CHANCE * room / float64(asked[c] - cluster_weight[c])
            if float64(hash_of(v, mixed(seed) ^ turn) & 0x7FFFFFFF) < chance * 2147483648.0:
                asks[v] = int8(IS_CHOSEN)
                atomic_add(chosen, c, value_or(vertex_weights, v, 1))


@kernel
def join(i, active, vertex_weights, wish, asks, asked, chosen, cluster, cluster_weight, others,
         max_weight):
    """Move v if there is room for all who ask, or for all who are chosen; atomic, order-free."""
    v = active[i]
    if asks[v] != 0:
        c = wish[v]
        if asked[c] <= max_weight or (asks[v] == IS_CHOSEN and chosen[c] <= max_weight):
            weight = value_or(vertex_weights, v, 1)
            left = cluster[v]
            if left != v:
                atomic_add(others, left, -1)
                atomic_add(cluster_weight, left, -weight)
            atomic_add(others, c, 1)
            atomic_add(cluster_weight, c, weight)
            cluster[v] = c


@kernel
def settle(i, active, wish, moves, asks, cluster_weight, asked, chosen):
    """Make the marks of v and of the cluster it asked ready for the next round.

    A cluster that members left counts as heavy as before until somebody asks it: safe, if strict.
    """
    v = active[i]
    moves[v] = int8(0)
    if asks[v] != 0:
        c = wish[v]
        asked[c] = cluster_weight[c]
        chosen[c] = cluster_weight[c]

"""Union-find grouping with scores (G-kway, section 3.1), in groups of bounded size and weight.

Every vertex u selects the neighbour v with the best score c W(u, v) - degree(v).  In the paper all
that are linked by selections become one subset, however many they are.  Here some links are cut
first.  Selections form trees; links lead from odd depth to even depth only, so that nobody joins a
vertex that joins another, and a vertex takes in no more than fit its group, heavy edges first:

    a -> b -> c <-> d      c leads (of c and d the one of higher degree): b and d join c, a stays

Vertices left single that selected the same neighbour are paired (`pairing.py`): leaves of hubs,
mostly.  Then subsets are joined as in the paper: along each link the larger of two subset ids
becomes the smaller one, until nothing changes.  Nothing depends on the order of arcs or of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from portpart.algorithms.coarsening.contraction import Clusters, record_numbering
from portpart.algorithms.coarsening.pairing import (
    NO_KEY,
    POSITIVE,
    declare_pairing,
    pairing_bindings,
    record_pairing,
)
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import (
    atomic_load,
    atomic_max,
    atomic_min,
    atomic_next,
    device,
    int32,
    int64,
    kernel,
    lane,
    team_max,
    team_size,
    value_or,
)
from portpart.backends.program import Program
from portpart.graphs.graph import Graph
from portpart.graphs.teams import team_for
from portpart.primitives.hashing import hash_of, pair_hash
from portpart.primitives.scan import tiles_of
from portpart.primitives.team_winner import LOWEST, NOBODY, team_winner

LAST = 2**31 - 1

MOST_SCORE = 2**62
"""Scores stay below it: edges that weigh more than this over c count as equally heavy."""

LONG_DEPTH, MAX_DEPTH, MARKS = 16, 64, 16
"""Chains of heavier and heavier edges can be long.  They are followed to the first marked vertex
after `LONG_DEPTH` steps, which is the same for most of those in a row, and at most `MAX_DEPTH`
steps; one vertex in `MARKS` is marked, by its hash."""

VERTICES, TILES, WAITING, CHANGING, NUM_WORDS = 0, 1, 2, 4, 5
"""Words of the array ``sizes``: numbers of vertices, of tiles of them and of those on two lists;
whether subsets still change; how many words."""

SHARED: dict[str, Any] = {
    "selected": "wish", "members": "slot", "link_score": "keys", "offer": "leader",
    "first": "crowd", "waiting": "active", "number": "active",
}
"""What is needed before leftovers are paired, or after that, lies in the arrays of the pairing."""


def group(space: ExecutionSpace, graph: Graph, max_weight: int, group_size: int, seed: int,
          score_factor: int | None = None, label: Array | None = None) -> Clusters:
    """Groups of at most `group_size` vertices and of at most `max_weight`.

    Parameters
    ----------
    space : ExecutionSpace
    graph : Graph
    max_weight : int
        No group of several vertices weighs more.
    group_size : int
    seed : int
        Breaks ties.
    score_factor : int, optional
        The paper's c, one more than the highest degree by default: then a heavier edge always wins,
        and the degree decides between edges of one weight.
    label : array of int32, shape (n,), optional
        Only vertices of equal label share a group.

    Returns
    -------
    Clusters
        Numbered in the order of their smallest vertices.

    Notes
    -----
    Time O(n + m).  Synchronises to read the highest degree if that is not known and `score_factor`
    is not given.  Takes 53 bytes per vertex.
    """
    n = graph.num_vertices
    factor = graph.max_degree + 1 if score_factor is None else score_factor
    found, count = space.empty(n, np.int32), space.zeros(1, np.int64)
    team = team_for(graph.mean_degree)
    executable = space.cached_executable(
        ("grouping", graph.type_key, label is not None, team),
        lambda: _record(graph, label is not None, team),
    )
    executable.run({
        **graph.arrays, **pairing_bindings(n), "label": label, "subset": found, "count": count,
        "keys": n, "mate": n, "group_weight": n, "flags": n, "active": 2 * n + 1,
        "tile_sums": tiles_of(n), "sizes": (n, tiles_of(n), 0, 0, 0), "max_weight": max_weight,
        "group_size": group_size, "seed": seed, "score_factor": factor,
        "most_weight": MOST_SCORE // factor,
    }, n)
    return Clusters(found, count, n)


def _record(graph: Graph, labelled: bool, team: int) -> Program:
    program = Program("grouping", sweeps=True)
    _declare(program, graph, labelled)
    slot = program.slots
    vertices = slot["sizes"][VERTICES]
    program.launch(vertices, select_neighbour, team=team, **SHARED)
    for each in (begin_group, list_joining):
        program.launch(vertices, each, **SHARED)
    with program.while_loop(slot["sizes"][WAITING]):
        for here in (0, 1):  # from one list to the other
            _take_in(program, here)
    program.launch(vertices, key_of_leftover, **SHARED)
    record_pairing(program)
    with program.while_loop(slot["sizes"][CHANGING]):
        program.launch(1, settle)
        program.launch(vertices, join_subsets)
    record_numbering(program, slot["subset"], slot["flags"], slot[SHARED["number"]],
                     slot["tile_sums"], slot["count"], vertices, slot["sizes"][TILES])
    return program


def _declare(program: Program, graph: Graph, labelled: bool) -> None:
    graph.declare(program)
    declare_pairing(program)
    program.array("label", np.int32 if labelled else None)
    program.array("subset", np.int32)
    program.array("count", np.int64)
    for name, dtype in (("keys", np.int64), ("mate", np.int32), ("group_weight", np.int64),
                        ("flags", np.int8), ("tile_sums", np.int64)):
        program.scratch(name, dtype)
    program.words("sizes", NUM_WORDS)
    for name in ("max_weight", "group_size", "seed", "score_factor", "most_weight"):
        program.scalar(name)


def _take_in(program: Program, here: int) -> None:
    """A round: every group takes in one of the vertices that wait for it on the list `here`.

    A vertex waits as long as its group has room: as many rounds as groups have places.
    """
    count = program.slots["sizes"][WAITING + here]
    program.launch(1, empty_list, there=1 - here)
    for each in (offer_edge, claim_place, take_in):
        program.launch(count, each, here=here, there=1 - here, **SHARED)


@kernel
def select_neighbour(v, offsets, targets, weights, vertex_weights, label, selected, link_score,
                     max_weight, score_factor, most_weight, seed):
    """selected[v] = neighbour u of the best score c W - degree(u) that v may be grouped with."""
    room = max_weight - value_or(vertex_weights, v, 1)
    best_score = int64(LOWEST)
    best_hash = int64(LOWEST)
    best = int32(NOBODY)
    for arc in range(offsets[v] + lane(), offsets[v + 1], team_size()):
        u = targets[arc]
        fits = value_or(vertex_weights, u, 1) <= room
        if fits and value_or(label, u, 0) == value_or(label, v, 0):
            weight = min(value_or(weights, arc, 1), most_weight)
            score = score_factor * weight - (int64(offsets[u + 1]) - int64(offsets[u]))
            if score >= best_score:
                hashed = pair_hash(u, v, seed)
                if score > best_score or hashed > best_hash:
                    best_score = score
                    best_hash = hashed
                    best = u
    best = team_winner(best_score, best_hash, best)
    best_score = team_max(best_score)
    if lane() == 0:
        selected[v] = best
        link_score[v] = best_score


@kernel
def begin_group(v, vertex_weights, offer, first, members, group_weight, mate, subset, sizes):
    """Every vertex is a group and a subset of itself, and is offered nothing."""
    offer[v] = LOWEST
    first[v] = int32(LAST)
    members[v] = int32(1)
    group_weight[v] = value_or(vertex_weights, v, 1)
    mate[v] = int32(NOBODY)
    subset[v] = int32(v)
    if v == 0:
        sizes[CHANGING] = 1


@device
def stays(u, v, offsets, seed):
    """Whether u, not v, is the root of a tree if they select each other: higher degree, or hash."""
    degree = int64(offsets[u + 1]) - int64(offsets[u])
    other = int64(offsets[v + 1]) - int64(offsets[v])
    higher = degree > other
    if degree == other:
        higher = hash_of(u, seed) > hash_of(v, seed)
    return higher


@device
def joins(v, offsets, selected, seed):
    """Whether v is at odd depth in the tree of selections.

    A root selects nobody, or is one of two vertices that select each other.  A long chain is cut.
    """
    depth = int64(0)
    u = int32(v)
    following = True
    while following:
        w = selected[u]
        following = w != NOBODY
        if following and selected[w] == u:
            following = not stays(u, w, offsets, seed)
        if following:
            depth += 1
            u = w
            if depth >= LONG_DEPTH:
                marked = hash_of(u, seed) & (MARKS - 1) == 0
                following = not marked and depth < MAX_DEPTH
    return depth & 1 != 0


@kernel
def list_joining(v, offsets, selected, waiting, sizes, seed):
    """List v if it is to join what it selected; the order is free."""
    if joins(v, offsets, selected, seed):
        # the two may be at odds where a chain is cut
        if not joins(selected[v], offsets, selected, seed):
            waiting[atomic_next(sizes, WAITING)] = int32(v)


@kernel
def empty_list(_, sizes, there):
    """Empty the list that the coming round fills."""
    sizes[WAITING + there] = 0


@kernel
def offer_edge(i, waiting, selected, link_score, offer, vertex_weights, members, group_weight,
               group_size, max_weight, sizes, here):
    """Offer the group the edge to it if there is room, else stop waiting; atomic, order-free."""
    place = here * sizes[VERTICES] + i
    v = waiting[place]
    centre = selected[v]
    weight = group_weight[centre] + value_or(vertex_weights, v, 1)
    if members[centre] < group_size and weight <= max_weight:
        atomic_max(offer, centre, link_score[v])
    else:
        waiting[place] = int32(NOBODY)


@kernel
def claim_place(i, waiting, selected, link_score, offer, first, sizes, here):
    """Of those with the best offer the smallest vertex gets the place; atomic, order-free."""
    v = waiting[here * sizes[VERTICES] + i]
    if v != NOBODY:
        if link_score[v] == offer[selected[v]]:
            atomic_min(first, selected[v], v)


@kernel
def take_in(i, waiting, selected, offer, first, vertex_weights, members, group_weight, mate, sizes,
            here, there):
    """Link the vertex that got the place; the others wait on, in any order.

    Only that vertex touches the group, and whoever reads who is first meanwhile finds another.
    """
    v = waiting[here * sizes[VERTICES] + i]
    if v != NOBODY:
        centre = selected[v]
        if first[centre] == v:
            mate[v] = centre
            members[v] += 1
            members[centre] += 1
            group_weight[centre] += value_or(vertex_weights, v, 1)
            offer[centre] = LOWEST
            first[centre] = int32(LAST)
        else:
            place = atomic_next(sizes, WAITING + there)
            waiting[there * sizes[VERTICES] + place] = v


@kernel
def key_of_leftover(v, selected, members, label, seed, keys):
    """Key of a single vertex: what it selected; of those that selected nothing, their label."""
    key = int64(NO_KEY)
    if members[v] == 1:
        key = int64(selected[v])
        if key == NOBODY:
            key = NOBODY - (int64(value_or(label, v, 0)) & POSITIVE)
        key = hash_of(key, seed) & POSITIVE
    keys[v] = key


@kernel
def settle(_, sizes):
    """No subset has changed in this round so far."""
    sizes[CHANGING] = 0


@kernel
def join_subsets(v, mate, label, subset, sizes):
    """The ends of a link get the smaller of their subset ids; atomic.

    What a round sees depends on the order, where the rounds end does not.  Vertices of different
    labels can only be linked where two keys of leftovers have met by chance.
    """
    u = mate[v]
    if u != NOBODY and value_or(label, v, 0) == value_or(label, max(u, int32(0)), 0):
        own = atomic_load(subset, v)
        other = atomic_load(subset, u)
        if own > other:
            atomic_min(subset, v, other)
            sizes[CHANGING] = 1
        elif own < other:
            atomic_min(subset, u, own)
            sizes[CHANGING] = 1

"""Heavy-edge matching in synchronous rounds, to maximality (Gilbert et al., Jet, section 3.1).

In a round every unmatched vertex wishes for its heaviest unmatched neighbour; wishes that agree
become pairs.  Ties are broken by a seeded hash of the edge, a total order on all edges, so the
heaviest free edge around is always taken and a few rounds leave no free edge.  The result does not
depend on the order of arcs or of threads.
"""

from __future__ import annotations

import numpy as np

from portpart.algorithms.coarsening.pairing import UNMATCHED
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import (
    Kernel,
    atomic_next,
    int32,
    int64,
    kernel,
    lane,
    team_size,
    value_or,
)
from portpart.backends.program import Program
from portpart.graphs.graph import Graph
from portpart.graphs.teams import team_for
from portpart.primitives.hashing import pair_hash
from portpart.primitives.team_winner import LOWEST, team_winner


def heavy_edge_matching(space: ExecutionSpace, graph: Graph, max_weight: int, seed: int,
                        label: Array | None = None) -> Array:
    """Maximal matching that prefers heavy edges.

    Parameters
    ----------
    space : ExecutionSpace
    graph : Graph
    max_weight : int
        No pair weighs more than this.
    seed : int
        Breaks ties.
    label : array of int32, shape (n,), optional
        Only vertices of equal label are matched.

    Returns
    -------
    array of int32, shape (n,)
        The partner of each vertex, or -1.
    """
    return maximal_matching(graph, wish_for_heaviest, max_weight, seed, label)


def maximal_matching(graph: Graph, wish: Kernel, max_weight: int, seed: int,
                     label: Array | None = None) -> Array:
    """Maximal matching by rounds of wishes, of which mutual ones become pairs.

    Parameters
    ----------
    wish : Kernel
        Sets what an active vertex wishes for; has the parameters of `wish_for_heaviest`.
    """
    space = graph.space
    n = graph.num_vertices
    mate = space.empty(n, np.int32)
    bindings = {
        **graph.arrays,
        "label": label, "mate": mate, "wish": n, "list_a": n, "list_b": n, "sizes": (n, 0, n),
        "max_weight": max_weight, "seed": seed,
    }
    team = team_for(graph.mean_degree)
    labelled = label is not None
    key = ("matching", wish.name, graph.type_key, labelled, team)
    space.cached_executable(key, lambda: _record(graph, labelled, team, wish)).run(bindings, n)
    return mate


def part_unlike(space: ExecutionSpace, mate: Array, label: Array) -> Array:
    """The matching `mate` without the pairs of vertices of different labels."""
    parted = space.empty(len(mate), np.int32)
    space.parallel_for(len(mate), keep_mate_of_own_label, mate, label, parted)
    return parted


def _record(graph: Graph, labelled: bool, team: int, wish_for: Kernel) -> Program:
    """Rounds in pairs: the second works on the list that the first has left, and back."""
    program = Program("matching")
    csr = graph.declare(program)
    label = program.array("label", np.int32 if labelled else None)
    mate, wish = program.array("mate", np.int32), program.scratch("wish", np.int32)
    lists = program.scratch("list_a", np.int32), program.scratch("list_b", np.int32)
    sizes = program.words("sizes", 3)
    max_weight, seed = program.scalar("max_weight"), program.scalar("seed")
    program.parallel_for(sizes[2], begin_matching, mate, lists[0])
    with program.while_loop(sizes[0]):
        for here in (0, 1):
            there = 1 - here
            program.parallel_for(1, reset_size, sizes, there)
            program.parallel_for(sizes[here], wish_for, lists[here], *csr, label, mate, wish,
                                 max_weight, seed, team=team)
            program.parallel_for(sizes[here], match_mutual_wishes, lists[here], wish, mate,
                                 lists[there], sizes, there)
    return program


@kernel
def begin_matching(v, mate, active):
    """All vertices are unmatched and active."""
    mate[v] = int32(UNMATCHED)
    active[v] = int32(v)


@kernel
def reset_size(_, sizes, at):
    """Empty the list that the coming round fills."""
    sizes[at] = 0


@kernel
def wish_for_heaviest(
    i, active, offsets, targets, weights, vertex_weights, label, mate, wish, max_weight, seed
):
    """wish[v] = unmatched neighbour across the heaviest edge that keeps the weight limit."""
    v = active[i]
    room = max_weight - value_or(vertex_weights, v, 1)
    best_weight = int64(-1)
    best_hash = int64(LOWEST)
    best = int32(UNMATCHED)
    for arc in range(offsets[v] + lane(), offsets[v + 1], team_size()):
        u = targets[arc]
        weight = value_or(weights, arc, 1)
        if weight >= best_weight and mate[u] == UNMATCHED:
            fits = value_or(vertex_weights, u, 1) <= room
            if fits and value_or(label, u, 0) == value_or(label, v, 0):
                hashed = pair_hash(u, v, seed)
                if weight > best_weight or hashed > best_hash:
                    best_weight = weight
                    best_hash = hashed
                    best = u
    best = team_winner(best_weight, best_hash, best)
    if lane() == 0:
        wish[v] = best


@kernel
def match_mutual_wishes(i, active, wish, mate, next_active, sizes, at):
    """Pair v with its wish if the wish is mutual; v stays active while it has a wish.

    The order of the next list depends on the threads; no result depends on that order.
    """
    v = active[i]
    u = wish[v]
    if u != UNMATCHED:
        if wish[u] == v:
            mate[v] = u
        else:
            next_active[atomic_next(sizes, at)] = v


@kernel
def keep_mate_of_own_label(v, mate, label, parted):
    """parted[v] = mate of v if its label is v's."""
    u = mate[v]
    parted[v] = int32(UNMATCHED)
    if u != UNMATCHED:
        if label[u] == label[v]:
            parted[v] = u

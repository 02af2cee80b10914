"""Empty blocks get a vertex each, where the graph is: the one that leaves its block at least loss.

What `underload` does on the host, for the case that is not rare: refinement has left a few blocks
of many empty, and one vertex is enough for each.
"""

from __future__ import annotations

import numpy as np

from portpart.algorithms.objectives import Balance, NetRows, find_sets, is_alone, net_rows
from portpart.backends import language as kl
from portpart.backends.programs import Array
from portpart.graphs import Csr, EitherGraph, Hypergraph, team_for_all
from portpart.primitives import argmax_of

MAX_EMPTY = 32
"""More empty blocks are left to the host: each takes a examine all vertices."""

NEVER = -(2**63)
"""The score of a vertex that cannot be had."""


class DonorSearch(kl.Record):
    """Vertices that may move to an empty block.

    Attributes
    ----------
    part : array of int32, shape (n,)
    fixed : array of int32, shape (n,), or None
    weights, limits : array of int64, shape (k,)
        What blocks weigh, and may weigh.
    limit : int
        What the empty block may weigh.
    """

    part: Array
    fixed: Array | None
    weights: Array
    limits: Array
    limit: int


def with_empty_filled(graph: EitherGraph, part: Array, blocks: np.ndarray, balance: Balance,
                      fixed: Array | None) -> tuple[Array, np.ndarray]:
    """`part` with a vertex in each empty block, and block weights, if few blocks are empty.

    Blocks stay empty if no vertex is available.  A vertex is available if its block weighs
    something without it, and the empty block keeps its limit or exceeds it by less than that block
    did.  Of equal vertices the smaller one is taken.
    """
    empty = np.flatnonzero(blocks == 0).tolist()
    if len(empty) > MAX_EMPTY:
        return part, blocks
    space, n = graph.space, graph.num_vertices
    part, blocks, scores = space.copy(part), blocks.copy(), space.empty(n, np.int64)
    weights = graph.vertex_weights
    for block in empty:
        donors = DonorSearch(part, fixed, space.asarray(blocks), space.asarray(balance.limits),
                             int(balance.limits[block]))
        _score(graph, donors, balance.num_blocks, scores)
        v = argmax_of(space, scores)
        if v < 0 or int(space.to_host(scores[v : v + 1])[0]) == NEVER:
            continue
        weight = 1 if weights is None else int(space.to_host(weights[v : v + 1])[0])
        blocks[int(space.to_host(part[v : v + 1])[0])] -= weight
        blocks[block] = weight
        part[v] = block
    return part, blocks


def _score(graph: EitherGraph, donors: DonorSearch, num_blocks: int, scores: Array) -> None:
    """Set scores[v] to what v gains by leaving its block, or to NEVER."""
    space, n, team = graph.space, graph.num_vertices, team_for_all(graph)
    if isinstance(graph, Hypergraph):
        rows = net_rows(graph, num_blocks)
        find_sets(graph, donors.part, rows)
        score = score_donor.bound(tied=tied_by_nets)
        space.parallel_for(n, score, rows, donors, scores, team=team)
    else:
        score = score_donor.bound(tied=tied_by_arcs)
        space.parallel_for(n, score, graph.csr, donors, scores, team=team)


@kl.device
def tied_by_arcs(v, graph: Csr, donors: DonorSearch):
    """Weight of v's arcs inside its block, as one lane sees it."""
    here = donors.part[v]
    total = kl.int64(0)
    for arc in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
        if donors.part[graph.targets[arc]] == here:
            total += kl.value_or(graph.weights, arc, 1)
    return total


@kl.device
def tied_by_nets(v, graph: NetRows, donors: DonorSearch):
    """Weight of v's nets with other pins in its block, as one lane sees it."""
    total = kl.int64(0)
    for place in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
        net = graph.targets[place]
        if not is_alone(net, kl.int64(donors.part[v]), graph):
            total += kl.value_or(graph.nets.weights, net, 1)
    return total


@kl.device
def may_donate(v, weight, donors: DonorSearch):
    """Whether a vertex of this weight may leave its block for the empty one."""
    here = donors.part[v]
    over = max(kl.int64(0), donors.weights[here] - donors.limits[here] - 1)
    spared = donors.weights[here] > weight and weight > 0
    return spared and weight - donors.limit <= over and kl.value_or(donors.fixed, v, -1) < 0


@kl.kernel
def score_donor(v, graph: Csr, donors: DonorSearch, scores, tied: kl.StaticValue):
    """scores[v] = what v gains by leaving its block: nothing, or less."""
    total = kl.team_sum(tied(v, graph, donors))
    if kl.lane() == 0:
        scores[v] = NEVER
        if may_donate(v, kl.value_or(graph.vertex_weights, v, 1), donors):
            scores[v] = -total

"""Empty blocks get a vertex each, in the space of the graph: the one with the least loss.

This does the work of `filled` for the frequent case that refinement has left only a few of many
blocks empty, and one vertex is enough for each.
"""

from __future__ import annotations

import numpy as np

from portpart.algorithms.objectives import Balance, NetRows, find_sets, is_alone, net_rows
from portpart.backends import language as kl
from portpart.backends.programs import Array
from portpart.graphs import Csr, EitherGraph, Hypergraph, team_for_all
from portpart.primitives import argmax_of

MAX_EMPTY = 32
"""More empty blocks are filled on the host, because each scans all vertices."""

NEVER = -(2**63)
"""The score of a vertex that is not available."""


class DonorSearch(kl.Record):
    """Vertices that may move to an empty block.

    Attributes
    ----------
    part : array of int32, shape (n,)
    fixed : array of int32, shape (n,), or None
    weights, limits : array of int64, shape (k,)
        Weights and limits of the blocks.
    limit : int
        Limit of the empty block.
    """

    part: Array
    fixed: Array | None
    weights: Array
    limits: Array
    limit: int


def with_empty_filled(graph: EitherGraph, part: Array, blocks: np.ndarray, balance: Balance,
                      fixed: Array | None) -> tuple[Array, np.ndarray]:
    """Put a vertex into each empty block, if few are empty; return `part` and the block weights.

    Blocks remain empty if no vertex is available. A vertex is available if its block is not empty
    without it, and the empty block keeps its limit or exceeds it by less than that block did. Of
    equal vertices the smallest is moved.
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
    """Set scores[v] to the gain of v for leaving its block, or to NEVER."""
    space, n, team = graph.space, graph.num_vertices, team_for_all(graph)
    if isinstance(graph, Hypergraph):
        rows = net_rows(graph, num_blocks)
        find_sets(graph, donors.part, rows)
        score = score_donor.bound(inside=inside_by_nets)
        space.parallel_for(n, score, rows, donors, scores, team=team)
    else:
        score = score_donor.bound(inside=inside_by_arcs)
        space.parallel_for(n, score, graph.csr, donors, scores, team=team)


@kl.device
def inside_by_arcs(v, graph: Csr, donors: DonorSearch):
    """Return a lane's share of the weight of v's arcs inside its block."""
    here = donors.part[v]
    total = kl.int64(0)
    for arc in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
        if donors.part[graph.targets[arc]] == here:
            total += kl.value_or(graph.weights, arc, 1)
    return total


@kl.device
def inside_by_nets(v, graph: NetRows, donors: DonorSearch):
    """Return a lane's share of the weight of v's nets with other pins in its block."""
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
def score_donor(v, graph: Csr, donors: DonorSearch, scores, inside: kl.StaticValue):
    """scores[v] = the gain of v for leaving its block: 0 or less, or NEVER."""
    total = kl.team_sum(inside(v, graph, donors))
    if kl.lane() == 0:
        scores[v] = NEVER
        if may_donate(v, kl.value_or(graph.vertex_weights, v, 1), donors):
            scores[v] = -total

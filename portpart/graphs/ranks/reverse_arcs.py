"""Checks that the arcs of several ranks have reverse arcs of equal weight.

Each rank sums up hashes of its arcs to each other rank, and of the reversed arcs.  The reversed sum
of one rank must equal the sum of the other.  Only if they differ, arcs are sent to find the first.
"""

from __future__ import annotations

import numpy as np

from portpart.backends import language as kl
from portpart.backends.communication import planned
from portpart.errors import InputError
from portpart.graphs import Csr, global_id
from portpart.graphs.ranks.rank_rows import DistributedGraph
from portpart.primitives import STRIPES, exchanged, mixed, rank_of, ship, wrapped_sum

LAST = 3 * (2**63 - 1,)
"""An arc that sorts behind all others."""


def check_reverse_arcs(graph: DistributedGraph) -> None:
    """Check that each arc has a reverse arc of the same weight.  All ranks call it.

    Raises
    ------
    InputError
        On all ranks, naming an arc of the lowest rank that has one without reverse arc.
    """
    space, comm, own = graph.space, graph.comm, graph.local.num_vertices
    words = planned(comm, lambda: space.zeros(2 * comm.size * STRIPES, np.int64))
    space.parallel_for(own, add_hashes, graph.local.csr, graph.owners.first, comm.size,
                       comm.rank, own, words, team=8)
    here, back = space.to_host(words).reshape(2, comm.size, STRIPES).sum(2)
    differ = here != exchanged(comm, back)
    none = comm.size**2
    pair = np.array([comm.rank * comm.size + differ.argmax() if differ.any() else none], np.int64)
    comm.all_reduce(pair, 0, 1, "min")
    if pair[0] < none:
        _refuse_pair(graph, *divmod(int(pair[0]), comm.size))


def _refuse_pair(graph: DistributedGraph, rank: int, other: int) -> None:
    """Raise, naming an arc between two ranks that has no reverse arc."""
    space, comm = graph.space, graph.comm
    nothing = np.zeros((3, 0), np.int64)
    sent = planned(comm, lambda: _arcs_to(graph, rank) if comm.rank == other else nothing)
    counts = np.where(np.arange(comm.size) == rank, sent.shape[1], 0)
    came, _ = ship(comm, space, [space.asarray(column) for column in sent], counts)

    def check() -> None:
        if comm.rank == rank:
            heads, tails, weights = (space.to_host(column) for column in came)
            _refuse_arc(_arcs_to(graph, other), np.stack([tails, heads, weights]),
                        graph.local.weights is not None)

    planned(comm, check)


def _arcs_to(graph: DistributedGraph, other: int) -> np.ndarray:
    """Return tails, heads and weights of the arcs from own vertices to a rank, in rows."""
    local, to_host = graph.local, graph.space.to_host
    ids = to_host(graph.global_ids).astype(np.int64)
    tails = np.repeat(ids[: local.num_vertices], np.diff(to_host(local.offsets)))
    heads = ids[to_host(local.targets)]
    weights = (np.ones(local.num_arcs, np.int64) if local.weights is None
               else to_host(local.weights).astype(np.int64))
    chosen = (heads >= graph.first[other]) & (heads < graph.first[other + 1])
    return np.stack([tails, heads, weights])[:, chosen]


def _refuse_arc(arcs: np.ndarray, needed: np.ndarray, weighted: bool) -> None:
    """Raise for the first arc that is in only one of two lists."""
    ours, theirs = (each[:, np.lexsort(each[::-1])] for each in (arcs, needed))
    both = min(ours.shape[1], theirs.shape[1])
    differ = (ours[:, :both] != theirs[:, :both]).any(0)
    place = int(differ.argmax()) if differ.any() else both
    own, others = (tuple(each[:, place].tolist()) if place < each.shape[1] else LAST
                   for each in (ours, theirs))
    tail, head, weight = min(own, others)
    if others < own:
        tail, head = head, tail
    of_weight = f" of weight {weight}" if weighted else ""
    raise InputError(f"vertex {tail} has an arc{of_weight} to vertex {head}, which has none"
                     f"{of_weight} to it: rows are not symmetric")


@kl.kernel
def add_hashes(v, graph: Csr, firsts, size, rank, own, words):
    """Add hashes of v's arcs, and of their reverse arcs, by the rank of the head; atomic."""
    near = mixed(kl.int64(global_id(v, graph)))
    for arc in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
        local = graph.targets[arc]
        head = kl.int64(global_id(local, graph))
        far = mixed(head)
        slot = v % STRIPES + STRIPES * (
            rank if local < own else kl.int64(rank_of(firsts, head, size)))
        both = wrapped_sum(wrapped_sum(near, far), kl.int64(kl.value_or(graph.weights, arc, 1)))
        kl.atomic_add(words, slot, mixed(wrapped_sum(both, near)))
        kl.atomic_add(words, size * STRIPES + slot, mixed(wrapped_sum(both, far)))

"""Clustering over several ranks: the clusters that `clustering` finds on one device.

The host walks the rounds.  Own vertices join own clusters as on one device.  In each round ranks
exchange

    chains of proposals that lead to other ranks, and where they go on there, until all have ended
    requests for room in clusters of other ranks, and replies
    granted requests, and replies, if there is too little capacity somewhere
    clusters of vertices that are ghosts elsewhere, and weights of clusters further away
"""

from __future__ import annotations

from portpart.algorithms.coarsening.cluster_rounds import list_rest, list_single
from portpart.algorithms.coarsening.options import ClusteringOptions
from portpart.algorithms.coarsening.rank_capacity import ClusterCapacity
from portpart.algorithms.coarsening.rank_groups import group_leftovers
from portpart.algorithms.coarsening.rank_moves import ProposalChains
from portpart.algorithms.coarsening.rank_numbers import RankClusters, numbered
from portpart.algorithms.coarsening.rank_state import State
from portpart.backends.interface import Array
from portpart.errors import InputError
from portpart.graphs.distributed import DistributedGraph
from portpart.graphs.ghost_values import values_for_ghosts
from portpart.primitives.messages import Message, Talk

NO_LIMIT = 2**62


def cluster_ranks(graph: DistributedGraph, max_weight: int, seed: int,
                  options: ClusteringOptions, label: Array | None = None) -> Talk[RankClusters]:
    """Clusters of at most `max_weight`, the same as on one device.

    Parameters
    ----------
    graph : DistributedGraph
    max_weight : int
        No cluster of several vertices weighs more.
    seed : int
        Breaks ties.
    options : ClusteringOptions
        Without rounds of improvement.
    label : array of int32, shape (own vertices,), optional
        Only vertices of equal label share a cluster.  Ghosts receive theirs once.

    Raises
    ------
    InputError
        If there are rounds of improvement.
    """
    if options.improve_rounds:
        raise InputError("clustering over several ranks has no rounds of improvement")
    state = State(graph, max_weight, seed, label)
    if state.rounds.label is not None:
        yield from tell_labels(state, state.rounds.label)
    left = 0
    for turn in range(options.join_rounds):
        if turn == 0:
            state.propose_among_single()
        else:
            state.propose_among_clusters(state.rounds)
        moves, capacity = ProposalChains(state), ClusterCapacity(state, turn)
        arrived = yield from moves.settled(capacity.requests)
        yield from capacity.admitted(arrived)
        last = turn + 1 == options.join_rounds
        left = yield from capacity.update_ghosts(list_single if last else list_rest)
    are_many = 1000 * left > int(1000 * options.max_left) * graph.totals.num_vertices
    if are_many:
        state.propose_among_clusters(state.rounds.replaced(max_weight=NO_LIMIT))
        yield from group_leftovers(state)
    return (yield from numbered(state, not are_many))


def tell_labels(state: State, labels: Array) -> Talk[None]:
    """Ghosts get the labels of their vertices."""
    received = yield Message([values_for_ghosts(state.space, state.graph.halo, [labels])])
    labels[state.own : state.local] = received.parts[0].columns[0]

"""Clustering: size-constrained label propagation in synchronous rounds, without sorting.

A cluster is named by its leader, a vertex that stays in it.  In a round every single vertex
proposes the best rated adjacent cluster with free capacity.  Proposals of single vertices form
trees; the vertices at odd depth move and the others stay, so that no vertex joins one that leaves:

    a -> b -> c <-> d      d leads (the hash decides between c and d), c and a move, b stays

A cluster without capacity for all requests grants some by a hash.  In the rounds of
improvement members with a better rated cluster move also.  What is single in the end is
grouped (`two_hop_clusters.py`) if it is much.  Nothing depends on the order of arcs or of threads.

After Meyerhenke, Sanders, Schulz: Partitioning (hierarchically clustered) complex networks via
size-constrained graph clustering (2016), which is sequential.
"""

from __future__ import annotations

from typing import Any

from portpart.algorithms.coarsening import two_hop_clusters as unclustered
from portpart.algorithms.coarsening.arc_proposals import HEAVY_ARCS
from portpart.algorithms.coarsening.cluster_program import (
    ClusteringInputs,
    ClusterRecording,
    ProposalRule,
)
from portpart.algorithms.coarsening.cluster_rounds import (
    ISOLATED_KEYS,
    ClusterRounds,
    check_single_share,
    empty_lists,
    grant_odd_depth,
    list_movers,
    list_rest,
    list_single,
    move_all,
    of_keys,
)
from portpart.algorithms.coarsening.contraction import Clusters, Numbering, record_numbering
from portpart.algorithms.coarsening.options import ClusteringOptions
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import Record, Words
from portpart.backends.program import Program
from portpart.graphs.graph import Graph
from portpart.graphs.hypergraph import Hypergraph

NO_LIMIT = 2**62


def cluster(space: ExecutionSpace, graph: Graph | Hypergraph, max_weight: int, seed: int,
            options: ClusteringOptions, label: Array | None = None,
            proposal_rule: ProposalRule = HEAVY_ARCS) -> Clusters:
    """Clusters of at most `max_weight`, of vertices close to each other.

    Parameters
    ----------
    space : ExecutionSpace
    graph : Graph or Hypergraph
    max_weight : int
        No cluster of several vertices weighs more.
    seed : int
        Breaks ties.
    options : ClusteringOptions
    label : array of int32, shape (n,), optional
        Only vertices of equal label share a cluster.
    proposal_rule : ProposalRule
        How vertices find their proposals.

    Returns
    -------
    Clusters
        Numbered in the order of their leaders.  Connected, but for groups of what was left over
        and for clusters that a member left in a round of improvement.

    Notes
    -----
    Time O(n + m) per round.  Does not synchronise, unless the highest degree is not known.  Takes
    50 bytes per vertex; if there are degrees above 16, half a byte per arc; and if there are
    degrees above 192, 4 and the size of a sum of arc weights per arc, in graphs of more than 2^26
    arcs per arc of such vertices; then it waits for their number.
    """
    n, around = graph.num_vertices, proposal_rule.around(graph, seed)
    clusters = Clusters.allocate(space, around.sizes, max_count=n)
    records, limited = (_records(around, clusters.cluster, max_weight, seed, label),
                        max_weight < NO_LIMIT)
    executable = space.cached_executable(
        ("clustering", proposal_rule, graph.type_key, around.sizes.sum_type, around.team, options,
         label is not None, limited),
        lambda: _record(records, around, options, proposal_rule, space.widest_team == 1, limited),
    )
    executable.run({**records, "count": clusters.count}, around.lanes * (n + ISOLATED_KEYS),
                   around.sizes)
    return clusters


def _records(around: ClusteringInputs, found: Array, max_weight: int, seed: int,
             label: Array | None) -> dict[str, Record | Words]:
    """What a clustering works on, but for what is all scratch."""
    n = around.sizes.vertices
    rounds = ClusterRounds(seed=seed, max_weight=max_weight, label=label, cluster=found,
                           total=around.total)
    return {**around.records, "numbering": Numbering.of(n),
            "rounds": rounds.with_words(vertices=n, keys=of_keys(around.sizes))}


def _record(records: dict[str, Any], around: ClusteringInputs, options: ClusteringOptions,
            proposal_rule: ProposalRule, one_lane: bool, limited: bool = True) -> Program:
    """Record a clustering; arrays for grants, or for vertices left over, are allocated only where
    needed.
    """
    recording, grouping = ClusterRecording(records, around, one_lane), options.max_left < 1
    rounds, last = options.join_rounds, options.join_rounds + options.improve_rounds - 1
    at_last = list_single if grouping else None
    if not (grouping or limited):
        recording.grant_all()
    here = 0
    for turn in range(rounds):
        here = turn % 2
        if turn == 0:
            proposal_rule.among_single(recording)
        else:
            proposal_rule.among_clusters(recording, here, recording.rounds)
        then = list_rest if turn + 1 < rounds else at_last if turn == last else None
        recording.admit(grant_odd_depth, here, turn, then)
    for turn in range(options.improve_rounds):
        here = 0
        recording.launch(1, empty_lists)
        recording.launch(recording.rounds.vertices, list_movers, turn=turn)
        proposal_rule.among_clusters(recording, here, recording.rounds)
        recording.admit(move_all, here, rounds + turn,
                        at_last if rounds + turn == last else None)
    if grouping:
        _group_leftovers(recording, options, proposal_rule, 1 - here)
    program, found = recording.program, recording.rounds
    numbering: Any = program.records["numbering"]
    program.records["numbering"] = numbering.replaced(flags=found.moves, number=found.proposal,
                                                      tile_sums=found.requested)
    record_numbering(program, found.cluster)
    return program


def _group_leftovers(recording: ClusterRecording, options: ClusteringOptions,
                     proposal_rule: ProposalRule, at: int) -> None:
    """Group the listed single vertices if they are many."""
    program, rounds, launch = recording.program, recording.rounds, recording.launch
    groups: Any = program.records["groups"]
    program.records["groups"] = groups.sharing(rounds, recording.lists[1 - at])
    launch(1, check_single_share, at, max_left=int(1000 * options.max_left))
    with program.if_nonzero(rounds.too_many_left):
        proposal_rule.among_clusters(recording, at, rounds.replaced(max_weight=NO_LIMIT))
        launch(rounds.keys, unclustered.clear_preferred)
        for each in (unclustered.count_preferred, unclustered.place_groups, unclustered.enter_group,
                     unclustered.grant_in_group, unclustered.join_group):
            launch(recording.lists[at].length, each, at)

"""Groups: vertices of a graph that selections link are merged (G-kway, iG-kway).

Every vertex u selects the neighbour v with the best score c W(u, v) - degree(v).  Groups are

- of limited size: selections are the proposals of the first round of clustering
  (`clustering.py`), in which a cluster accepts what fits.  In a second round single vertices
  propose clusters, and vertices that are still single are grouped;
- of any size (G-kway, section 3.1, algorithm 1): all linked vertices.  Each vertex points to a
  smaller one of its group, or to itself.  In a round the ends of each link hook the larger of their
  two roots below the smaller one; then all vertices point to their roots.  The paper propagates the
  smaller id along links instead: the result is the same, after as many rounds as a group is wide;
- split (iG-kway, dissertation, 3.4): all linked vertices, in runs of a few (`broken_groups.py`).

Among neighbours of equal score a hash decides, or the first one is selected: the paper does not
specify it.  If all scores are equal, as inside a grid, links to first neighbours form chains, and
thus few groups of any size; links by a hash do not.  Nothing depends on the order of arcs or of
threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from portpart.algorithms.coarsening.broken_groups import (
    LinkedGroups,
    begin_singleton,
    record_joining,
    split_groups,
)
from portpart.algorithms.coarsening.cluster_ratings import (
    Rating,
    propose_neighbour,
    rate_cluster,
    rate_slot,
)
from portpart.algorithms.coarsening.clustering import (
    NO_DEGREE,
    ArcProposals,
    ClusteringInputs,
    cluster,
)
from portpart.algorithms.coarsening.clusters import Clusters, Numbering, record_numbering
from portpart.algorithms.coarsening.hierarchy import ClusterRule
from portpart.algorithms.coarsening.options import (
    MAX_SCORE,
    ClusteringOptions,
    GroupingOptions,
    sizes_of,
)
from portpart.algorithms.coarsening.proposals import (
    Choice,
    Proposals,
    head_of,
    keep_best_score,
    may_join,
    smallest_id,
    tie_hash,
)
from portpart.backends import language as kl
from portpart.backends.programs import MANY, Array, Program, Records
from portpart.graphs import Csr, Graph, degree_of, team_for
from portpart.primitives import NO_VERTEX

TWO_ROUNDS = ClusteringOptions(join_rounds=2, max_left=0)
"""Two rounds; vertices that are then still single are grouped, however few they are."""

TIES = {"first": smallest_id, "hash": tie_hash}
"""The ways to break ties between neighbours of equal score."""


class SelectionLinks(Proposals):
    """The selections of n vertices, and the subsets that they link.

    Attributes
    ----------
    subset : array of int32, shape (n,)
        For each vertex a linked one of no larger id; in the end the smallest one.
    """

    subset: Array = kl.absent()
    proposal: Array = kl.work(np.int32, "vertices")

    changing: int = kl.word()  # whether subsets still change


def grouping_rule(total_weight: int, coarsest: int, max_weight: int,
                  options: GroupingOptions) -> ClusterRule:
    """Return the rule for groups of each level, down to about `coarsest` vertices.

    If the options limit the weight, groups weigh at most `max_coarse_weight` mean vertices of a
    graph with `coarsest` vertices, and at most `max_weight`.  Groups of limited size also weigh at
    most `group_size` mean vertices of their level.  If groups are of any size or split, the first
    limits apply to a vertex and the one that it selects.
    """
    share, limit, size = options.max_coarse_weight, total_weight, options.group_size
    if share is not None:
        limit = min(max_weight, max(1, int(share * total_weight / max(1, coarsest))))
    proposals = ScoreProposals(factor=options.score_factor)

    def find_groups(fine: Graph, level_seed: int, label: Array | None) -> Clusters:
        if size is None or options.broken_up:
            return linked_groups(fine, limit, level_seed, size, options.score_factor, label,
                                 options.ties)
        heaviest = max(1, min(limit, size * total_weight // max(1, fine.num_vertices)))
        return cluster(fine.space, fine, heaviest, level_seed, TWO_ROUNDS, label, proposals)

    return find_groups


def linked_groups(graph: Graph, max_weight: int, seed: int = 0, group_size: int | None = None,
                  score_factor: int | None = None, label: Array | None = None,
                  ties: str = "hash") -> Clusters:
    """Return groups of vertices that selections link.

    Parameters
    ----------
    graph : Graph
    max_weight : int
        Maximum weight of a vertex and the vertex that it selects; groups may weigh more.
    seed : int
        Seed of the hash.
    group_size : int, optional
        Groups are split into groups of at most this many vertices.
    score_factor : int, optional
        The paper's c, by default the highest degree plus 1: then a heavier edge always wins, and
        the degree decides between edges of equal weight.
    label : array of int32, shape (n,), optional
        Only vertices of equal label share a group.
    ties : {"hash", "first"}
        Among neighbours of equal score, the one of the largest hash or of the smallest id is
        selected.

    Returns
    -------
    Clusters
        Numbered in the order of their first vertices.

    Notes
    -----
    Waits for the device to read the highest degree if it is not known and `score_factor` is not
    given.
    """
    space, n, sizes = graph.space, graph.num_vertices, sizes_of(graph)
    clusters = Clusters.allocate(space, sizes, max_count=n)
    links = SelectionLinks(seed=seed, max_weight=max_weight, label=label, subset=clusters.cluster,
                  total=factor_for(graph, score_factor))
    records: dict[str, kl.Record | kl.Words] = {"graph": graph.csr, "links": links}
    given: dict[str, Any] = {}
    if group_size is None:
        records["numbering"], given["count"] = Numbering.of(n), clusters.count
    else:
        records["joined"] = LinkedGroups.outliving(space, sizes).with_words(vertices=n)
    team = team_for(graph.mean_degree)
    executable = space.cached_executable(
        ("linked groups", ties, graph.type_key, label is not None, team, group_size is None),
        lambda: _record(records, ties, team))
    executable.run({**records, **given}, n, sizes)
    if group_size is not None:
        split_groups(space, cast("LinkedGroups", records.pop("joined")), group_size, clusters,
                     sizes)
    return clusters


def factor_for(graph: Graph, score_factor: int | None) -> int:
    """Return the paper's c."""
    return graph.max_degree + 1 if score_factor is None else score_factor


def _record(records: Records, ties: str, team: int) -> Program:
    """Record selections, and their components or, with the record ``joined``, words."""
    program = Program("linked groups", threads=MANY)
    slots = program.declare(records)
    links, by_words = slots["links"], "joined" in records
    vertices = slots["joined" if by_words else "numbering"].vertices
    choice = Choice(head_of, may_join, score, keep_best_score, kl.int64, tie=TIES[ties])
    program.launch(vertices, propose_neighbour.bound(by=choice), team=team, proposals=links,
                   wide=None, max_degree=NO_DEGREE)
    if by_words:
        program.launch(vertices, begin_by_id)
        record_joining(program, links.proposal)
        return program
    program.launch(vertices, begin_subset)
    with program.while_loop(links.changing):
        program.launch(1, begin_round)
        program.launch(vertices, hook_roots)
        program.launch(vertices, point_to_root)
    record_numbering(program, links.subset)
    return program


@kl.device
def score(arc, u, v, graph: Csr, proposals: Proposals):
    """Return the paper's score c W - degree(u); W is at most `MAX_SCORE` / c."""
    factor = kl.int64(proposals.total)
    weight = min(kl.value_or(graph.weights, arc, 1), MAX_SCORE // factor)
    return factor * weight - degree_of(u, graph)


BY_SCORE = Rating(score, rate_cluster, rate_slot, score_type=kl.int64)


@dataclass(frozen=True)
class ScoreProposals(ArcProposals):
    """Proposals by the paper's score.

    Attributes
    ----------
    factor : int or None
        The paper's c; None: one more than the highest degree.
    """

    by: Rating = BY_SCORE
    factor: int | None = None

    def around(self, graph: Graph, seed: int) -> ClusteringInputs:
        """Return the arcs of the graph, and c."""
        return super().around(graph, seed)._replace(total=factor_for(graph, self.factor))


@kl.kernel
def begin_subset(v, links: SelectionLinks):
    """Make v a subset with a single member."""
    links.subset[v] = kl.int32(v)
    if v == 0:
        links.changing = 1


@kl.kernel
def begin_round(_, links: SelectionLinks):
    """Begin a round, in which nothing has changed."""
    links.changing = 0


@kl.kernel
def hook_roots(v, links: SelectionLinks):
    """Hook the larger root of the two ends of v's link below the smaller one.  Atomic.

    Intermediate roots depend on the order, the final ones do not: a root that is hooked twice keeps
    the smaller root, and the next round examines the other link again.
    """
    u = links.proposal[v]
    if u != NO_VERTEX:
        own = kl.atomic_load(links.subset, v)
        other = kl.atomic_load(links.subset, u)
        if own != other:
            kl.atomic_min(links.subset, max(own, other), min(own, other))
            if links.changing == 0:  # millions of stores to one place wait for each other
                links.changing = 1


@kl.kernel
def point_to_root(v, links: SelectionLinks):
    """Make v point to its root, which points to itself.  Other vertices may already do so."""
    root = kl.atomic_load(links.subset, v)
    above = kl.atomic_load(links.subset, root)
    while above != root:
        root = above
        above = kl.atomic_load(links.subset, root)
    links.subset[v] = root


@kl.kernel
def begin_by_id(v, joined: LinkedGroups):
    """Put v alone into a group; the smallest of linked vertices leads them."""
    begin_singleton(v, joined.vertices - 1 - v, joined)

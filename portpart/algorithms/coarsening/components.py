"""Union-find over all links between vertices (G-kway, algorithm 1): groups of any size.

Every vertex selects the neighbour v with the best score c W(u, v) - degree(v), of equal ones by a
hash, or the first: the paper does not say.  Where all scores are equal, as inside a grid, links to
first neighbours chain up to few groups of any size, those by a hash do not.  All that selections
link become one group: the connected components of the links.  Each vertex points to a smaller one
of its component, or to itself.  In a round the ends of each link hook the larger of their two roots
below the smaller one, then all point to their roots; it ends when the ends of every link agree, on
the smallest vertex of the component.  The paper propagates the smaller id along links instead,
which ends in the same place, after as many rounds as a component is wide.  Nothing depends on the
order of arcs or of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from portpart.algorithms.coarsening.contraction import Clusters, Numbering, record_numbering
from portpart.algorithms.coarsening.group_rounds import Selections, score, settle
from portpart.algorithms.coarsening.proposals import cluster_capacity, head_of, may_join
from portpart.algorithms.coarsening.sizes import of_vertices, sizes_of
from portpart.backends import language as kl
from portpart.backends.declared import work
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import Kernel
from portpart.backends.program import Element, Program
from portpart.backends.work import WorkRecord
from portpart.graphs.graph import Graph
from portpart.graphs.rows import Csr
from portpart.graphs.teams import team_for
from portpart.primitives.best_candidate import (
    Choice,
    best_candidate,
    keep_best_score,
    smallest_id,
    tie_hash,
)
from portpart.primitives.team_winner import NO_VERTEX

TIES = {"first": smallest_id, "hash": tie_hash}
"""What decides between neighbours of one score."""


class SelectionLinks(Selections, WorkRecord):  # type: ignore[misc]  # those given first
    """The selections of n vertices, and the components that they make."""

    proposal: Array = work(np.int32, of_vertices)


def linked_components(space: ExecutionSpace, graph: Graph, max_weight: int, seed: int = 0,
                      score_factor: int | None = None, label: Array | None = None,
                      ties: str = "hash") -> Clusters:
    """Groups of all vertices that selections link.

    Parameters
    ----------
    space : ExecutionSpace
    graph : Graph
    max_weight : int
        No vertex selects one that would make it heavier than this; groups may be.
    seed : int
        Of the hash.
    score_factor : int, optional
        The paper's c, as in `group`.
    label : array of int32, shape (n,), optional
        Only vertices of equal label share a group.
    ties : {"hash", "first"}
        Which of the neighbours with equal scores is selected: the largest hash, or the smallest id.

    Returns
    -------
    Clusters
        Numbered in the order of their smallest vertices.
    """
    n, sizes = graph.num_vertices, sizes_of(graph)
    clusters = Clusters.allocate(space, sizes, max_count=n)
    links = SelectionLinks.of(graph, score_factor, seed=seed, max_weight=max_weight, label=label,
                              subset=clusters.cluster)
    records = {"graph": graph.csr, "links": links, "numbering": Numbering.of(n)}
    team = team_for(graph.mean_degree)
    executable = space.cached_executable(
        ("components", ties, graph.type_key, label is not None, team),
        lambda: _record(records, selecting(ties), team))
    executable.run({**records, "count": clusters.count}, n, sizes)
    return clusters


def _record(records: dict[str, Any], select: Kernel, team: int) -> Program:
    program = Program("components", sweeps=True)
    slots = program.declare(records)
    links, vertices = slots["links"], slots["numbering"].vertices
    program.launch(vertices, select, team=team)
    program.launch(vertices, begin_subset)
    record_subsets(program, vertices, links)
    return program


def record_subsets(program: Program, vertices: Element | int, links: Selections) -> None:
    """Record that vertices linked by the proposals of `links` become numbered clusters."""
    with program.while_loop(links.changing):
        program.launch(1, settle, links=links)
        program.launch(vertices, hook_roots, links=links)
        program.launch(vertices, point_to_root, links=links)
    record_numbering(program, links.subset)


@kl.kernel
def select_linked(v, graph: Csr, links: SelectionLinks, by: Choice):
    """Select a neighbour of the best score."""
    room = cluster_capacity(v, graph, links)
    best_candidate(v, kl.int32(NO_VERTEX), room, graph.begin[v], graph.end[v], graph, links, by)


def selecting(ties: str) -> Kernel:
    """`select_linked` with one of `TIES`."""
    return select_linked.bound(
        by=Choice(head_of, may_join, score, keep_best_score, kl.int64, tie=TIES[ties]))


@kl.kernel
def begin_subset(v, links: SelectionLinks):
    """Every vertex is a subset of itself."""
    links.subset[v] = kl.int32(v)
    if v == 0:
        links.changing = 1


@kl.kernel
def hook_roots(v, links: Selections):
    """Hook the larger root of the two ends of v's link below the smaller one; atomic.

    What a round sees depends on the order, where the rounds end does not: a root that is hooked
    twice keeps the smaller one, and the other link is examined again.  Vertices of different
    labels are linked only where two keys of what groups have left over have met by chance.
    """
    u = links.proposal[v]
    joins = u != NO_VERTEX
    if joins:
        joins = kl.value_or(links.label, v, 0) == kl.value_or(links.label, u, 0)
    if joins:
        own = kl.atomic_load(links.subset, v)
        other = kl.atomic_load(links.subset, u)
        if own != other:
            kl.atomic_min(links.subset, max(own, other), min(own, other))
            if links.changing == 0:  # millions of stores to one place wait for each other
                links.changing = 1


@kl.kernel
def point_to_root(v, links: Selections):
    """Let v point to its root, which points to itself.  Others may do so on the way, or not yet."""
    root = kl.atomic_load(links.subset, v)
    above = kl.atomic_load(links.subset, root)
    while above != root:
        root = above
        above = kl.atomic_load(links.subset, root)
    links.subset[v] = root

"""Constrained coarsening (iG-kway, dissertation 3.4): union-find groups, broken up by rounds.

Every vertex selects the neighbour v with the best score c W(u, v) - degree(v), and all that
selections link become a subset, as in `components.py`.  Vertices that are far apart meet in late
rounds: a subset that is sorted by the rounds in which its vertices joined falls into runs of
`group_size` vertices that are close (`linked_groups.py`).
"""

from __future__ import annotations

from typing import Any

from portpart.algorithms.coarsening.components import SelectionLinks, selecting
from portpart.algorithms.coarsening.contraction import Clusters
from portpart.algorithms.coarsening.linked_groups import (
    LinkedGroups,
    begin_singleton,
    record_joining,
    split_groups,
)
from portpart.algorithms.coarsening.sizes import sizes_of
from portpart.backends import language as kl
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import Kernel
from portpart.backends.program import Program
from portpart.graphs.graph import Graph
from portpart.graphs.teams import team_for


def constrained_groups(space: ExecutionSpace, graph: Graph, max_weight: int, group_size: int,
                       seed: int, score_factor: int | None = None, label: Array | None = None,
                       ties: str = "hash") -> Clusters:
    """Groups of at most `group_size` vertices that selections link.

    Parameters
    ----------
    max_weight : int
        No vertex selects one that together with it weighs more; groups may.
    space, graph, group_size, seed, score_factor, label
        As in `group`.
    ties : {"hash", "first"}
        As in `linked_components`.

    Returns
    -------
    Clusters
        Numbered in the order of their first vertices.
    """
    n, sizes = graph.num_vertices, sizes_of(graph)
    clusters = Clusters.allocate(space, sizes, max_count=n)
    links = SelectionLinks.of(graph, score_factor, seed=seed, max_weight=max_weight, label=label,
                              subset=clusters.cluster)
    records: dict[str, Any] = {"graph": graph.csr, "links": links,
                               "joined": LinkedGroups.outliving(space,
                                                                sizes).with_words(vertices=n)}
    team = team_for(graph.mean_degree)
    executable = space.cached_executable(
        ("constrained groups", ties, graph.type_key, label is not None, team),
        lambda: _record(records, selecting(ties), team))
    executable.run(records, n, sizes)
    split_groups(space, records.pop("joined"), group_size, clusters, sizes)
    return clusters


JOINING_WORK = SelectionLinks, LinkedGroups
"""What constrained groups are made with before they are broken up."""


def _record(records: dict[str, Any], select: Kernel, team: int) -> Program:
    program = Program("constrained groups", sweeps=True)
    slots = program.declare(records)
    vertices = slots["joined"].vertices
    program.launch(vertices, select, team=team)
    program.launch(vertices, begin_by_id)
    record_joining(program, slots["links"].proposal)
    return program


@kl.kernel
def begin_by_id(v, joined: LinkedGroups):
    """Every vertex is a group of itself; the smallest of linked vertices leads them."""
    begin_singleton(v, joined.vertices - 1 - v, joined)

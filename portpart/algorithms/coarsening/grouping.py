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
from portpart.algorithms.coarsening.group_rounds import (
    Grouping,
    GroupSizes,
    begin_group,
    claim_place,
    join_subsets,
    key_of_leftover,
    list_joining,
    offer_edge,
    select_neighbour,
    settle,
    take_in,
)
from portpart.algorithms.coarsening.options import MAX_SCORE
from portpart.algorithms.coarsening.pairing import Pairing, pairing_state, record_pairing
from portpart.algorithms.coarsening.sizes import sizes_of
from portpart.algorithms.coarsening.wishes import ListSize, empty_list
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.program import Program
from portpart.graphs.graph import Graph
from portpart.graphs.teams import team_for
from portpart.primitives.scan import tiles_of


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
    n, sizes = graph.num_vertices, sizes_of(graph)
    factor = graph.max_degree + 1 if score_factor is None else score_factor
    clusters = Clusters.allocate(space, sizes, max_count=n)
    grouping = Grouping(
        seed=seed, max_weight=max_weight, label=label, wish=None, score_factor=factor,
        max_edge_weight=MAX_SCORE // factor, group_size=group_size, subset=clusters.cluster,
    )
    records = {
        "graph": graph.csr, "pairing": Pairing(max_weight), "state": pairing_state(n),
        "grouping": grouping,
        "sizes": GroupSizes.of(vertices=n, tiles=tiles_of(n)),
    }
    team = team_for(graph.mean_degree)
    executable = space.cached_executable(
        ("grouping", graph.type_key, label is not None, team), lambda: _record(records, team))
    executable.run({**records, "count": clusters.count}, n, sizes)
    return clusters


GROUPING_WORK = Pairing, Grouping
"""What a grouping works on."""


def _record(records: dict[str, Any], team: int) -> Program:
    program = Program("grouping", sweeps=True)
    slots = {name: program.record(name, record) for name, record in records.items()}
    pairing, sizes = slots["pairing"], slots["sizes"]
    grouping = program.records["grouping"] = slots["grouping"].sharing(pairing)
    program.launch(sizes.vertices, select_neighbour, team=team)
    program.launch(sizes.vertices, begin_group)
    waiting = program.zeros("waiting_0", ListSize)
    program.zeros("waiting_1", ListSize)
    program.launch(sizes.vertices, list_joining, waiting="waiting_0")
    with program.while_loop(waiting.length):
        for here in (0, 1):  # from one list to the other
            _take_in(program, here)
    program.launch(sizes.vertices, key_of_leftover)
    record_pairing(program, slots["state"])
    with program.while_loop(sizes.changing):
        program.launch(1, settle)
        program.launch(sizes.vertices, join_subsets)
    record_numbering(program, grouping.subset, grouping.leads, pairing.active, grouping.tile_sums,
                     program.array("count", np.int64), sizes.vertices, sizes.tiles)
    return program


def _take_in(program: Program, here: int) -> None:
    """A round: every group takes in one of the vertices that wait for it on the list `here`.

    A vertex waits as long as its group has room: as many rounds as groups have places.
    """
    lists: dict[str, Any] = program.records
    waiting, next_waiting = lists[f"waiting_{here}"], lists[f"waiting_{1 - here}"]
    program.launch(1, empty_list, size=next_waiting)
    for each in (offer_edge, claim_place, take_in):
        program.launch(waiting.length, each, here=here, next_waiting=next_waiting)

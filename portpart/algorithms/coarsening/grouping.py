"""Union-find grouping with scores (G-kway, section 3.1), in groups of limited size and weight.

Every vertex u selects the neighbour v with the best score c W(u, v) - degree(v).  In the paper all
that are linked by selections become one subset, however many they are.  Here some links are cut
first.  Selections form trees; links lead from odd depth to even depth only, so that no vertex joins
one that joins another, and a vertex takes in no more than fit its group, heavy edges first:

    a -> b -> c <-> d      c leads (of c and d the one of higher degree): b and d join c, a stays

Vertices left single that selected the same neighbour are paired (`pairing_state.py`): leaves of
hubs, mostly.  Then subsets are joined along the links that are left (`components.py`).  Nothing
depends on the order of arcs or of threads.
"""

from __future__ import annotations

from typing import Any

from portpart.algorithms.coarsening.active_vertices import (
    NO_LAST_ROUND,
    ActiveVertices,
    begin_next_round,
)
from portpart.algorithms.coarsening.components import record_subsets
from portpart.algorithms.coarsening.contraction import Clusters, Numbering
from portpart.algorithms.coarsening.group_rounds import (
    Grouping,
    begin_group,
    claim_place,
    key_of_leftover,
    list_joining,
    offer_edge,
    select_neighbour,
    take_in,
)
from portpart.algorithms.coarsening.sizes import sizes_of
from portpart.algorithms.coarsening.two_hop_pairing import (
    TwoHopPairing,
    pairing_records,
    record_pairing,
)
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.program import Program
from portpart.graphs.graph import Graph
from portpart.graphs.teams import team_for


class GroupNumbering(Numbering):
    """The same, with numbers where a list of vertices was."""

    number: Array = None


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
    Time O(n + m).  Waits for the device to read the highest degree if that is not known and
    `score_factor` is not given.  Takes 53 bytes per vertex.
    """
    n, sizes = graph.num_vertices, sizes_of(graph)
    clusters = Clusters.allocate(space, sizes, max_count=n)
    grouping = Grouping.of(graph, score_factor, seed=seed, max_weight=max_weight, label=label,
                           proposal=None, group_size=group_size, subset=clusters.cluster)
    records = {"graph": graph.csr, "grouping": grouping, "numbering": GroupNumbering.of(n),
               **pairing_records(TwoHopPairing(max_weight), n)}
    team = team_for(graph.mean_degree)
    executable = space.cached_executable(
        ("grouping", graph.type_key, label is not None, team), lambda: _record(records, team))
    executable.run({**records, "count": clusters.count}, n, sizes)
    return clusters


GROUPING_WORK = TwoHopPairing, ActiveVertices, Grouping, GroupNumbering
"""What a grouping works on."""


def _record(records: dict[str, Any], team: int) -> Program:
    program = Program("grouping", sweeps=True)
    slots = program.declare(records)
    active, numbering = slots["active"], slots["numbering"]
    grouping = program.records["grouping"] = slots["grouping"].sharing(slots["pairing_state"])
    program.records["numbering"] = numbering.replaced(number=active.listed)
    program.launch(active.vertices, select_neighbour, team=team)
    program.launch(active.vertices, begin_group)
    program.launch(active.vertices, list_joining)
    with program.while_loop(active.count):  # as many rounds as groups have places
        for each in (offer_edge, claim_place, take_in):
            program.launch(active.count, each)
        program.launch(1, begin_next_round, last_round=NO_LAST_ROUND)
    program.launch(active.vertices, key_of_leftover)
    record_pairing(program)
    record_subsets(program, active.vertices, grouping.replaced(proposal=grouping.mate))
    return program

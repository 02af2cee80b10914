"""Proposals of vertices of a graph: their arcs are added up by cluster."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from portpart.algorithms.coarsening.cluster_program import ClusteringInputs, ClusterRecording
from portpart.algorithms.coarsening.cluster_ratings import (
    HEAVY_EDGE,
    MAX_NARROW,
    MAX_ROW,
    Rating,
    RowRating,
    propose_cluster,
    propose_cluster_by_row,
    propose_neighbour,
)
from portpart.algorithms.coarsening.cluster_rounds import (
    ARCS_OF_LANE,
    ClusterRounds,
    begin_single,
    empty_lists,
    list_singles,
)
from portpart.algorithms.coarsening.sizes import sizes_of
from portpart.backends.language import int32, int64
from portpart.graphs.graph import Graph
from portpart.graphs.teams import team_for_all
from portpart.primitives.hash_rows import SLOTS
from portpart.primitives.reduce import elements_of_rows_above

NO_DEGREE = 2**31

MAX_UNCOUNTED = 2**26
"""Up to this many arcs hash rows have a slot for each, which takes less than to wait for a count.
"""


@dataclass(frozen=True)
class ArcProposals:
    """Proposals along arcs.

    Attributes
    ----------
    by : Rating
    with_total : bool
        Whether ratings compare with the weight of all arcs.
    """

    by: Rating = HEAVY_EDGE
    with_total: bool = False

    def around(self, graph: Graph, seed: int) -> ClusteringInputs:
        """Arcs and their heads."""
        sizes = sizes_of(graph)._replace(max_degree=graph.max_degree, slots=slots_for(graph))
        return ClusteringInputs({"graph": graph.csr}, sizes, team_for_all(graph),
                                total=graph.whole.total_arc_weight if self.with_total else None)

    def among_single(self, recording: ClusterRecording) -> None:
        """No arcs have to be added up."""
        vertices = recording.rounds.vertices
        proposal = propose_neighbour.bound(by=self.by.of_neighbours)
        most = ARCS_OF_LANE * recording.team
        with recording.program.side_by_side():
            recording.launch(vertices, begin_single)
            recording.launch(vertices, list_singles, max_degree=most)
            recording.launch(vertices, proposal, team=recording.team, wide=None, max_degree=most)
        recording.launch(recording.lists[0].wide_length, proposal, team=256, max_degree=NO_DEGREE)

    def among_clusters(self, recording: ClusterRecording, here: int,
                       clusters: ClusterRounds) -> None:
        """Every vertex on the list gets a team that suits its degree."""
        sum_type, listed = recording.rows.sums.dtype, recording.lists[here]
        element = int32 if sum_type == np.int32 else int64
        with recording.program.side_by_side():
            ranges = [(32, MAX_NARROW, NO_DEGREE)]
            if not recording.one_lane:
                ranges = [(256, MAX_ROW, NO_DEGREE), (32, MAX_NARROW, MAX_ROW)]
            for team, above, max_degree in ranges:
                by = RowRating(SLOTS[sum_type.itemsize][team], element, self.by)
                recording.launch(listed.wide_length, propose_cluster_by_row, here, team,
                                 above=above, max_degree=max_degree, clusters=clusters, by=by)
            recording.launch(listed.length, propose_cluster, here, min(recording.team, 8),
                             clusters=clusters, by=self.by)
            recording.launch(1, empty_lists, 1 - here)


def slots_for(graph: Graph) -> int | None:
    """Slots that hash rows take in main memory; None where the host does not know how many.

    Waits if there may be very many.
    """
    if graph.num_arcs <= MAX_UNCOUNTED or graph.max_degree <= MAX_ROW:
        return None
    found = elements_of_rows_above(graph.space, graph.offsets, MAX_ROW)
    return graph.space.read(found, lambda: [graph.num_arcs])[0]


HEAVY_ARCS = ArcProposals()

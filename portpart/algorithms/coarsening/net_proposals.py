"""Proposals of vertices of a hypergraph: their nets are added up by cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from portpart.algorithms.coarsening.arc_proposals import NO_DEGREE
from portpart.algorithms.coarsening.cluster_program import ClusteringInputs, ClusterRecording
from portpart.algorithms.coarsening.cluster_ratings import MAX_ROW, HashRows
from portpart.algorithms.coarsening.cluster_rounds import (
    ClusterRounds,
    VertexList,
    begin_single,
    empty_lists,
    list_single,
)
from portpart.algorithms.coarsening.net_ratings import (
    BY_WEIGHT,
    NetRating,
    PinRange,
    propose_cluster_by_nets,
)
from portpart.algorithms.coarsening.options import NetOptions
from portpart.algorithms.coarsening.rated_nets import RatedNets, count_rated_pins
from portpart.algorithms.coarsening.sizes import FineSizes, of_vertices
from portpart.algorithms.coarsening.two_hop_clusters import TwoHopGroups
from portpart.backends.declared import work
from portpart.backends.interface import Array
from portpart.backends.language import Kernel
from portpart.backends.program import Element
from portpart.graphs.hypergraph import Hypergraph
from portpart.graphs.rows import Csr
from portpart.graphs.teams import team_for
from portpart.primitives.best_candidate import Choice
from portpart.primitives.hash_rows import SLOTS
from portpart.primitives.scan import offsets_from_counts

MAX_UNIT = 2**20
"""What a net of weight one counts at most: enough to distinguish sizes."""

MAX_SUM = 2**62

WORK = 32
"""What a vertex is worth on a CPU, in light items."""

WIDE_TEAM, NARROW_TEAM = 256, 32
"""Lanes for a vertex that examines very many pins, and for all others."""


class NetVertexList(VertexList):
    """The same where any vertex may examine many pins."""

    wide: Array = work(np.int32, of_vertices)


NET_CLUSTERING_WORK = ClusterRounds, HashRows, TwoHopGroups, NetVertexList, NetVertexList, RatedNets
"""What a clustering by nets works on."""


@dataclass(frozen=True)
class NetProposals:
    """Proposals among the pins of common nets.

    Attributes
    ----------
    options : NetOptions
    """

    options: NetOptions

    def around(self, hypergraph: Hypergraph, seed: int, without: int = 1) -> ClusteringInputs:
        """Nets, and the pins that each vertex examines; waits to learn how many are in far rows.

        Weights of nets are divided by their pins `without` this many.
        """
        space, n = hypergraph.space, hypergraph.num_vertices
        unit = min(MAX_UNIT, max(1, MAX_SUM // max(1, hypergraph.total_net_weight)))
        rated = RatedNets.allocate(
            space, FineSizes(n), rows=hypergraph.csr, nets=hypergraph.nets, unit=unit,
            max_rated=self.options.max_rated, without=without, far=None)
        team = team_for(2 * hypergraph.mean_degree)
        space.parallel_for(n, count_rated_pins, rated, n, seed, team=team)
        far = offsets_from_counts(space, rated.far_slots)
        slots = int(space.to_host(far[n:])[0])
        graph = Csr(rated.begin, rated.pins, None, None, hypergraph.vertex_weights, None)
        return ClusteringInputs(
            {"graph": graph, "rated": rated.replaced(far=far, far_slots=None)},
            FineSizes(n, slots, n, np.dtype(np.int64), hypergraph.net_offsets.dtype), 1,
            {"list_0": NetVertexList(), "list_1": NetVertexList()}, lanes=NARROW_TEAM)

    def among_single(self, recording: ClusterRecording) -> None:
        """Vertices may have several nets in common: the same as later."""
        recording.launch(recording.rounds.vertices, begin_single)
        recording.launch(recording.rounds.vertices, list_single)
        self.among_clusters(recording, 0, recording.rounds)

    def among_clusters(self, recording: ClusterRecording, here: int,
                       clusters: ClusterRounds) -> None:
        """Every vertex on the list gets a team that suits the pins that it examines."""
        with recording.program.side_by_side():
            for count, kernel, team, given in launches(recording.lists[here],
                                                       recording.one_lane):
                recording.launch(count, kernel, here, team, clusters=clusters, **given)
            recording.launch(1, empty_lists, 1 - here)


def launches(listed: Any, one_lane: bool,
             choice: Choice = BY_WEIGHT) -> list[tuple[Element, Kernel, int, dict[str, Any]]]:
    """For each list the vertices, the kernel, its number of lanes, and its arguments."""
    slots = SLOTS[np.dtype(np.int64).itemsize]
    ranges = [(listed.length, listed.active, WIDE_TEAM, -1, NO_DEGREE)]
    if not one_lane:
        ranges = [(listed.wide_length, listed.wide, WIDE_TEAM, MAX_ROW, NO_DEGREE),
                  (listed.length, listed.active, NARROW_TEAM, -1, MAX_ROW)]
    return [(count, propose_cluster_by_nets, team,
             {"listed": vertices, "looked_at": PinRange(above, most), "work": WORK,
              "by": NetRating(slots[team], team, choice)})
            for count, vertices, team, above, most in ranges]

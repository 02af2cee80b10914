"""The program of clustering, and the interface of proposal rules."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from portpart.algorithms.coarsening import two_hop_clusters as unclustered
from portpart.algorithms.coarsening.cluster_ratings import HashRows
from portpart.algorithms.coarsening.cluster_rounds import (
    ClusterRounds,
    VertexList,
    grant_random,
    join,
    list_rest,
    list_single,
    request_join,
    settle,
)
from portpart.algorithms.coarsening.sizes import FineSizes
from portpart.backends.language import Kernel, Record, Words
from portpart.backends.program import Program
from portpart.backends.work import WorkRecord

SCRATCH: dict[str, WorkRecord] = {
    "rows": HashRows(), "groups": unclustered.TwoHopGroups(), "list_0": VertexList(),
    "list_1": VertexList(),
}

CLUSTERING_WORK = ClusterRounds, *map(type, SCRATCH.values())
"""What a clustering works on; work arrays have elements for keys of isolated vertices too."""


class ClusteringInputs(NamedTuple):
    """What a proposal rule reads.

    Attributes
    ----------
    records : dict
        Of the program; ``graph`` has the weights of vertices, and as their degrees how much they
        examine.
    sizes : FineSizes
        Arcs are the slots of hash rows in main memory.
    team : int
        Lanes for a vertex that is no exception.
    scratch : mapping
        What differs from `SCRATCH`.
    total : int or None
        What ratings compare with.
    lanes : int
        Lanes for each vertex where all vertices propose.
    """

    records: dict[str, Record | Words]
    sizes: FineSizes
    team: int
    scratch: Mapping[str, WorkRecord] = MappingProxyType({})
    total: int | None = None
    lanes: int = 1


class ProposalRule(Protocol):
    """How vertices find the cluster to propose; a value, since programs are cached by it."""

    def around(self, graph: Any, seed: int) -> ClusteringInputs:
        """What the vertices of a graph examine."""

    def among_single(self, recording: ClusterRecording) -> None:
        """Record the first round: all vertices are single, and get onto the list of turn 0."""

    def among_clusters(self, recording: ClusterRecording, here: int,
                       clusters: ClusterRounds) -> None:
        """Record proposals of all on the list of turn `here`; the other list is emptied."""


class ClusterRecording:
    """A program that clusters.

    Where teams have one lane high degrees need no widest team, and one kernel less to compile.
    """

    def __init__(self, records: dict[str, Any], around: ClusteringInputs, one_lane: bool) -> None:
        self.team, self.one_lane = around.team, one_lane
        self.program = Program("clustering", sweeps=True, sizes=around.sizes)
        slots = self.program.declare({**records, **SCRATCH, **around.scratch})
        self.rounds, self.rows = slots["rounds"], slots["rows"]
        self.lists = slots["list_0"], slots["list_1"]

    def grant_all(self) -> None:
        """All requests fit, so the weight of granted requests is not read."""
        self.rounds = self.rounds.replaced(granted=self.rounds.requested)
        self.program.records["rounds"] = self.rounds

    def launch(self, count: Any, kernel: Kernel, here: int = 0, team: int = 1,
               **given: Any) -> None:
        """Launch over the records named like the parameters; lists are those of turn `here`."""
        listed = self.lists[here]
        named = {"proposals": self.rounds, "clusters": self.rounds, "listed": listed,
                 "active": listed.active, "wide": listed.wide, "next_listed": self.lists[1 - here]}
        self.program.launch(count, kernel, team=team, **{**named, **given})

    def admit(self, choose: Kernel, here: int, turn: int, then: Kernel | None) -> None:
        """Let listed vertices join the clusters that they propose, up to their capacity.

        `then`, if given, fills the other list from this one or, at the end, from all vertices.
        """
        count = self.lists[here].length
        for each in (choose, request_join, grant_random, join):
            self.launch(count, each, here, turn=turn)
        with self.program.side_by_side():
            self.launch(count, settle, here)
            if then is list_rest:
                self.launch(count, then, here)
            elif then is list_single:
                self.launch(self.rounds.vertices, then, 1 - here)

"""One body for vertices with few neighbours, for those with many, and for hubs.

The kernels differ in the number of lanes per vertex, and in how the blocks that a vertex is
connected to are found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from portpart.algorithms.objectives import (
    NUM_FOUND,
    BestTarget,
    BlockScore,
    Connectivity,
    ConnectivityTable,
    Rules,
    Tables,
)
from portpart.algorithms.refinement.blocks import Blocks
from portpart.algorithms.refinement.gains import ActiveSets, GainCache, UnratedList, uses_lanes
from portpart.algorithms.refinement.moves import Moves
from portpart.algorithms.refinement.options import Figures
from portpart.algorithms.refinement.rebalancing import Rebalancing
from portpart.backends import language as kl
from portpart.graphs import Csr, degree_of

Body = Callable[[Rules, BlockScore], kl.DeviceFunction]
"""From an objective and a valuation, ``body(v, graph, state, connections, tables, found, more)``:
the work of all lanes of a team on a vertex."""


class Deciding(kl.Scope):
    """Records that determine the targets of vertices, for a gain or out of an overloaded block."""

    moves: Moves
    cache: GainCache
    active: ActiveSets
    blocks: Blocks
    unrated: UnratedList
    rebalancing: Rebalancing
    figures: Figures


@dataclass(frozen=True)
class Selector(kl.Static):
    """Functions that select the vertices of a list for a body.

    Attributes
    ----------
    low_degree : DeviceFunction
        ``low_degree(i, one_lane, graph, state)``: vertex i of the list if it has few neighbours and
        the list is for such lanes; else -1.
    high_degree : DeviceFunction
        ``high_degree(i, graph, state)``: a bit for each vertex of group i that has many neighbours
        and is no hub.
    member : DeviceFunction
        ``member(i, bit, state)``: the vertex of a bit.
    hub : DeviceFunction
        ``hub(i, state)``: hub i if it is selected; else -1.
    """

    low_degree: kl.DeviceFunction
    high_degree: kl.DeviceFunction
    member: kl.DeviceFunction
    hub: kl.DeviceFunction


@kl.device
def is_low_degree(v, graph: Csr, figures: Figures):
    """Whether v has few neighbours."""
    return degree_of(v, graph) <= figures.max_low_degree


@kl.device
def is_high_degree(v, graph: Csr, figures: Figures):
    """Whether v has many neighbours and is no hub."""
    degree = degree_of(v, graph)
    return degree > figures.max_low_degree and degree <= figures.hub_degree


@dataclass(frozen=True)
class VertexJob(kl.Static):
    """A body, and how the blocks that a vertex is connected to are found.

    Attributes
    ----------
    body : DeviceFunction
        ``body(v, graph, state, connections, tables, found, more)``
    selector : Selector
    connections : Connectivity
    counter : Word
        Type of numbers that hold any sum of weights.
    """

    body: kl.DeviceFunction
    selector: Selector
    connections: Connectivity
    counter: kl.Word


@dataclass(frozen=True)
class ByDegree:
    """The kernels of one body for an objective.

    Parameters
    ----------
    body : callable
    selector : Selector
    rules : Rules
    """

    body: Body
    selector: Selector
    rules: Rules

    def low_degree(self, counter: kl.Word, max_degree: int) -> kl.Kernel:
        """Return the kernel for vertices with at most this many neighbours.

        Weights are numbers of `counter`: a GPU adds 32-bit numbers in scratch memory much faster
        than 64-bit ones.
        """
        return of_low_degree.bound(job=self._job(self.rules, self.rules.low_degree(max_degree),
                                                 counter))

    def high_degree(self, counter: kl.Word) -> kl.Kernel:
        """Return the kernel for vertices with more neighbours that are no hubs."""
        return of_high_degree.bound(job=self._job(self.rules, self.rules.high_degree, counter))

    def of_hub(self, counter: kl.Word, summed: bool = False) -> kl.Kernel:
        """Return the kernel for hubs, whose connectivity may be summed up already."""
        rules = self.rules.summed if summed else self.rules
        assert rules is not None
        return of_hub.bound(job=self._job(rules, rules.high_degree, counter))

    def _job(self, rules: Rules, valuation: BlockScore, counter: kl.Word) -> VertexJob:
        return VertexJob(self.body(rules, valuation), self.selector, valuation.connectivity,
                         counter)


@kl.kernel
def of_low_degree(i, graph: Csr, state: Deciding, tables: Tables, more: kl.Record, one_lane,
                  job: VertexJob):
    """Apply the body for vertex i of the list, if it has few neighbours."""
    connections = ConnectivityTable(blocks=kl.team_array(kl.int32, job.connections.blocks),
                                    weights=kl.team_array(job.counter, job.connections.weights),
                                    order=kl.team_array(kl.int8, job.connections.order))
    found = BestTarget(kl.lane_array(kl.int64, NUM_FOUND))
    v = job.selector.low_degree(i, one_lane, graph, state)
    if v >= 0:
        job.body(v, graph, state, connections, tables, found, more)


@kl.kernel
def of_high_degree(i, graph: Csr, state: Deciding, tables: Tables, more: kl.Record, job: VertexJob):
    """Apply the body for the vertices of group i with many neighbours."""
    connections = ConnectivityTable(blocks=kl.team_array(kl.int32, job.connections.blocks),
                                    weights=kl.team_array(job.counter, job.connections.weights),
                                    order=kl.team_array(kl.int8, job.connections.order))
    found = BestTarget(kl.lane_array(kl.int64, NUM_FOUND))
    chosen = job.selector.high_degree(i, graph, state)
    while chosen != 0:
        v = job.selector.member(i, kl.ctz(kl.uint64(chosen)), state)
        job.body(v, graph, state, connections, tables, found, more)
        chosen &= chosen - 1


@kl.kernel
def of_hub(i, graph: Csr, state: Deciding, tables: Tables, more: kl.Record, job: VertexJob):
    """Apply the body for hub i."""
    connections = ConnectivityTable(blocks=kl.team_array(kl.int32, job.connections.blocks),
                                    weights=kl.team_array(job.counter, job.connections.weights),
                                    order=kl.team_array(kl.int8, job.connections.order))
    found = BestTarget(kl.lane_array(kl.int64, NUM_FOUND))
    v = job.selector.hub(i, state)
    if v >= 0:
        job.body(v, graph, state, connections, tables, found, more)


# Stale vertices ------------------------------------------------------------------------


@kl.device
def dirty_low_degree(i, one_lane, graph: Csr, state: Deciding):
    """Return stale vertex i if it has few neighbours and the list is for such lanes, else -1."""
    v = state.cache.dirty_list[i]
    if not uses_lanes(one_lane, state.cache.dirty, state.figures):
        v = kl.int32(-1)
    elif not is_low_degree(v, graph, state.figures):
        v = kl.int32(-1)
    return v


@kl.device
def dirty_high_degree(i, graph: Csr, state: Deciding):
    """Return a bit for each stale vertex of group i that has many neighbours and is no hub.

    Few vertices have many neighbours: a team examines several at once and processes the selected
    ones.  Called by all lanes of a team.
    """
    first = i * state.cache.group
    chosen = kl.int64(0)
    if kl.lane() < state.cache.group and first + kl.lane() < state.cache.dirty:
        if is_high_degree(state.cache.dirty_list[first + kl.lane()], graph, state.figures):
            chosen = kl.int64(1) << kl.lane()
    return kl.team_sum(chosen)


@kl.device
def dirty_member(i, bit, state: Deciding):
    """Return a stale vertex of a group."""
    return state.cache.dirty_list[i * state.cache.group + bit]


@kl.device
def dirty_hub(i, state: Deciding):
    """Return hub i if it is stale, else -1."""
    v = state.active.hub_list[i]
    if state.cache.is_dirty[v] == 0:
        v = kl.int32(-1)
    return v


DIRTY = Selector(dirty_low_degree, dirty_high_degree, dirty_member, dirty_hub)


# Unrated vertices ----------------------------------------------------------------------------


@kl.device
def unrated_low_degree(i, one_lane, graph: Csr, state: Deciding):
    """Return unrated vertex i if it has few neighbours, else -1.  Such lists are for teams."""
    v = state.unrated.vertices[i]
    if not is_low_degree(v, graph, state.figures):
        v = kl.int32(-1)
    return v


@kl.device
def unrated_high_degree(i, graph: Csr, state: Deciding):
    """Return 1 if unrated vertex i has many neighbours and is no hub, else 0."""
    return kl.int64(is_high_degree(state.unrated.vertices[i], graph, state.figures))


@kl.device
def unrated_member(i, bit, state: Deciding):
    """Return unrated vertex i."""
    return state.unrated.vertices[i]


@kl.device
def unrated_hub(i, state: Deciding):
    """Return unrated hub i."""
    return state.unrated.hub_vertices[i]


UNRATED = Selector(unrated_low_degree, unrated_high_degree, unrated_member, unrated_hub)

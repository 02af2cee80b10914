"""The value that is minimised: device functions, and how the blocks of a vertex are scored.

An objective is a cost for each arc, its weight times the distance of the blocks of its ends.  For
the cut that distance is 1 for any two blocks, for the communication cost of a mapping it depends on
the machine.  The value of a block for a vertex is minus its cost there, plus a number that is the
same for all blocks: for the cut, it is the weight of the arcs into the block.  An objective of
hypergraphs is a cost of each net instead (`net_cost.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

from portpart.algorithms.objectives.connectivity import Connectivity, has_arc_outside
from portpart.backends.language import DeviceFunction, Record, Static, Word, Words
from portpart.backends.programs import ExecutionSpace


class Tables(Record):
    """Data for the distances of an objective; most objectives have their own class."""

    max_distance: int


class BestTarget(Words):
    """The best target block of a vertex and its value.  Valid on the first lane of a team.

    `own` is the weight of the vertex's arcs into its own block, `here` the value of that block.
    `block` is the best of the other admitted blocks, -1 if there is none, and `value` its value.
    `total` is the weight of all arcs; if admitted blocks are counted, in `admitted`, it is the
    weight of the arcs into these.
    """

    own: int
    total: int
    here: int
    block: int
    value: int
    admitted: int


NUM_FOUND = len(BestTarget.indices)


@dataclass(frozen=True)
class BlockScore(Static):
    """How the blocks that a vertex is connected to are found and valued.

    Attributes
    ----------
    connectivity : Connectivity
    value : DeviceFunction or None
        ``value(block, count, v, graph, part, connections, tables)``: the value of a block for v,
        which has `count` candidates.  If None, it is the weight of the arcs into the block.
    note : DeviceFunction or None
        ``note(connections, found)``: does what `Rules.note` does with the data of a connectivity.
    """

    connectivity: Connectivity
    value: DeviceFunction | None = None
    note: DeviceFunction | None = None


@dataclass(frozen=True)
class Rules(Static):
    """The functions of an objective, on which compiled programs depend.

    Attributes
    ----------
    name : str
    distance : DeviceFunction
        ``distance(a, b, tables)`` of two blocks; symmetric, and 0 for equal blocks.
    is_cut : bool
        Whether the distance of any two blocks is 1, so that values are weights.
    untouched_score : DeviceFunction
        ``untouched_score(found, tables)``: the value of a block that the vertex is not connected
        to, or, in strong rebalancing, of any block.
    low_degree : callable
        From a maximum degree, the score of blocks for such vertices.
    high_degree : BlockScore
        The score for vertices with more neighbours, including hubs.
    team_of_high_degree : int
        Number of lanes for a vertex with many neighbours that is no hub.
    is_boundary : DeviceFunction
        ``is_boundary(v, graph, part)``: whether v is on a boundary.
    note : DeviceFunction or None
        ``note(v, graph, part, found)``: sets `BestTarget.own` to the value that the filter compares
        losses with, if that is not the weight into v's own block.
    net_cost : DeviceFunction or None
        ``net_cost(connectivity)``: the cost of a net of weight 1 that spans this many blocks; None
        if the objective is a cost of arcs.
    summed : Rules or None
        The same functions for hubs whose connectivity has been summed up.
    """

    name: str
    distance: DeviceFunction
    is_cut: bool
    untouched_score: DeviceFunction
    low_degree: Callable[[int], BlockScore]
    high_degree: BlockScore
    team_of_high_degree: int
    is_boundary: DeviceFunction = has_arc_outside
    note: DeviceFunction | None = None
    net_cost: DeviceFunction | None = None
    summed: Rules | None = None


class Shape(NamedTuple):
    """Figures that determine which vertices have few neighbours.

    Attributes
    ----------
    team, widest_team : int
        Number of lanes for a vertex, and its maximum.
    num_blocks : int
    counter : Word
        Type of numbers that hold any sum of arc weights.
    mean_degree : float
    max_degree : int
    """

    team: int
    widest_team: int
    num_blocks: int
    counter: Word
    mean_degree: float
    max_degree: int


@dataclass(frozen=True, eq=False)
class Objective:
    """The value that is minimised, on a space.

    Attributes
    ----------
    rules : Rules
    tables : Tables
        The last argument of `Rules.distance`.
    low_degree_limit : callable
        Maximum degree of a vertex with few neighbours; below 0 there is no such vertex.
    wide_degree : int
        Above this mean degree the wider team processes a vertex of a list.
    lone_lanes : bool
        Whether single lanes process long lists of vertices of low degree.
    """

    rules: Rules
    tables: Tables
    low_degree_limit: Callable[[Shape], int]
    wide_degree: int
    lone_lanes: bool = True

    def moved(self, space: ExecutionSpace, other: ExecutionSpace) -> Objective:
        """Return the objective with its tables copied from `space` to another one."""
        arrays = {name: other.asarray(space.to_host(value)) for name, value in self.tables.named()
                  if hasattr(value, "__len__")}
        return replace(self, tables=self.tables.replaced(**arrays))

"""What is minimised, as a value: a few device functions, and how the blocks of a vertex are valued.

An objective is a cost for each arc, its weight times the distance of the blocks of its ends.  For
the cut that is 1 for any two blocks, for the communication cost of a mapping what the machine says.
The value of a block for a vertex is less its cost there, plus a number that is the same for all
blocks: for the cut, the weight of the arcs into the block.  An objective of hypergraphs is a cost
of each net instead (`net_cost.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

from portpart.algorithms.objectives.connectivity import Connectivity, has_arc_outside
from portpart.backends.language import DeviceFunction, Record, Static, Word, Words
from portpart.backends.programs import ExecutionSpace


class Tables(Record):
    """What the distances of an objective need; most objectives have their own class."""

    max_distance: int


class BestTarget(Words):
    """What is determined about the blocks of a vertex; the first lane of a team gets to know.

    `own` is the weight of its arcs into its own block, `here` the value of that; `block` the best
    of the others that are admitted, -1 if there is none, and `value` the value of that.  `total` is
    the weight of all arcs, or of those into admitted blocks where these are counted, as `admitted`.
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
    """How the blocks that a vertex touches are found, and valued.

    Attributes
    ----------
    connectivity : Connectivity
    value : DeviceFunction or None
        ``value(block, count, v, graph, part, connections, tables)``: the value of a block for v,
        which has this number of candidates.  None: it is the weight of the arcs into the block.
    """

    connectivity: Connectivity
    value: DeviceFunction | None = None


@dataclass(frozen=True)
class Rules(Static):
    """The functions of an objective: what compiled programs depend on.

    Attributes
    ----------
    name : str
    distance : DeviceFunction
        ``distance(a, b, tables)`` of two blocks, 0 of a block and itself, the same both ways.
    is_cut : bool
        Whether the distance of any two blocks is 1: values are weights then.
    untouched_score : DeviceFunction
        ``untouched_score(found, tables)``: the value of a block that the vertex is not connected
        to, or, in strong rebalancing, of any block.
    low_degree : callable
        From the most neighbours, how the blocks of such a vertex are valued.
    high_degree : BlockScore
        The same for vertices with more neighbours, hubs among them.
    team_of_high_degree : int
        Lanes for a vertex with many that is not a hub.
    is_boundary : DeviceFunction
        ``is_boundary(v, graph, part)``: whether v is on a boundary.
    note : DeviceFunction or None
        ``note(v, graph, part, found)``: sets `BestTarget.own` to what the filter compares losses
        with, where that is not the weight into v's own block.
    net_cost : DeviceFunction or None
        ``net_cost(connectivity)``: what a net of weight 1 costs that spans this many blocks; None
        where arcs cost something.
    summed : Rules or None
        The same functions for hubs whose ties are summed up beforehand.
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
    """What decides which vertices have few neighbours.

    Attributes
    ----------
    team, widest_team : int
        Lanes for a vertex, and the most that there may be.
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
    """What is minimised, on a space.

    Attributes
    ----------
    rules : Rules
    tables : Tables
        The last argument of `Rules.distance`.
    low_degree_limit : callable
        Most neighbours of a vertex that has few; below 0 no vertex has.
    wide_degree : int
        Above this mean degree a vertex of a list takes the wider team.
    lone_lanes : bool
        Whether long lists of vertices of low degree are work for single lanes.
    """

    rules: Rules
    tables: Tables
    low_degree_limit: Callable[[Shape], int]
    wide_degree: int
    lone_lanes: bool = True

    def moved(self, space: ExecutionSpace, other: ExecutionSpace) -> Objective:
        """The same with the tables, which are in `space`, in another one."""
        arrays = {name: other.asarray(space.to_host(value)) for name, value in self.tables.named()
                  if hasattr(value, "__len__")}
        return replace(self, tables=self.tables.replaced(**arrays))

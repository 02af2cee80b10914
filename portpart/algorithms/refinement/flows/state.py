"""Records of flow refinement: pairs of blocks, their corridors, and the networks of these.

A pair of blocks is the work of one team.  Pairs that are refined at a time share no block, so their
corridors share no vertex, and each has a range of the arrays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from portpart.backends.language.records import Record, Scope, Words
from portpart.backends.language.statics import Static
from portpart.backends.language.words import Word, int32, int64
from portpart.backends.programs import Array, WorkRecord, work

MAX_CORRIDOR = 2**16
"""Most vertices of a corridor."""

MAX_CORRIDOR_ARCS = 2**20
"""Most arcs that leave the vertices of a corridor."""

TEAM_BYTES = 43_008
"""Memory of a team for the vertices of a network."""


@dataclass(frozen=True)
class FlowSizes:
    """Sizes of the largest graph that is refined, and of its corridors.

    A corridor has half of the vertices and of the arcs of its blocks at most.

    Attributes
    ----------
    vertices, arcs, blocks : int
    counter : numpy.dtype
        Type that holds sums of edge weights.
    """

    vertices: int
    arcs: int
    blocks: int
    counter: np.dtype[np.generic]

    @property
    def corridor_vertices(self) -> int:
        """Most vertices of the corridors that exist at a time."""
        return min(self.vertices // 2, max(1, self.blocks // 2) * MAX_CORRIDOR)

    @property
    def corridor_arcs(self) -> int:
        """Most arcs of these."""
        return min(self.arcs // 2, max(1, self.blocks // 2) * MAX_CORRIDOR_ARCS)


def _of_vertices(sizes: FlowSizes) -> int:
    return sizes.vertices


def _of_corridors(sizes: FlowSizes) -> int:
    return sizes.corridor_vertices


def _of_arcs(sizes: FlowSizes) -> int:
    return sizes.corridor_arcs


def _of_blocks(sizes: FlowSizes) -> int:
    return sizes.blocks


def _of_pairs(sizes: FlowSizes) -> int:
    return sizes.blocks * sizes.blocks


def _counter(sizes: FlowSizes) -> np.dtype[np.generic]:
    return sizes.counter


class FlowLevel(Words):
    """Sizes and limits of a level, which the host writes, and how far its refinement has got."""

    vertices: int
    blocks: int
    block_pairs: int  # blocks * blocks
    seed: int
    slack: int  # what blocks may weigh above their limits on a coarse level
    max_depth: int  # last layer of a corridor; the boundary is layer 0
    max_degree: int  # vertices of higher degree stay in their block
    round_limit: int
    round: int
    running: int  # whether another round is to come
    boundary: int  # vertices on the list of the boundary
    matched: int  # pairs that are refined at a time
    large: int  # those of them whose networks do not fit into memory of a team
    used_arcs: int  # arcs that networks have got
    cut: int  # of the partition at the beginning of the round
    gain: int  # by how much the round has reduced it
    total_gain: int  # and all rounds


class QuotientGraph(WorkRecord):
    """The blocks, and pairs of adjacent ones; a and b are the pair a * k + b where a < b.

    What a pair of a matching has stands at its smaller block.

    Attributes
    ----------
    limits, means : array of int64, shape (k,)
        What blocks may weigh, and weigh if all weigh their share.
    weight, count, arcs : array of int64, shape (k,)
        Weight and number of a block's vertices, and the arcs that leave them.
    changed : array of int32, shape (k,)
        The last round that has changed the block.
    degree : array of int32, shape (k,)
        Blocks that it may be paired with in this round,
    neighbour : array of int32, shape (k * k,)
        and these, from k * a on.
    choice, partner : array of int32, shape (k,)
        The block that a block proposes to, and the one that it is paired with; or -1.
    pair : array of int32, shape (k,)
        The smaller blocks of the pairs of a matching.
    begin, size : array of int32, shape (k,)
        Where the corridor of a pair begins, and its vertices.
    boundary : array of int32, shape (k,)
        Vertices between the two blocks.
    across : array of int64, shape (k,)
        Weight of the edges between the two sides of the corridor.
    cut, won : array of int64, shape (k * k,)
        Weight of the edges between two blocks; what refining the pair has gained.
    done : array of int32, shape (k * k,)
        The last round in which the pair was refined.
    """

    limits: Array
    means: Array
    weight: Array = work(np.int64, _of_blocks)
    count: Array = work(np.int64, _of_blocks)
    arcs: Array = work(np.int64, _of_blocks)
    changed: Array = work(np.int32, _of_blocks)
    degree: Array = work(np.int32, _of_blocks)
    neighbour: Array = work(np.int32, _of_pairs)
    choice: Array = work(np.int32, _of_blocks)
    partner: Array = work(np.int32, _of_blocks)
    pair: Array = work(np.int32, _of_blocks)
    begin: Array = work(np.int32, _of_blocks)
    size: Array = work(np.int32, _of_blocks)
    boundary: Array = work(np.int32, _of_blocks)
    across: Array = work(np.int64, _of_blocks)
    cut: Array = work(np.int64, _of_pairs)
    won: Array = work(np.int64, _of_pairs)
    done: Array = work(np.int32, _of_pairs)


class Corridors(WorkRecord):
    """The vertices that may change their block.

    Attributes
    ----------
    part : array of int32, shape (n,)
        The partition, which is refined.
    fixed : array of int32, shape (n,), or None
        Vertices with an entry of 0 or more stay where they are.
    extra : float
        How much of the slack of both limits a corridor holds, in addition to the blocks' capacity.
    place : array of int32, shape (n,)
        The place of a vertex in the arrays of corridors, or -1.
    boundary, is_listed : array of int32, shape (n,)
        A list of all vertices on a boundary, and of some that were; and whether a vertex is there.
    vertex : array of int32
        The vertex of a place,
    depth : array of int8
        and the layer that it is in.
    """

    part: Array
    fixed: Array | None
    extra: float
    place: Array = work(np.int32, _of_vertices)
    boundary: Array = work(np.int32, _of_vertices)
    is_listed: Array = work(np.int32, _of_vertices)
    vertex: Array = work(np.int32, _of_corridors)
    depth: Array = work(np.int8, _of_corridors)


class Networks(WorkRecord):
    """Flow networks of corridors.  Vertices are named by their places, and arcs lead to places.

    Terminals are no vertices: what their neighbours could get from the source is excess of these
    from the beginning, and what they can send to the sink is `to_sink`.

    Attributes
    ----------
    begin, end : array of int32
        The arcs of a vertex.
    to_sink, excess : array
        Residual capacity to the sink, and what has flowed in and not out.
    state : array of int8
        Marks of a vertex (`network.py`).
    even_list, odd_list, search_list : array of int32
        Lists of vertices: active ones, those of the next round, and those of a search.
    label : array of int32
    incoming : array
        `NodeLabels` of large networks.
    target, reverse : array of int32
        The head of an arc, and the arc the other way round.
    capacity, flow : array
        Capacity in either direction, and the flow less that of the reverse arc.
    """

    begin: Array = work(np.int32, _of_corridors)
    end: Array = work(np.int32, _of_corridors)
    to_sink: Array = work(_counter, _of_corridors)
    excess: Array = work(_counter, _of_corridors)
    state: Array = work(np.int8, _of_corridors)
    even_list: Array = work(np.int32, _of_corridors)
    odd_list: Array = work(np.int32, _of_corridors)
    search_list: Array = work(np.int32, _of_corridors)
    label: Array = work(np.int32, _of_corridors)
    incoming: Array = work(_counter, _of_corridors)
    target: Array = work(np.int32, _of_arcs)
    reverse: Array = work(np.int32, _of_arcs)
    capacity: Array = work(_counter, _of_arcs)
    flow: Array = work(_counter, _of_arcs)


class Flows(Scope):
    """All records of flow refinement."""

    level: FlowLevel
    quotient: QuotientGraph
    corridors: Corridors
    networks: Networks


class NodeLabels(Record):
    """What lanes of a team change by atomics at the vertices of a network: in memory of the team,
    where that is several times faster, if the network is small.

    Attributes
    ----------
    label : array of int32
        At most the distance to the sink in the residual network, `FAR` where there is no way, and
        more where excess arrives that is stuck.
    incoming : array
        What flows in during a round.
    """

    label: Array
    incoming: Array


@dataclass(frozen=True)
class NodeMemory(Static):
    """Memory of a team for `NodeLabels`.

    Attributes
    ----------
    counter : Word
        Type of flows.
    room : int
        Most vertices.
    """

    counter: Word
    room: int

    @classmethod
    def of(cls, counter: np.dtype[np.generic]) -> NodeMemory:
        """For flows of a type."""
        return cls(int32 if counter == np.int32 else int64, TEAM_BYTES // (4 + counter.itemsize))


class Pair(Record):
    """A pair of blocks in work.

    Attributes
    ----------
    source, sink : int
        The smaller block and the larger one.
    base, end : int
        The range of its corridor.
    shift : int
        What the elements of `NodeLabels` are smaller by than places.
    """

    source: int
    sink: int
    base: int
    end: int
    shift: int


FLOW, FOUND, STAYED, REACHED, WOKEN, QUEUE, NUM_COUNTS = 0, 1, 2, 4, 6, 8, 11
"""What the lanes of a team count in an array of it: the flow into the sink, and vertices.  Those of
rounds have two words and those of searches three, which take turns.
"""

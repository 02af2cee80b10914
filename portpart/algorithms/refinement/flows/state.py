"""Records of flow refinement: pairs of blocks, their corridors, and the networks of these.

A pair of blocks is the work of one team.  Pairs that are refined at a time share no block, so their
corridors share no vertex, and each has a range of the arrays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from portpart.backends.language import Record, Scope, Static, Word, Words, int32, int64, work
from portpart.backends.programs import Array
from portpart.graphs import Csr, Nets

MAX_CORRIDOR = 2**16
"""Most vertices of a corridor."""

TEAM_BYTES = 43_008
"""Memory of a team for the vertices of a network."""


@dataclass(frozen=True)
class FlowSizes:
    """Sizes of the largest graph or hypergraph that is refined, and of its corridors.

    A corridor has half of the vertices and of the arcs or pins of its blocks at most.

    Attributes
    ----------
    vertices, entries, blocks : int
        `entries` are arcs or pins.
    counter : numpy.dtype
        Type that holds sums of edge weights, and four times those of nets.
    nets : int, optional
        None of a graph.
    max_entries : int
        Most arcs or pins of a corridor.
    """

    vertices: int
    entries: int
    blocks: int
    counter: np.dtype[np.generic]
    nets: int = 0
    max_entries: int = 2**20

    @property
    def corridor_entries(self) -> int:
        """Most arcs or pins of the corridors that exist at a time."""
        return min(self.entries // 2, max(1, self.blocks // 2) * self.max_entries)

    @property
    def nodes(self) -> int:
        """Most nodes of their networks: vertices, and two for each net with two pins there."""
        vertices = min(self.vertices // 2, max(1, self.blocks // 2) * MAX_CORRIDOR)
        return vertices + (self.corridor_entries if self.nets else 0)

    @property
    def arcs(self) -> int:
        """Most arcs of their networks."""
        return self.corridor_entries * (2 if self.nets else 1)

    @property
    def capacities(self) -> int:
        """Most arcs, or nodes of nets, that have capacities."""
        return self.nodes if self.nets else self.arcs


def _of_pairs(sizes: FlowSizes) -> int:
    return sizes.blocks * sizes.blocks


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


class QuotientGraph(Record):
    """The blocks, and pairs of adjacent ones; a and b are the pair a * k + b where a < b.

    What a pair of a matching has stands at its smaller block.

    Attributes
    ----------
    max_entries : int
        Most arcs or pins of a corridor.
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
    begin, size, nodes : array of int32, shape (k,)
        Where the corridor of a pair begins, its vertices, and the nodes of its network.
    boundary : array of int32, shape (k,)
        Vertices between the two blocks.
    across : array of int64, shape (k,)
        Weight of the edges or nets between the two sides of the corridor.
    cut, won : array of int64, shape (k * k,)
        Weight of the edges or nets between two blocks; what refining the pair has gained.
    done : array of int32, shape (k * k,)
        The last round in which the pair was refined.
    """

    max_entries: int
    limits: Array
    means: Array
    weight: Array = work(np.int64, "blocks")
    count: Array = work(np.int64, "blocks")
    arcs: Array = work(np.int64, "blocks")
    changed: Array = work(np.int32, "blocks")
    degree: Array = work(np.int32, "blocks")
    neighbour: Array = work(np.int32, _of_pairs)
    choice: Array = work(np.int32, "blocks")
    partner: Array = work(np.int32, "blocks")
    pair: Array = work(np.int32, "blocks")
    begin: Array = work(np.int32, "blocks")
    size: Array = work(np.int32, "blocks")
    nodes: Array = work(np.int32, "blocks")
    boundary: Array = work(np.int32, "blocks")
    across: Array = work(np.int64, "blocks")
    cut: Array = work(np.int64, _of_pairs)
    won: Array = work(np.int64, _of_pairs)
    done: Array = work(np.int32, _of_pairs)


class Corridors(Record):
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
    place: Array = work(np.int32, "vertices")
    boundary: Array = work(np.int32, "vertices")
    is_listed: Array = work(np.int32, "vertices")
    vertex: Array = work(np.int32, "nodes")
    depth: Array = work(np.int8, "nodes")


class Networks(Record):
    """Flow networks of corridors.  Their nodes are vertices, named by their places, and behind
    those of a corridor two for each net (`net_network.py`).

    Terminals are no nodes: what their neighbours could get from the source is excess of these
    from the beginning, and what they can send to the sink is `to_sink`.

    Attributes
    ----------
    begin, end : array of int32
        The row of a node.
    to_sink, excess : array
        Residual capacity to the sink, and what has flowed in and not out.
    state : array of int8
        Marks of a node (`network.py`).
    even_list, odd_list, search_list : array of int32
        Lists of nodes: active ones, those of the next round, and those of a search.
    label : array of int32
    incoming : array
        `NodeLabels` of large networks.
    target, reverse : array of int32
        The head of an arc, and the arc the other way round.
    flow : array
        Of an edge the flow less that of the reverse arc, of a pin that in this direction.
    capacity : array
        Of an arc in either direction; or of a net, followed by the flow through it, at its nodes.
    """

    begin: Array = work(np.int32, "nodes")
    end: Array = work(np.int32, "nodes")
    to_sink: Array = work("counter", "nodes")
    excess: Array = work("counter", "nodes")
    state: Array = work(np.int8, "nodes")
    even_list: Array = work(np.int32, "nodes")
    odd_list: Array = work(np.int32, "nodes")
    search_list: Array = work(np.int32, "nodes")
    label: Array = work(np.int32, "nodes")
    incoming: Array = work("counter", "nodes")
    target: Array = work(np.int32, "arcs")
    reverse: Array = work(np.int32, "arcs")
    flow: Array = work("counter", "arcs")
    capacity: Array = work("counter", "capacities")


class NetBlocks(Record):
    """The blocks of the pins of each net: hash rows in the places of the pins.

    Attributes
    ----------
    block, count : array of int32, shape (num_pins,)
        A block, or -1, and how many pins it has.
    inside : array of int32, shape (num_pins,)
        How many of these are in a corridor, while its network is built.
    mark : array of int32, shape (num_pins,)
        The number of the net in that network, or a negative number: whether a matching has extended
        a corridor over these pins.
    is_changed, changed : array of int32, shape (m,)
        A list of the nets with pins that have moved, and whether a net is there.
    """

    block: Array = work(np.int32, "entries")
    count: Array = work(np.int32, "entries")
    inside: Array = work(np.int32, "entries")
    mark: Array = work(np.int32, "entries")
    is_changed: Array = work(np.int32, "nets")
    changed: Array = work(np.int32, "nets")


class NetCounts(Words):
    """Numbers of nets, and of matchings until now."""

    nets: int
    changed: int  # on the list of nets with pins that have moved
    matching: int


class FlowNets(Csr):
    """Rows of the nets of each vertex, with the pins of each net and their blocks."""

    nets: Nets
    blocks: NetBlocks
    counts: NetCounts


class Flows(Scope):
    """All records of flow refinement."""

    level: FlowLevel
    quotient: QuotientGraph
    corridors: Corridors
    networks: Networks


class NodeLabels(Record):
    """What lanes of a team change by atomics at the nodes of a network: in memory of the team,
    where that is several times faster, if the network is small.

    Attributes
    ----------
    label : array of int32
        At most the distance to the sink in the residual network, `FAR` where there is no way,
        `STUCK` where excess arrives that is stuck, and `OUT` in terminals.
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
        Most nodes.
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
    base, end, top : int
        The range of its corridor, and the end of that of its network.
    shift : int
        What the elements of `NodeLabels` are smaller by than places.
    """

    source: int
    sink: int
    base: int
    end: int
    top: int
    shift: int


FLOW, FOUND, STAYED, REACHED, WOKEN, QUEUE, NUM_COUNTS = 0, 1, 2, 4, 6, 8, 11
"""What the lanes of a team count in an array of it: the flow into the sink, and vertices.  Those of
rounds have two words and those of searches three, which take turns.
"""

"""Records of flow refinement: pairs of blocks, their corridors, and networks.

One team works on a pair of blocks.  Pairs that are refined at a time share no block, so their
corridors share no vertex; each has its own range of the arrays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from portpart.backends.language import Record, Scope, Static, Word, Words, int32, int64, work
from portpart.backends.programs import Array
from portpart.graphs import Csr, Nets

MAX_CORRIDOR = 2**16
"""Maximum number of vertices of a corridor."""

TEAM_BYTES = 43_008
"""Bytes of a team's memory for the nodes of a network."""


@dataclass(frozen=True)
class NodeMemory(Static):
    """Memory of a team for `NodeLabels`.

    Attributes
    ----------
    counter : Word
        Type of flows.
    max_nodes : int
        Maximum number of nodes.
    """

    counter: Word
    max_nodes: int

    @classmethod
    def of(cls, counter: np.dtype[np.generic]) -> NodeMemory:
        """Return the memory for flows of a type."""
        return cls(int32 if counter == np.int32 else int64, TEAM_BYTES // (4 + counter.itemsize))


@dataclass(frozen=True)
class FlowSizes:
    """Sizes of the largest graph or hypergraph that is refined, and of its corridors.

    A corridor has at most half of the vertices, and of the arcs or pins, of its blocks, or all of
    them in a band graph, which has no others.

    Attributes
    ----------
    vertices, entries, blocks : int
        `entries` are arcs or pins.
    counter : numpy.dtype
        Type that holds sums of edge weights, and four times those of nets.
    nets : int, optional
        0 for a graph.
    max_entries : int
        Maximum number of arcs or pins of a corridor.
    of_bands : bool
        Whether the graphs are band graphs.
    """

    vertices: int
    entries: int
    blocks: int
    counter: np.dtype[np.generic]
    nets: int = 0
    max_entries: int = 2**20
    of_bands: bool = False

    @property
    def share(self) -> int:
        """A corridor has at most 1 / share of its blocks."""
        return 1 if self.of_bands else 2

    @property
    def max_corridor(self) -> int:
        """Maximum number of vertices of a corridor; in band graphs it fits a team's memory."""
        return NodeMemory.of(self.counter).max_nodes if self.of_bands else MAX_CORRIDOR

    @property
    def corridor_entries(self) -> int:
        """Maximum number of arcs or pins of all corridors at a time."""
        return min(self.entries // self.share, max(1, self.blocks // 2) * self.max_entries)

    @property
    def nodes(self) -> int:
        """Maximum number of nodes of all networks: vertices, and two for each net."""
        vertices = min(self.vertices // self.share, max(1, self.blocks // 2) * self.max_corridor)
        return vertices + (self.corridor_entries if self.nets else 0)

    @property
    def arcs(self) -> int:
        """Maximum number of arcs of all networks."""
        return self.corridor_entries * (2 if self.nets else 1)

    @property
    def capacities(self) -> int:
        """Maximum number of arcs, or of nodes of nets, with capacities."""
        return self.nodes if self.nets else self.arcs


def _of_pairs(sizes: FlowSizes) -> int:
    return sizes.blocks * sizes.blocks


class FlowLevel(Words):
    """Sizes and limits of a level, which the host writes, and the state of its refinement."""

    vertices: int
    blocks: int
    block_pairs: int  # blocks * blocks
    seed: int
    slack: int  # weight that blocks may have above their limits
    share: int  # a corridor has at most 1 / share of its blocks
    max_corridor: int  # maximum number of vertices of a corridor
    max_depth: int  # last layer of a corridor; the boundary is layer 0
    max_degree: int  # vertices of higher degree stay in their block
    round_limit: int
    max_matchings: int  # maximum number of matchings of a round
    round: int
    running: int  # whether another round follows
    boundary: int  # length of the list of the boundary
    cut: int  # the cut at the beginning of the round
    gain: int  # decrease of the cut in the round
    total_gain: int  # decrease of the cut in all rounds


class MatchingSizes(Words):
    """The pairs that are refined at a time, and their networks."""

    number: int  # number of matchings of the round
    pairs: int
    parts: int  # teams that build networks
    large: int  # pairs whose networks do not fit into memory of a team
    used_arcs: int  # arcs that networks use


class QuotientGraph(Record):
    """The blocks, and pairs of adjacent blocks; a < b are the pair a * k + b.

    Data of a pair of a matching are stored at its smaller block.

    Attributes
    ----------
    max_entries : int
        Maximum number of arcs or pins of a corridor.
    limits, means : array of int64, shape (k,)
        Limits of blocks, and their weights if every block has its share.
    weight, count, arcs : array of int64, shape (k,)
        Weight and number of a block's vertices, and the sum of their degrees.
    changed : array of int32, shape (k,)
        The last round that has changed the block.
    degree : array of int32, shape (k,)
        Number of blocks that a block may be paired with in this round.
    neighbour : array of int32, shape (k * k,)
        These blocks, for block a from k * a on.
    choice, partner : array of int32, shape (k,)
        The block that a block proposes to, and the one that it is paired with; or -1.
    pair : array of int32, shape (k,)
        The smaller blocks of the pairs of a matching.
    begin, size, nodes : array of int32, shape (k,)
        Beginning of a pair's corridor, its number of vertices, and the number of nodes of its
        network.
    boundary : array of int32, shape (k,)
        Number of vertices on the boundary of the two blocks.
    across : array of int64, shape (k,)
        Weight of the edges or nets between the two sides of the corridor.
    cut, won : array of int64, shape (k * k,)
        Weight of the edges or nets between two blocks, and what refinement of the pair has gained.
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
        Vertices with an entry of 0 or more stay in their block.
    rest : array of int64, shape (k,), or None
        Of a band graph, the number of vertices of each block that are not in it.
    extra : float
        The part of the slack of both limits that a corridor holds in addition to the free capacity.
    place : array of int32, shape (n,)
        The place of a vertex in the arrays of corridors, or -1.
    boundary, is_listed : array of int32, shape (n,)
        A list of all vertices on a boundary and some that were, and whether a vertex is on it.
    vertex : array of int32
        The vertex at a place.
    depth : array of int8
        The layer of that vertex.
    """

    part: Array
    fixed: Array | None
    rest: Array | None
    extra: float
    place: Array = work(np.int32, "vertices")
    boundary: Array = work(np.int32, "vertices")
    is_listed: Array = work(np.int32, "vertices")
    vertex: Array = work(np.int32, "nodes")
    depth: Array = work(np.int8, "nodes")


class Networks(Record):
    """Flow networks of corridors.

    Their nodes are vertices, named by their places; after the vertices of a corridor follow two
    nodes for each net (`net_network.py`).  Terminals are not nodes.  The flow that the neighbours
    of the source could get from it is their excess from the beginning; `to_sink` is the flow that a
    node can send to the sink.

    Attributes
    ----------
    begin, end : array of int32
        The row of a node.
    to_sink, excess : array
        Residual capacity to the sink, and inflow minus outflow.
    state : array of int8
        Marks of a node (`network.py`).
    even_list, odd_list, search_list : array of int32
        Lists of nodes: active in even rounds, active in odd rounds, and found by a search.
    label : array of int32
    incoming : array
        `NodeLabels` of large networks.
    target, reverse : array of int32
        The head of an arc, and its reverse arc.
    flow : array
        Of an edge, the flow minus that of the reverse arc; of a pin, the flow in this direction.
    capacity : array
        Capacity of an arc in either direction; of a net at its first node, with the flow through it
        at the second.
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
        A block, or -1, and its number of pins.
    inside : array of int32, shape (num_pins,)
        Number of these pins in a corridor, while its network is built.
    mark : array of int32, shape (num_pins,)
        The number of the net in that network, or a negative number: the last matching that has
        extended a corridor over these pins.
    is_changed, changed : array of int32, shape (m,)
        Whether a net is on the list of nets with moved pins, and that list.
    """

    block: Array = work(np.int32, "entries")
    count: Array = work(np.int32, "entries")
    inside: Array = work(np.int32, "entries")
    mark: Array = work(np.int32, "entries")
    is_changed: Array = work(np.int32, "nets")
    changed: Array = work(np.int32, "nets")


class NetCounts(Words):
    """Numbers of nets and of matchings."""

    nets: int
    changed: int  # length of the list of nets with moved pins
    matching: int


class FlowNets(Csr):
    """Rows of the nets of each vertex, with the pins of each net and their blocks."""

    nets: Nets
    blocks: NetBlocks
    counts: NetCounts


class Flows(Scope):
    """All records of flow refinement."""

    level: FlowLevel
    matching: MatchingSizes
    quotient: QuotientGraph
    corridors: Corridors
    networks: Networks


class NodeLabels(Record):
    """Values of nodes, and the flow, that the lanes of a team change by atomics.

    If the network is small, they are in memory of the team, where that is several times faster.

    Attributes
    ----------
    label : array of int32
        A lower bound of the distance to the sink in the residual network; `FAR` if there is no
        path, `STUCK` if stuck excess reaches the node, and `OUT` in terminals.
    incoming : array
        Inflow during a round.
    flow : team array, shape (1,)
        The flow into the sink.
    """

    label: Array
    incoming: Array
    flow: Array


class Pair(Record):
    """A pair of blocks that a team works on.

    Attributes
    ----------
    source, sink : int
        The smaller block and the larger one.
    base, end, top : int
        The range of its corridor, and the end of the range of its network.
    shift : int
        Difference between a place and its index in `NodeLabels`.
    """

    source: int
    sink: int
    base: int
    end: int
    top: int
    shift: int


FOUND, STAYED, REACHED, ACTIVATED, QUEUE, NUM_COUNTS = 0, 1, 3, 5, 7, 10
"""Indices of numbers of nodes in an array of a team.

Those of rounds have two words and those of searches three, which alternate.  A GPU adds to 32-bit
words of a team's memory at once; adding to 64-bit words is a loop of compare and swap.
"""

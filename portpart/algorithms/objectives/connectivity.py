"""The connectivity of a vertex: the weight of its arcs into each block.

The candidates of a vertex are the blocks of its neighbours.  With few arcs their heads are compared
with each other, or put into a small hash table; with many, the weights into all blocks are added
up, `CAPACITY` blocks at a time, and the candidates are these blocks or the heads of the arcs,
whichever are fewer.  All data are in the team's scratch memory, and the result is the same either
way.

All lanes of a team use a connectivity as follows.  `first` is 0, then the value that `load`
returned, until that is the number of blocks::

    end = load(v, first, ...)
    number = count(v, first, end, ...)
    for j in range(lane(), number, team_size()):
        block = block_of(j, v, first, end, ...)
        weight = weight_of(j, number, v, block, first, end, ...)  # 0: none, or counted elsewhere
    team_sync()
"""

from __future__ import annotations

from dataclasses import dataclass

from portpart.backends import language as kl
from portpart.backends.programs import Array
from portpart.graphs import Csr, degree_of

EMPTY = -1

CAPACITY = 512
"""Number of blocks whose weights are counted at a time."""

MAX_PAIRWISE = 24
"""Maximum number of neighbours that the lanes of a team compare with each other."""

SLOTS = 64
"""Number of slots of a large hash table, a power of two."""


class ConnectivityTable(kl.Record):
    """Scratch memory of a team for the connectivity of a vertex; its contents depend on the way.

    Attributes
    ----------
    blocks : array of int32
    weights : array of int32 or int64, whichever holds any sum of arc weights
    order : array of int8
    """

    blocks: Array
    weights: Array
    order: Array


@dataclass(frozen=True)
class Connectivity(kl.Static):
    """Device functions as above, and their sizes in scratch memory.

    Attributes
    ----------
    load, count, block_of, weight_of : DeviceFunction
    blocks, weights, order : int
        Numbers of elements of the arrays of `ConnectivityTable`.
    """

    load: kl.DeviceFunction
    count: kl.DeviceFunction
    block_of: kl.DeviceFunction
    weight_of: kl.DeviceFunction
    blocks: int = 1
    weights: int = 1
    order: int = 1


@kl.device
def has_arc_outside(v, graph: Csr, part):
    """Whether an arc of positive weight leaves v's block.  Called by all lanes of a team."""
    here = part[v]
    outside = kl.int64(0)
    for arc in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
        if part[graph.targets[arc]] != here:
            outside += kl.value_or(graph.weights, arc, 1)
    return kl.team_sum(outside) > 0


# Few arcs: their heads are compared ----------------------------------------------------------


@kl.device
def load_heads(v, first, graph: Csr, part, connections: ConnectivityTable, num_blocks):
    """Load the block and the weight of each arc into scratch memory."""
    for j in range(kl.lane(), degree_of(v, graph), kl.team_size()):
        connections.blocks[j] = part[graph.targets[graph.begin[v] + j]]
        connections.weights[j] = kl.value_or(graph.weights, graph.begin[v] + j, 1)
    kl.team_sync()
    return num_blocks


@kl.device
def count_arcs(v, first, end, graph: Csr, connections: ConnectivityTable):
    """Return the number of candidates: one per arc."""
    return degree_of(v, graph)


@kl.device
def block_of_head(j, v, first, end, graph: Csr, part, connections: ConnectivityTable):
    """Return the block of arc j."""
    return connections.blocks[j]


@kl.device
def weight_of_head(j, count, v, block, first, end, graph: Csr, connections: ConnectivityTable):
    """Return the weight of the arcs into the block of head j; 0 if an earlier head is there."""
    total = kl.int64(0)
    for other in range(count):
        if connections.blocks[other] == block:
            if other < j:
                break
            total += connections.weights[other]
    return total


def pairwise(max_arcs: int) -> Connectivity:
    """Return the connectivity that compares at most this many heads with each other."""
    return Connectivity(load_heads, count_arcs, block_of_head, weight_of_head, max_arcs, max_arcs)


@kl.device
def weight_of_one(j, count, v, block, first, end, graph: Csr, connections: ConnectivityTable):
    """Return the weight of arc j alone: a block is a candidate as often as arcs lead there."""
    return kl.int64(connections.weights[j])


def one_by_one(max_arcs: int) -> Connectivity:
    """Return the heads and weights of at most this many arcs as connectivity.

    Nothing is added up: for objectives whose values do not depend on these weights.
    """
    return Connectivity(load_heads, count_arcs, block_of_head, weight_of_one, max_arcs, max_arcs)


# Few arcs: a hash table of their blocks ------------------------------------------------------


@kl.device
def load_table(v, first, graph: Csr, part, connections: ConnectivityTable, num_blocks,
               slots: kl.StaticValue):
    """Put the blocks of v's neighbours into a table: `connections.blocks` and `weights` by slot.

    The used slots are listed in `order`, in any order; their number is at weights[slots].
    """
    for slot in range(kl.lane(), slots, kl.team_size()):
        connections.blocks[slot] = kl.int32(EMPTY)
        connections.weights[slot] = 0
    if kl.lane() == 0:
        connections.weights[slots] = 0
    kl.team_sync()
    for arc in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
        block = part[graph.targets[arc]]
        slot = kl.int64(block) & (slots - 1)
        found = kl.team_atomic_cas(connections.blocks, slot, EMPTY, block)
        while found != EMPTY and found != block:
            slot = (slot + 1) & (slots - 1)
            found = kl.team_atomic_cas(connections.blocks, slot, EMPTY, block)
        if found == EMPTY:
            connections.order[kl.int64(kl.team_atomic_add(connections.weights, kl.int64(slots),
                                                          1))] = kl.int8(slot)
        kl.team_atomic_add(connections.weights, slot, kl.value_or(graph.weights, arc, 1))
    kl.team_sync()
    return num_blocks


@kl.device
def count_in_table(v, first, end, graph: Csr, connections: ConnectivityTable,
                   slots: kl.StaticValue):
    """Return the number of candidates: one per block."""
    return kl.int64(connections.weights[slots])


@kl.device
def block_in_table(j, v, first, end, graph: Csr, part, connections: ConnectivityTable):
    """Return the block of the slot that is listed at j."""
    return connections.blocks[kl.int64(connections.order[j])]


@kl.device
def weight_in_table(j, count, v, block, first, end, graph: Csr, connections: ConnectivityTable):
    """Return the weight of the arcs into the block of the slot that is listed at j."""
    return kl.int64(connections.weights[kl.int64(connections.order[j])])


def in_table(slots: int) -> Connectivity:
    """Return the connectivity that puts blocks into a hash table of this many slots."""
    return Connectivity(load_table.bound(slots=slots), count_in_table.bound(slots=slots),
                        block_in_table, weight_in_table, slots, slots + 1, slots)


# Many arcs: the weights into all blocks, some at a time --------------------------------------


@kl.device
def are_blocks(v, first, end, graph: Csr):
    """Whether the candidates among blocks first ... end-1 are these blocks, not v's arcs."""
    return 2 * degree_of(v, graph) >= end - first


@kl.device
def count_weights(v, first, graph: Csr, part, connections: ConnectivityTable, num_blocks):
    """Add up the weights of the arcs into CAPACITY blocks from `first` on."""
    end = min(num_blocks, first + CAPACITY)
    for place in range(kl.lane(), end - first, kl.team_size()):
        connections.weights[place] = 0
    kl.team_sync()
    for arc in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
        place = part[graph.targets[arc]] - first
        if place >= 0 and place < end - first:
            kl.team_atomic_add(connections.weights, place, kl.value_or(graph.weights, arc, 1))
    kl.team_sync()
    return end


@kl.device
def number_counted(v, first, end, graph: Csr, connections: ConnectivityTable):
    """Return the number of candidates among blocks first ... end-1."""
    return end - first if are_blocks(v, first, end, graph) else degree_of(v, graph)


@kl.device
def block_counted(j, v, first, end, graph: Csr, part, connections: ConnectivityTable):
    """Return candidate j: block first + j, or the block of arc j."""
    block = kl.int32(first + j)
    if not are_blocks(v, first, end, graph):
        block = part[graph.targets[graph.begin[v] + j]]
    return block


@kl.device
def weight_counted(j, count, v, block, first, end, graph: Csr, connections: ConnectivityTable):
    """Return the weight of v's arcs into the block of candidate j, for one candidate per block."""
    total = kl.int64(0)
    if block >= first and block < end:
        total = connections.weights[block - first]
        if total != 0 and not are_blocks(v, first, end, graph):
            if kl.team_atomic_cas(connections.weights, block - first, total, 0) != total:
                total = kl.int64(0)
    return total


COUNTED = Connectivity(count_weights, number_counted, block_counted, weight_counted,
                       weights=CAPACITY)
"""The weights into all blocks are counted."""


# Many arcs: the weights into all blocks before each ------------------------------------------


@kl.device
def sum_up_weights(v, first, graph: Csr, part, connections: ConnectivityTable, num_blocks):
    """connections.weights[b] = the weight of v's arcs into the blocks before b, for b up to k."""
    for b in range(kl.lane(), num_blocks + 1, kl.team_size()):
        connections.weights[b] = 0
    kl.team_sync()
    for arc in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
        block = kl.int64(part[graph.targets[arc]])
        kl.team_atomic_add(connections.weights, block, kl.value_or(graph.weights, arc, 1))
    kl.team_sync()
    running = kl.int64(0)
    for base in range(0, num_blocks + 1, kl.team_size()):
        b = base + kl.lane()
        weight = kl.int64(0)
        if b <= num_blocks:
            weight = kl.int64(connections.weights[b])
        until = kl.team_scan(weight)
        if b <= num_blocks:
            connections.weights[b] = running + until - weight
        running += kl.team_last(until)
    kl.team_sync()
    return num_blocks


@kl.device
def count_blocks(v, first, end, graph: Csr, connections: ConnectivityTable):
    """Return the number of candidates: one per block."""
    return end


@kl.device
def block_at(j, v, first, end, graph: Csr, part, connections: ConnectivityTable):
    """Return block j."""
    return kl.int32(j)


@kl.device
def weight_between(j, count, v, block, first, end, graph: Csr, connections: ConnectivityTable):
    """Return the weight of the arcs into block j."""
    return kl.int64(connections.weights[j + 1]) - kl.int64(connections.weights[j])


def summed_up(capacity: int) -> Connectivity:
    """Return the connectivity that adds weights up from left to right, for this many blocks."""
    return Connectivity(sum_up_weights, count_blocks, block_at, weight_between,
                        weights=capacity + 1)


# Any number of arcs, one by one --------------------------------------------------------------


@kl.device
def load_nothing(v, first, graph: Csr, part, connections: ConnectivityTable, num_blocks):
    """Load nothing; the arcs are read from the graph."""
    return num_blocks


@kl.device
def block_of_arc(j, v, first, end, graph: Csr, part, connections: ConnectivityTable):
    """Return the block of arc j."""
    return part[graph.targets[graph.begin[v] + j]]


@kl.device
def weight_of_arc(j, count, v, block, first, end, graph: Csr, connections: ConnectivityTable):
    """Return the weight of arc j alone: a block is a candidate as often as arcs lead there."""
    return kl.value_or(graph.weights, graph.begin[v] + j, 1)


ALONG_ARCS = Connectivity(load_nothing, count_arcs, block_of_arc, weight_of_arc)
"""Nothing is added up: for objectives whose values do not depend on these weights."""

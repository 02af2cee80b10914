"""The blocks of the pins of each net, as kernels that refine a hypergraph store them.

Two sets of blocks matter for a net: the blocks that it spans, and the blocks with exactly one of
its pins.  Both are words of 64 bits if a word has all blocks.  With more blocks, nets with few pins
list the blocks that they span instead: usually there are at most two.  A net with many pins also
has a row of counters, its pins in each block, so that a move of one pin need not examine the
others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.graphs import Csr, Hypergraph, Nets

MAX_SMALL = 64
"""Maximum number of pins of a net without counters."""

SMALL_TEAM, LARGE_TEAM = 8, 256
"""Number of lanes for a net without counters, and for one with counters."""

BITS, WORD_SHIFT = 64, 6
"""Number of blocks in a word of a set, and its logarithm."""

ALONE_CHANGED, PRESENT_CHANGED = 1, 2
"""What changes for a net: the blocks with exactly one pin, or also the blocks that it spans."""


TOUCHED, ALONE = 1, 2
"""List entry of a net for a block: the net spans it, or has exactly one pin there."""


@dataclass(frozen=True)
class PinStateSizes:
    """Sizes of the largest hypergraph that is refined; coarser ones have no more large nets.

    `large` is at least the number of large nets, and at least one; `lined_up` is the number of
    pins, if large nets sort theirs; `hubs` is the maximum number of vertices of many nets that are
    split into chunks.
    """

    vertices: int
    nets: int
    pins: int
    large: int
    blocks: int
    lined_up: int = 0
    hubs: int = 0

    def holds(self, other: PinStateSizes) -> bool:
        """Whether arrays of these sizes suffice for other sizes with as many blocks."""
        return all(here >= there for here, there in zip(vars(self).values(), vars(other).values()))

    @property
    def words(self) -> int:
        """Number of words of all sets of a kind."""
        width = words_for(self.blocks)
        return self.nets if width == 1 else self.large * width

    @property
    def listed(self) -> int:
        """Number of list entries of all nets, if sets have several words."""
        return 0 if words_for(self.blocks) == 1 else self.pins

    @property
    def counters(self) -> int:
        """Number of counters of all rows."""
        return self.large * self.blocks


def _of_summed(size: PinStateSizes) -> int:
    """Return the number of hubs whose connectivity is summed up: some if a word has all blocks."""
    return size.hubs if words_for(size.blocks) == 1 else 0


def words_of_hub(num_blocks: int) -> int:
    """Return the number of sums of a hub (`hub_connectivity.py`)."""
    return 2 * num_blocks + 2


def words_for(num_blocks: int) -> int:
    """Return the number of words of a set of blocks."""
    return -(-num_blocks // BITS)


class PinSets(kl.Record):
    """The blocks that nets span, and the blocks in which a net has exactly one pin.

    Attributes
    ----------
    bits : array of uint64
        Sets of blocks, word by word side by side: the blocks that a net spans, and the blocks with
        exactly one of its pins.  Sets of one word belong to all nets; longer ones belong to the
        nets with a row.
    touched : array of int32
        For nets without sets, the blocks that a net spans, in the places of its pins: twice the
        number of the block, plus one if a single pin is there.
    connectivity : array of int32, shape (m,)
        Number of blocks that a net spans.
    row : array of int32, shape (m,)
        The row of counters of a net; -1 if it has none.
    net_of_row : array of int32
    """

    bits: Array = kl.work(np.uint64, lambda size: 2 * size.words)
    touched: Array = kl.work(np.int32, lambda size: size.listed)
    connectivity: Array = kl.work(np.int32, lambda size: size.nets)
    row: Array = kl.work(np.int32, lambda size: size.nets)
    net_of_row: Array = kl.work(np.int32, lambda size: size.large)

    nets: int = kl.word()
    listing: int = kl.word()  # number of nets if those of few pins list their blocks; else 0
    blocks: int = kl.word()
    width: int = kl.word()  # words of a set of blocks
    large: int = kl.word()  # number of nets with counters


class PinCounts(kl.Record):
    """Counters of nets with many pins, row by row.

    Attributes
    ----------
    counts : array of int32
        Number of pins in each block.
    """

    counts: Array = kl.work(np.int32, lambda size: size.counters)


class HubSums(kl.Record):
    """The connectivity of hubs (`hub_connectivity.py`).

    Attributes
    ----------
    row : array of int32, shape (n,)
        The row of sums of a hub.
    sums : array of int64
        Sums, row by row.
    """

    row: Array = kl.work(np.int32, lambda size: size.vertices if _of_summed(size) else 0)
    sums: Array = kl.work(np.int64, lambda size: _of_summed(size) * words_of_hub(size.blocks))


class NetWords(PinSets.own_words):
    """Counts and sizes of the nets of a level, in memory of the space."""


class NetRows(Csr):
    """Rows of the nets of each vertex: `targets` are nets.

    Attributes
    ----------
    nets : Nets
    sets : PinSets
    pin_counts : PinCounts
    hub_sums : HubSums
    net_words : NetWords
    lists, afterburner, hub_chunks, list_words
        Additional records of refinement (`refinement/nets/state.py`), after it has begun.
    """

    nets: Nets
    sets: PinSets
    pin_counts: PinCounts
    hub_sums: HubSums
    net_words: NetWords
    lists: Any = kl.absent()
    afterburner: Any = kl.absent()
    hub_chunks: Any = kl.absent()
    list_words: Any = kl.absent()


def net_sizes(graph: Hypergraph, num_blocks: int, lines_up: bool = False,
              hubs: int = 0) -> PinStateSizes:
    """Return the sizes of a hypergraph.

    Waits for the device the first time, to count its large nets.
    """
    large = 1 + graph.num_nets_above(MAX_SMALL)
    lined_up = graph.num_pins if lines_up and large > 1 else 0
    return PinStateSizes(graph.num_vertices, graph.num_nets, graph.num_pins, large, num_blocks,
                         lined_up, hubs)


def net_words(space: ExecutionSpace, num_nets: int, num_blocks: int) -> NetWords:
    """Return the words of a hypergraph, in memory of the space."""
    width = words_for(num_blocks)
    words = NetWords.of(nets=num_nets, listing=num_nets if width > 1 else 0, blocks=num_blocks,
                        width=width)
    return NetWords(space.asarray(np.array(words.array)))


def net_rows(graph: Hypergraph, num_blocks: int) -> NetRows:
    """Return the rows of a single hypergraph; the state of its nets is not computed yet."""
    space, sizes, rows = graph.space, net_sizes(graph, num_blocks), graph.csr
    words = net_words(space, graph.num_nets, num_blocks)
    return NetRows(rows.begin, rows.end, rows.targets, rows.weights, rows.vertex_weights,
                   rows.global_ids, graph.nets, PinSets.allocate(space, sizes).over(words),
                   PinCounts.allocate(space, sizes), HubSums.allocate(space, sizes), words)


@kl.device
def size_of_net(net, nets: Nets):
    """Return the number of pins of a net."""
    return kl.int64(nets.end[net]) - kl.int64(nets.begin[net])


@kl.device
def bit_of(block):
    """Return the bit of a block in its word."""
    return kl.uint64(1) << kl.uint64(kl.int64(block) & (BITS - 1))


@kl.device
def has_words(net, sets: PinSets):
    """Whether a net has sets of words; else it lists the blocks that it spans."""
    result = sets.width == 1
    if not result:
        result = sets.row[net] >= 0
    return result


@kl.device
def place_of_word(net, block, sets: PinSets):
    """Return the place of a block's word in the set of blocks that a net spans."""
    first = kl.int64(net)
    if sets.width != 1:
        first = kl.int64(sets.row[net]) * sets.width
    return 2 * (first + (kl.int64(block) >> WORD_SHIFT))


@kl.device
def listed_as(net, block, graph: NetRows):
    """Return the list entry of a net for a block: `TOUCHED`, `ALONE`, or 0 if there is none."""
    found = kl.int64(0)
    begin = kl.int64(graph.nets.begin[net])
    for place in range(begin, begin + graph.sets.connectivity[net]):
        entry = kl.int64(graph.sets.touched[place])
        if entry >> 1 == block:
            found = TOUCHED + (entry & 1)
    return found


@kl.device
def is_present(net, block, graph: NetRows):
    """Whether a net spans a block."""
    result = False
    if has_words(net, graph.sets):
        result = graph.sets.bits[place_of_word(net, block, graph.sets)] & bit_of(block) != 0
    else:
        result = listed_as(net, block, graph) != 0
    return result


@kl.device
def is_alone(net, block, graph: NetRows):
    """Whether a net has exactly one pin in a block."""
    result = False
    if has_words(net, graph.sets):
        result = graph.sets.bits[place_of_word(net, block, graph.sets) + 1] & bit_of(block) != 0
    else:
        result = listed_as(net, block, graph) == ALONE
    return result


@kl.device
def connectivity_of(net, sets: PinSets):
    """Return the number of blocks that a net spans.

    If there is a single word, it gives the number sooner than another array.
    """
    connectivity = kl.int64(0)
    if sets.width == 1:
        connectivity = kl.popcount(sets.bits[2 * kl.int64(net)])
    else:
        connectivity = kl.int64(sets.connectivity[net])
    return connectivity


@kl.device
def connectivity_without(net, here, graph: NetRows):
    """Return the number of blocks that a net spans without one of its pins in block `here`."""
    return connectivity_of(net, graph.sets) - kl.int64(is_alone(net, here, graph))

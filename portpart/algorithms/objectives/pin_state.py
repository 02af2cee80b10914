"""In which blocks the pins of each net are, as kernels that refine a hypergraph know it.

Two sets of blocks matter for a net: the blocks that it spans, and the blocks with exactly one of
its pins.  Both are words of 64 bits where one of them has all blocks.  With more blocks, nets of
few pins list the blocks that they span instead: there are seldom more than two.  A net of many pins
also has a row of counters, its pins in each block, so that a move of one of them need not examine
the others.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Any

import numpy as np

from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.graphs import Csr, Hypergraph, Nets

MAX_SMALL = 64
"""Pins of a net without counters, at most."""

SMALL_TEAM, LARGE_TEAM = 8, 256
"""Lanes for a net without counters, and for one with them."""

BITS, WORD_SHIFT = 64, 6
"""Blocks in a word of a set, and their logarithm."""

ALONE_CHANGED, PRESENT_CHANGED = 1, 2
"""What changes of a net: the blocks with one of its pins only, or also the blocks that it spans."""


TOUCHED, ALONE = 1, 2
"""What a net lists of a block: that it touches it, or that one of its pins is alone there."""


@dataclass(frozen=True)
class PinStateSizes:
    """Sizes of the largest hypergraph that is refined; coarser ones have no more large nets.

    `large` is at least their number, and one; `lined_up` are pins, where large nets sort theirs;
    `hubs` is the most vertices of many nets that are taken to pieces.
    """

    vertices: int
    nets: int
    pins: int
    large: int
    blocks: int
    lined_up: int = 0
    hubs: int = 0

    def holds(self, other: PinStateSizes) -> bool:
        """Whether arrays of these sizes do for others, of as many blocks."""
        return all(here >= there for here, there in zip(astuple(self), astuple(other)))

    @property
    def words(self) -> int:
        """Words of all sets of a kind."""
        width = words_for(self.blocks)
        return self.nets if width == 1 else self.large * width

    @property
    def listed(self) -> int:
        """Blocks that nets list, where sets have more than a word."""
        return 0 if words_for(self.blocks) == 1 else self.pins

    @property
    def counters(self) -> int:
        """Counters of all rows."""
        return self.large * self.blocks


def _of_summed(size: PinStateSizes) -> int:
    """Hubs whose ties are summed up piece by piece: where a word has all blocks."""
    return size.hubs if words_for(size.blocks) == 1 else 0


def words_of_hub(num_blocks: int) -> int:
    """Numbers that are summed up for a hub (`hub_connectivity.py`)."""
    return 2 * num_blocks + 2


def words_for(num_blocks: int) -> int:
    """Words of a set of blocks."""
    return -(-num_blocks // BITS)


class PinSets(kl.Record):
    """Which blocks nets touch, and in which of them one of their pins is alone.

    Attributes
    ----------
    bits : array of uint64
        Sets of blocks, word by word side by side: the blocks that a net spans, and the blocks with
        exactly one of its pins.  Sets of one word are those of all nets, longer ones have a row.
    touched : array of int32
        Else the blocks that a net touches, in the places of its pins: twice the number, and one
        more if the pin there is alone.
    connectivity : array of int32, shape (m,)
        Number of blocks that a net touches.
    row : array of int32, shape (m,)
        Which row of counters a net has; -1 if none.
    net_of_row : array of int32
    """

    bits: Array = kl.work(np.uint64, lambda size: 2 * size.words)
    touched: Array = kl.work(np.int32, lambda size: size.listed)
    connectivity: Array = kl.work(np.int32, lambda size: size.nets)
    row: Array = kl.work(np.int32, lambda size: size.nets)
    net_of_row: Array = kl.work(np.int32, lambda size: size.large)

    nets: int = kl.word()
    listing: int = kl.word()  # all nets, where those of few pins list what they touch; else none
    blocks: int = kl.word()
    width: int = kl.word()  # words of a set of blocks
    large: int = kl.word()  # nets with counters


class PinCounts(kl.Record):
    """Counters of nets of many pins, row by row.

    Attributes
    ----------
    counts : array of int32
        Pins in each block.
    """

    counts: Array = kl.work(np.int32, lambda size: size.counters)


class HubSums(kl.Record):
    """What ties hubs to blocks (`hub_connectivity.py`).

    Attributes
    ----------
    row : array of int32, shape (n,)
        Which row of sums a hub has.
    sums : array of int64
        Row by row.
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
        What refinement keeps in addition (`refinement/nets/state.py`), where it has begun.
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
    """The sizes of a hypergraph.  Waits for the device the first time, to count its large nets."""
    large = 1 + graph.num_nets_above(MAX_SMALL)
    lined_up = graph.num_pins if lines_up and large > 1 else 0
    return PinStateSizes(graph.num_vertices, graph.num_nets, graph.num_pins, large, num_blocks,
                         lined_up, hubs)


def net_words(space: ExecutionSpace, num_nets: int, num_blocks: int) -> NetWords:
    """Words of a hypergraph, in memory of the space."""
    width = words_for(num_blocks)
    words = NetWords.of(nets=num_nets, listing=num_nets if width > 1 else 0, blocks=num_blocks,
                        width=width)
    return NetWords(space.asarray(np.array(words.array)))


def net_rows(graph: Hypergraph, num_blocks: int) -> NetRows:
    """The rows of a single hypergraph; the state of its nets is not known yet."""
    space, sizes, rows = graph.space, net_sizes(graph, num_blocks), graph.csr
    words = net_words(space, graph.num_nets, num_blocks)
    return NetRows(rows.begin, rows.end, rows.targets, rows.weights, rows.vertex_weights,
                   rows.global_ids, graph.nets, PinSets.allocate(space, sizes).over(words),
                   PinCounts.allocate(space, sizes), HubSums.allocate(space, sizes), words)


@kl.device
def size_of_net(net, nets: Nets):
    """Number of pins."""
    return kl.int64(nets.end[net]) - kl.int64(nets.begin[net])


@kl.device
def bit_of(block):
    """The bit of a block in its word."""
    return kl.uint64(1) << kl.uint64(kl.int64(block) & (BITS - 1))


@kl.device
def has_words(net, sets: PinSets):
    """Whether a net has sets of words; else it lists the blocks that it touches."""
    result = sets.width == 1
    if not result:
        result = sets.row[net] >= 0
    return result


@kl.device
def place_of_word(net, block, sets: PinSets):
    """Where the word of a block stands in the set of blocks that a net touches."""
    first = kl.int64(net)
    if sets.width != 1:
        first = kl.int64(sets.row[net]) * sets.width
    return 2 * (first + (kl.int64(block) >> WORD_SHIFT))


@kl.device
def listed_as(net, block, graph: NetRows):
    """What a net lists of a block: `TOUCHED`, `ALONE`, or 0 if nothing."""
    found = kl.int64(0)
    begin = kl.int64(graph.nets.begin[net])
    for place in range(begin, begin + graph.sets.connectivity[net]):
        entry = kl.int64(graph.sets.touched[place])
        if entry >> 1 == block:
            found = TOUCHED + (entry & 1)
    return found


@kl.device
def is_present(net, block, graph: NetRows):
    """Whether a net touches a block."""
    result = False
    if has_words(net, graph.sets):
        result = graph.sets.bits[place_of_word(net, block, graph.sets)] & bit_of(block) != 0
    else:
        result = listed_as(net, block, graph) != 0
    return result


@kl.device
def is_alone(net, block, graph: NetRows):
    """Whether a net has one pin in a block."""
    result = False
    if has_words(net, graph.sets):
        result = graph.sets.bits[place_of_word(net, block, graph.sets) + 1] & bit_of(block) != 0
    else:
        result = listed_as(net, block, graph) == ALONE
    return result


@kl.device
def connectivity_of(net, sets: PinSets):
    """Number of blocks that a net spans; a single word gives it sooner than another array."""
    connectivity = kl.int64(0)
    if sets.width == 1:
        connectivity = kl.popcount(sets.bits[2 * kl.int64(net)])
    else:
        connectivity = kl.int64(sets.connectivity[net])
    return connectivity


@kl.device
def connectivity_without(net, here, graph: NetRows):
    """Number of blocks that a net touches without one of its pins in block `here`."""
    return connectivity_of(net, graph.sets) - kl.int64(is_alone(net, here, graph))

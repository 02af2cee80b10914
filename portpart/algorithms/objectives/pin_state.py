"""In which blocks the pins of each net are, as kernels that refine a hypergraph know it.

Of a net two sets of blocks matter: those that it touches, and those that have one of its pins
alone.  Both are words of 64 bits where one of them has all blocks.  Of more blocks nets of few pins
list those that they touch instead: there are seldom more than two.  A net of many pins also has a
row of counters, its pins in each block, so that a move of one of them takes no look at the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from portpart.backends.declared import work
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import (
    Words,
    device,
    int64,
    popcount,
    uint64,
)
from portpart.backends.work import WorkRecord
from portpart.graphs.hypergraph import Hypergraph, Nets
from portpart.graphs.rows import Csr

MAX_SMALL = 64
"""Pins of a net without counters, at most."""

SMALL_TEAM, LARGE_TEAM = 8, 256
"""Lanes for a net without counters, and for one with them."""

BITS, WORD_SHIFT = 64, 6
"""Blocks in a word of a set, and their logarithm."""

HUB_PIECE = 1024
"""Nets in a piece of a hub, at most."""

ALONE_CHANGED, PRESENT_CHANGED = 1, 2
"""What changes of a net: the blocks with one of its pins only, or those that it touches, too."""


TOUCHED, ALONE = 1, 2
"""What a net lists of a block: that it touches it, or that one of its pins is alone there."""


@dataclass(frozen=True)
class NetSizes:
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

    @property
    def words(self) -> int:
        """Words of all sets of a kind."""
        width = words_for(self.blocks)
        return self.nets if width == 1 else self.large * width

    @property
    def listed(self) -> int:
        """Blocks that nets list, where sets have more than a word."""
        return 0 if words_for(self.blocks) == 1 else self.pins


def _of_summed(size: NetSizes) -> int:
    """Hubs whose ties are summed up piece by piece: where a word has all blocks."""
    return size.hubs if words_for(size.blocks) == 1 else 0


def _of_pieces(size: NetSizes) -> int:
    return size.hubs and size.hubs + size.pins // HUB_PIECE


def words_of_hub(num_blocks: int) -> int:
    """Numbers that are summed up for a hub (`hub_ties.py`)."""
    return 2 * num_blocks + 2


def words_for(num_blocks: int) -> int:
    """Words of a set of blocks."""
    return -(-num_blocks // BITS)


def _of_nets(size: NetSizes) -> int:
    return size.nets


def _of_large(size: NetSizes) -> int:
    return size.large


def _of_counters(size: NetSizes) -> int:
    return size.large * size.blocks


class NetWords(Words):
    """Counts and sizes of the nets of a level, in memory of the space."""

    nets: Any
    listing: Any  # all nets, where those of few pins list the blocks that they touch; else none
    blocks: Any
    width: Any  # words of a set of blocks
    large: Any  # nets with counters
    small_listed: Any  # nets whose pins want to move, without counters
    large_listed: Any  # and with them
    small_touched: Any  # nets whose pins move
    large_touched: Any
    pieces: Any  # of hubs


class PinState(WorkRecord):
    """The state of the nets of a level.

    Attributes
    ----------
    sets : array of uint64
        Sets of blocks, word by word side by side: those that a net touches, and those with one of
        its pins alone.  Sets of one word are those of all nets, longer ones have a row.
    touched : array of int32
        Else the blocks that a net touches, in the places of its pins: twice the number, and one
        more if the pin there is alone.
    spread : array of int32, shape (m,)
        Number of blocks that a net touches.
    row : array of int32, shape (m,)
        Which row of counters a net has; -1 if none.
    large : array of int32
        The net of each row.
    counts, leaving : array of int32
        Pins in each block, and those of them that want to leave; zero between two iterations.
    is_listed : array of int32, shape (m,)
        Whether a net is on a list.
    small_list, large_list : array of int32
    after : array of int64, shape (n,)
        What the move of a vertex gains after those before it.
    line : array of int32
        Pins of large nets in the order of their moves, where that is not the one they are stored
        in.
    piece_vertex : array of int32
        The hub that a piece is of,
    piece_begin : array of int64
        and the first place of it.
    hub_row : array of int32, shape (n,)
        Which row of sums a hub has.
    hub_sums : array of int64
        What ties hubs to blocks, row by row.
    words : NetWords
    """

    words: NetWords
    sets: Array = work(np.uint64, lambda size: 2 * size.words)
    touched: Array = work(np.int32, lambda size: size.listed)
    spread: Array = work(np.int32, _of_nets)
    row: Array = work(np.int32, _of_nets)
    large: Array = work(np.int32, _of_large)
    counts: Array = work(np.int32, _of_counters)
    leaving: Array = work(np.int32, _of_counters, zeros=True)
    is_listed: Array = work(np.int32, _of_nets, zeros=True)
    small_list: Array = work(np.int32, _of_nets)
    large_list: Array = work(np.int32, _of_large)
    after: Array = work(np.int64, lambda size: size.vertices)
    line: Array = work(np.int32, lambda size: size.lined_up)
    piece_vertex: Array = work(np.int32, _of_pieces)
    piece_begin: Array = work(np.int64, _of_pieces)
    hub_row: Array = work(np.int32, lambda size: size.vertices if _of_summed(size) else 0)
    hub_sums: Array = work(np.int64, lambda size: _of_summed(size) * words_of_hub(size.blocks))


class NetRows(Csr):
    """Rows of the nets of each vertex: `targets` are nets.

    Attributes
    ----------
    nets : Nets
    state : PinState
    """

    nets: Nets
    state: PinState


def net_sizes(graph: Hypergraph, num_blocks: int, lines_up: bool = False,
              hubs: int = 0) -> NetSizes:
    """The sizes of a hypergraph.  Synchronises the first time, to count its large nets."""
    large = 1 + graph.num_nets_above(MAX_SMALL)
    lined_up = graph.num_pins if lines_up and large > 1 else 0
    return NetSizes(graph.num_vertices, graph.num_nets, graph.num_pins, large, num_blocks,
                    lined_up, hubs)


class NetRowsOf:
    """Makes the rows of hypergraphs of a hierarchy, with one state for all of them.

    Parameters
    ----------
    space : ExecutionSpace
    sizes : NetSizes
        Of the largest one.
    """

    def __init__(self, space: ExecutionSpace, sizes: NetSizes) -> None:
        self.space, self.num_blocks = space, sizes.blocks
        nothing = NetWords(space.zeros(len(NetWords.indices), np.int64))
        self.state = PinState.allocate(space, sizes, words=nothing)

    def __call__(self, graph: Hypergraph) -> NetRows:
        """The rows of a hypergraph; the state is to be found."""
        width, nets = words_for(self.num_blocks), graph.num_nets
        words = NetWords.of(nets=nets, listing=nets if width > 1 else 0, blocks=self.num_blocks,
                            width=width)
        rows = graph.csr
        state = self.state.replaced(words=NetWords(self.space.asarray(np.array(words.array))))
        return NetRows(rows.begin, rows.end, rows.targets, rows.weights, rows.vertex_weights,
                       graph.nets, state)


def net_rows(graph: Hypergraph, num_blocks: int) -> NetRows:
    """The rows of a single hypergraph; the state is to be found."""
    return NetRowsOf(graph.space, net_sizes(graph, num_blocks))(graph)


@device
def size_of_net(net, nets: Nets):
    """Number of pins."""
    return int64(nets.end[net]) - int64(nets.begin[net])


@device
def end_of_piece(p, graph: NetRows):
    """Where a piece of a hub ends."""
    v = graph.state.piece_vertex[p]
    return min(int64(graph.end[v]), graph.state.piece_begin[p] + HUB_PIECE)


@device
def bit_of(block):
    """The bit of a block in its word."""
    return uint64(1) << uint64(int64(block) & (BITS - 1))


@device
def has_words(net, state: PinState):
    """Whether a net has sets of words; else it lists the blocks that it touches."""
    result = state.words.width == 1
    if not result:
        result = state.row[net] >= 0
    return result


@device
def place_of_word(net, block, state: PinState):
    """Where the word of a block stands in the set of blocks that a net touches."""
    first = int64(net)
    if state.words.width != 1:
        first = int64(state.row[net]) * state.words.width
    return 2 * (first + (int64(block) >> WORD_SHIFT))


@device
def listed_as(net, block, graph: NetRows):
    """What a net lists of a block: `TOUCHED`, `ALONE`, or 0 if nothing."""
    found = int64(0)
    begin = int64(graph.nets.begin[net])
    for place in range(begin, begin + graph.state.spread[net]):
        entry = int64(graph.state.touched[place])
        if entry >> 1 == block:
            found = TOUCHED + (entry & 1)
    return found


@device
def is_present(net, block, graph: NetRows):
    """Whether a net touches a block."""
    result = False
    if has_words(net, graph.state):
        result = graph.state.sets[place_of_word(net, block, graph.state)] & bit_of(block) != 0
    else:
        result = listed_as(net, block, graph) != 0
    return result


@device
def is_alone(net, block, graph: NetRows):
    """Whether a net has one pin in a block."""
    result = False
    if has_words(net, graph.state):
        result = graph.state.sets[place_of_word(net, block, graph.state) + 1] & bit_of(block) != 0
    else:
        result = listed_as(net, block, graph) == ALONE
    return result


@device
def spread_of(net, state: PinState):
    """Number of blocks that a net touches; a single word tells it sooner than another array."""
    spread = int64(0)
    if state.words.width == 1:
        spread = popcount(state.sets[2 * int64(net)])
    else:
        spread = int64(state.spread[net])
    return spread


@device
def spread_without(net, here, graph: NetRows):
    """Number of blocks that a net touches without one of its pins in block `here`."""
    return spread_of(net, graph.state) - int64(is_alone(net, here, graph))

"""Arrays for the nets of a level, in addition to their sets of blocks (`pin_state.py`)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from portpart.algorithms import objectives
from portpart.algorithms.refinement import RefinementSizes, max_arcs
from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace, bytes_of, reserved
from portpart.graphs import Csr, Hypergraph, Nets

HUB_CHUNK = 1024
"""Maximum number of nets in a chunk of a hub."""


class NetLists(kl.Record):
    """Lists of nets to examine, each net once: nets without counters, and nets with counters.

    Attributes
    ----------
    is_listed : array of int32, shape (m,)
        Whether a net is on a list.
    small_list, large_list : array of int32
        Listed nets without and with counters, in any order.
    """

    is_listed: Array = kl.work(np.int32, "nets", zeros=True)
    small_list: Array = kl.work(np.int32, "nets")
    large_list: Array = kl.work(np.int32, "large")

    small_listed: int = kl.word()  # nets without counters, some of whose pins have a proposed move
    large_listed: int = kl.word()  # the same for nets with counters
    small_touched: int = kl.word()  # nets without counters, some of whose pins move
    large_touched: int = kl.word()  # the same for nets with counters


class NetAfterburner(kl.Record):
    """Gains of proposed moves, computed net by net.

    Attributes
    ----------
    after : array of int64, shape (n,)
        Gain of a vertex's move after the moves before it.
    line : array of int32
        Pins of large nets in the order of their moves, if that is not the order in which they are
        stored.
    leaving : array of int32
        Number of pins of a large net in each block that have a proposed move; zero between
        iterations.
    """

    after: Array = kl.work(np.int64, "vertices")
    line: Array = kl.work(np.int32, "lined_up")
    leaving: Array = kl.work(np.int32, "counters", zeros=True)


def _of_chunks(size: objectives.PinStateSizes) -> int:
    return size.hubs and size.hubs + size.pins // HUB_CHUNK


class HubChunks(kl.Record):
    """Chunks of hubs, in any order.

    Attributes
    ----------
    vertex : array of int32
        The hub of a chunk.
    begin : array of int64
        The first place of a chunk.
    """

    vertex: Array = kl.work(np.int32, _of_chunks)
    begin: Array = kl.work(np.int64, _of_chunks)

    chunks: int = kl.word()


class ListWords(NetLists.own_words, HubChunks.own_words):
    """The words of the lists of nets and of chunks of hubs, in memory of the space."""


NET_PIECES: dict[str, type[kl.Record]] = {
    "sets": objectives.PinSets, "pin_counts": objectives.PinCounts, "hub_sums": objectives.HubSums,
    "lists": NetLists, "afterburner": NetAfterburner, "hub_chunks": HubChunks}
"""The records of nets, by their names."""


def net_capacity(most: objectives.PinStateSizes, vertices: int, nets: int, pins: int,
                 has_hubs: bool) -> objectives.PinStateSizes:
    """Return the sizes of the arrays for a hypergraph; `most` has those of the largest one.

    `has_hubs` says whether any vertex may be a hub.
    """
    hubs = RefinementSizes(0, reserved(pins * has_hubs, most.pins), most.blocks).hubs
    max_pins = reserved(pins, most.pins)
    return replace(most, vertices=reserved(vertices, most.vertices), nets=reserved(nets, most.nets),
                   pins=max_pins, lined_up=min(most.lined_up, max_pins), hubs=min(most.hubs, hubs))


class RefinedNetsOf:
    """A function from a hypergraph of a hierarchy to its rows; it reuses long enough arrays.

    Parameters
    ----------
    space : ExecutionSpace
    sizes : PinStateSizes
        Sizes of the largest hypergraph.
    """

    def __init__(self, space: ExecutionSpace, sizes: objectives.PinStateSizes) -> None:
        self.space, self.most, self.num_blocks = space, sizes, sizes.blocks
        self.capacity: objectives.PinStateSizes | None = None
        self.pieces: dict[str, kl.Record] = {}

    def _reserve(self, graph: Hypergraph) -> None:
        """Allocate arrays for a hypergraph, if the present ones are too short."""
        capacity = net_capacity(self.most, graph.num_vertices, graph.num_nets, graph.num_pins,
                                graph.max_degree > max_arcs(1))
        if self.capacity is None or not self.capacity.holds(capacity):
            self.pieces = {}  # the shorter arrays are freed first
            self.pieces = {name: piece.allocate(self.space, capacity)
                           for name, piece in NET_PIECES.items()}
            self.capacity = capacity

    def __call__(self, graph: Hypergraph) -> objectives.NetRows:
        """Return the rows of a hypergraph; its nets have no state yet, and none is listed."""
        self._reserve(graph)
        words = objectives.net_words(self.space, graph.num_nets, self.num_blocks)
        return refined(graph.csr, graph.nets, self.pieces, words, list_words(self.space))


def list_words(space: ExecutionSpace) -> ListWords:
    """Return the words of empty lists, in memory of the space."""
    return ListWords(space.zeros(len(ListWords.indices), np.int64))


def refined(rows: Csr, nets: Nets, pieces: dict[str, kl.Record], words: objectives.NetWords,
            listed: ListWords) -> objectives.NetRows:
    """Return the rows of nets, with the records of `NET_PIECES` over their words."""
    fields: dict[str, Any] = {**dict(rows.named()), **pieces}
    for name, array in (("sets", words), ("lists", listed), ("hub_chunks", listed)):
        fields[name] = fields[name].over(array)
    return objectives.NetRows(**fields, nets=nets, net_words=words, list_words=listed)


def net_bytes(sizes: objectives.PinStateSizes) -> int:
    """Return the bytes of all records of nets."""
    return bytes_of(tuple(NET_PIECES.values()), sizes)

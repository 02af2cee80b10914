"""What refinement keeps of the nets of a level, in addition to their sets of blocks
(`pin_state.py`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from portpart.algorithms import objectives
from portpart.algorithms.refinement import RefinementSizes, max_arcs
from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace, bytes_of, roomy
from portpart.graphs import Csr, Hypergraph, Nets

HUB_CHUNK = 1024
"""Nets in a piece of a hub, at most."""


class NetLists(kl.Record):
    """Nets to examine, once each: without counters, and with counters.

    Attributes
    ----------
    is_listed : array of int32, shape (m,)
        Whether a net is on a list.
    small_list, large_list : array of int32
        In any order.
    """

    is_listed: Array = kl.work(np.int32, "nets", zeros=True)
    small_list: Array = kl.work(np.int32, "nets")
    large_list: Array = kl.work(np.int32, "large")

    small_listed: int = kl.word()  # nets whose pins want to move, without counters
    large_listed: int = kl.word()  # and with them
    small_touched: int = kl.word()  # nets whose pins move
    large_touched: int = kl.word()


class NetAfterburner(kl.Record):
    """What nets say of the moves that their pins want to make.

    Attributes
    ----------
    after : array of int64, shape (n,)
        What the move of a vertex gains after those before it.
    line : array of int32
        Pins of large nets in the order of their moves, where that is not the one they are stored
        in.
    leaving : array of int32
        Pins of large nets in each block that want to leave it; zero between two iterations.
    """

    after: Array = kl.work(np.int64, "vertices")
    line: Array = kl.work(np.int32, "lined_up")
    leaving: Array = kl.work(np.int32, "counters", zeros=True)


def _of_pieces(size: objectives.PinStateSizes) -> int:
    return size.hubs and size.hubs + size.pins // HUB_CHUNK


class HubChunks(kl.Record):
    """Pieces of hubs, in any order.

    Attributes
    ----------
    vertex : array of int32
        The hub that a piece is of,
    begin : array of int64
        and the first place of it.
    """

    vertex: Array = kl.work(np.int32, _of_pieces)
    begin: Array = kl.work(np.int64, _of_pieces)

    chunks: int = kl.word()


class ListWords(NetLists.own_words, HubChunks.own_words):
    """The words of the lists of nets and of pieces of hubs, in memory of the space."""


NET_PIECES: dict[str, type[kl.Record]] = {
    "sets": objectives.PinSets, "pin_counts": objectives.PinCounts, "hub_sums": objectives.HubSums,
    "lists": NetLists, "afterburner": NetAfterburner, "hub_chunks": HubChunks}
"""The records that hold what is known of nets, by their names."""


def net_room(most: objectives.PinStateSizes, vertices: int, nets: int, pins: int,
             has_hubs: bool) -> objectives.PinStateSizes:
    """Sizes of the arrays for a hypergraph, where those of the largest one are given.

    `has_hubs` says whether any vertex may be a hub.
    """
    hubs = RefinementSizes(0, roomy(pins * has_hubs, most.pins), most.blocks).hubs
    room = roomy(pins, most.pins)
    return replace(most, vertices=roomy(vertices, most.vertices), nets=roomy(nets, most.nets),
                   pins=room, lined_up=min(most.lined_up, room), hubs=min(most.hubs, hubs))


class RefinedNetsOf:
    """Makes the rows of hypergraphs of a hierarchy, with the same arrays if they are long enough.

    Parameters
    ----------
    space : ExecutionSpace
    sizes : PinStateSizes
        Of the largest one.
    """

    def __init__(self, space: ExecutionSpace, sizes: objectives.PinStateSizes) -> None:
        self.space, self.most, self.num_blocks = space, sizes, sizes.blocks
        self.room: objectives.PinStateSizes | None = None
        self.pieces: dict[str, kl.Record] = {}

    def _make_room(self, graph: Hypergraph) -> None:
        """Allocate arrays for a hypergraph, whose state is not known yet."""
        room = net_room(self.most, graph.num_vertices, graph.num_nets, graph.num_pins,
                        graph.max_degree > max_arcs(1))
        if self.room is None or not self.room.holds(room):
            self.pieces = {}  # the shorter arrays are given back first
            self.pieces = {name: piece.allocate(self.space, room)
                           for name, piece in NET_PIECES.items()}
            self.room = room

    def __call__(self, graph: Hypergraph) -> objectives.NetRows:
        """The rows of a hypergraph; the state of its nets is not known yet, and none is listed."""
        self._make_room(graph)
        words = objectives.net_words(self.space, graph.num_nets, self.num_blocks)
        return refined(graph.csr, graph.nets, self.pieces, words, list_words(self.space))


def list_words(space: ExecutionSpace) -> ListWords:
    """Words of empty lists, in memory of the space."""
    return ListWords(space.zeros(len(ListWords.indices), np.int64))


def refined(rows: Csr, nets: Nets, pieces: dict[str, kl.Record], words: objectives.NetWords,
            listed: ListWords) -> objectives.NetRows:
    """Rows of nets with the records of `NET_PIECES` over their words."""
    fields: dict[str, Any] = {**dict(rows.named()), **pieces}
    for name, array in (("sets", words), ("lists", listed), ("hub_chunks", listed)):
        fields[name] = fields[name].over(array)
    return objectives.NetRows(**fields, nets=nets, net_words=words, list_words=listed)


def net_bytes(sizes: objectives.PinStateSizes) -> int:
    """Bytes of all that is known of nets."""
    return bytes_of(tuple(NET_PIECES.values()), sizes)

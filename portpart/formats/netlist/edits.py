"""Edits of a netlist as batches of edits; gates and nets that a round inserts and deletes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from portpart.errors import InputError, shown
from portpart.formats.netlist.netlist import Netlist
from portpart.graphs import MAX_INT32, Graph, Hypergraph, nets_hypergraph, read_only, tails
from portpart.options import checked_integer

# Gates and nets that a round of edits inserts and deletes, and their names ---------------------


class Turnover(NamedTuple):
    """Gates, or nets, that a round inserts and deletes, by number.

    Attributes
    ----------
    runs : list of (ndarray, list of str or None)
        New ones in order, and their names: None if they are deleted in the same round.
    replaced : ndarray
        Those whose names are reused by new ones, and which must be deleted before.
    ended : ndarray
        All others that are deleted.
    """

    runs: list[tuple[np.ndarray, list[str] | None]]
    replaced: np.ndarray
    ended: np.ndarray

    @classmethod
    def of(cls, new: np.ndarray, ended: np.ndarray, labels: list[str], table: Any) -> Turnover:
        """Return the turnover of a round; `table` says whether there are names."""
        none = np.zeros(0, np.int64)
        if table.names is None:
            return cls([(new, None)] if len(new) else [], none, ended)
        stays = ~np.isin(new, ended)
        runs = [(run, [labels[number] for number in run.tolist()] if stay else None)
                for run, stay in _runs(new, stays)]
        names = {labels[number] for number in new[stays].tolist()}
        is_replaced = np.array([labels[number] in names for number in ended.tolist()], bool)
        is_replaced &= ~np.isin(ended, new)
        return cls(runs, ended[is_replaced], ended[~is_replaced])


NO_VERTEX = Turnover([], np.zeros(0, np.int64), np.zeros(0, np.int64))
"""Nets of graphs, which have none."""


def _runs(values: np.ndarray, flags: np.ndarray) -> list[tuple[np.ndarray, bool]]:
    """Split the values into pieces of equal flags."""
    if not len(values):
        return []
    ends = np.flatnonzero(flags[1:] != flags[:-1]) + 1
    return [(piece, bool(flag[0]))
            for piece, flag in zip(np.split(values, ends), np.split(flags, ends))]


def labels_of(names: list[str], ports: range) -> list[str]:
    """Return the names, with underscores after names of ports that gates also have."""
    gates = {*names[: ports.start], *names[ports.stop :]}
    labels = list(names)
    for number in ports:
        while labels[number] in gates:
            labels[number] += "_"
        gates.add(labels[number])
    return labels


# Edits of a netlist as batches of edits of its hypergraph or its graph of stars -----------------


NEW_VERTEX, NEW_NET, CONNECT, DISCONNECT, END_VERTEX, END_NET, WEIGH = range(7)
"""Kinds of steps."""

MAX_ROUNDS = 2**31 - 1

NOWHERE = 1 << 62


@dataclass(frozen=True, eq=False)
class Steps:
    """The changes of the lines of a trace, one by one.

    Attributes
    ----------
    rows : ndarray of int64, shape (steps, 4)
        Kind, vertex, net, and a number: whether a pin drives, or the weight of a vertex.
    starts : ndarray of int64, shape (lines + 1,)
        The first step of each line.
    structural : ndarray of bool, shape (lines,)
        Whether the line inserts or deletes gates, nets or pins; the others set weights of gates.
    ends : list of int
        Lines before which a batch ends.
    """

    rows: np.ndarray
    starts: np.ndarray
    structural: np.ndarray
    ends: list[int]


class NetlistEdits:
    r"""The edits of a trace, for batches.

    Returned by :func:`portpart.io.read_edits`.  The vertices are the gates of the netlist, then the
    bits of its ports, then new gates in the order of the trace.

    Attributes
    ----------
    netlist : Netlist
        The netlist that is edited.
    model : {"hypergraph", "star"}
    vertex_names, net_names : list of str
        Names of all gates, ports and nets of netlist and trace. The vertices of the graph have
        these names; a port with the name of a gate gets an underscore.
    vertex_ids, net_ids : ndarray of int64
        The id of each in the edited graph, -1 before it is inserted. Ids are the numbers here
        unless other batches insert vertices in between.

    Examples
    --------
    >>> from pathlib import Path
    >>> import portpart
    >>> _ = Path("pair.v").write_text("module pair (input a, output z); "
    ...     "INV first (.A(a), .ZN(n)); INV second (.A(n), .ZN(z)); endmodule")
    >>> _ = Path("pair.ops").write_text("insert_gate third INV\nconnect_pin third:A n\n")
    >>> edits = portpart.io.read_edits("pair.ops", portpart.io.read_netlist("pair.v"))
    >>> len(edits.rounds(2)), edits.vertex_names
    (2, ['first', 'second', 'a', 'z', 'third'])
    """

    def __init__(self, netlist: Netlist, model: str, vertex_names: list[str], net_names: list[str],
                 steps: Steps, weights: np.ndarray | None) -> None:
        self.netlist, self.model = netlist, model
        self.vertex_names, self.net_names = vertex_names, net_names
        self._steps, self._weights = steps, weights
        self._pins = TracePins(netlist, steps)
        self._stars = Stars(self._star_graph()) if model == "star" else None
        self._next = 0
        num_vertices = netlist.num_gates + netlist.num_ports
        self._labels = labels_of(vertex_names, range(netlist.num_gates, num_vertices))
        self.vertex_ids = np.full(len(vertex_names), -1)
        self.vertex_ids[:num_vertices] = np.arange(num_vertices)
        self.net_ids = np.full(len(net_names), -1)
        self.net_ids[: netlist.num_nets] = np.arange(netlist.num_nets)

    def graph(self) -> Graph | Hypergraph:
        """Return the netlist before any edit, with names of vertices and nets."""
        num_vertices = self.netlist.num_gates + self.netlist.num_ports
        names = self._labels[:num_vertices]
        if self._stars is not None:
            return replace(self._stars.graph, names=names)
        offsets, pins = self.netlist.hypergraph(ports=True)
        return replace(nets_hypergraph(offsets, pins, num_vertices, None, self._weights),
                       names=names, net_names=self.net_names[: self.netlist.num_nets])

    def rounds(self, count: int | str) -> list[range]:
        """Divide the lines of the trace.

        Parameters
        ----------
        count : int or "natural"
            This many rounds with equal numbers of structural lines, as nearly as possible; or a
            round up to each ``read_spef`` or ``report_...`` that follows edits.

        Returns
        -------
        list of range
            Edits by number, from 0, for `play`.
        """
        num_lines = len(self._steps.structural)
        if count == "natural":
            bounds = sorted({0, num_lines, *self._steps.ends})
        elif isinstance(count, str):
            raise InputError(f"rounds are {shown(count)}; they are a number or 'natural'")
        else:
            number = checked_integer("rounds", count, 1, MAX_ROUNDS)
            places = np.append(np.flatnonzero(self._steps.structural), num_lines)
            inner = np.arange(1, number) * (len(places) - 1) // number
            bounds = [0, *places[inner].tolist(), num_lines]
        return [range(begin, end) for begin, end in pairwise(bounds)]

    def play(self, lines: range, batch: Any) -> None:
        """Add the edits of the lines of a round to a batch.

        Rounds must be played in order, because each depends on the previous ones. New gates and
        nets get names if others have names.

        Raises
        ------
        InputError
            If the round is not the next one.
        """
        if lines.start != self._next:
            raise InputError(f"the round begins with edit {lines.start}; edit {self._next} is the "
                             "next one")
        starts = self._steps.starts
        rows = self._steps.rows[starts[lines.start] : starts[lines.stop]]
        kinds, vertices, nets, values = rows.T
        gates = Turnover.of(vertices[kinds == NEW_VERTEX], vertices[kinds == END_VERTEX],
                            self._labels, batch.owner.vertices)
        of_nets = NO_VERTEX if self._stars is not None else Turnover.of(
            nets[kinds == NEW_NET], nets[kinds == END_NET], self.net_names, batch.nets)
        if len(gates.replaced):
            batch.delete_vertices(self.vertex_ids[gates.replaced])
        if len(of_nets.replaced):
            batch.delete_nets(self.net_ids[of_nets.replaced])
        weights = values[kinds == NEW_VERTEX]
        for new, names in gates.runs:
            given, weights = weights[: len(new)], weights[len(new) :]
            self.vertex_ids[new] = batch.insert_vertices(
                1 if self._weights is None else given, count=len(new), names=names)
        for new, names in of_nets.runs:
            empty = np.zeros(len(new) + 1, np.int64)
            self.net_ids[new] = batch.insert_nets(empty, np.zeros(0, np.int64), names=names)
        self._play_pins(rows[(kinds == CONNECT) | (kinds == DISCONNECT)], gates, of_nets, batch)
        weighed = (kinds == WEIGH) & ~np.isin(vertices, gates.replaced)
        if weighed.any():
            batch.set_vertex_weights(self.vertex_ids[vertices[weighed]], values[weighed])
        if len(of_nets.ended):
            batch.delete_nets(self.net_ids[of_nets.ended])
        if len(gates.ended):
            batch.delete_vertices(self.vertex_ids[gates.ended])
        self._next = lines.stop

    def touched(self, lines: range) -> np.ndarray:
        """Return the numbers of the gates and ports that a round changes: those of its pins, new
        and deleted ones.
        """
        starts = self._steps.starts
        rows = self._steps.rows[starts[lines.start] : starts[lines.stop]]
        return np.unique(rows[(rows[:, 0] != NEW_NET) & (rows[:, 0] != END_NET), 1])

    def _play_pins(self, rows: np.ndarray, gates: Turnover, of_nets: Turnover, batch: Any) -> None:
        """Change pins; those of gates and nets that are replaced have been deleted."""
        if self._stars is not None:
            self._stars.play(self._pins, rows, self.vertex_ids, gates.replaced, batch)
            return
        places = np.unique(self._pins.places(rows))
        had = self._pins.count[places] > 0
        self._pins.change(rows)
        has = self._pins.count[places] > 0
        stays = ~(np.isin(self._pins.keys[places] >> 32, of_nets.replaced)
                  | np.isin(self._pins.keys[places] & MAX_INT32, gates.replaced))
        for act, some in ((batch.delete_pins, had & ~has & stays), (batch.insert_pins, has & ~had)):
            if some.any():
                keys = self._pins.keys[places[some]]
                act(self.net_ids[keys >> 32], self.vertex_ids[keys & MAX_INT32])

    def _star_graph(self) -> Graph:
        """Return the graph of stars; ports have the weight of gates, or the given weights."""
        graph = self.netlist.graph("star", ports=True)
        if self._weights is not None:
            read_only([self._weights])
        return replace(graph, vertex_weights=self._weights, _totals={})

    def __repr__(self) -> str:
        return (f"<NetlistEdits of {self.netlist.name} as {self.model}: "
                f"{len(self._steps.structural):,} edits>")


class TracePins:
    """Numbers of pins of each vertex on each net of a trace, and of its driving pins.

    Attributes
    ----------
    keys : ndarray of int64
        ``net << 32 | vertex`` of all pins on nets of the trace at any time, ascending.
    count, driving : ndarray of int64
        Present number of pins of each key.
    """

    def __init__(self, netlist: Netlist, steps: Steps) -> None:
        kinds = steps.rows[:, 0]
        rows = steps.rows[(kinds == CONNECT) | (kinds == DISCONNECT)]
        nets, vertices, drives = netlist.all_pins(ports=True)
        mine = np.isin(nets, rows[:, 2])
        given = nets[mine].astype(np.int64) << 32 | vertices[mine]
        self.keys = np.unique(np.append(given, rows[:, 2] << 32 | rows[:, 1]))
        places = np.searchsorted(self.keys, given)
        self.count = np.bincount(places, minlength=len(self.keys))
        self.driving = np.bincount(places[drives[mine]], minlength=len(self.keys))

    def places(self, rows: np.ndarray) -> np.ndarray:
        """Return the places of the pins of steps."""
        return np.searchsorted(self.keys, rows[:, 2] << 32 | rows[:, 1])

    def change(self, rows: np.ndarray) -> None:
        """Connect and disconnect pins."""
        places, sign = self.places(rows), np.where(rows[:, 0] == CONNECT, 1, -1)
        np.add.at(self.count, places, sign)
        np.add.at(self.driving, places, sign * rows[:, 3])


class Stars:
    """The graph in which the driver of each net is joined to all others on it."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        sources = tails(graph.space, graph.offsets, graph.num_arcs)
        self._pairs = sources.astype(np.int64) << 32 | graph.targets
        self._weights: dict[int, int] = {}

    def play(self, pins: TracePins, rows: np.ndarray, ids: np.ndarray, gone: np.ndarray,
             batch: Any) -> None:
        """Change pins, and the edges of their nets except those of deleted vertices."""
        nets = np.unique(rows[:, 2])
        begins = np.searchsorted(pins.keys, nets << 32)
        lengths = np.searchsorted(pins.keys, (nets + 1) << 32) - begins
        places = np.repeat(begins - np.cumsum(lengths) + lengths, lengths) + np.arange(
            lengths.sum())
        before = star_pairs(pins, places, lengths)
        pins.change(rows)
        after = star_pairs(pins, places, lengths)
        pairs, place = np.unique(np.append(before, after), return_inverse=True)
        change = np.bincount(place[len(before) :], minlength=len(pairs)) - np.bincount(
            place[: len(before)], minlength=len(pairs))
        pairs, change = pairs[change != 0], change[change != 0]
        was = self._weights_of(pairs)
        will = was + change
        self._weights.update(zip(pairs.tolist(), will.tolist()))
        stay = ~(np.isin(pairs >> 32, gone) | np.isin(pairs & MAX_INT32, gone))
        for name, some in (("delete_edges", (will == 0) & stay), ("insert_edges", was == 0),
                           ("set_edge_weights", (was > 0) & (will > 0))):
            if some.any():
                ends = ids[pairs[some] >> 32], ids[pairs[some] & MAX_INT32]
                weights = () if name == "delete_edges" else (will[some],)
                getattr(batch, name)(*ends, *weights)

    def _weights_of(self, pairs: np.ndarray) -> np.ndarray:
        """Return the present weights of the edges of pairs, 0 for no edge."""
        places = np.searchsorted(self._pairs, pairs)
        found = np.zeros(len(pairs), np.int64)
        known = places < len(self._pairs)
        known[known] = self._pairs[places[known]] == pairs[known]
        weights = self.graph.weights
        found[known] = 1 if weights is None else weights[places[known]]
        return np.array([self._weights.get(pair, weight)
                         for pair, weight in zip(pairs.tolist(), found.tolist())], np.int64)


def star_pairs(pins: TracePins, places: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return the edges of nets: ``smaller end << 32 | larger end``, once for each net.

    The first vertex that drives a net is its centre, otherwise the first one on it.
    """
    if not len(places):
        return places
    vertices, there = pins.keys[places] & MAX_INT32, pins.count[places] > 0
    rank = np.where(there, vertices + np.where(pins.driving[places] > 0, 0, 1 << 32), NOWHERE)
    starts = np.cumsum(lengths) - lengths
    centres = np.repeat(np.minimum.reduceat(rank, starts) & MAX_INT32, lengths)
    joined = there & (vertices != centres)
    one, other = vertices[joined], centres[joined]
    pairs: np.ndarray = np.minimum(one, other) << 32 | np.maximum(one, other)
    return pairs

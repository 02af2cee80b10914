"""Edits of netlists as engineering change orders make them: buffers come and go, pins are swapped.

The same kinds of edits as in the traces of the TAU 2015 contest, of which nearly all insert a
buffer behind a driver, and some take one out again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from portpart.errors import InputError
from portpart.graphs.hypergraph import Hypergraph
from portpart.options import checked_integer

INSERT, BYPASS, SWAP = range(3)
KINDS = 3

MAX_PINS = 64
"""Nets of more pins, as of clock and reset, are left alone."""

MAX_EDITS = 2**31 - 1

TRIES = 20
"""Nets that are examined to find one where an edit is possible."""


class EcoEdits:
    """Random changes of a netlist: buffers are inserted and taken out again, pins are swapped.

    Parameters
    ----------
    hypergraph : Hypergraph
        A netlist; net e is driven by vertex e, if that is one of its pins, as in
        :func:`portpart.generators.netlist`, else by its first pin.
    seed : int
        Of ``numpy.random.default_rng``.
    shares : tuple of float
        How often each kind of edit is drawn: insertions, bypasses, swaps.

    Notes
    -----
    An inserted buffer drives a net in place of its driver, whose signal it gets by a new net.  A
    bypass takes out a buffer that was inserted before; if there is none, one is inserted.  A swap
    exchanges a sink of a net with one of the net that another sink drives.  Nets of more than 64
    pins are left alone.
    """

    def __init__(self, hypergraph: Hypergraph, seed: int = 0,
                 shares: tuple[float, float, float] = (0.6, 0.2, 0.2)) -> None:
        if len(shares) != KINDS or not min(shares) >= 0 or not sum(shares) > 0:
            raise InputError(f"shares are {shares}; three numbers of at least 0 are needed")
        to_host = hypergraph.space.to_host
        self._offsets, self._pins = to_host(hypergraph.net_offsets), to_host(hypergraph.net_pins)
        sizes = np.diff(self._offsets)
        self._open = np.flatnonzero((sizes > 1) & (sizes <= MAX_PINS))
        self._random = np.random.default_rng(seed)
        self._shares = np.cumsum(shares) / sum(shares)
        self._rows: dict[int, list[int]] = {}  # of nets that were examined, the driver first
        self._buffers: list[int] = []
        self._feeds: dict[int, int] = {}  # the net that a buffer gets
        self._drives: dict[int, int] = {}  # the net that a buffer drives

    def play(self, batch: Any, count: int) -> None:
        """Put this many edits into a batch of the hypergraph, or of what it has become.

        Each batch must be applied before the next one is filled.
        """
        kinds = self._kinds(checked_integer("count", count, 0, MAX_EDITS))
        number = kinds.count(INSERT)
        vertices = iter(batch.insert_vertices(count=number).tolist())
        nets = iter(batch.insert_nets(np.zeros(number + 1, np.int64),
                                      np.zeros(0, np.int64)).tolist())
        pins, ended = PinChanges(), []
        for kind in kinds:
            if kind == INSERT:
                self._insert(next(vertices), next(nets), pins)
            elif kind == BYPASS:
                ended.append(self._bypass(pins))
            else:
                self._swap(pins)
        pins.play(batch)
        if ended:
            buffers, feeds = zip(*ended)
            batch.delete_nets(np.array(feeds))
            batch.delete_vertices(np.array(buffers))

    def _kinds(self, count: int) -> list[int]:
        """Draw kinds of edits; where no buffer is left a bypass becomes an insertion."""
        if not len(self._open):
            raise InputError(f"no net of the netlist has 2 to {MAX_PINS} pins")
        kinds = np.searchsorted(self._shares, self._random.random(count), side="right").tolist()
        buffers = len(self._buffers)
        for place, kind in enumerate(kinds):
            if kind == BYPASS and buffers == 0:
                kinds[place] = INSERT
            buffers += (kinds[place] == INSERT) - (kinds[place] == BYPASS)
        return list(kinds)

    def _insert(self, buffer: int, feed: int, pins: PinChanges) -> None:
        net = int(self._open[self._random.integers(len(self._open))])
        row = self._row(net)
        driver, row[0] = row[0], buffer
        if driver in self._drives:
            self._drives[driver] = feed
        self._rows[feed] = [driver, buffer]
        self._feeds[buffer], self._drives[buffer] = feed, net
        self._buffers.append(buffer)
        pins.note((feed, driver), (feed, buffer), (net, buffer))
        if driver not in row:
            pins.note((net, driver), there=False)

    def _bypass(self, pins: PinChanges) -> tuple[int, int]:
        """Take out a buffer; it and the net that it got."""
        place = int(self._random.integers(len(self._buffers)))
        self._buffers[place], self._buffers[-1] = self._buffers[-1], self._buffers[place]
        buffer = self._buffers.pop()
        feed, net = self._feeds.pop(buffer), self._drives.pop(buffer)
        row, (driver, _) = self._row(net), self._rows.pop(feed)
        if driver in self._drives:
            self._drives[driver] = net
        if driver not in row:
            pins.note((net, driver))
        row[0] = driver
        pins.note((net, buffer), (feed, driver), (feed, buffer), there=False)
        return buffer, feed

    def _swap(self, pins: PinChanges) -> None:
        for _ in range(TRIES):
            nets = int(self._open[self._random.integers(len(self._open))]), 0
            sinks = self._row(nets[0])[1:]
            nets = nets[0], sinks[int(self._random.integers(len(sinks)))]
            if nets[1] >= len(self._offsets) - 1 or nets[0] == nets[1]:
                continue
            rows = self._row(nets[0]), self._row(nets[1])
            if not 2 <= len(rows[1]) <= MAX_PINS:
                continue
            places = [int(self._random.integers(1, len(row))) for row in rows]
            one, other = rows[0][places[0]], rows[1][places[1]]
            if one == rows[0][0] or other == rows[1][0]:
                continue  # a driver that is a sink, too, stays on its net
            if other not in rows[0] and one not in rows[1]:
                rows[0][places[0]], rows[1][places[1]] = other, one
                pins.note((nets[0], one), (nets[1], other), there=False)
                pins.note((nets[0], other), (nets[1], one))
                return

    def _row(self, net: int) -> list[int]:
        """The pins of a net, its driver first."""
        if net not in self._rows:
            row = self._pins[self._offsets[net] : self._offsets[net + 1]].tolist()
            driver = net if net in row else row[0]
            row.remove(driver)
            self._rows[net] = [driver, *row]
        return self._rows[net]


class PinChanges:
    """What changes of pins come to; each of them changes something."""

    def __init__(self) -> None:
        self._first: dict[tuple[int, int], bool] = {}
        self._last: dict[tuple[int, int], bool] = {}

    def note(self, *pins: tuple[int, int], there: bool = True) -> None:
        """Note that pins, of net and vertex, come or go."""
        for pin in pins:
            self._first.setdefault(pin, there)
            self._last[pin] = there

    def play(self, batch: Any) -> None:
        """Put the changes into a batch."""
        for there, act in ((False, batch.delete_pins), (True, batch.insert_pins)):
            # what was first deleted and last inserted is as it was
            pins = [pin for pin, last in self._last.items()
                    if last == there and self._first[pin] == there]
            if pins:
                act(*np.array(pins).T)

"""Streams of edges or nets with times: what a sliding window of time lets in and out."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from portpart.errors import InputError
from portpart.graphs.arrays import index_array, space_of


class SlidingWindow:
    """The edges or nets of the last this many units of time, as edits of what they make.

    Parameters
    ----------
    times : array_like of numbers, shape (count,)
        When each edge or net comes up, in any order.
    rows : (u, v) or (offsets, pins)
        Ends of the edges, as many as times; or the pins of the nets, net i has those of
        ``pins[offsets[i]:offsets[i + 1]]``.  Vertices are any integers of at least 0.
    width : number, optional
        How long an edge or net stays; default: for ever.
    nets : bool
        Whether `rows` are those of nets.

    Attributes
    ----------
    ids : dict of int to int
        The id of each vertex that has an edge or net at present.

    Notes
    -----
    A vertex is inserted with its first edge or net and deleted with its last, of weight 1; if it
    comes up again later it gets a new id.  An edge weighs as much as it occurs in the window; self
    loops bring their vertex only.  Filling a batch takes time for what comes and goes.

    Examples
    --------
    >>> import portpart
    >>> times, rows = [0, 1, 2, 2], ([0, 1, 2, 0], [1, 2, 3, 1])
    >>> window = portpart.generators.SlidingWindow(times, rows, width=2)
    >>> session = portpart.Session(portpart.from_edges([], num_vertices=0), 2)
    >>> for end in (1, 2, 3):
    ...     batch = session.batch()
    ...     window.play(batch, end)
    ...     update = session.apply(batch)
    ...     print(session.graph())
    <Graph: 2 vertices, 1 edges, on cpu>
    <Graph: 3 vertices, 2 edges, on cpu>
    <Graph: 4 vertices, 3 edges, on cpu>
    """

    def __init__(self, times: Any, rows: tuple[Any, Any], width: Any = None, *,
                 nets: bool = False) -> None:
        times = np.asarray(times)
        first, second = (_on_host(values, name) for values, name in zip(rows, ("rows[0]",
                                                                               "rows[1]")))
        if nets:
            offsets, pins = first, second
        else:
            offsets = 2 * np.arange(len(first) + 1)
            pins = np.stack([first, second], axis=1).reshape(-1) if len(first) == len(second) else (
                np.zeros(0, np.int64))
        if times.ndim != 1 or len(offsets) != len(times) + 1 or offsets[-1] != len(pins):
            raise InputError(f"{len(times)} times, and rows of {len(first)} and {len(second)} "
                             "entries, have different lengths")
        if width is not None and not width > 0:
            raise InputError(f"width is {width}; it must be above 0")
        order = np.argsort(times, kind="stable")
        self._times, self._offsets, self._rows, self._order = times[order], offsets, pins, order
        self._width, self._is_nets = width, nets
        self._begin = self._end = 0
        self._uses: Counter[int] = Counter()
        self._weights: Counter[tuple[int, int]] = Counter()
        self._nets: dict[int, int] = {}
        self.ids: dict[int, int] = {}

    def play(self, batch: Any, end: Any) -> None:
        """Put into a batch what comes before time `end`, and what is older than the window by then.

        Time does not go back.  Each batch must be applied before the next one is filled.
        """
        enters = int(np.searchsorted(self._times, end, side="left"))
        leaves = self._begin
        if self._width is not None:
            leaves = int(np.searchsorted(self._times, end - self._width, side="left"))
        if enters < self._end:
            raise InputError(f"the window has been moved beyond {end} before")
        coming = self._order[max(self._end, leaves) : enters]
        going = self._order[self._begin : min(self._end, leaves)]
        self._begin, self._end = leaves, enters
        gone = self._count(batch, coming, going)
        if self._is_nets:
            self._play_nets(batch, coming, going)
        else:
            self._play_edges(batch, coming, going, set(gone))
        if gone:
            batch.delete_vertices(np.array([self.ids.pop(vertex) for vertex in gone]))

    def _count(self, batch: Any, coming: np.ndarray, going: np.ndarray) -> list[int]:
        """Insert vertices that come up; those of which nothing is left."""
        before = {vertex for row in (*coming, *going) for vertex in self._row(row)}
        for row in coming:
            self._uses.update(set(self._row(row)))
        for row in going:
            self._uses.subtract(set(self._row(row)))
        new = sorted(vertex for vertex in before
                     if self._uses[vertex] and vertex not in self.ids)
        self.ids.update(zip(new, batch.insert_vertices(count=len(new)).tolist()))
        gone = sorted(vertex for vertex in before if not self._uses[vertex])
        for vertex in gone:
            del self._uses[vertex]
        return gone

    def _play_nets(self, batch: Any, coming: np.ndarray, going: np.ndarray) -> None:
        if len(going):
            batch.delete_nets(np.array([self._nets.pop(int(net)) for net in going]))
        rows = [sorted(set(self._row(net))) for net in coming]
        offsets = np.zeros(len(rows) + 1, np.int64)
        np.cumsum([len(row) for row in rows], out=offsets[1:])
        pins = np.array([self.ids[vertex] for row in rows for vertex in row], np.int64)
        self._nets.update(zip(coming.tolist(), batch.insert_nets(offsets, pins).tolist()))

    def _play_edges(self, batch: Any, coming: np.ndarray, going: np.ndarray,
                    gone: set[int]) -> None:
        changes: Counter[tuple[int, int]] = Counter()
        for rows, sign in ((coming, 1), (going, -1)):
            for u, v in map(self._row, rows):
                if u != v:
                    changes[min(u, v), max(u, v)] += sign
        groups: dict[str, list[tuple[int, int, int]]] = {
            "delete_edges": [], "insert_edges": [], "set_edge_weights": []}
        for pair, change in changes.items():
            before, after = self._weights[pair], self._weights[pair] + change
            self._weights[pair] = after
            if after == 0:
                del self._weights[pair]
            if change == 0 or gone & {*pair}:  # vertices take their edges with them
                continue
            name = ("insert_edges" if before == 0 else
                    "delete_edges" if after == 0 else "set_edge_weights")
            groups[name].append((self.ids[pair[0]], self.ids[pair[1]], after))
        for name, edges in groups.items():
            if edges:
                u, v, weights = np.array(edges).T
                getattr(batch, name)(*((u, v) if name == "delete_edges" else (u, v, weights)))

    def _row(self, row: int) -> list[int]:
        vertices: list[int] = self._rows[self._offsets[row] : self._offsets[row + 1]].tolist()
        return vertices


def _on_host(values: Any, name: str) -> np.ndarray:
    space = space_of(values)
    array: np.ndarray = space.to_host(index_array(space, values, name))
    return array

"""Random edits of graphs and hypergraphs, as incremental partitioners are measured with.

Of six edits one inserts a vertex, one deletes one, two insert edges (or pins) and two delete some.
(Che Chang: iG-kway, DAC 2025.)
"""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np

from portpart.errors import InputError, shown
from portpart.graphs.graph import Graph
from portpart.graphs.hypergraph import Hypergraph
from portpart.options import checked_flag, checked_integer

CYCLE = ("insert_vertex", "delete_vertex", "insert", "insert", "delete", "delete")

ENDS = ("uniform", "near")

MAX_EDITS = 2**31 - 1

TRIES = 50
"""Draws for a new pair, or a row that has something to delete."""


class RandomEdits:
    """Insertions and deletions of vertices and of edges or pins, 1 : 1 : 2 : 2.

    Parameters
    ----------
    graph : Graph or Hypergraph
    seed : int
        Of ``numpy.random.default_rng``.
    ends : {"uniform", "near"}
        Where a new edge ends: at any two vertices, or at two that have a neighbour in common.  A
        new pin joins any net and any vertex, or a net and a vertex with which a pin of it shares
        another net.
    keep_size : bool, default True
        Whether a new vertex gets the edges, or pins, that deletions of vertices have taken since
        the last one, so that their number stays about what it was.  Without it new vertices have no
        edges until one is drawn for them, as published: every deleted vertex takes its edges with
        it, and after some rounds for each vertex barely any are left.

    Notes
    -----
    What is deleted is drawn from what is there: a vertex or a net, then one of its edges or pins.
    Edges weigh 1.
    """

    def __init__(self, graph: Graph | Hypergraph, seed: int = 0, ends: str = "uniform",
                 keep_size: bool = True) -> None:
        if ends not in ENDS:
            raise InputError(f"ends are {shown(ends)}; they are {' or '.join(ENDS)}")
        to_host = graph.space.to_host
        self._random, self._near = np.random.default_rng(seed), ends == "near"
        if isinstance(graph, Hypergraph):
            self._nets_of = Rows(to_host(graph.vertex_offsets), to_host(graph.vertex_nets))
            self._rows = Rows(to_host(graph.net_offsets), to_host(graph.net_pins))
            self._words = "insert_pins", "delete_pins"
        else:
            self._nets_of = self._rows = Rows(to_host(graph.offsets), to_host(graph.targets))
            self._words = "insert_edges", "delete_edges"
        self._num_pairs = graph.num_edges if isinstance(graph, Graph) else graph.num_pins
        self._wanted = self._num_pairs if checked_flag("keep_size", keep_size) else 0
        # Unlike a list, no pass of Python's collector goes through it.
        self._alive = array("q", np.arange(graph.num_vertices, dtype=np.int64).tobytes())
        self._drawn = 0

    def play(self, batch: Any, count: int) -> None:
        """Put this many edits into a batch of the graph, or of what it has become.

        Each batch must be applied before the next one is filled.
        """
        count = checked_integer("count", count, 0, MAX_EDITS)
        kinds = [CYCLE[(self._drawn + i) % len(CYCLE)] for i in range(count)]
        self._drawn += count
        new = iter(batch.insert_vertices(count=kinds.count("insert_vertex")).tolist())
        changes: dict[tuple[int, int], tuple[bool, bool]] = {}
        gone_vertices = []
        for kind in kinds:
            if kind == "insert_vertex":
                vertex = next(new)
                changes |= dict.fromkeys(self._pairs_for(vertex), (False, True))
                self._alive.append(vertex)
            elif kind == "delete_vertex" and self._alive:
                gone_vertices.append(self._delete_vertex())
            elif kind in ("insert", "delete"):
                there = kind == "insert"
                pair = self._new_pair() if there else self._old_pair()
                if pair is not None:
                    self._set(*pair, there)
                    changes[pair] = changes.get(pair, (not there, there))[0], there
        self._fill(batch, changes, gone_vertices)

    def _fill(self, batch: Any, changes: dict[tuple[int, int], tuple[bool, bool]],
              gone_vertices: list[int]) -> None:
        gone = set(gone_vertices)
        for there, word in ((False, self._words[1]), (True, self._words[0])):
            pairs = [pair for pair, (before, after) in changes.items()
                     if before != after and after == there and not self._ended(pair, gone)]
            if pairs:
                getattr(batch, word)(*np.array(pairs).T)
        if gone_vertices:
            batch.delete_vertices(np.array(gone_vertices))

    def _ended(self, pair: tuple[int, int], gone: set[int]) -> bool:
        """Whether a pair goes with one of its vertices."""
        return pair[1] in gone or (self._nets_of is self._rows and pair[0] in gone)

    def _delete_vertex(self) -> int:
        place = int(self._random.integers(len(self._alive)))
        self._alive[place], self._alive[-1] = self._alive[-1], self._alive[place]
        vertex = self._alive.pop()
        self._num_pairs -= len(self._nets_of[vertex])
        for row in list(self._nets_of[vertex]):
            self._rows[row].pop(vertex)
        self._nets_of[vertex].clear()
        return vertex

    def _pairs_for(self, vertex: int) -> list[tuple[int, int]]:
        """Pairs of a new vertex, as many as there are too few; they are made."""
        found: list[tuple[int, int]] = []
        for _ in range(self._wanted - self._num_pairs):
            row = self._row_for(vertex)
            if row is None:
                break
            ordered = self._nets_of is not self._rows or row < vertex
            found.append((row, vertex) if ordered else (vertex, row))
            self._set(*found[-1], True)
        return found

    def _row_for(self, vertex: int) -> int | None:
        """A net, or another vertex, that a vertex is not joined to; near its others if asked."""
        of_nets, known = self._nets_of is not self._rows, self._nets_of[vertex]
        for _ in range(TRIES):
            own = self._one_of(known) if self._near else None
            row = self._random_row() if own is None else self._one_of(self._rows[own])
            if of_nets and own is not None and row is not None:  # a vertex, of which a net
                row = self._one_of(self._nets_of[row])
            if row is not None and row not in known and (of_nets or row != vertex):
                return row
        return None

    def _new_pair(self) -> tuple[int, int] | None:
        """A pair that is not there: vertices in ascending order, or net and vertex."""
        for _ in range(TRIES):
            row = self._random_row()
            if row is None:
                return None
            vertex = self._near_to(row) if self._near else self._random_vertex()
            if vertex is None or vertex in self._rows[row]:
                continue
            if self._nets_of is not self._rows:
                return row, vertex
            if row != vertex:
                return min(row, vertex), max(row, vertex)
        return None

    def _near_to(self, row: int) -> int | None:
        """A vertex two steps away."""
        vertex = self._one_of(self._rows[row])
        if vertex is None or self._nets_of is self._rows:
            return None if vertex is None else self._one_of(self._rows[vertex])
        net = self._one_of(self._nets_of[vertex])
        return None if net is None else self._one_of(self._rows[net])

    def _old_pair(self) -> tuple[int, int] | None:
        for _ in range(TRIES):
            row = self._random_row()
            vertex = None if row is None else self._one_of(self._rows[row])
            if row is not None and vertex is not None:
                ordered = self._nets_of is not self._rows or row < vertex
                return (row, vertex) if ordered else (vertex, row)
        return None

    def _random_row(self) -> int | None:
        if self._nets_of is self._rows:
            return self._random_vertex()
        return int(self._random.integers(self._rows.count)) if self._rows.count else None

    def _random_vertex(self) -> int | None:
        if not self._alive:
            return None
        return self._alive[int(self._random.integers(len(self._alive)))]

    def _one_of(self, row: dict[int, None]) -> int | None:
        return list(row)[int(self._random.integers(len(row)))] if row else None

    def _set(self, row: int, vertex: int, there: bool) -> None:
        self._num_pairs += 1 if there else -1
        for rows, one, other in ((self._rows, row, vertex), (self._nets_of, vertex, row)):
            if there:
                rows[one][other] = None
            else:
                rows[one].pop(other)


class Rows:
    """Rows of a graph as dictionaries, of which only those that are asked for are made."""

    def __init__(self, offsets: np.ndarray, elements: np.ndarray) -> None:
        self._offsets, self._elements = offsets, elements
        self._made: dict[int, dict[int, None]] = {}
        self.count = len(offsets) - 1

    def __getitem__(self, row: int) -> dict[int, None]:
        if row not in self._made:
            elements = [] if row >= self.count else (
                self._elements[self._offsets[row] : self._offsets[row + 1]].tolist())
            self._made[row] = dict.fromkeys(elements)
        return self._made[row]

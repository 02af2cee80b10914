"""Graphs that can be edited: batches are applied to rows with slack, and can be undone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from weakref import WeakSet

import numpy as np

from portpart import graphs
from portpart.algorithms.edits.apply import Applying, undo
from portpart.algorithms.edits.batch import Batch, GraphBatch
from portpart.algorithms.edits.id_table import IdTable
from portpart.algorithms.edits.net_batch import NetBatch
from portpart.algorithms.edits.operations import Edited, Side
from portpart.algorithms.edits.update import Update, refuse_missing_fixings
from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.base.interrupts import late_interrupts
from portpart.errors import InputError


class Mark:
    """A state to which edits can be undone."""

    def __init__(self, position: int) -> None:
        self.position = position


class Editable(Edited):
    """Batches, marks and undo, for graphs and hypergraphs."""

    def __init__(self, space: ExecutionSpace, tables: list[IdTable], num_pairs: int,
                 pair_weight: int) -> None:
        super().__init__(space, tables, num_pairs, pair_weight)
        self._log: list[Update] = []
        self._begin = 0
        self._marks: WeakSet[Mark] = WeakSet()

    @property
    def ids(self) -> np.ndarray:
        """The ids of the existing vertices, ascending."""
        return self.vertices.ids()

    def prepare(self) -> None:
        """Allocate now what the first batch needs: weights of vertices, and pools with slack."""
        self.vertices.reserve(weighted=True)
        for side in self.sides:
            side.store.reserve(0)

    def apply(self, batch: Batch) -> Update:
        """Apply a batch as if its entries were applied one by one, in order, or not at all.

        Raises
        ------
        InputError
            For the first entry that cannot be applied; nothing has changed then.
        """
        with late_interrupts():
            return self.end(self.begin(batch))

    def begin(self, batch: Batch) -> Applying:
        """Begin to apply a batch; `end` must follow, with interrupts deferred."""
        if batch.owner is not self:
            raise InputError("the batch was made for another graph or session")
        if batch.numbering is not self.numbering:
            raise InputError("the batch was made before compact(), which has changed the ids")
        if batch.applied:
            raise InputError("the batch has been applied already")
        batch.names.refuse_taken()
        refuse_missing_fixings(batch)
        return Applying(self, batch)

    def end(self, applying: Applying) -> Update:
        """Complete the batch and return its update; raises what `apply` does."""
        update = applying.end()
        applying.batch.applied = True
        update.named = applying.batch.names.give()
        if self._marks:
            self._log.append(update)
        else:
            self._forget()
            self._begin += 1
        return update

    def undo_last(self, update: Update) -> None:
        """Undo the last batch, whether there is a mark or not."""
        undo(self, update)
        if self._log:
            self._log.pop()
        else:
            self._begin -= 1

    def _forget(self) -> None:
        """Drop the log of earlier edits, so that they can no longer be undone."""
        self._begin += len(self._log)
        self._log.clear()

    def mark(self) -> Mark:
        """Return a mark of the current state, for `undo`; edits are logged while it exists."""
        if not self._marks:
            self._forget()
        mark = Mark(self._begin + len(self._log))
        self._marks.add(mark)
        return mark

    def undo(self, mark: Mark) -> list[Update]:
        """Undo all batches since a mark and return them, the last one first.

        Their new ids are not given out again.
        """
        if mark not in self._marks:
            raise InputError("the mark belongs to another graph or to a state before compact(), "
                             "or it was undone")
        undone = []
        while self._begin + len(self._log) > mark.position:
            with late_interrupts():
                undo(self, self._log[-1])
                undone.append(self._log.pop())
        for other in list(self._marks):
            if other.position > mark.position:
                self._marks.discard(other)
        return undone


class EditableGraph(Editable):
    """A graph that can be edited.

    Parameters
    ----------
    graph : Graph
        Parallel edges are merged.
    growth : RowGrowth
        The slack of rows.

    Examples
    --------
    >>> edited = EditableGraph(generators.grid_2d(2, 2))  # doctest: +SKIP
    >>> batch = edited.batch()  # doctest: +SKIP
    >>> batch.insert_edges(0, batch.insert_vertices())  # doctest: +SKIP
    >>> update = edited.apply(batch)  # doctest: +SKIP
    """

    def __init__(self, graph: graphs.Graph, growth: graphs.RowGrowth = graphs.HALF_MORE) -> None:
        graph = with_ascending_rows(graph)
        vertices = IdTable("vertices", graph.space, graph.num_vertices, graph.vertex_weights,
                           graph.total_vertex_weight, graph.names)
        super().__init__(graph.space, [vertices], graph.num_arcs, graph.total_arc_weight)
        self.arcs = graphs.RowStore(graph.space, graph.offsets, graph.targets, graph.weights,
                                    growth)
        self.sides = [Side(self.arcs, vertices, vertices, swapped=False)]
        self._known: tuple[Any, ...] = (None, None, None)
        self._weight_scale = graph.weight_scale

    def batch(self) -> GraphBatch:
        """Return an empty batch."""
        return GraphBatch(self)

    @property
    def csr(self) -> graphs.Csr:
        """The rows of all ids for kernels; rows of ids that do not exist are empty.

        The same record is returned until an array is replaced; arrays may be longer.
        """
        self.reserve_ids()
        rows, weights = self.arcs.rows, self.vertices.weights
        if self._known[0] is not rows or self._known[1] is not weights:
            self._known = (rows, weights,
                           graphs.Csr(rows.begin, rows.end, rows.elements, rows.weights, weights,
                                      None))
        csr: graphs.Csr = self._known[2]
        return csr

    def graph(self) -> graphs.Graph:
        """Return the existing vertices, in the order of their ids, as a graph."""
        self.reserve_ids()
        alive = self.vertices.alive()
        offsets, targets, weights = self.arcs.packed(self.vertices.count, alive,
                                                     new_numbers(self.vertices, alive))
        graph = graphs.Graph(offsets, targets, unless_ones(graphs.narrowed(self.space, weights)),
                             unless_ones(self.vertices.weights_of(alive)), self.space,
                             weight_scale=self._weight_scale)
        graphs.read_only(graph.arrays.values())
        return graph

    def compact(self) -> np.ndarray:
        """Renumber the existing vertices, and return the new id of each old id, or -1.

        Ends all marks.
        """
        renamed, names = self.vertices.renamed(), self.vertices.existing_names()
        EditableGraph.__init__(self, replace(self.graph(), names=names), self.arcs.growth)
        return renamed


def new_numbers(table: IdTable, alive: Array | None) -> Array | None:
    """Return the place of each id among the existing ones; None if all exist."""
    if alive is None:
        return None
    numbers = table.space.empty(table.count, np.int32)
    table.space.parallel_for(len(alive), write_number, alive, numbers)
    return numbers


def unless_ones(weights: Array | None) -> Array | None:
    """Return the weights, None if all are 1."""
    return None if weights is None or bool((weights == 1).all()) else weights


def with_ascending_rows(graph: graphs.Graph) -> graphs.Graph:
    """Return the graph with rows in ascending order and merged parallel edges."""
    space = graph.space
    found = space.zeros(1, np.int64)
    space.parallel_for(graph.num_vertices, find_disorder, graph.csr, found, team=graphs.TEAM)
    if int(space.to_host(found)[0]) == 0:
        return graph
    weights = graph.weights
    if weights is None:
        weights = space.full(graph.num_arcs, 1, np.int64)
    sources = graphs.tails(space, graph.offsets, graph.num_arcs)
    offsets, targets, weights = graphs.directed_rows(space, graph.num_vertices, sources,
                                                     graph.targets, weights)
    return replace(graph, offsets=offsets, targets=targets, weights=unless_ones(weights),
                   _totals={})


@kl.kernel
def find_disorder(v, graph: graphs.Csr, found):
    """Set found[0] to -1 if a row is not strictly ascending; by atomic_min."""
    for arc in range(kl.int64(graph.begin[v]) + 1 + kl.lane(), kl.int64(graph.end[v]),
                     kl.team_size()):
        if graph.targets[arc - 1] >= graph.targets[arc]:
            kl.atomic_min(found, 0, -1)


@kl.kernel
def write_number(i, alive, numbers):
    """Set numbers[id] to i for the i-th existing id."""
    numbers[alive[i]] = i


# Hypergraphs that can be edited: the pins of each net, and the nets of each vertex -------------


class EditableHypergraph(Editable):
    """A hypergraph that can be edited.

    Parameters
    ----------
    hypergraph : Hypergraph
    growth : RowGrowth
        The slack of rows.
    """

    def __init__(self, hypergraph: graphs.Hypergraph,
                 growth: graphs.RowGrowth = graphs.HALF_MORE) -> None:
        space = hypergraph.space
        vertices = IdTable("vertices", space, hypergraph.num_vertices, hypergraph.vertex_weights,
                           hypergraph.total_vertex_weight, hypergraph.names)
        nets = IdTable("nets", space, hypergraph.num_nets, hypergraph.net_weights,
                       hypergraph.total_net_weight, hypergraph.net_names)
        super().__init__(space, [vertices, nets], hypergraph.num_pins, hypergraph.num_pins)
        self.pins = graphs.RowStore(space, hypergraph.net_offsets, hypergraph.net_pins, None,
                                    growth)
        self.nets_of = graphs.RowStore(space, hypergraph.vertex_offsets, hypergraph.vertex_nets,
                                       None, growth)
        self.sides = [Side(self.pins, nets, vertices, swapped=False),
                      Side(self.nets_of, vertices, nets, swapped=True)]

    @property
    def nets(self) -> IdTable:
        """The ids of nets."""
        return self.tables[1]

    def batch(self) -> NetBatch:
        """Return an empty batch."""
        return NetBatch(self, self.nets)

    @property
    def csr(self) -> graphs.Csr:
        """The nets of each vertex for kernels, for all ids."""
        self.reserve_ids()
        rows, count = self.nets_of.rows, self.vertices.count
        return graphs.Csr(rows.begin[:count], rows.end[:count], rows.elements, None,
                          self.vertices.weights_of_all(), None)

    @property
    def net_rows(self) -> graphs.Nets:
        """The pins of each net for kernels, for all ids."""
        self.reserve_ids()
        rows, count = self.pins.rows, self.nets.count
        return graphs.Nets(rows.begin[:count], rows.end[:count], rows.elements,
                           self.nets.weights_of_all())

    def hypergraph(self) -> graphs.Hypergraph:
        """Return the existing vertices and nets, in the order of their ids, as a hypergraph."""
        self.reserve_ids()
        alive, nets = self.vertices.alive(), self.nets.alive()
        offsets, pins, _ = self.pins.packed(self.nets.count, nets,
                                            new_numbers(self.vertices, alive))
        vertex_offsets, vertex_nets, _ = self.nets_of.packed(self.vertices.count, alive,
                                                             new_numbers(self.nets, nets))
        weights = unless_ones(graphs.narrowed(self.space, self.nets.weights_of(nets)))
        hypergraph = graphs.Hypergraph(offsets, pins, weights, vertex_offsets, vertex_nets,
                                       unless_ones(self.vertices.weights_of(alive)), self.space)
        graphs.read_only(hypergraph.arrays.values())
        return hypergraph

    def compact(self) -> tuple[np.ndarray, np.ndarray]:
        """Renumber the existing vertices and nets, and return the new id of each, or -1.

        Ends all marks.
        """
        renamed = self.vertices.renamed(), self.nets.renamed()
        names, net_names = self.vertices.existing_names(), self.nets.existing_names()
        EditableHypergraph.__init__(
            self, replace(self.hypergraph(), names=names, net_names=net_names), self.pins.growth)
        return renamed

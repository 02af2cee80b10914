"""Hypergraphs that can be edited: the pins of each net, and the nets of each vertex."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from portpart.algorithms.edits.editable import Editable, new_numbers, unless_ones
from portpart.algorithms.edits.id_table import IdTable
from portpart.algorithms.edits.net_batch import NetBatch
from portpart.algorithms.edits.operations import Side
from portpart.graphs.csr import narrowed
from portpart.graphs.hypergraph import Hypergraph, Nets
from portpart.graphs.row_store import HALF_MORE, RowGrowth, RowStore
from portpart.graphs.rows import Csr
from portpart.graphs.totals import read_only


class EditableHypergraph(Editable):
    """A hypergraph that can be edited.

    Parameters
    ----------
    hypergraph : Hypergraph
    growth : RowGrowth
        How much room rows get.
    """

    def __init__(self, hypergraph: Hypergraph, growth: RowGrowth = HALF_MORE) -> None:
        space = hypergraph.space
        vertices = IdTable("vertices", space, hypergraph.num_vertices, hypergraph.vertex_weights,
                           hypergraph.total_vertex_weight, hypergraph.names)
        nets = IdTable("nets", space, hypergraph.num_nets, hypergraph.net_weights,
                       hypergraph.total_net_weight, hypergraph.net_names)
        super().__init__(space, [vertices, nets], hypergraph.num_pins, hypergraph.num_pins)
        self.pins = RowStore(space, hypergraph.net_offsets, hypergraph.net_pins, None, growth)
        self.nets_of = RowStore(space, hypergraph.vertex_offsets, hypergraph.vertex_nets, None,
                                growth)
        self.sides = [Side(self.pins, nets, vertices, swapped=False),
                      Side(self.nets_of, vertices, nets, swapped=True)]

    @property
    def nets(self) -> IdTable:
        """The nets."""
        return self.tables[1]

    def batch(self) -> NetBatch:
        """Return an empty batch."""
        return NetBatch(self, self.nets)

    @property
    def csr(self) -> Csr:
        """The nets of each vertex as kernels take them, for all ids."""
        self.reserve_ids()
        rows, count = self.nets_of.rows, self.vertices.count
        return Csr(rows.begin[:count], rows.end[:count], rows.elements, None,
                   self.vertices.weights_of_all(), None)

    @property
    def net_rows(self) -> Nets:
        """The pins of each net as kernels take them, for all ids."""
        self.reserve_ids()
        rows, count = self.pins.rows, self.nets.count
        return Nets(rows.begin[:count], rows.end[:count], rows.elements,
                    self.nets.weights_of_all())

    def hypergraph(self) -> Hypergraph:
        """Return the existing vertices and nets, in the order of their ids, as a hypergraph."""
        self.reserve_ids()
        alive, nets = self.vertices.alive(), self.nets.alive()
        offsets, pins, _ = self.pins.packed(self.nets.count, nets,
                                            new_numbers(self.vertices, alive))
        vertex_offsets, vertex_nets, _ = self.nets_of.packed(self.vertices.count, alive,
                                                             new_numbers(self.nets, nets))
        weights = unless_ones(narrowed(self.space, self.nets.weights_of(nets)))
        hypergraph = Hypergraph(offsets, pins, weights, vertex_offsets, vertex_nets,
                                unless_ones(self.vertices.weights_of(alive)), self.space)
        read_only(hypergraph.arrays.values())
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

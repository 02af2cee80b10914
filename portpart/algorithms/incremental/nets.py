"""Rows of edited graphs and hypergraphs for refinement, and the state of nets across edits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import is_not
from typing import Any, ClassVar

import numpy as np

from portpart.algorithms import objectives
from portpart.algorithms.edits import Changes, Update
from portpart.algorithms.incremental import net_changes
from portpart.algorithms.incremental.edits import MoveLog, Nothing, NotReady, edits_of
from portpart.algorithms.incremental.widening import NEIGHBOUR_TEAM, flag_neighbours, flag_pins
from portpart.algorithms.refinement import nets as net_pieces
from portpart.algorithms.refinement.moves import state
from portpart.backends.language import DeviceFunction, Record
from portpart.backends.programs import Array, ExecutionSpace
from portpart.graphs import Csr, Nets, extended

# Rows of an edited graph for refinement; nothing is recounted ----------------------------------


MAX_DEGREE = 2**31 - 1
"""Upper limit of the degree: the highest degree itself would need a pass over all vertices."""


class EditedRows:
    """The vertices of an edited graph; deleted ones have neither arcs nor weight.

    Parameters
    ----------
    graph : EditableGraph
        With vertex weights; also an EditableHypergraph, whose nets `NetsFollowed` holds.
    reserved : int, optional
        Work arrays have this many vertices; by default as many as ids have been given out.

    Attributes
    ----------
    mean_degree : float
        Arcs for each existing vertex.
    total_vertex_weight : int
        Of the existing vertices.
    """

    max_degree = MAX_DEGREE
    squared_degrees = 0  # unknown; only partitions from scratch need it
    weight_sum_dtype = np.dtype(np.int64)

    def __init__(self, graph: Any, reserved: int | None = None) -> None:
        self.graph, self.reserved = graph, reserved
        self.look()

    def look(self) -> None:
        """Read the figures of the graph that runs use until the next call."""
        graph = self.graph
        self.mean_degree: float = graph.num_pairs / max(1, graph.vertices.num_alive)
        self.total_vertex_weight: int = graph.vertices.total_weight
        self._joints = self._all_joints()

    def _all_joints(self) -> tuple[int, int]:
        """Return the total weight and the number of arcs, or of nets in a hypergraph."""
        return self.graph.pair_weight, self.graph.num_pairs

    @property
    def space(self) -> ExecutionSpace:
        """The execution space of the rows."""
        return self.graph.space

    @property
    def num_vertices(self) -> int:
        """Number of reserved ids, or of ids given out."""
        return self.reserved or self.graph.vertices.count

    @property
    def whole(self) -> EditedRows:
        """The whole graph: these rows."""
        return self

    @property
    def num_entries(self) -> int:
        """Number of arcs."""
        return self.graph.num_pairs

    @property
    def vertex_weights(self) -> Array | None:
        """Weights of all ids, 0 for deleted ones."""
        return self.graph.vertices.weights_of_all()

    @property
    def type_key(self) -> tuple[Any, ...]:
        """The types of the arrays."""
        rows = self.graph.arcs.rows
        return ("edited", rows.begin.dtype, None if rows.weights is None else rows.weights.dtype)

    @property
    def csr(self) -> Csr:
        """The rows for kernels."""
        return self.graph.csr

    def mean_joint_weight(self, factor: int) -> int:
        """Return the mean weight of an arc or a net, times a factor."""
        weight, number = self._joints
        return weight * factor // max(1, number)


# The nets of an edited hypergraph for refinement; their state is updated after edits -----------


NONE = -1

MAX_SPARE_ROWS, MAX_SPARE_COUNTERS = 1024, 2**20
"""Slack for nets that need counters later: rows of counters, and counters."""


class EditedNets(EditedRows):
    """The vertices of an edited hypergraph, and the nets of each."""

    @property
    def num_nets(self) -> int:
        """Number of net ids given out."""
        return self.graph.nets.count

    @property
    def max_net_size(self) -> int:
        """Upper limit of the number of pins of a net."""
        return self.graph.vertices.count

    @property
    def type_key(self) -> tuple[Any, ...]:
        """The types of the arrays."""
        return "edited nets", self.graph.nets_of.rows.begin.dtype, self.graph.pins.rows.begin.dtype

    def _all_joints(self) -> tuple[int, int]:
        return self.graph.nets.total_weight, self.graph.nets.num_alive


class EditedNetSteps(net_pieces.NetSteps):
    """Keeps the state of the nets of an edited hypergraph from round to round."""

    concerns: ClassVar[DeviceFunction] = net_pieces.concerns_few

    def rows(self, space: ExecutionSpace, finest: Any, num_blocks: int) -> NetsFollowed:
        """Return the rows of the hypergraph with the state of its nets."""
        return NetsFollowed(space, finest, num_blocks)


class GraphFollowed:
    """State that edits change besides cost and weights.  Graphs have none."""

    def prepare(self, edited: EditedRows, update: Update, refine: bool,
                early: bool) -> dict[str, Any]:
        """Reserve memory for the changes of a batch, and return their records.

        `early` says that the batch is still being applied.
        """
        return {}

    def undo(self, edited: EditedRows, moves: MoveLog, where: state.Moves) -> None:
        """Update the state for vertices that will move back because edits are undone."""

    def follow_back(self, edited: EditedRows, updates: Sequence[Update],
                    where: state.Moves) -> None:
        """Revert the state after batches have been undone and vertices moved back."""

    def recount(self, edited: EditedRows, part: Array) -> None:
        """Recompute the state."""

    def flag_around(self, edited: EditedRows, chosen: Array, near: Array,
                    where: state.Moves) -> None:
        """Flag vertices whose blocks were replaced, and their neighbours."""
        edited.space.parallel_for(len(chosen), flag_neighbours, chosen, edited.csr, near,
                                  team=NEIGHBOUR_TEAM)


class NetsFollowed(GraphFollowed):
    """The state of the nets of an edited hypergraph.

    Parameters
    ----------
    space : ExecutionSpace
    edited : EditedNets
        With reserved ids for new vertices.
    num_blocks : int
    """

    def __init__(self, space: ExecutionSpace, edited: EditedNets, num_blocks: int) -> None:
        self.space, self.graph = space, edited.graph
        self.graph.nets.reserve(weighted=True)
        rows = self.graph.net_rows
        self.max_rows = int((rows.end - rows.begin > objectives.MAX_SMALL).sum())
        sizes = self.sizes = objectives.PinStateSizes(
            edited.num_vertices, len(self.graph.nets.deletions), self.graph.pins.pool_length,
            self.max_rows + spare_rows(num_blocks), num_blocks)
        self.words = objectives.net_words(space, 0, num_blocks)
        self.listed = net_pieces.list_words(space)
        self.pieces = {name: piece.allocate(space, sizes)
                       for name, piece in net_pieces.NET_PIECES.items()}
        self.pieces["sets"] = objectives.PinSets.allocate(  # as of nets without pins
            space, sizes, bits=space.zeros(2 * sizes.words, np.uint64),
            connectivity=space.zeros(sizes.nets, np.int32),
                                               row=space.full(sizes.nets, NONE, np.int32))
        self._pool, self.nothing = self.graph.pins.rows.elements, Nothing(space)
        self._parts: tuple[Any, ...] = ()
        self._rows: objectives.NetRows | None = None
        self._deletions = net_changes.NetDeletions(self.graph.nets.deletions)

    def __call__(self, edited: EditedRows) -> objectives.NetRows:
        """Return the rows for kernels, with the state of all nets.

        The same record is returned until one of its arrays is replaced.
        """
        self._reserve(self.sizes.large)
        graph = self.graph
        graph.reserve_ids()
        rows, pins = graph.nets_of.rows, graph.pins.rows
        parts = rows, pins, graph.vertices.weights, graph.nets.weights, self.pieces
        if self._rows is None or any(map(is_not, parts, self._parts)):
            nets = Nets(pins.begin, pins.end, pins.elements, graph.nets.weights)
            self._parts = parts
            csr = Csr(rows.begin, rows.end, rows.elements, None, graph.vertices.weights, None)
            self._rows = net_pieces.refined(csr, nets, self.pieces, self.words, self.listed)
        return self._rows

    def prepare(self, edited: EditedRows, update: Update, refine: bool,
                early: bool) -> dict[str, Any]:
        """Reserve memory for the changes of a batch, and return their records.

        Raises
        ------
        NotReady
            If the batch is still being applied, and the memory that it needs is not known.
        """
        pins = update.changes[0] if update.changes else self.nothing.changes
        if early and (self.graph.pins.rows.elements is not self._pool
                      or self.max_rows + pins.length_of("keys") > self.sizes.large):
            raise NotReady
        deleted, weighed = edits_of(update, self.graph.nets, self.nothing)
        self._reserve(self._rows_for(edited, pins))
        relisted = self.graph.nets.count if self._pins_have_moved() else 0
        if self._deletions.deletions is not self.graph.nets.deletions:
            self._deletions = net_changes.NetDeletions(self.graph.nets.deletions)
        return {
            "pins": pins, "net_deleted": deleted, "net_weighed": weighed,
            "net_deletions": self._deletions,
            "net_counts": net_changes.NetEditCounts.of(deleted=deleted.length_of("effective"),
                                                       weighed=weighed.length,
                                                       relisted=relisted, activates=int(refine)),
        }

    def undo(self, edited: EditedRows, moves: MoveLog, where: state.Moves) -> None:
        """Update counters for vertices that are about to move back, and list their nets."""
        rows = self(edited)
        self.space.parallel_for(len(moves.listed), net_changes.return_pins, moves.listed,
                                moves.left, rows, rows.pin_counts, rows.lists, where,
                                team=objectives.SMALL_TEAM)

    def follow_back(self, edited: EditedRows, updates: Sequence[Update],
                    where: state.Moves) -> None:
        """Revert the state of nets after undone batches; vertices have already moved back."""
        space = self.space
        for pins in (changes for update in updates for changes in update.changes[:1]):
            self._reserve(self._rows_for(edited, pins))
            rows = self(edited)
            space.parallel_for(pins.length_of("keys"), net_changes.revert_pin, pins, rows,
                               rows.pin_counts, rows.lists, where)
        rows = self(edited)
        if self._pins_have_moved():
            space.parallel_for(self.graph.nets.count,
                               objectives.begin_listing_net.bound(store=objectives.write_list),
                               rows, where.part, team=objectives.SMALL_TEAM)
        counts, lists = net_pieces.ListWords(space.to_host(rows.list_words.array)), rows.lists
        for listed, count in ((lists.small_list, counts.small_touched),
                              (lists.large_list, counts.large_touched)):
            space.parallel_for(int(count), net_changes.find_listed, listed, rows, rows.pin_counts,
                               lists, where, team=net_changes.NET_TEAM)
        space.parallel_for(1, net_pieces.empty_lists, lists)

    def flag_around(self, edited: EditedRows, chosen: Array, near: Array,
                    where: state.Moves) -> None:
        """Flag vertices, and the pins of their nets whose gains depend on them."""
        self.space.parallel_for(len(chosen), flag_pins, chosen, self(edited), where, near,
                                team=NEIGHBOUR_TEAM)

    def _pins_have_moved(self) -> bool:
        """Whether nets must write their lists of blocks to other places."""
        pool = self.graph.pins.rows.elements
        moved = objectives.words_for(self.sizes.blocks) > 1 and pool is not self._pool
        self._pool = pool
        return moved

    def recount(self, edited: EditedRows, part: Array) -> None:
        """Recompute the state of all nets."""
        assert isinstance(edited, EditedNets)
        objectives.find_sets(edited, part, self(edited))
        self.max_rows = self.sizes.large

    def _reserve(self, large: int) -> None:
        """Reserve memory for all nets and their pins, and for `large` rows of counters."""
        sizes, nets, pins = self.sizes, self.graph.nets.count, self.graph.pins.pool_length
        if nets > sizes.nets:
            sizes = replace(sizes, nets=max(nets, len(self.graph.nets.deletions)))
        if pins > sizes.pins or large > sizes.large:
            sizes = replace(sizes, pins=max(sizes.pins, pins), large=large)
        if sizes is not self.sizes:
            self.pieces = {name: grown(self.space, piece, sizes)
                           for name, piece in self.pieces.items()}
            self.sizes = sizes

    def _rows_for(self, edited: EditedRows, pins: Changes) -> int:
        """Return the rows of counters to reserve; they are counted only if they may not suffice."""
        space, large, number = self.space, self.sizes.large, pins.length_of("keys")
        self.max_rows += number
        if self.max_rows > large:
            found = space.zeros(1, np.int64)
            rows = self(edited)
            space.parallel_for(number, net_changes.find_newly_large, pins, rows, found)
            taken = objectives.NetWords(space.to_host(rows.net_words.array)).large
            self.max_rows = int(space.to_host(found)[0] + taken)
        return large if self.max_rows <= large else max(self.max_rows, 2 * large)


def spare_rows(num_blocks: int) -> int:
    """Return the number of rows of counters to reserve for nets that need one later."""
    return max(1, min(MAX_SPARE_ROWS, MAX_SPARE_COUNTERS // num_blocks))


def grown(space: ExecutionSpace, piece: Record, sizes: objectives.PinStateSizes) -> Record:
    """Return a record of the state with longer arrays; new nets have no pins."""
    longer = {}
    for name, array in piece.declared.items():
        old, length = getattr(piece, name), array.length(sizes)
        if length > len(old):
            longer[name] = extended(space, old, length, NONE if name == "row" else 0)
    return piece.replaced(**longer)

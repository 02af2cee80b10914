"""What rounds do about the edges or pins that a batch has changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from portpart.algorithms.edits.editable import Editable
from portpart.algorithms.edits.editable_nets import EditableHypergraph
from portpart.algorithms.edits.update import Update
from portpart.algorithms.incremental.accounts import record_pairs
from portpart.algorithms.incremental.move_log import MoveLog
from portpart.algorithms.incremental.neighbours import TEAM, flag_neighbours
from portpart.algorithms.incremental.net_changes import record_nets, record_pins
from portpart.algorithms.incremental.net_placing import most_connected_by_nets
from portpart.algorithms.incremental.nets import EditedNets, EditedNetSteps
from portpart.algorithms.incremental.placing import most_connected_block
from portpart.algorithms.incremental.rows import EditedRows
from portpart.algorithms.incremental.widening import (
    Widening,
    activate_neighbours,
    activate_pins_around,
)
from portpart.algorithms.refinement.accounting import AccountingSteps
from portpart.algorithms.refinement.local.local import LOCAL
from portpart.algorithms.refinement.nets.steps import NetPropagation
from portpart.algorithms.refinement.piece import Piece, Recording
from portpart.algorithms.refinement.propagation.label_propagation import PropagationSteps
from portpart.algorithms.refinement.refiner import Refiner
from portpart.backends.interface import Array
from portpart.backends.language import DeviceFunction


class GraphUpdates:
    """Edits of graphs, of which nothing is known but cost and weights.

    Attributes
    ----------
    pieces : tuple of Piece
        Refinement around edits.
    rows : type of EditedRows
        The vertices as refinement sees them.
    most_connected : DeviceFunction
        ``most_connected(v, graph, moves, blocks, figures)``: the block that a new vertex is tied to
        most.
    """

    pieces: ClassVar[tuple[Piece, ...]] = (
        *LOCAL, PropagationSteps(), Widening(activate_neighbours), AccountingSteps())
    rows: ClassVar[type[EditedRows]] = EditedRows
    most_connected: ClassVar[DeviceFunction] = most_connected_block

    def prepare(self, refiner: Refiner, rows: Any, update: Update, refine: bool,
                early: bool) -> dict[str, Any]:
        """Have room for what a batch has changed, and return the records of it.

        `early` says that the batch is on its way.
        """
        return {}

    def account(self, this: Recording) -> None:
        """Record, side by side with the accounts of vertices, those of what has changed."""
        record_pairs(this)

    def activate(self, this: Recording) -> None:
        """Record which vertices are examined when all of that is known."""

    def undo(self, refiner: Refiner, rows: Any, moves: MoveLog) -> None:
        """Prepare for vertices that move back as edits are undone."""

    def follow_back(self, refiner: Refiner, rows: Any, updates: Sequence[Update]) -> None:
        """Follow batches that have been undone; vertices have moved back before."""

    def recount(self, refiner: Refiner, rows: Any) -> None:
        """Recompute what is known besides cost and weights."""

    def flag_around(self, refiner: Refiner, rows: Any, chosen: Array, near: Array) -> None:
        """Flag vertices that have been put into other blocks, and their neighbours."""
        rows.space.parallel_for(len(chosen), flag_neighbours, chosen, rows.csr, near, team=TEAM)


class NetUpdates(GraphUpdates):
    """Edits of hypergraphs, whose nets count their pins in each block."""

    pieces = (*LOCAL, NetPropagation(), Widening(activate_pins_around), EditedNetSteps())
    rows = EditedNets
    most_connected = most_connected_by_nets

    def prepare(self, refiner: Refiner, rows: Any, update: Update, refine: bool,
                early: bool) -> dict[str, Any]:
        """Have room for what a batch has changed of nets, and return the records of it."""
        records: dict[str, Any] = _nets(refiner).prepare(rows, update, refine, early)
        return records

    def account(self, this: Recording) -> None:
        """Record the accounts of pins that have changed."""
        record_pins(this)

    def activate(self, this: Recording) -> None:
        """Record which vertices nets ask to examine."""
        record_nets(this)

    def undo(self, refiner: Refiner, rows: Any, moves: MoveLog) -> None:
        """Let nets know of vertices that are about to move back."""
        _nets(refiner).undo(rows, moves, refiner.run.moves)

    def follow_back(self, refiner: Refiner, rows: Any, updates: Sequence[Update]) -> None:
        """Let nets follow batches that have been undone."""
        _nets(refiner).follow_back(rows, updates, refiner.run.moves)

    def recount(self, refiner: Refiner, rows: Any) -> None:
        """Find the state of all nets again."""
        _nets(refiner).recount(rows, refiner.run.moves.part)

    def flag_around(self, refiner: Refiner, rows: Any, chosen: Array, near: Array) -> None:
        """Flag vertices that have been put into other blocks, and pins around them."""
        _nets(refiner).flag_around(rows, chosen, near, refiner.run.moves)


def _nets(refiner: Refiner) -> Any:
    """What a refiner knows of nets."""
    return refiner.rows


def updates_of(graph: Editable) -> GraphUpdates:
    """What rounds do about edits of a graph or hypergraph."""
    return NetUpdates() if isinstance(graph, EditableHypergraph) else GraphUpdates()

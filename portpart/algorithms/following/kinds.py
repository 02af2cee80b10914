"""What differs between graphs and hypergraphs whose partitions follow edits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from portpart.algorithms.edits.editable import Editable
from portpart.algorithms.edits.editable_nets import EditableHypergraph
from portpart.algorithms.edits.update import Update
from portpart.algorithms.following.accounts import record_pairs
from portpart.algorithms.following.neighbours import TEAM, flag_neighbours
from portpart.algorithms.following.net_changes import record_nets, record_pins
from portpart.algorithms.following.net_placing import tied_most_by_nets
from portpart.algorithms.following.nets import (
    EditedNets,
    OnEditedNets,
    flag_pins_around,
    follow_nets_back,
    prepare_nets,
    recount_nets,
    take_back_nets,
)
from portpart.algorithms.following.placing import tied_most
from portpart.algorithms.following.rows import EditedRows
from portpart.algorithms.following.whereabouts import Moves
from portpart.algorithms.following.widening import record_widening, wake_neighbours
from portpart.algorithms.refinement.program import MoveRule, Recording
from portpart.algorithms.refinement.refiner import Refiner
from portpart.backends.interface import Array
from portpart.backends.language import DeviceFunction


class OnEditedArcs(MoveRule):
    """Label propagation around edits of graphs."""

    def record_woken(self, this: Recording, more: Any) -> None:
        """Record that more vertices are woken where blocks are too heavy."""
        record_widening(this, wake_neighbours)


class Kind(NamedTuple):
    """Graphs or hypergraphs.

    Attributes
    ----------
    name : str
    rows : callable
        ``rows(graph, room=None)``: the vertices as refinement sees them.
    rule : MoveRule
        What moves them.
    tied : DeviceFunction
        ``tied(v, graph, moves, blocks, figures)``: the block that a new vertex is tied to most.
    prepare : callable
        ``prepare(refiner, rows, update, refine, early)``: makes room for what a batch has changed,
        and returns records that programs need beside those of the round; `early` if it is on its
        way.
    account : callable
        Records, side by side with the accounts of vertices, those of the edges or pins that have
        changed, and whom they wake.
    wake : callable
        Records whom nets wake when all of that is known.
    take_back : callable
        ``take_back(refiner, rows, moves)``: is told before vertices move back as edits are undone.
    follow_back : callable
        ``follow_back(refiner, rows, updates)``: brings what is known beside cost and weights up to
        date when batches have been undone, and vertices have moved back before.
    recount : callable
        ``recount(refiner, rows)``: finds anew what is known beside cost and weights.
    flag_around : callable
        ``flag_around(refiner, rows, chosen, near)``: flags vertices that have been put into other
        blocks, and those around them whose gains that changes.
    """

    name: str
    rows: Callable[..., EditedRows]
    rule: MoveRule
    tied: DeviceFunction
    prepare: Callable[[Refiner, Any, Update, bool, bool], dict[str, Any]]
    account: Callable[[Recording], None]
    wake: Callable[[Recording], None]
    take_back: Callable[[Refiner, Any, Moves], None]
    follow_back: Callable[[Refiner, Any, Sequence[Update]], None]
    recount: Callable[[Refiner, Any], None]
    flag_around: Callable[[Refiner, Any, Array, Array], None]


def _nothing(refiner: Refiner, rows: Any, update: Update, refine: bool,
             early: bool) -> dict[str, Any]:
    return {}


def _take_nothing_back(refiner: Refiner, rows: Any, moves: Moves) -> None:
    pass


def _follow_nothing_back(refiner: Refiner, rows: Any, updates: Sequence[Update]) -> None:
    pass


def _count_nothing(refiner: Refiner, rows: Any) -> None:
    """Graphs have no state but cost and weights."""


def _flag_neighbours(refiner: Refiner, rows: Any, chosen: Array, near: Array) -> None:
    rows.space.parallel_for(len(chosen), flag_neighbours, chosen, rows.csr, near, team=TEAM)


def _wake_nobody(this: Recording) -> None:
    """Edges have woken their ends."""


GRAPHS = Kind("graphs", EditedRows, OnEditedArcs(), tied_most, _nothing, record_pairs,
              _wake_nobody, _take_nothing_back, _follow_nothing_back, _count_nothing,
              _flag_neighbours)
HYPERGRAPHS = Kind("hypergraphs", EditedNets, OnEditedNets(), tied_most_by_nets, prepare_nets,
                   record_pins, record_nets, take_back_nets, follow_nets_back, recount_nets,
                   flag_pins_around)


def kind_of(graph: Editable) -> Kind:
    """Which of the two it is."""
    return HYPERGRAPHS if isinstance(graph, EditableHypergraph) else GRAPHS

"""The update of a batch: the record from which it can be undone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from portpart.algorithms.edits.batch import InsertedIds
from portpart.algorithms.edits.id_table import DeletedIds, IdTable, WeightChanges
from portpart.algorithms.edits.names import IdNames, Named
from portpart.algorithms.edits.operations import Changes


class TotalChanges(NamedTuple):
    """By how much pairs, their weight, and for each kind of ids number and weight change."""

    pairs: int
    pair_weight: int
    ids: Sequence[tuple[IdTable, int, int]]


NO_CHANGE = TotalChanges(0, 0, ())


@dataclass(eq=False)  # a frozen one takes longer to make
class Update:
    """The changes that a batch made.

    The ends of pairs that changed are the rows of the keys of `changes`.  Of an objective that adds
    up over edges, each key of a graph whose row is the smaller end contributes its weight after the
    batch less that before, absent pairs nothing, where its ends are apart.

    Attributes
    ----------
    changes : list of Changes
        Of the pairs in each store, those of a graph in both directions; for hypergraphs the pins of
        nets, then the nets of vertices.  Empty if no pair was edited.
    insertions : list of InsertedIds
        New ids with their weights.
    deleted : list of (IdTable, DeletedIds)
        Deleted ids.
    weighed : list of (IdTable, WeightChanges)
        Ids with new weights.
    named : list of (IdNames, Named)
        New names, in order.
    loops, merged, missing : int
        Self loops that were dropped, pairs that were there already, deletions of what was not
        there.
    """

    changes: Sequence[Changes] = ()
    insertions: Sequence[InsertedIds] = ()
    deleted: Sequence[tuple[IdTable, DeletedIds]] = ()
    weighed: Sequence[tuple[IdTable, WeightChanges]] = ()
    loops: int = 0
    merged: int = 0
    missing: int = 0
    totals: TotalChanges = NO_CHANGE
    named: Sequence[tuple[IdNames, Named]] = ()

    @property
    def num_changes(self) -> int:
        """How many arcs or pins have changed."""
        return self.changes[0].length_of("keys") if self.changes else 0

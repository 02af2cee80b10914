"""The update of a batch: what it fixes, and the record from which it can be undone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from portpart.algorithms.edits.batch import Batch, Fixing, InsertedIds
from portpart.algorithms.edits.batch_names import called, deleted_ids
from portpart.algorithms.edits.id_table import DeletedIds, IdTable, WeightChanges
from portpart.algorithms.edits.names import IdNames, Named
from portpart.algorithms.edits.operations import Changes
from portpart.errors import InputError

# The update of a batch: the record from which it can be undone ---------------------------------


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


# Vertices that a batch fixes to blocks or releases ---------------------------------------------


class Fixings(NamedTuple):
    """Vertices, each once, and the block that each is fixed to at the end of a batch; -1: free."""

    ids: np.ndarray
    blocks: np.ndarray


def refuse_missing_fixings(batch: Batch) -> None:
    """Raise if a vertex that a batch fixes does not exist then.

    Raises
    ------
    InputError
    """
    for fixing in batch.fixings:
        _refuse_missing(batch, fixing)


def fixings_of(batch: Batch) -> Fixings:
    """Return the result of all calls of `set_fixed`: the last one of a vertex counts."""
    blocks = dict(pair for fixing in batch.fixings
                  for pair in zip(fixing.ids.tolist(), fixing.blocks.tolist()))
    return Fixings(np.array(list(blocks), np.int64), np.array(list(blocks.values()), np.int32))


def _refuse_missing(batch: Batch, fixing: Fixing) -> None:
    vertices, ids = batch.owner.vertices, fixing.ids
    alive = np.array(vertices.are_alive(ids.tolist()))
    new = [(insertion.first, insertion.first + insertion.number) for insertion in batch.insertions
           if insertion.table is vertices]
    inserted = np.array([any(first <= id < end for first, end in new) for id in ids.tolist()])
    gone = np.isin(ids, list(deleted_ids(batch.deletions.get(vertices, []), fixing.time)))
    missing = np.flatnonzero(~(alive | inserted) | gone)
    if len(missing):
        id = called(vertices, int(ids[missing[0]]))
        raise InputError(f"set_fixed[{missing[0]}] (call {fixing.number} of the batch): id {id} "
                         "does not exist")

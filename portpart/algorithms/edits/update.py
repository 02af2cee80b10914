"""The update of a batch, by which it can be undone, and the vertices that it fixes."""

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

# The update of a batch, by which it can be undone ----------------------------------------------


class TotalChanges(NamedTuple):
    """Changes of the number and weight of pairs, and of the ids of each table."""

    pairs: int
    pair_weight: int
    ids: Sequence[tuple[IdTable, int, int]]


NO_CHANGE = TotalChanges(0, 0, ())


@dataclass(eq=False)  # a frozen one takes longer to make
class Update:
    """The changes that a batch made.

    The ends of changed pairs are the rows of the keys of `changes`.  An objective that is a sum
    over edges changes as follows.  If the ends of a key are in different blocks and its row is the
    smaller end, the key contributes its weight after the batch minus its weight before.  An absent
    pair has weight 0.

    Attributes
    ----------
    changes : list of Changes
        Changes of the pairs in each store.  A graph has one store with both directions; a
        hypergraph has the pins of nets, then the nets of vertices.  Empty if no pair was edited.
    insertions : list of InsertedIds
        New ids with their weights.
    deleted : list of (IdTable, DeletedIds)
        Deleted ids.
    weighed : list of (IdTable, WeightChanges)
        Ids with new weights.
    named : list of (IdNames, Named)
        New names, in order.
    loops, merged, missing : int
        Dropped self loops, inserted pairs that existed already, deletions of missing pairs or ids.
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
        """Number of changed arcs or pins."""
        return self.changes[0].length_of("keys") if self.changes else 0


# Vertices that a batch fixes to blocks or releases ---------------------------------------------


class Fixings(NamedTuple):
    """Vertices, each once, and their fixed blocks after a batch, -1 for free vertices."""

    ids: np.ndarray
    blocks: np.ndarray


def refuse_missing_fixings(batch: Batch) -> None:
    """Check that every vertex that a batch fixes exists at that time.

    Raises
    ------
    InputError
        If one does not.
    """
    for fixing in batch.fixings:
        _refuse_missing(batch, fixing)


def fixings_of(batch: Batch) -> Fixings:
    """Return the result of all calls of `set_fixed`: the last call for a vertex counts."""
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

"""The edits of a round, and the log of moves for undo."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from portpart.algorithms import edits
from portpart.algorithms.objectives import Balance
from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace

# The edits of a round: new vertices, deleted ones, new weights, changed pairs ------------------
#
# Kinds of edits that a batch lacks are empty arrays, so that one program serves every batch.


FEW = 1024
"""One team places up to this many new vertices."""


class NotReady(Exception):
    """Raised if a batch must be complete before refinement can begin."""


class EditCounts(kl.Words):
    """Numbers of edits of each kind.

    Attributes
    ----------
    inserted, first : int
        Number of new vertices; the first id, if their ids are consecutive.
    few, many : int
        Whether there are at most `FEW` new vertices, or more.
    deleted, weighed, changed : int
        Numbers of deleted vertices, new weights and changed pairs.
    activated, active_pairs : int
        Numbers of new vertices and changed pairs that refinement examines: all or none.  Without a
        batch `activated` counts other vertices, which are listed in the place of new ones.
    go : int
        Whether the round is to run.
    unsure : int
        1 if the batch is still being applied.  `changed` is then the number of given pairs times
        `directions`; the batch's outcome adds the cleared ones.
    directions, stores, lost, activates : int
        The prediction: directions of each pair, stores that the batch writes, weight of deleted
        vertices; and whether refinement examines pairs.
    """

    inserted: int
    first: int
    few: int
    many: int
    deleted: int
    weighed: int
    changed: int
    activated: int
    active_pairs: int
    go: int
    unsure: int
    directions: int
    stores: int
    lost: int
    activates: int


class NewLimits(kl.Words):
    """New limits, equal for all blocks.

    Attributes
    ----------
    limited : int
        Number of blocks; 0 if there are no new limits, or if limits differ between blocks.
    limit, mean, open_below : int
        As in `Blocks`.
    """

    limited: int
    limit: int
    mean: int
    open_below: int


SAME_LIMITS = NewLimits.of()
"""Blocks keep their limits."""


class NewVertices(kl.Record):
    """New vertices, and the state of all ids.

    Attributes
    ----------
    ids : array of int32, or None
        None if they are consecutive.
    deletions : array of int32
        As in `IdTable`.
    """

    ids: Array | None
    deletions: Array


@kl.device
def new_vertex(i, inserted: NewVertices, counts: EditCounts):
    """Return the i-th new vertex."""
    return kl.value_or(inserted.ids, i, counts.first + i)


@kl.kernel
def learn_outcome(_, outcome: edits.BatchCounters, counts: EditCounts):
    """Add the number of cleared pairs; continue only if the prediction held."""
    counts.changed += counts.directions * outcome[edits.EditCounters.cleared]
    counts.active_pairs = counts.activates * counts.changed
    written = (outcome[edits.EditCounters.written]
               + outcome[edits.OF_SECOND + edits.EditCounters.written])
    counts.go = kl.int64(written == counts.stores
                      and outcome[edits.OF_VERTICES + edits.EditCounters.weight] == -counts.lost)


class Nothing:
    """Empty arrays for each kind of edit, created once."""

    def __init__(self, space: ExecutionSpace) -> None:
        none, none32 = space.empty(0, np.int64), space.empty(0, np.int32)
        self.deleted = edits.DeletedIds(none32, none32, none32, none32, none)
        self.weighed = edits.WeightChanges(none32, none, none, 0)
        self.changes = edits.Changes(none, none, none, none32, none)
        self.outcome = edits.BatchCounters(none)
        self._inserted: NewVertices | None = None

    def inserted(self, deletions: Array) -> NewVertices:
        """Return new vertices with consecutive ids; the same record until `deletions` changes."""
        if self._inserted is None or self._inserted.deletions is not deletions:
            self._inserted = NewVertices(None, deletions)
        return self._inserted


def records_of(update: edits.Update, vertices: edits.IdTable, nothing: Nothing, refine: bool,
               limits: Balance | None, expected: edits.PredictedOutcome | None,
               activated: Array | None = None) -> dict[str, Any]:
    """Return the records of an update for a program; `limits` are equal for all blocks.

    `expected` is the predicted outcome of a batch that is still being applied.  `activated` are
    vertices that refinement examines if there is no batch.
    """
    insertions = [insertion for insertion in update.insertions if insertion.table is vertices]
    deleted, weighed = edits_of(update, vertices, nothing)
    changes = update.changes[-1] if update.changes else nothing.changes
    inserted, changed = sum(insertion.number for insertion in insertions), changes.length_of("keys")
    unsure = {}
    if expected is not None:
        changed = expected.operations * expected.directions
        unsure = {"unsure": 1, "directions": expected.directions, "stores": expected.stores,
                  "lost": expected.deleted, "activates": int(refine)}
    ids = _ids(vertices.space, insertions) if activated is None else activated
    return {
        "inserted": nothing.inserted(vertices.deletions) if ids is None
        else NewVertices(ids, vertices.deletions),
        "deleted": deleted, "weighed": weighed, "changes": changes,
        "outcome": nothing.outcome if expected is None else expected.outcome,
        "counts": EditCounts.of(
            inserted=inserted, first=insertions[0].first if insertions else 0,
            few=int(0 < inserted <= FEW),
            many=int(inserted > FEW), deleted=deleted.length_of("effective"),
            weighed=weighed.length, changed=changed,
            activated=len(activated) if activated is not None else inserted if refine else 0,
            active_pairs=changed if refine else 0, go=1, **unsure),
        "new_limits": SAME_LIMITS if limits is None else NewLimits.of(
            limited=limits.num_blocks, limit=limits.max_block_weight,
            mean=limits.mean_block_weight, open_below=limits.one_open_below),
    }


def edits_of(update: edits.Update, table: edits.IdTable,
             nothing: Nothing) -> tuple[edits.DeletedIds, edits.WeightChanges]:
    """Return the deleted ids of a table, and its ids with new weights."""
    deleted = next((each for kind, each in update.deleted if kind is table), nothing.deleted)
    weighed = next((each for kind, each in update.weighed if kind is table), nothing.weighed)
    return deleted, weighed


def _ids(space: ExecutionSpace, insertions: Sequence[edits.InsertedIds]) -> Array | None:
    end = insertions[0].first if insertions else 0
    for insertion in insertions:
        if insertion.first != end:
            return space.asarray(np.concatenate([
                np.arange(insertion.first, insertion.first + insertion.number) for insertion
                in insertions]), np.int32)
        end += insertion.number
    return None


def touched(update: edits.Update) -> int:
    """Return the number of pairs and vertices that a batch edits."""
    return (sum(changes.length_of("keys") for changes in update.changes)
            + sum(insertion.number for insertion in update.insertions)
            + sum(deleted.length_of("effective") for _, deleted in update.deleted)
            + sum(weighed.length for _, weighed in update.weighed))


# Current and previous blocks of vertices: what rounds report, and how they are undone ----------


NONE = -1


class RoundResult(NamedTuple):
    """The result of a round.

    Attributes
    ----------
    cost, iterations : int
    affected : int
        Vertices that were active at first.
    moved, migration : int
        Number and total size of earlier vertices that have left their previous block.
    journaled : int
        Length of the lists of moved vertices.
    weights : numpy.ndarray of int64, shape (k,)
        Weights of the blocks.
    """

    cost: int
    iterations: int
    affected: int
    moved: int
    migration: int
    journaled: int
    weights: np.ndarray


class LivePartition(NamedTuple):
    """The partition of the existing vertices; each array has one entry per vertex.

    Attributes
    ----------
    part : array of int32
    sizes : array of int64, or None
    fixed : array of int32, or None
    """

    part: Array
    sizes: Array | None
    fixed: Array | None


class MoveLog(NamedTuple):
    """The moves of a round, for undo.

    Attributes
    ----------
    listed, left : array of int32
        Vertices that have moved, and the blocks that they left; -1 if the vertex was new.
    """

    listed: Array
    left: Array

    def kept(self, space: ExecutionSpace) -> MoveLog:
        """Return a copy that later rounds do not change."""
        return MoveLog(space.copy(self.listed), space.copy(self.left))


@kl.kernel
def write_left(i, listed, left, part):
    """Write the block that listed vertex i left, if the vertex exists and had one."""
    if left[i] >= 0 and part[listed[i]] >= 0:
        part[listed[i]] = left[i]


@kl.kernel
def write_existing_block(v, best, deletions, part):
    """Set part[v] to the block of v, -1 if v does not exist."""
    part[v] = best[v] if deletions[v] == edits.ALIVE else kl.int32(NONE)

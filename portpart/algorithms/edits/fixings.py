"""Vertices that a batch fixes to blocks or releases."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from portpart.algorithms.edits.batch import Batch, Fixing
from portpart.algorithms.edits.batch_names import called, deleted_ids
from portpart.errors import InputError


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

"""How much memory a session takes: what it keeps, in addition to its partitions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from portpart.algorithms.incremental.incremental_refiner import room_for
from portpart.algorithms.incremental.nets import spare_rows
from portpart.algorithms.refinement.local.local import Journal
from portpart.algorithms.refinement.sizes import RefinementSizes
from portpart.api.memory_model import (
    OF_VERTEX,
    OF_WORD,
    LevelSize,
    MemoryEstimate,
    MemoryModel,
)
from portpart.api.memory_nets import NetLevelSize
from portpart.graphs.row_store import SPARE_ELEMENTS, SPARE_ROWS, with_spare

OF_ID = np.dtype(np.int32).itemsize + OF_WORD
"""Bytes of the deletion time of an id, and of its weight."""

PARTS = 2
"""Partitions that are held while all levels are refined: the one before, and the best."""


def with_session(estimate: MemoryEstimate, finest: LevelSize, num_blocks: int,
                 model: MemoryModel, edge_weights: bool) -> MemoryEstimate:
    """The estimate of a partition, with what a session has while it makes one.

    Parameters
    ----------
    finest : LevelSize
        The graph that the session begins with.
    edge_weights : bool
        Whether that has them.
    """
    n = finest.num_vertices
    levels = int(n / (1 - model.vertices))
    previous_blocks = (OF_VERTEX + OF_WORD) * levels + PARTS * OF_VERTEX * n
    again = finest.own_bytes + OF_WORD * n
    kept = _stored(finest, edge_weights) + _followed(finest, num_blocks, model)
    return replace(estimate.plus(kept + previous_blocks + again), graph=estimate.graph,
                   session=kept)


def _stored(finest: LevelSize, edge_weights: bool) -> int:
    """Bytes of rows and of ids, with spare room."""
    ids, pools, of_entry = with_spare(finest.num_vertices, SPARE_ROWS), 1, OF_VERTEX
    if isinstance(finest, NetLevelSize):
        ids, pools = ids + with_spare(finest.num_nets, SPARE_ROWS), 2
    elif edge_weights:
        of_entry += finest.weight_bytes
    of_row = 2 * finest.offset_bytes + OF_VERTEX
    elements = with_spare(finest.num_arcs, SPARE_ELEMENTS)
    return (of_row + OF_ID) * ids + pools * of_entry * elements


def _followed(finest: LevelSize, num_blocks: int, model: MemoryModel) -> int:
    """Bytes of what refinement around edits keeps: work arrays, previous blocks, and the state of
    nets.
    """
    roomy = replace(finest, num_vertices=room_for(finest.num_vertices))
    if isinstance(roomy, NetLevelSize):
        roomy = replace(roomy, num_nets=with_spare(roomy.num_nets, SPARE_ROWS),
                        num_arcs=with_spare(roomy.num_arcs, SPARE_ELEMENTS),
                        large=roomy.large + spare_rows(num_blocks))
    sizes = RefinementSizes(roomy.num_vertices, roomy.num_arcs, num_blocks)
    return (model.refining_bytes(roomy, num_blocks) + Journal.num_bytes(sizes)
            + OF_WORD * roomy.num_vertices)

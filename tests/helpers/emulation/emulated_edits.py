"""Edits of small graphs and hypergraphs, and partitions that follow them, on any space."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from portpart.algorithms.edits.batch import GraphBatch
from portpart.algorithms.edits.editable import EditableGraph, EditableHypergraph
from portpart.algorithms.incremental.critical_pins import CRITICAL_PINS
from portpart.algorithms.incremental.incremental_refiner import IncrementalRefiner
from portpart.algorithms.incremental.pseudo import PSEUDO_BLOCK
from portpart.algorithms.objectives.cut import CUT
from portpart.algorithms.objectives.limits import Balance
from portpart.algorithms.objectives.net_cost import net_objective
from portpart.algorithms.objectives.objective import Objective
from portpart.errors import InputError
from portpart.graphs.row_store import HALF_MORE, RowGrowth
from tests import oracles

ALL_WIDE = RowGrowth(150, 8, 4, 0, 0)
"""Elements of all rows move on their own."""


def edited_graph(graph: Any) -> np.ndarray:
    """A graph after batches, of which one is refused and one undone."""
    edited = EditableGraph(graph)
    refused = edited.batch()
    refused.delete_vertices([3, 3])
    with contextlib.suppress(InputError):
        edited.apply(refused)
    for turn in range(2):
        edited.arcs.growth = ALL_WIDE if turn else HALF_MORE
        mark = edited.mark()
        batch = edited.batch()
        new = batch.insert_vertices([4, 5])
        batch.insert_edges(new.repeat(12), np.arange(24), np.arange(24))
        batch.set_vertex_weights([5, 6, 5], [7, 8, 9])
        batch.delete_vertices([2, 40])
        edited.apply(batch)
        if turn == 0:
            edited.undo(mark)
    edited.arcs.compact()
    for _ in range(2):
        small = edited.batch()
        small.insert_edges([1, 3], [20, 9])
        edited.apply(small)
    arrays = edited.graph().arrays.values()
    return np.concatenate([*map(oracles.host, arrays), _followed(edited, 3, CUT)])


def _followed(edited: Any, k: int, objective: Objective) -> np.ndarray:
    """Blocks after some more edits, and refinement around some vertices."""
    n, space = edited.vertices.count, edited.space
    start = (np.random.default_rng(2).random(n) ** 2 * k).astype(np.int32)
    incremental = IncrementalRefiner(edited, space.asarray(start), lambda total: Balance(
        k, total // k + 120 // k, total // k), objective, 5)
    for side in edited.sides:
        side.store.compact()
    batch = edited.batch()
    batch.insert_vertices(2)
    new = batch.insert_vertices([1, 3])
    batch.set_vertex_weights([8, 9], [3, 1])
    batch.delete_vertices([4, 11])
    if isinstance(batch, GraphBatch):
        batch.insert_edges(new, [20, 21])
    else:
        batch.set_net_weights([3, 8], 5)
        batch.delete_nets(6)
        batch.insert_pins([12, 13], new)
        batch.insert_pins(np.full(n - 12, 14), np.arange(12, n))
    mark, begun = edited.mark(), incremental.last
    update = edited.apply(batch)
    found = incremental.follow(update)
    part = oracles.host(incremental.before(update))
    incremental.undo(incremental.moves(incremental.last), undoing=True)
    incremental.recount(begun, edited.undo(mark))
    small = edited.batch()
    ends = small.insert_vertices(count=2), [3, 12]
    if isinstance(small, GraphBatch):
        small.insert_edges(*ends)
    else:
        small.insert_pins([4, 5], ends[0])
    incremental.reserve()
    applying = edited.begin(small)
    incremental.follow_early(applying.expect(), True)
    last = incremental.follow(edited.end(applying))
    assert applying.prediction_held
    near = incremental.refine_near(space.asarray(np.arange(edited.vertices.count) % 9 == 0))
    return np.concatenate([part, oracles.host(incremental.part), *(
        np.append(each.weights, each.cost) for each in (found, last, near))])


def edited_nets(graph: Any) -> np.ndarray:
    """A hypergraph after a batch, and one that is undone and too large for one look."""
    edited = EditableHypergraph(graph)
    mark, many = edited.mark(), edited.batch()
    many.insert_nets(np.arange(0, 2001, 20), np.tile(np.arange(20), 100))
    edited.apply(many)
    edited.undo(mark)
    batch = edited.batch()
    nets = batch.insert_nets([0, 9, 12], [*range(8, -1, -1), 3, 1, 2])
    batch.insert_pins(np.arange(10).repeat(3), np.arange(30))
    batch.delete_pins(nets[0], [4, 5])
    batch.delete_vertices([2, 7])
    batch.delete_nets([1, 30])
    edited.apply(batch)
    arrays = edited.hypergraph().arrays.values()
    return np.concatenate([*(oracles.host(array) for array in arrays if array is not None),
                           _followed(edited, 66, net_objective("km1"))])


def by_pseudo_block(graph: Any, k: int = 3) -> np.ndarray:
    """A partition that follows batches, which fill blocks to their limits."""
    n, edited, space = graph.num_vertices, EditableGraph(graph), graph.space
    part = space.asarray(np.arange(n) * k // n, np.int32)

    def balance_of(total: int) -> Balance:
        return Balance(k, 21 * total // (20 * k), total // k)

    incremental = IncrementalRefiner(edited, part, balance_of, CUT, 1, pieces=PSEUDO_BLOCK)
    found = []
    for turn in range(3):
        batch = edited.batch()
        new = batch.insert_vertices(np.arange(20) % 3 + 1)
        batch.insert_edges(new.repeat(8), 9 + np.arange(160) % 30, np.arange(160) % 5)
        batch.delete_edges(np.arange(9, n - 9), np.arange(10, n - 8), missing="ignore")
        batch.set_vertex_weights([15, 16], [7, 8])
        batch.delete_vertices([2 * turn, n - 1 - turn])
        incremental.reserve()
        found += [incremental.follow(edited.apply(batch)).weights]
    return np.concatenate([*found, oracles.host(incremental.existing_part())])


def by_critical_pins(graph: Any, k: int = 3) -> np.ndarray:
    """The same of a hypergraph; the first block is too heavy."""
    n, edited, space = graph.num_vertices, EditableHypergraph(graph), graph.space
    part = space.asarray(np.maximum(0, np.arange(n) * (k + 1) // n - 1), np.int32)

    def balance_of(total: int) -> Balance:
        return Balance(k, 21 * total // (20 * k), total // k)

    incremental = IncrementalRefiner(edited, part, balance_of, net_objective("km1"), 1,
                                     pieces=CRITICAL_PINS)
    found = []
    for turn in range(2):
        batch = edited.batch()
        new = batch.insert_vertices(np.arange(9) % 3 + 1)
        batch.insert_pins(np.arange(18), new.repeat(2))
        batch.insert_pins(20 + np.arange(9), 30 + np.arange(9))
        batch.set_vertex_weights([15, 16], [9, 9])
        batch.delete_vertices([2 * turn, n - 1 - turn])
        incremental.reserve()
        found += [incremental.follow(edited.apply(batch)).weights]
    return np.concatenate([*found, oracles.host(incremental.existing_part())])

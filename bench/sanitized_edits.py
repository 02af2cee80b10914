"""Batches of edits that touch every kernel, for `bench.sanitized`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np


def edits(space: Any, graphs: dict[str, Any],
          ) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield batches on graphs: refused, applied, undone."""
    for name, graph in graphs.items():
        yield f"edits, {name}", partial(_edit, graph.to(space))
        yield f"edits of nets, {name}", partial(_edit_nets, graph.to(space))
        yield f"pseudo block, {name}", partial(_by_pseudo_block, graph.to(space))
        yield f"ihyperg, {name}", partial(_by_critical_pins, graph.to(space))


def _by_pseudo_block(graph: Any) -> None:
    from portpart.algorithms.edits.editable import EditableGraph
    from portpart.algorithms.incremental.incremental_refiner import IncrementalRefiner
    from portpart.algorithms.incremental.pseudo import PSEUDO_BLOCK
    from portpart.algorithms.objectives.cut import CUT
    from portpart.algorithms.objectives.limits import Balance

    edited, n, space = EditableGraph(graph), graph.num_vertices, graph.space
    random = np.random.default_rng(8)
    incremental = IncrementalRefiner(
        edited, space.asarray(np.arange(n) * 6 // n, np.int32),
        lambda total: Balance(6, 21 * total // 120, total // 6), CUT, 1,
        pieces=PSEUDO_BLOCK)
    for _ in range(3):
        batch = edited.batch()
        ids = batch.insert_vertices(random.integers(1, 9, 100))
        alive = edited.ids[:n]
        batch.insert_edges(ids.repeat(3), random.choice(alive[: n // 6], 300))
        batch.insert_edges(*random.choice(alive, (2, n)))
        batch.delete_edges(*random.choice(alive, (2, n)), missing="ignore")
        batch.set_vertex_weights(alive[:2], 9)
        batch.delete_vertices(random.choice(alive[2:], 10), missing="ignore")
        incremental.reserve()
        incremental.follow(edited.apply(batch))


def _by_critical_pins(graph: Any) -> None:
    import portpart
    from portpart.algorithms.edits.editable import EditableHypergraph
    from portpart.algorithms.incremental.critical_pins import CRITICAL_PINS
    from portpart.algorithms.incremental.incremental_refiner import IncrementalRefiner
    from portpart.algorithms.objectives.limits import Balance
    from portpart.algorithms.objectives.net_cost import net_objective

    edited = EditableHypergraph(portpart.as_hypergraph((graph.offsets, graph.targets)))
    n, space, random = edited.vertices.count, edited.space, np.random.default_rng(8)
    incremental = IncrementalRefiner(
        edited, space.asarray(np.maximum(0, np.arange(n) * 9 // n - 3), np.int32),
        lambda total: Balance(6, 21 * total // 120, total // 6), net_objective("km1"), 1,
        pieces=CRITICAL_PINS)
    for _ in range(3):
        batch = edited.batch()
        ids, alive = batch.insert_vertices(random.integers(1, 9, 100)), edited.ids[:n]
        batch.insert_pins(random.integers(0, n // 6, 300), ids.repeat(3))
        batch.insert_pins(random.integers(0, n, n), random.choice(alive, n))
        batch.set_vertex_weights(alive[:9], 9)
        batch.delete_vertices(random.choice(alive[9:], 10), missing="ignore")
        incremental.reserve()
        incremental.follow(edited.apply(batch))


def _edit_nets(graph: Any) -> None:
    import portpart
    from portpart.algorithms.edits.editable import EditableHypergraph
    from portpart.algorithms.objectives.net_cost import net_objective

    edited = EditableHypergraph(portpart.as_hypergraph((graph.offsets, graph.targets)))
    mark, n = edited.mark(), min(table.count for table in edited.tables)
    random = np.random.default_rng(7)
    batch = edited.batch()
    batch.insert_nets([0, 200, 300], random.integers(0, n, 300))
    batch.insert_pins(*random.integers(0, n, (2, 2 * n)))
    batch.delete_pins(*random.integers(0, n, (2, 2 * n)), missing="ignore")
    batch.delete_vertices(random.integers(0, n, 10), missing="ignore")
    batch.delete_nets(random.integers(0, n, 10), missing="ignore")
    edited.apply(batch)
    edited.hypergraph()
    edited.undo(mark)
    batch = edited.batch()
    batch.insert_vertices(3)
    batch.delete_vertices([1, 5])
    batch.insert_pins(np.arange(1000) % 5, np.resize(np.arange(6, n), 1000))
    batch.set_net_weights([4, 5], 7)
    batch.delete_nets(3)
    _follow(edited, batch, 70, net_objective("km1"))


def _edit(graph: Any) -> None:
    import contextlib

    from portpart.algorithms.edits.editable import EditableGraph
    from portpart.algorithms.objectives.cut import CUT
    from portpart.errors import InputError
    from portpart.graphs.row_store import HALF_MORE, RowGrowth

    edited, n = EditableGraph(graph), graph.num_vertices
    random = np.random.default_rng(6)
    refused = edited.batch()
    refused.delete_vertices([3, 3])
    with contextlib.suppress(InputError):
        edited.apply(refused)
    for turn in range(3):
        edited.arcs.growth = RowGrowth(150, 8, 4, 0, 0) if turn == 1 else HALF_MORE
        mark = edited.mark()
        batch = edited.batch()
        new = batch.insert_vertices([4, 5])
        u, v, weights = random.integers(0, n, (3, 2 * n))
        batch.insert_edges(u, v, weights)
        batch.insert_edges(new.repeat(40), np.arange(80) % n)
        batch.delete_edges(u[n:], v[n:], missing="ignore")
        ids = random.integers(0, n, 10)
        batch.set_vertex_weights(ids, 9)
        batch.delete_vertices(ids, missing="ignore")
        edited.apply(batch)
        edited.graph()
        edited.undo(mark)
    edited.arcs.compact()
    for _ in range(2):
        small = edited.batch()
        small.insert_vertices(count=2)
        small.insert_edges([1, 3], [20, 9])
        edited.apply(small)
    batch = edited.batch()
    batch.insert_edges(batch.insert_vertices([1, 2]), [7, 8])
    batch.insert_vertices(count=1100)
    batch.set_vertex_weights([8, 9], [3, 1])
    batch.delete_vertices([4, 11])
    _follow(edited, batch, 3, CUT)


def _follow(edited: Any, batch: Any, k: int, objective: Any) -> None:
    """Let a partition follow a batch, and take back who has moved."""
    from portpart.algorithms.incremental.incremental_refiner import IncrementalRefiner
    from portpart.algorithms.objectives.limits import Balance

    start = (np.random.default_rng(8).random(edited.vertices.count) ** 2 * k).astype(np.int32)
    incremental = IncrementalRefiner(edited, edited.space.asarray(start), lambda total: Balance(
        k, total // k + 40, total // k), objective, 5)
    for side in edited.sides:
        side.store.compact()
    incremental.reserve()
    mark, begun = edited.mark(), incremental.last
    update = edited.apply(batch)
    incremental.follow(update)
    incremental.before(update)
    incremental.undo(incremental.moves(incremental.last), undoing=True)
    incremental.recount(begun, edited.undo(mark))
    small = edited.batch()
    ends = small.insert_vertices(count=2), [14, 15]
    if hasattr(small, "insert_edges"):
        small.insert_edges(*ends)
    else:
        small.insert_pins(*reversed(ends))
    incremental.reserve()
    applying = edited.begin(small)
    incremental.follow_early(applying.expect(), True)
    update = edited.end(applying)
    incremental.follow(update)
    elsewhere = incremental.existing_part() >= 0
    elsewhere[9:] = False
    placed = edited.space.copy(incremental.part)
    placed[elsewhere] = 1
    incremental.restart(placed)
    incremental.refine_near(elsewhere)

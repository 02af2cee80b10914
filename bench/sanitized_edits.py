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


def _edit_nets(graph: Any) -> None:
    import portpart
    from portpart.algorithms.edits import EditableHypergraph

    edited = EditableHypergraph(portpart.as_hypergraph((graph.offsets, graph.targets)))
    mark, n = edited.mark(), min(living.count for living in edited.living)
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


def _edit(graph: Any) -> None:
    import contextlib

    from portpart.algorithms.edits import EditableGraph
    from portpart.errors import InputError

    edited, n = EditableGraph(graph), graph.num_vertices
    random = np.random.default_rng(6)
    refused = edited.batch()
    refused.delete_vertices([3, 3])
    with contextlib.suppress(InputError):
        edited.apply(refused)
    for _ in range(3):
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

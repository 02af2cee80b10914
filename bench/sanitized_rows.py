"""Runs for `bench.sanitized` that draw the rows of ranges of vertices."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any


def rows_of_ranges(space: Any, graphs: dict[str, Any]) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield ranges of graphs that are drawn by hashes."""
    from portpart.generators import shares

    kinds = {"grid": shares.grid_3d(7), "points": shares.jittered_rgg(9),
             "mesh": shares.jittered_mesh(20), "rmat": shares.rmat(8)}
    for name, graph in kinds.items():
        for each in (graph, shares.weighted(shares.permuted(graph), 9, 9)):
            yield f"rows of {name}", partial(each.rows, 100, graph.num_vertices, space)

"""What METIS is asked for while a test runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from unittest import mock

import pymetis


class Asked(NamedTuple):
    """One call of METIS."""

    num_blocks: int
    num_vertices: int
    recursive: bool
    ufactor: int


@contextmanager
def watching_metis() -> Iterator[list[Asked]]:
    """Yield a list that gets each call."""
    asked: list[Asked] = []
    part_graph = pymetis.part_graph

    def watched(num_blocks: int, adjacency: Any, *, recursive: bool, options: Any,
                **others: Any) -> Any:
        asked.append(Asked(num_blocks, len(adjacency.adj_starts) - 1, recursive, options.ufactor))
        return part_graph(num_blocks, adjacency, recursive=recursive, options=options, **others)

    with mock.patch.object(pymetis, "part_graph", watched):
        yield asked

"""Graphs cut into rows of ranks, for tests."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from portpart import backends
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.graph import Graph
from portpart.graphs.ranks.moving import Moved, move_vertices
from portpart.graphs.ranks.rank_rows import DistributedGraph
from tests.conftest import cuda_space, host_cuda_space
from tests.helpers.emulation.lanes import LanesSpace
from tests.helpers.emulation.stand_in_gpu import StandInGpu
from tests.helpers.ranks.cut_rows import borders

SIZES = (1, 2, 3, 5, 8)

DEVICES = ("stand-in", *(pytest.param(f"cuda {mode}", marks=pytest.mark.gpu)
                         for mode in ("resident", "walk")))
"""Spaces whose arrays are not those of NumPy."""

SPACES = ("cpu-1", "cpu-2", "lanes", *DEVICES)
"""Each way to run programs that communicate."""


@cache
def space_of(name: str) -> ExecutionSpace:
    """A space by its name; skips where there is no such device."""
    kind, _, mode = name.partition(" ")
    if kind == "cuda":
        shared: Any = cuda_space()
        if mode not in shared.program_modes():
            pytest.skip(f"programs do not run in the mode {mode!r} here")
        made: Any = type(shared)(shared.device_id)
        made.program_mode, made.kernels.modules.quick = mode, False
        return made  # type: ignore[no-any-return]
    makers: dict[str, Any] = {
        "cpu-1": lambda: backends.space("cpu", threads=1),
        "cpu-2": lambda: backends.space("cpu", threads=2),
        "lanes": lambda: LanesSpace(3), "host-cuda": host_cuda_space, "stand-in": StandInGpu}
    return makers[kind]()  # type: ignore[no-any-return]


def with_sizes(*axes: Iterable[str]) -> list[tuple[Any, ...]]:
    """All combinations of names, in turn with 1, 3 and 8 ranks and with 2 and 5."""
    return [(*(name for _, name in each), size) for each in product(*map(enumerate, axes))
            for size in SIZES[sum(place for place, _ in each) % 2 :: 2]]


def move_anywhere(graph: DistributedGraph, seed: int) -> Moved:
    """The graph with its vertices on any ranks, in any order; some ranks may get none."""
    size = graph.comm.size
    count = 3 * size + 1
    first = borders(count, size, seed)
    rng = np.random.default_rng([seed, graph.comm.rank])
    groups = graph.space.asarray(rng.integers(0, count, graph.local.num_vertices).astype(np.int32))
    return move_vertices(graph, groups, np.array(first, np.int64))


def cut_graphs(graphs: st.SearchStrategy[Graph]) -> st.SearchStrategy[tuple[Graph, list[int]]]:
    """A graph, and borders of a few ranks."""
    return st.tuples(graphs, st.sampled_from(SIZES), st.integers(0, 999)).map(
        lambda drawn: (drawn[0], borders(drawn[0].num_vertices, drawn[1], drawn[2])))

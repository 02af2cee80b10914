"""Large calls get by with the memory that is estimated, though pools cannot join what they hold.

Scaled down: what a call on a CPU allocates is in a model of CuPy's pool (`cupy_pool.py`), on a
device of as many bytes as are estimated.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import portpart
from bench.counting_space import CountingSpace
from bench.recipes import copied, run
from bench.scale import cube
from portpart import generators
from portpart.algorithms.coarsening import row_pieces
from portpart.algorithms.multilevel.trace import Trace
from portpart.backends.cuda.transfer import HeldMemory
from portpart.backends.programs import arrays as work
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.hypergraph import EitherGraph
from tests.helpers.emulation.cupy_pool import UNIT, Full, Pool
from tests.helpers.emulation.stand_in_gpu import StandInGpu
from tests.helpers.spaces import reference

DEVICE = 139 * 2**30
"""Bytes of the device that the one of a test stands for."""

GRAPHS: dict[str, Callable[[ExecutionSpace], EitherGraph]] = {
    "cube": lambda space: cube(space, 42),
    "mesh": lambda space: copied(generators.delaunay(20_000), space),
    "rmat": lambda space: copied(generators.rmat(13), space),
    "netlist": lambda space: copied(generators.netlist(8_000), space),
}


class PooledSpace(CountingSpace):
    """Its arrays are in a pool, as those of a GPU are."""

    def __init__(self, pool: Pool, gives_back: bool = True) -> None:
        super().__init__(1)
        self.pool = pool
        self.memory = HeldMemory(lambda: pool, pool.limit if gives_back else 2**60)

    def empty(self, n: int, dtype: Any) -> Any:
        if n > self.memory.large:
            self.memory.make_place(n * np.dtype(dtype).itemsize)
        return super().empty(n, dtype)

    def _counted(self, array: np.ndarray) -> np.ndarray:
        chunk = self.pool.malloc(array.nbytes)
        weakref.finalize(array, self.pool.free, chunk)
        return super()._counted(array)


@pytest.fixture
def estimate_for(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], int]:
    """Bytes for a call, when sizes that are fixed are as small as a device of so many is."""
    def estimate(name: str) -> int:
        graph = GRAPHS[name](reference())
        whole = portpart.memory_estimate(like=graph, k=2, preset="fast").peak
        scratch = row_pieces.MAX_SCRATCH * whole // DEVICE
        monkeypatch.setattr(row_pieces, "MAX_SCRATCH", scratch)
        monkeypatch.setattr(work, "MIN_RESERVED", work.MIN_RESERVED * whole // DEVICE)
        return portpart.memory_estimate(like=graph, k=2, preset="fast").peak

    return estimate


def partition_in(pool: Pool, name: str, gives_back: bool = True) -> None:
    space = PooledSpace(pool, gives_back)
    graph = GRAPHS[name](space)
    pool.free_all_blocks()
    run(graph, 2, "portpart", "fast", 1, Trace(space, graph, None))


@pytest.mark.parametrize("name", GRAPHS)
def test_calls_get_by_with_what_is_estimated(name: str,
                                             estimate_for: Callable[[str], int]) -> None:
    """And with more, where other pieces are divided."""
    estimate = estimate_for(name)
    for share in (1, 1.07):
        partition_in(Pool(int(share * estimate)), name)


def test_a_cube_would_not_if_nothing_were_given_back(estimate_for: Callable[[str], int]) -> None:
    pool = Pool(estimate_for("cube"))
    with pytest.raises(Full):
        partition_in(pool, "cube", gives_back=False)


def test_large_arrays_have_place_made_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """While less than half of a device is held, nothing is given back: to ask for it takes time."""
    space, pool = StandInGpu(), Pool(2**20)
    monkeypatch.setattr(space, "memory", HeldMemory(lambda: pool, pool.limit))
    pool.free(pool.malloc(2**18))
    space.empty(2**10, np.int64)
    assert pool.held == 2**18
    space.empty(2**5, np.int64)
    kept = pool.malloc(2**10)
    space.empty(2**17, np.int32)
    assert pool.held == 2**18  # a part of it is in use
    pool.free(kept)
    space.empty(2**6, np.int64)
    assert pool.held == 2**18
    space.empty(2**17, np.int32)
    assert pool.held == 0


def test_the_model_joins_neighbours_only() -> None:
    """By hand: 4 and 3 units of one piece, the latter in use; then what is asked at once."""
    pool = Pool(10 * UNIT)
    first = pool.malloc(7 * UNIT)
    pool.free(first)
    four, three = pool.malloc(4 * UNIT), pool.malloc(3 * UNIT - 5)
    pool.free(four)
    assert (pool.total_bytes(), pool.free_bytes()) == (7 * UNIT, 4 * UNIT)
    with pytest.raises(Full):
        pool.malloc(5 * UNIT)
    pool.free(three)
    assert pool.malloc(8 * UNIT).size == 8 * UNIT  # the piece of 7 was returned for it
    assert (pool.held, pool.used) == (8 * UNIT, 8 * UNIT)

"""Timings of the pieces: launches, programs, primitives, phases; reported, never asserted.

    python -m pytest bench/pieces.py                        # every space that works here
    python -m pytest bench/pieces.py -k scan --space cpu --space cpu-1 --size 100000000

Throughput counts the bytes that an ideal implementation moves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bench.instances import by_name
from portpart import backends
from portpart.algorithms.coarsening.contraction import clusters_of_matching, contract
from portpart.backends.interface import ExecutionSpace
from portpart.backends.language import kernel
from portpart.backends.program import Program
from portpart.errors import DeviceUnavailable
from portpart.primitives.basic import copy, fill, gather, iota, scatter
from portpart.primitives.histogram import histogram
from portpart.primitives.reduce import argmax_of, sum_of
from portpart.primitives.scan import exclusive_scan
from portpart.primitives.segments import segment_scan, segment_sum, unique_of
from portpart.primitives.select import positions_of
from portpart.primitives.sort import sort_by_key

TINY_STEPS = 1000

GRAPHS = ("delaunay_2^17", "rmat_2^14")


@kernel
def touch(i, values):
    """values[i] += 1."""
    values[i] += 1


@kernel
def touch_many(i, a, b, c, d, e, f, g, h, x, y):
    """Read many arguments."""
    a[i] += b[i] + c[i] + d[i] + e[i] + f[i] + g[i] + h[i] + x * y


@kernel
def count_down(_, left, values):
    """Decrease left[0] and touch a value."""
    left[0] -= 1
    values[0] += 1


@pytest.fixture
def space(space_name: str) -> ExecutionSpace:
    device, _, threads = space_name.partition("-")
    try:
        return backends.space(device, threads=int(threads) if threads else None)
    except (DeviceUnavailable, ImportError) as error:
        pytest.skip(str(error))


def measure(
    benchmark: Any, space: ExecutionSpace, work: Callable[[], Any], moved: int | None = None
) -> None:
    """Time `work` until its device is idle; `moved` bytes give a throughput."""

    def whole() -> None:
        work()
        space.synchronize()

    whole()
    benchmark.extra_info["space"] = space.name
    benchmark(whole)
    if moved and benchmark.stats:
        benchmark.extra_info["GB/s"] = round(moved / benchmark.stats.stats.min / 1e9, 3)


def random_integers(space: ExecutionSpace, size: int, high: int = 1 << 30) -> Any:
    return space.asarray(np.random.default_rng(1).integers(0, high, size).astype(np.int32))


def rows_of_ten(space: ExecutionSpace, size: int) -> Any:
    return space.asarray(np.append(np.arange(0, size, 10), size).astype(np.int32))


def test_launch(benchmark: Any, space: ExecutionSpace, size: int) -> None:
    values = space.zeros(size, np.int32)
    measure(benchmark, space, lambda: space.parallel_for(size, touch, values), 8 * size)


def test_program_loop(benchmark: Any, space: ExecutionSpace) -> None:
    """A loop of tiny kernels: divide by extra_info.kernels for the cost of one."""
    program = Program("count down")
    left, values = program.array("left", np.int64), program.array("values", np.int64)
    with program.while_loop(left[0]):
        program.parallel_for(1, count_down, left, values)
    executable = space.executable(program)
    arrays = {"left": space.zeros(1, np.int64), "values": space.zeros(1, np.int64)}

    def run() -> None:
        arrays["left"][0] = TINY_STEPS
        executable.run(arrays, size=1)

    benchmark.extra_info["kernels"] = TINY_STEPS
    measure(benchmark, space, run)


def test_launch_with_ten_arguments(benchmark: Any, space: ExecutionSpace) -> None:
    """What a launch costs in Python, mostly."""
    values = [space.zeros(1, np.int32) for _ in range(8)]
    measure(benchmark, space, lambda: space.parallel_for(1, touch_many, *values, 3, 4))


def test_program_start(benchmark: Any, space: ExecutionSpace) -> None:
    """A program of one tiny kernel: what binding and starting cost."""
    program = Program("one kernel")
    program.parallel_for(1, touch, program.array("values", np.int64))
    executable = space.executable(program)
    values = space.zeros(1, np.int64)
    measure(benchmark, space, lambda: executable.run({"values": values}, size=1))


def test_fill(benchmark: Any, space: ExecutionSpace, size: int) -> None:
    values = space.zeros(size, np.int32)
    measure(benchmark, space, lambda: fill(space, values, 7), 4 * size)


def test_copy(benchmark: Any, space: ExecutionSpace, size: int) -> None:
    values = random_integers(space, size)
    measure(benchmark, space, lambda: copy(space, values), 8 * size)


def test_iota(benchmark: Any, space: ExecutionSpace, size: int) -> None:
    measure(benchmark, space, lambda: iota(space, size), 4 * size)


def test_gather(benchmark: Any, space: ExecutionSpace, size: int) -> None:
    values, indices = random_integers(space, size), random_integers(space, size, size)
    measure(benchmark, space, lambda: gather(space, values, indices), 12 * size)


def test_scatter(benchmark: Any, space: ExecutionSpace, size: int) -> None:
    places = space.asarray(np.random.default_rng(1).permutation(size).astype(np.int32))
    values, result = random_integers(space, size), space.zeros(size, np.int32)
    measure(benchmark, space, lambda: scatter(space, values, places, result), 12 * size)


def test_sum(benchmark: Any, space: ExecutionSpace, size: int) -> None:
    values = random_integers(space, size)
    measure(benchmark, space, lambda: sum_of(space, values), 4 * size)


def test_argmax(benchmark: Any, space: ExecutionSpace, size: int) -> None:
    values = random_integers(space, size)
    measure(benchmark, space, lambda: argmax_of(space, values), 8 * size)


def test_scan(benchmark: Any, space: ExecutionSpace, size: int) -> None:
    values = random_integers(space, size)
    measure(benchmark, space, lambda: exclusive_scan(space, values), 12 * size)


def test_compaction(benchmark: Any, space: ExecutionSpace, size: int) -> None:
    flags = space.asarray(np.random.default_rng(1).integers(0, 2, size).astype(np.int8))
    measure(benchmark, space, lambda: positions_of(space, flags), 3 * size)


def test_sort_by_key(benchmark: Any, space: ExecutionSpace, size: int) -> None:
    keys, values = random_integers(space, size), random_integers(space, size)
    measure(benchmark, space, lambda: sort_by_key(space, keys, values), 16 * size)


def test_histogram(benchmark: Any, space: ExecutionSpace, size: int) -> None:
    keys = random_integers(space, size, 256)
    measure(benchmark, space, lambda: histogram(space, keys, 256), 4 * size)


def test_segment_sum(benchmark: Any, space: ExecutionSpace, size: int) -> None:
    offsets, values = rows_of_ten(space, size), random_integers(space, size)
    measure(benchmark, space, lambda: segment_sum(space, offsets, values), 5 * size)


def test_segment_scan(benchmark: Any, space: ExecutionSpace, size: int) -> None:
    offsets, values = rows_of_ten(space, size), random_integers(space, size)
    measure(benchmark, space, lambda: segment_scan(space, offsets, values), 12 * size)


def test_unique(benchmark: Any, space: ExecutionSpace, size: int) -> None:
    keys, _ = space.sort_keys(random_integers(space, size, size // 4 + 1))
    measure(benchmark, space, lambda: unique_of(space, keys), 6 * size)


@pytest.mark.parametrize("name", GRAPHS)
def test_contraction(benchmark: Any, space: ExecutionSpace, name: str) -> None:
    """Contract pairs of consecutive vertices."""
    graph = by_name(name).portable.to(space)
    mate = space.asarray((np.arange(graph.num_vertices) ^ 1).astype(np.int32))
    clusters = clusters_of_matching(space, mate)
    arc_bytes = 8 * graph.num_arcs
    measure(benchmark, space, lambda: contract(space, graph, clusters), arc_bytes)

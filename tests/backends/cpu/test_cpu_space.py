"""The CPU space: threads, launches, memory."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numba
import numpy as np
import pytest

import portpart
from portpart import backends
from portpart.backends.cpu import memory as cpu_memory
from portpart.backends.cpu.space import CpuSpace
from portpart.backends.language import (
    atomic_add,
    atomic_cas,
    atomic_load,
    atomic_max,
    atomic_min,
    int64,
    kernel,
    value_or,
)
from portpart.errors import DeviceUnavailable, InputError, KernelTypeError, OutOfMemory
from portpart.generators import delaunay
from tests.helpers.each import looped

ROOT = Path(__file__).resolve().parents[3]


@kernel
def write_square(i, result):
    """result[i] = i * i."""
    result[i] = i * i


@kernel
def describe(i, flags, weights, amount, factor, on, result):
    """Uses an argument of every sort."""
    total = value_or(weights, i, 7) * amount
    if on and flags[i]:
        total += int64(factor * 10.0)
    result[i] = total


@kernel
def compete(i, sums, lows, tops, tickets, one):
    """Everybody changes the same few elements; `one` has the type of the tickets."""
    place = i % 3
    atomic_add(sums, place, int64(i))
    atomic_min(lows, place, int64(-i))
    atomic_max(tops, place, int64(i))
    old = atomic_load(tickets, 0)
    while atomic_cas(tickets, 0, old, old + one) != old:
        old = atomic_load(tickets, 0)


@pytest.fixture
def cpu() -> CpuSpace:
    return CpuSpace(threads=2)


def run_python(code: str, **environment: str) -> str:
    """Output of `code` in a fresh interpreter."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False,
        cwd=ROOT, env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("threads", [0, -1])
def test_impossible_thread_counts_are_refused(threads):
    with pytest.raises(InputError, match="at least 1"):
        CpuSpace(threads=threads)


def test_there_are_no_more_threads_than_numba_has():
    assert CpuSpace(threads=10_000).threads == numba.config.NUMBA_NUM_THREADS
    result = portpart.partition(delaunay(3000), 4, threads=2**20)
    assert np.array_equal(result.part, portpart.partition(delaunay(3000), 4, threads=1).part)


def test_space_names_are_checked():
    for name in ("gpu", "cpu:1", "cuda:x", ""):
        with pytest.raises(InputError, match="device must be"):
            backends.space(name)
    assert backends.space("cpu") is backends.space("cpu")


@pytest.mark.parametrize("size", [0, 1, 29_999, 30_001, 1_000_003])
@pytest.mark.parametrize("threads", [1, 2])
def test_every_item_runs_once(size, threads):
    result = np.zeros(size, np.int64)
    CpuSpace(threads).parallel_for(size, write_square, result)
    np.testing.assert_array_equal(result, np.arange(size) ** 2)


@pytest.mark.parametrize("team", [1, 8, 32, 256, 512])
def test_team_width_does_not_change_the_items(cpu, team):
    result = np.zeros(50_000, np.int64)
    cpu.parallel_for(50_000, write_square, result, team=team)
    np.testing.assert_array_equal(result, np.arange(50_000) ** 2)


def test_negative_sizes_run_nothing(cpu):
    cpu.parallel_for(-5, write_square, np.zeros(0, np.int64))


@looped("weights", [None, np.full(10, 3, np.int32), np.full(10, 3, np.int64)])
@looped("amount", [5, np.int32(5), np.int8(5), np.uint8(5)])
@looped("on", [True, np.bool_(True)])
def test_arguments_of_every_sort(cpu, weights, amount, on):
    flags = np.arange(10) % 2 == 0
    result = np.zeros(10, np.int64)
    for factor in (0.5, np.float32(0.5)):
        cpu.parallel_for(10, describe, flags, weights, amount, factor, on, result)
        assert result.tolist() == [(7 if weights is None else 3) * 5 + 5 * int(f) for f in flags]


@pytest.mark.parametrize(("argument", "message"), [
    (np.zeros((2, 2)), "one dimension"),
    (np.zeros(8)[::2], "contiguous"),
    (np.zeros(4, ">i4"), "byte order"),
    ("text", "type str"),
    ([1, 2], "type list"),
])
def test_unusable_arguments_are_refused(cpu, argument, message):
    with pytest.raises(KernelTypeError, match=message):
        cpu.parallel_for(3, write_square, argument)


def test_numbers_beyond_64_bits_are_refused(cpu):
    with pytest.raises(InputError, match="64 bits"):
        cpu.parallel_for(1, describe, *[np.zeros(1, bool), None, 2**63, 0.5, True,
                                        np.zeros(1, np.int64)])


def test_wrong_number_of_arguments_names_the_kernel(cpu):
    with pytest.raises(KernelTypeError, match=r"space.py:\d+: write_square takes 1"):
        cpu.parallel_for(3, write_square)


def test_subclasses_of_arrays_are_arrays(cpu, tmp_path):
    mapped = np.memmap(tmp_path / "numbers", np.int64, "w+", shape=(10,))
    cpu.parallel_for(10, write_square, mapped)
    assert mapped.tolist() == [i * i for i in range(10)]


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32", "uint64"])
def test_atomics_lose_nothing_under_contention(cpu, dtype):
    n = 60_000
    sums, tickets = np.zeros(3, np.int64), np.zeros(1, dtype)
    lows, tops = np.zeros(3, np.int64), np.zeros(3, np.int64)
    cpu.parallel_for(n, compete, sums, lows, tops, tickets, tickets.dtype.type(1))
    assert sums.tolist() == [sum(range(r, n, 3)) for r in range(3)]
    assert lows.tolist() == [-(n - 3), -(n - 2), -(n - 1)]
    assert tops.tolist() == [n - 3, n - 2, n - 1]
    assert tickets[0] == n


def test_launches_from_many_threads_are_safe(cpu):
    barrier = threading.Barrier(6)

    def launch(seed: int) -> bool:
        barrier.wait()
        right = True
        for size in (10, 40_000 + seed, 300_000 + seed) * 5:
            result = np.zeros(size, np.int64)
            cpu.parallel_for(size, write_square, result)
            right = right and bool((result == np.arange(size) ** 2).all())
        return right

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(launch, range(6)))


def test_numbas_own_thread_count_is_left_alone(cpu):
    numba.set_num_threads(1)
    try:
        cpu.parallel_for(100_000, write_square, np.zeros(100_000, np.int64))
        assert numba.get_num_threads() == 1
    finally:
        numba.set_num_threads(numba.config.NUMBA_NUM_THREADS)


WORK = """
    import numpy as np
    from tests.helpers.threads import use_threads_at_once
    use_threads_at_once()
    from portpart import backends
    from portpart.primitives import scan, select, sort, reduce
    from portpart.primitives.histogram import histogram
    space = backends.space("cpu")
    keys = np.random.default_rng(0).integers(0, 1 << 30, 400_000).astype(np.int32)
    parts = [*sort.sort_keys(space, keys), scan.offsets_from_counts(space, keys),
             select.positions_of(space, (keys & 1).astype(np.int8)),
             histogram(space, keys & 1023, 1024),
             np.array([reduce.argmax_of(space, keys), reduce.sum_of(space, keys)])]
    import hashlib
    print(space.threads, hashlib.sha256(b"".join(map(bytes, parts))).hexdigest())
"""


def test_results_do_not_depend_on_the_number_of_threads():
    outputs = [run_python(WORK, NUMBA_NUM_THREADS=str(n)).split() for n in (1, 2, 3)]
    assert [threads for threads, _ in outputs] == ["1", "2", "3"]
    assert len({digest for _, digest in outputs}) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_works_on_one_thread():
    code = """
        import os, warnings
        import numpy as np
        from portpart import backends
        from portpart.primitives.basic import iota
        from tests.helpers.threads import use_threads_at_once
        use_threads_at_once()
        warnings.simplefilter("ignore")  # newer Pythons warn of forks beside threads
        space = backends.space("cpu", threads=2)
        iota(space, 10**6)
        child = os.fork()
        if child == 0:
            os._exit(0 if (iota(space, 10**6) == np.arange(10**6)).all() else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    assert run_python(code, NUMBA_NUM_THREADS="2") == "0"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_asks_for_gpus_again():
    """CUDA does not work there; a space of the parent would fail with errors of the driver."""
    code = """
        import os, warnings
        from portpart.backends import spaces
        warnings.simplefilter("ignore")
        cpu = spaces.space("cpu")
        spaces._spaces["cuda:0", None] = cpu  # in place of a GPU
        assert spaces.space("cuda:0") is cpu
        child = os.fork()
        if child == 0:
            known = spaces._spaces.keys()
            os._exit(("cuda:0", None) in known or ("cpu", None) not in known)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    assert run_python(code) == "0"


def test_without_numbas_compiler_the_space_says_so(monkeypatch):
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)
    with pytest.raises(DeviceUnavailable, match="NUMBA_DISABLE_JIT"):
        CpuSpace()


def test_importing_portpart_is_quick_and_loads_no_compiler():
    code = """
        import sys, time
        start = time.process_time()
        import portpart
        seconds = time.process_time() - start
        loaded = {name.partition(".")[0] for name in sys.modules}
        print(seconds, *loaded & {"numba", "cupy", "llvmlite"})
    """
    outputs = [run_python(code).split() for _ in range(3)]
    assert all(len(output) == 1 for output in outputs)
    # the one timing that is a promise, of the processor, which other processes use too
    assert min(float(output[0]) for output in outputs) < 0.5


def test_waiting_threads_sleep_but_a_users_policy_stands():
    code = """
        import os
        from portpart import backends
        backends.space("cpu")
        print(os.environ.get("OMP_WAIT_POLICY"))
    """
    assert run_python(code, OMP_WAIT_POLICY="active") == "active"


# memory ---------------------------------------------------------------------------------------


def test_large_memory_is_used_again():
    cache = cpu_memory.BlockCache(limit=1 << 24)
    first = cache.empty(1 << 18, np.dtype(np.int64))
    address = first.ctypes.data
    view = first[5:]
    del first
    gc.collect()
    assert cache.kept == 0, "a view keeps the block"
    del view
    assert cache.kept >= 1 << 21
    again = cache.empty(1 << 19, np.dtype(np.int32))
    assert again.ctypes.data == address
    assert again.flags.writeable
    assert cache.kept == 0


def test_large_memory_is_used_again_by_a_somewhat_larger_array():
    """What follows edits of a graph needs room for an eighth more vertices than the graph has."""
    cache = cpu_memory.BlockCache(limit=1 << 24)
    first = cache.empty(1 << 20, np.dtype(np.int32))
    address = first.ctypes.data
    del first
    larger = cache.empty((1 << 20) + (1 << 17), np.dtype(np.int32))
    assert larger.ctypes.data == address
    larger[:] = 7
    assert cache.kept == 0


def test_memory_that_dies_when_python_ends_is_no_error(monkeypatch):
    """By then the names of modules may stand for None."""
    ignored = []
    monkeypatch.setattr(sys, "unraisablehook", ignored.append)
    cache = cpu_memory.BlockCache(limit=1 << 24)
    array = cache.empty(1 << 18, np.dtype(np.int64))
    monkeypatch.setattr(cpu_memory, "sys", None)
    del array
    assert not ignored


def test_blocks_are_not_wasted_on_small_arrays_and_are_bounded():
    block = 1000 + 1000 // cpu_memory.SPARE
    cache = cpu_memory.BlockCache(limit=3 * block)
    blocks = [cache.empty(1000, np.dtype(np.uint8)) for _ in range(4)]
    del blocks[:]
    assert cache.kept == 3 * block
    small = cache.empty(400, np.dtype(np.uint8))
    assert cache.kept == 3 * block
    huge = cache.empty(5000, np.dtype(np.uint8))
    del huge, small
    assert cache.kept <= 3 * block
    cache.clear()
    assert cache.kept == 0


def test_memory_is_shared_safely_by_threads(cpu):
    def fill(value: int) -> bool:
        for size in range(200_000, 260_000, 3000):
            array = cpu.full(size, value, np.int64)
            if not (array == value).all():
                return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(fill, range(1, 9)))


@pytest.mark.parametrize("size", [0, 10, 1 << 20])
@pytest.mark.parametrize("dtype", ["int8", "int32", "float64", "bool"])
def test_arrays_have_the_asked_shape_dtype_and_value(cpu, size, dtype):
    assert cpu.empty(size, dtype).shape == (size,)
    assert cpu.zeros(size, dtype).dtype == dtype
    np.testing.assert_array_equal(cpu.full(size, 1, dtype), np.ones(size, dtype))
    np.testing.assert_array_equal(cpu.zeros(size, dtype), np.zeros(size, dtype))


def test_impossible_allocations_say_how_much():
    with pytest.raises(OutOfMemory, match="MiB"):
        CpuSpace(1).empty(1 << 50, np.int64)


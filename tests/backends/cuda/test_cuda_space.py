"""The CUDA space on a GPU: graphs and host walks, streams, memory, errors, costs."""

from __future__ import annotations

import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

from portpart import backends
from portpart.backends.cuda.space import CudaSpace, usable_device
from portpart.backends.language import kernel
from portpart.backends.programs.program import Program
from portpart.errors import DeviceUnavailable, InputError, OutOfMemory
from tests.backends import sample_programs as samples
from tests.helpers.gpu import require_cupy


@pytest.fixture(scope="module")
def cuda() -> CudaSpace:
    require_cupy()
    space = CudaSpace()
    if "resident" not in space.program_modes():
        pytest.skip("kernels cannot wait for each other's blocks here")
    space.kernels.modules.quick = False
    return space


@pytest.fixture(scope="module")
def walking() -> CudaSpace:
    require_cupy()
    space = CudaSpace()
    space.program_mode = "walk"
    return space


@kernel
def add_one(i, values):
    values[i] += 1


@kernel
def scale(i, values, factor, offset, on):
    if on:
        values[i] = values[i] * factor + offset


@kernel
def count_down(i, control):
    control[0] -= 1


@pytest.mark.parametrize(("driver", "message"), [
    ("libcuda-that-nobody-has.so.1", "there is no CUDA driver here"),
    (None, "the CUDA driver cannot be used: cudaErrorInsufficientDriver"),
])
def test_a_missing_driver_is_not_called_an_old_one(monkeypatch, driver, message):
    """With a stand-in for CuPy and the C library for a driver."""
    def refuse():
        raise RuntimeError("cudaErrorInsufficientDriver: driver version is insufficient")

    runtime = SimpleNamespace(getDeviceCount=refuse)
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=SimpleNamespace(runtime=runtime)))
    monkeypatch.setattr("portpart.backends.cuda.space.DRIVER", driver)
    with pytest.raises(DeviceUnavailable, match=message):
        usable_device(None)


def test_a_missing_device_is_reported_with_the_reason():
    try:
        import cupy  # noqa: F401
    except ImportError:
        pytest.skip("CuPy is not installed")
    with pytest.raises(DeviceUnavailable, match=r"no device cuda:999|CUDA"):
        CudaSpace(999)


@pytest.mark.gpu
class TestOnTheDevice:
    def test_scalars_of_every_type_reach_a_kernel(self, cuda):
        for dtype in (np.int8, np.int32, np.int64, np.uint8, np.uint32, np.float32, np.float64):
            values = cuda.asarray(np.arange(1000), np.float64)
            cuda.parallel_for(1000, scale, values, dtype(3), 0.5, True)
            assert np.array_equal(cuda.to_host(values), np.arange(1000) * 3 + 0.5)

    @pytest.mark.parametrize("number", [2**63, -(2**63) - 1])
    def test_numbers_beyond_64_bits_are_refused(self, cuda, number):
        with pytest.raises(InputError, match="64 bits"):
            cuda.parallel_for(10, scale, cuda.zeros(10, np.float64), number, 0.5, True)

    def test_threads_launch_one_kernel_with_arguments_of_their_own(self, cuda):
        def launched(factor):
            values = cuda.asarray(np.ones(100), np.float64)
            for _ in range(200):
                cuda.parallel_for(100, scale, values, factor, 0.0, True)
            return cuda.to_host(values)

        with ThreadPoolExecutor(4) as pool:
            factors = [-1, 0, 1, 1] * 4
            for factor, values in zip(factors, pool.map(launched, factors), strict=True):
                assert np.array_equal(values, np.full(100, float(factor) ** 200))

    def test_a_thread_may_begin_with_a_launch(self, cuda):
        values = cuda.zeros(100, np.int64)
        cuda.parallel_for(100, add_one, values)
        failures = []

        def launch() -> None:
            try:
                cuda.parallel_for(100, add_one, values)
            except Exception as problem:
                failures.append(problem)

        thread = threading.Thread(target=launch)
        thread.start()
        thread.join()
        assert not failures
        assert cuda.to_host(values).tolist() == 100 * [2]

    @pytest.mark.parametrize("n", [0, 1, 100_000])
    def test_arrays_come_back_from_the_stream_that_wrote_them(self, cuda, n):
        with cuda.cupy.cuda.Stream(non_blocking=True):
            values = cuda.zeros(n, np.int64)
            for _ in range(50):
                cuda.parallel_for(n, add_one, values)
            assert np.array_equal(cuda.to_host(values), np.full(n, 50))
            assert np.array_equal(cuda.to_host(values[::2]), np.full(-(-n // 2), 50))

    def test_more_items_than_the_largest_grid_holds(self, cuda):
        n = (1 << 24) + 12345
        values = cuda.zeros(n, np.int8)
        cuda.parallel_for(n, add_one, values)
        assert int(values.min()) == int(values.max()) == 1

    @pytest.mark.parametrize("team", [1, 8, 32, 256, 512])
    @pytest.mark.parametrize("n", [60, 5000, 200_000])
    def test_a_resident_kernel_gives_what_the_walk_gives(self, cuda, walking, team, n):
        found = []
        for space in (cuda, walking):
            executable = space.executable(samples.record_nested(team))
            given = samples.bindings_for(space, n, 17)
            executable.run(given, size=n)
            found.append([space.to_host(given[name]) for name in ("values", "total", "control")])
        for one, other in zip(*found, strict=True):
            assert np.array_equal(one, other)
        assert np.array_equal(found[0][0], samples.expected(n, 17)[0])

    def test_a_program_is_one_launch_and_does_not_wait(self, cuda):
        executable = cuda.executable(samples.record_nested(8))
        given = samples.bindings_for(cuda, 100, 20)
        before = cuda.counters.launches, cuda.counters.synchronizations
        executable.run(given, size=100)
        after = cuda.counters.launches, cuda.counters.synchronizations
        assert (after[0] - before[0], after[1] - before[1]) == (1, 0)

    def test_work_is_ordered_on_the_stream_of_the_caller(self, cuda):
        cupy = cuda.cupy
        executable = cuda.executable(samples.record_nested(1))
        first, second = cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream(non_blocking=True)
        runs = []
        for turn in range(6):
            with (first, second)[turn % 2]:
                given = samples.bindings_for(cuda, 500 + turn, 5 + turn)
                executable.run(given, size=1000)
                runs.append(given["values"])
        cupy.cuda.Device().synchronize()
        for turn, values in enumerate(runs):
            assert np.array_equal(cupy.asnumpy(values), samples.expected(500 + turn, 5 + turn)[0])

    def test_threads_may_share_a_space(self, cuda):
        failures = []

        def work(number: int) -> None:
            executable = cuda.executable(samples.record_nested(8))
            given = samples.bindings_for(cuda, 300, number)
            executable.run(given, size=300)
            wanted = samples.expected(300, number)[0]
            if not np.array_equal(cuda.to_host(given["values"]), wanted):
                failures.append(number)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures

    def test_sorting_is_stable(self, cuda):
        keys = np.random.default_rng(0).integers(-5, 5, 100_000).astype(np.int32)
        order = cuda.library_sort(cuda.asarray(keys))
        assert np.array_equal(cuda.to_host(order), np.argsort(keys, kind="stable"))

    def test_arrays_of_the_host_are_refused(self, cuda):
        with pytest.raises(InputError, match=r"space\.asarray"):
            cuda.parallel_for(10, add_one, np.zeros(10))

    def test_arrays_of_cupy_are_used_where_they_are(self, cuda):
        values = cuda.cupy.zeros(100)
        assert cuda.asarray(values) is values

    def test_running_out_of_memory_names_what_was_needed_and_free(self, cuda):
        with pytest.raises(OutOfMemory, match=r"MiB .*needed.*free"):
            cuda.empty(1 << 48, np.int8)

    def test_what_is_held_without_use_is_given_back_where_it_is_much(self, cuda, monkeypatch):
        pool = cuda.cupy.get_default_memory_pool()
        kept = cuda.full(1000, 7, np.int32)
        del (last := [cuda.empty(50_000_000, np.int64)])[:]
        held = pool.total_bytes()
        assert held >= 400_000_000
        monkeypatch.setattr(cuda.memory, "much", 10**15)
        assert cuda.give_back() == 0
        assert pool.total_bytes() == held
        monkeypatch.setattr(cuda.memory, "much", 300_000_000)
        assert cuda.give_back() == held - pool.total_bytes() >= 400_000_000
        assert (cuda.to_host(kept) == 7).all()
        assert not last

    def test_every_device_can_be_chosen(self):
        cupy = require_cupy()
        for number in range(cupy.cuda.runtime.getDeviceCount()):
            space = backends.space(f"cuda:{number}")
            values = space.zeros(100, np.int64)
            space.parallel_for(100, add_one, values)
            assert values.device.id == number
            executable = space.executable(samples.record_nested(1))
            executable.run(samples.bindings_for(space, 10, 3), size=10)
            assert space.to_host(values).sum() == 100

    @pytest.mark.parametrize("size", [100, 1_000_000])
    def test_costs(self, cuda, walking, size, capsys):
        report = [f"launch from Python: {microseconds_of_a_launch(cuda):.2f} us"]
        for name, space in (("program", cuda), ("walk", walking)):
            cost = microseconds_in_a_program(space, size)
            report.append(f"launch in a {name}, size {size}: {cost:.2f} us")
        with capsys.disabled():
            print("\n" + "\n".join(report))


def microseconds_of_a_launch(space: CudaSpace) -> float:
    values = space.zeros(100, np.int64)
    space.parallel_for(100, add_one, values)
    space.synchronize()
    start = time.perf_counter()
    for _ in range(2000):
        space.parallel_for(100, add_one, values)
    space.synchronize()
    return (time.perf_counter() - start) / 2000 * 1e6


def microseconds_in_a_program(space: CudaSpace, size: int) -> float:
    """Cost of a tiny kernel inside a loop of 20 of them, 100 rounds."""
    program = Program("tiny kernels")
    control, values = program.array("control", np.int64), program.array("values", np.int64)
    with program.while_loop(control[0]):
        for _ in range(20):
            program.parallel_for(control[1], add_one, values)
        program.parallel_for(1, count_down, control)
    executable = space.executable(program)
    seconds = []
    for _ in range(3):
        given = {"control": space.asarray(np.array([100, 50])), "values": space.zeros(50, np.int64)}
        space.synchronize()
        start = time.perf_counter()
        executable.run(given, size=size)
        space.synchronize()
        seconds.append(time.perf_counter() - start)
        assert int(space.to_host(given["values"]).min()) == 2000
    return min(seconds) / (100 * 22) * 1e6

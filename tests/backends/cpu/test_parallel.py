"""Numba's threads are loaded when there is enough to do, whatever goes wrong meanwhile."""

from __future__ import annotations

import sys

import numba
import pytest

from portpart.backends.cpu.memory import available_threads
from tests.backends.cpu.test_cpu_space import run_python

BEGIN = """
    import sys
    from concurrent.futures import ThreadPoolExecutor
    import numpy as np
    import portpart
    from portpart import backends
    from portpart.backends.cpu.driver_module import DRIVE, WORK, WORK_BEFORE_THREADS
    from portpart.backends.cpu.driver_module import state
    from portpart.primitives.basic import iota
    space, SIZE = backends.space("cpu", threads=2), 200_000
    def right(size=SIZE):
        return bool((iota(space, size) == np.arange(size)).all())
"""


def outcome(code: str, **environment: str) -> str:
    return run_python(BEGIN + code, **{"NUMBA_NUM_THREADS": "2", **environment})


def test_a_small_partition_loads_no_numba():
    code = """
    import portpart, sys
    ring = [(i, (i + 1) % 100) for i in range(100)]
    assert portpart.partition(ring, 4).feasible
    print(*{"numba", "scipy"} & set(sys.modules))
    """
    assert run_python(code) == ""


def test_threads_come_with_the_launch_that_exceeds_the_work_and_not_before():
    code = """
    state[WORK] = WORK_BEFORE_THREADS - SIZE
    assert right() and right(1000) and state[WORK] == WORK_BEFORE_THREADS
    assert "numba" not in sys.modules and not state[DRIVE]
    assert right() and state[DRIVE] and "numba" in sys.modules
    assert right()
    import numba
    print(numba.get_num_threads())
    """
    assert outcome(code, NUMBA_NUM_THREADS="3") == "3"


@pytest.mark.parametrize(("threads", "least"), [(2, 120_000), (3, 75_000), (4, 60_000)])
def test_few_threads_share_only_large_launches(threads, least):
    """Work is counted for launches that threads would share."""
    code = f"""
    space = backends.space("cpu", threads={threads})
    iota(space, {least - 1})
    assert state[WORK] == 0
    iota(space, {least})
    print(state[WORK])
    """
    assert outcome(code, NUMBA_NUM_THREADS="4") == str(least)


def test_one_thread_never_loads_numba():
    code = """
    state[WORK] = WORK_BEFORE_THREADS
    space = backends.space("cpu", threads=1)
    print(right(), "numba" in sys.modules)
    """
    assert outcome(code) == "True False"


def test_a_program_loads_them_on_its_way():
    code = """
    mesh = portpart.generators.delaunay(20_000)
    expected = portpart.partition(mesh, 16).part
    used, state[WORK] = state[WORK], 0
    assert used > 0 and not state[DRIVE]
    assert (portpart.partition(mesh, 16).part == expected).all()
    step = state[WORK]
    state[WORK] = WORK_BEFORE_THREADS - step // 2
    assert (portpart.partition(mesh, 16).part == expected).all() and state[DRIVE]
    print((portpart.partition(mesh, 16).part == expected).all())
    """
    assert outcome(code) == "True"


def test_many_python_threads_load_them_at_once():
    code = """
    state[WORK] = WORK_BEFORE_THREADS - 5 * SIZE
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda i: right(SIZE + i), range(30)))
    print(all(answers), bool(state[DRIVE]))
    """
    assert outcome(code) == "True True"


def test_what_goes_wrong_meanwhile_is_raised_and_the_next_launch_tries_again():
    code = """
    from portpart.backends.programs.program import Program
    from portpart.primitives.basic import write_index
    program = Program("two launches")
    slots = [program.array(name, np.int64) for name in ("first", "second", "size")]
    for slot in slots[:2]:
        program.parallel_for(slots[2][0], write_index, slot)
    executable = space.executable(program)
    first, second = np.zeros((2, SIZE), np.int64)
    state[WORK], sys.modules["numba"] = WORK_BEFORE_THREADS, None
    for launch in (right, lambda: executable.run(
            {"first": first, "second": second, "size": np.array([SIZE])}, SIZE)):
        try:
            launch()
        except ImportError as problem:
            print("numba" in str(problem), end=" ")
    assert not second.any()  # the program ended where it failed
    del sys.modules["numba"]
    print(right())
    """
    assert outcome(code) == "True True True"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT to send")
def test_an_interrupt_meanwhile_is_raised():
    code = """
    import os, signal
    signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs ignore it
    class Finder:
        def find_spec(self, name, path=None, target=None):
            if name == "numba":
                sys.meta_path.remove(self)
                os.kill(os.getpid(), signal.SIGINT)
    sys.meta_path.insert(0, Finder())
    state[WORK] = WORK_BEFORE_THREADS
    try:
        right()
    except KeyboardInterrupt:
        print("interrupted", right(), bool(state[DRIVE]))
    """
    assert outcome(code) == "interrupted True True"


@pytest.mark.parametrize("setting", ["3", "", "-"])
def test_the_number_of_threads_is_known_without_numba(setting):
    code = """
    import sys, warnings
    from portpart.backends.cpu.memory import available_threads
    before = available_threads()
    assert "numba" not in sys.modules
    warnings.simplefilter("ignore")
    import numba
    print(before == available_threads(), before == max(1, numba.config.NUMBA_NUM_THREADS))
    """
    assert run_python(code, NUMBA_NUM_THREADS=setting) == "True True"


def test_the_number_of_threads_is_numbas():
    assert available_threads() == numba.config.NUMBA_NUM_THREADS


def test_without_numbas_compiler_a_space_says_so_before_numba_is_loaded():
    code = """
    import sys, portpart
    try:
        portpart.space("cpu")
    except portpart.DeviceUnavailable as problem:
        print(problem, "numba" in sys.modules)
    """
    message = run_python(code, NUMBA_DISABLE_JIT="1")
    assert message == "kernels need Numba's compiler: unset NUMBA_DISABLE_JIT False"

"""Kernels of programs are compiled when they are called for the first time."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from portpart.backends.cpu import compile as cpu_compile
from portpart.backends.cpu.space import CpuSpace
from portpart.backends.language import kernel
from portpart.backends.programs.program import Program
from portpart.errors import KernelTypeError
from tests.backends.cpu.test_cpu_space import run_python


def program_of(*amounts: int) -> Program:
    """Launches of kernels of their own: each adds its amount to all values, if it is asked to."""
    program = Program("adds")
    values = program.array("values", np.int64)
    counts = program.array("counts", np.int64)
    for place, amount in enumerate(amounts):
        program.parallel_for(counts[place], adding(amount), values)
    return program


def adding(amount: int):
    @kernel
    def add_amount(i, values):
        values[i] += amount

    return add_amount


@pytest.fixture
def texts(monkeypatch, tmp_path) -> list[str]:
    """What is compiled, with nothing in the cache."""
    made, found = cpu_compile.object_code, []
    monkeypatch.setattr(cpu_compile, "object_code", lambda text: found.append(text) or made(text))
    monkeypatch.setattr(cpu_compile.cache_folder, "read", lambda name: None)
    monkeypatch.setattr(cpu_compile.helper, "queue", cpu_compile.helper.Queue(False))
    return found


def run(executable, counts: list[int]) -> list[int]:
    values = np.zeros(3, np.int64)
    executable.run({"values": values, "counts": np.array(counts)}, 3)
    return values.tolist()


@pytest.mark.parametrize("threads", [1, 2])
def test_what_is_not_called_is_not_compiled(texts, threads):
    executable = CpuSpace(threads).executable(program_of(1, 10, 100))
    assert not texts
    assert run(executable, [0, 3, -1]) == [10, 10, 10]
    assert len(texts) == 1
    assert run(executable, [2, 3, 0]) == [11, 11, 10]
    assert len(texts) == 2
    assert run(executable, [1, 1, 1]) == [111, 0, 0]
    assert run(executable, [1, 1, 1]) == [111, 0, 0]
    assert len(texts) == 3


def test_a_kernel_of_two_programs_is_compiled_once(texts):
    add, space = adding(5), CpuSpace(1)
    executables = []
    for name in ("one", "two"):
        program = Program(name)
        program.parallel_for(program.array("counts", np.int64)[0], add,
                             program.array("values", np.int64))
        executables.append(space.executable(program))
    assert [run(each, [2]) for each in executables] == [[5, 5, 0]] * 2
    values = np.zeros(2, np.int64)
    space.parallel_for(2, add, values)
    assert values.tolist() == [5, 5]
    assert len(texts) == 1


def test_types_that_do_not_fit_are_told_when_the_program_is_made():
    program = Program("wrong")
    program.parallel_for(program.array("counts", np.int64)[0], adding(1),
                         program.array("values", np.float32))
    program.parallel_for(1, adding(1), 3)
    with pytest.raises(KernelTypeError, match="values"):
        CpuSpace(1).executable(program)


def test_all_that_waits_can_be_compiled(texts, monkeypatch):
    monkeypatch.setattr(cpu_compile, "_waiting", [])  # not what other tests have not called
    executable = CpuSpace(1).executable(program_of(1, 10, 100))
    cpu_compile.compile_all()
    made = len(texts)
    assert made == 3
    assert run(executable, [1, 2, 3]) == [111, 110, 100]
    cpu_compile.compile_all()
    assert len(texts) == made


def test_what_is_not_called_is_looked_at_once(tmp_path):
    code = """
        import numpy as np
        from portpart.backends.cpu.space import CpuSpace
        from portpart.backends.language import check
        found, find = [], check._findings
        check._findings = lambda *given: found.append(given[0].__name__) or find(*given)
        from portpart.backends.programs.program import Program
        from portpart.primitives.basic import write_index
        program = Program("two launches")
        counts, values = program.array("counts", np.int64), program.array("values", np.int64)
        program.parallel_for(counts[0], write_index, values)
        values = np.zeros(3, np.int64)
        executable = CpuSpace(2).executable(program)
        for count in (0, COUNT):
            executable.run({"counts": np.array([count]), "values": values}, 3)
        print(len(found), *values)
    """
    for count, told in ((0, "1 0 0 0"), (0, "0 0 0 0"), (2, "1 0 1 0"), (3, "0 0 1 2")):
        given = code.replace("COUNT", str(count))
        assert run_python(given, PORTPART_CACHE_DIR=str(tmp_path)) == told


def test_what_goes_wrong_is_raised_and_the_next_run_tries_again(texts, monkeypatch):
    executable = CpuSpace(1).executable(program_of(1, 10))
    with monkeypatch.context() as broken:
        broken.setattr(cpu_compile, "object_code", lambda _: 1 / 0)
        for _ in range(2):
            with pytest.raises(ZeroDivisionError):
                run(executable, [3, 3])
    assert run(executable, [3, 3]) == [11, 11, 11]


def test_threads_that_call_at_once_compile_once(texts):
    executable = CpuSpace(1).executable(program_of(*range(1, 9)))
    found: list[list[int]] = []
    threads = [threading.Thread(target=lambda: found.append(run(executable, [3] * 8)))
               for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[36] * 3] * 6
    assert len(texts) == 8

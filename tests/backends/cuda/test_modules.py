"""Modules of CUDA C++: compiled once, and kept.  The compiler is a stand-in."""

from __future__ import annotations

import functools
import os
import threading
import time
from typing import Any

import numpy as np
import pytest

from portpart.backends.cuda import modules as under_test, nvrtc
from portpart.backends.cuda.compile import (
    WORTH_RESIDENT,
    ResidentKernel,
    Walked,
    keys_of,
    request,
    request_together,
    symbol_of,
)
from portpart.backends.cuda.modules import Modules
from portpart.backends.cuda.translate import DIRECT, PACKED
from portpart.backends.cuda.words import CUDA_PRELUDE
from portpart.backends.cuda.workers import Workers
from portpart.backends.language import kernel
from portpart.backends.programs.program import Program
from portpart.base import cache_folder
from portpart.errors import InternalError


@pytest.fixture
def asked(monkeypatch, tmp_path) -> list[Any]:
    """What the compiler is asked for; the code tells text and way."""
    seen: list[Any] = []

    def compiled(text, target, quick=False):
        seen.append((text[0], target, quick))
        return f"{text[0]} {target} {'quick' if quick else 'best'}".encode()

    monkeypatch.setattr(under_test, "compiled", compiled)
    monkeypatch.setattr(under_test, "target_for", lambda capability: capability)
    monkeypatch.setenv("PORTPART_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(cache_folder, "cache_folders", cache_folder.cache_folders.__wrapped__)
    return seen


def never() -> str:
    raise AssertionError("the text of a module that is kept is made")


def test_a_module_is_compiled_once_and_kept(asked):
    modules = Modules(90, "14.0")
    code = modules.request("words", lambda: "x")
    assert code.wait() == b"x 90 best"
    assert code.is_there
    assert modules.request("words", never) is code
    again = Modules(90, "14.0").request("words", never)
    assert again.is_there
    assert again.wait() == b"x 90 best"
    assert asked == [("x", 90, False)]


@pytest.mark.parametrize(("capability", "compiler", "words"), [
    (80, "14.0", "words"), (90, "14.1", "words"), (90, "14.0", "other words")])
def test_code_for_other_circumstances_is_other_code(asked, capability, compiler, words):
    Modules(90, "14.0").request("words", lambda: "x").wait()
    other = Modules(capability, compiler).request(words, lambda: "x")
    assert other.wait() == f"x {capability} best".encode()
    assert len(asked) == 2


def test_what_may_be_compiled_in_a_hurry_is_kept_apart(asked):
    modules = Modules(90, "14.0")
    assert modules.request("words", lambda: "x", quick=True).wait() == b"x 90 quick"
    assert modules.kept("words") is None
    assert modules.request("words", lambda: "x").wait() == b"x 90 best"
    assert modules.kept("words").wait() == b"x 90 best"
    assert Modules(90, "14.0").kept("words").wait() == b"x 90 best"
    assert asked == [("x", 90, True), ("x", 90, False)]


def test_what_the_compiler_says_reaches_those_who_wait(asked, monkeypatch):
    def refuses(text, target, quick=False):
        raise InternalError("NVRTC: no")

    monkeypatch.setattr(under_test, "compiled", refuses)
    with pytest.raises(InternalError, match="NVRTC: no"):
        Modules(90, "14.0").request("words", lambda: "x").wait()


def test_what_is_postponed_is_written_by_others(asked, tmp_path):
    with cache_folder.postponed() as found:
        cache_folder.write("mine.kernel", b"1")
        in_a_thread(lambda: cache_folder.write("theirs.kernel", b"2")).join()
    assert [path.name for path in tmp_path.iterdir()] == ["theirs.kernel"]
    assert found == [("mine.kernel", b"1")]
    cache_folder.write_all(found)
    assert cache_folder.read("mine.kernel") == b"1"


class Loaded:
    """A stand-in of CuPy and of its modules: a function is its code."""

    cuda: Any

    def __init__(self):
        self.cuda = self

    def Module(self):
        return Loaded()

    def load(self, code: bytes) -> None:
        self.code = code

    def get_function(self, name: str) -> Any:
        return self.code, name


RESIDENT = (f"{CUDA_PRELUDE[0]} 90 best".encode(), "program")


class Text:
    """A stand-in of a program's text."""

    words, symbol = "a program", "program"

    def write(self) -> str:
        return "y"


def test_a_resident_kernel_is_compiled_beside_other_work_once_that_pays(asked):
    resident = ResidentKernel(Loaded(), Modules(90, "14.0"), Text())
    resident.walked(WORTH_RESIDENT - 1)
    assert resident.ready() is None
    resident.walked(1)
    assert asked == []
    resident.ready()  # now it is asked for
    until(lambda: resident.ready() is not None)
    assert resident.ready() == RESIDENT
    assert len(asked) == 1
    other = ResidentKernel(Loaded(), Modules(90, "14.0"), Text())  # another process
    assert other.ready() == RESIDENT
    assert len(asked) == 1


def test_launches_of_the_segments_of_a_program_count_together(asked):
    walked, modules = Walked(), Modules(90, "14.0")
    one, other = (ResidentKernel(Loaded(), modules, Text(), walked=walked) for _ in range(2))
    one.walked(WORTH_RESIDENT - 1)
    other.walked(1)
    until(lambda: one.ready() is not None)
    assert one.ready() == other.ready() == RESIDENT
    assert len(asked) == 1


@pytest.mark.parametrize("how", ["of this program", "of all"])
def test_a_resident_kernel_may_be_waited_for(asked, how):
    modules = Modules(90, "14.0")
    modules.quick = how == "of this program"
    resident = ResidentKernel(Loaded(), modules, Text(), waits=modules.quick)
    assert resident.ready() == RESIDENT


def test_parts_that_are_asked_for_together_share_modules(asked):
    modules = Modules(90, "14.0")
    parts = {name: functools.partial(str, name * 3500) for name in "abcdefg"}
    modules.request("c", parts["c"]).wait()
    modules.request_together(parts.items(), "#", quick=False)
    codes = {name: modules.request(name, never).wait() for name in parts}
    assert asked == [("c", 90, False), ("#", 90, False), ("#", 90, False)]
    assert codes["a"] is codes["b"] is codes["d"] is codes["e"] is codes["f"]
    assert codes["g"] is not codes["a"]
    again = Modules(90, "14.0")  # another process
    again.request_together(((name, never) for name in parts), "#", quick=False)
    kept = {name: again.request(name, never) for name in parts}
    assert all(code.is_there for code in kept.values())
    assert {name: code.wait() for name, code in kept.items()} == codes
    assert kept["a"].wait() is kept["f"].wait()


def test_a_part_whose_module_is_gone_is_compiled_by_itself(asked, tmp_path):
    Modules(90, "14.0").request_together((("a", lambda: "a"), ("b", lambda: "b")), "#", quick=False)
    until(lambda: len(list(tmp_path.glob("sm_90_*.kernel"))) == 3)
    code = next(path for path in tmp_path.glob("sm_90_*.kernel")
                if path.read_bytes().endswith(b"# 90 best"))
    code.unlink()
    assert Modules(90, "14.0").request("b", lambda: "b").wait() == b"b 90 best"


def test_kernels_of_programs_have_names_of_their_own(asked):
    keys = keys_of(recorded())
    assert len(keys) == 3
    assert len(set(keys)) == 2
    names = {symbol_of(key, entry) for key in keys for entry in (DIRECT, PACKED)}
    assert len(names) == 4
    modules, texts = Modules(90, "14.0"), []
    modules.request_together = lambda parts, head, quick: texts.extend(text() for _, text in parts)
    for entry in (DIRECT, PACKED):
        request_together(modules, keys, entry, quick=False)
    for name in names:
        assert sum(f" {name}(" in text for text in set(texts)) == 1


def test_a_kernel_by_itself_has_the_text_that_it_has_among_others(asked, monkeypatch):
    key, texts = keys_of(recorded())[0], []
    monkeypatch.setattr(under_test, "compiled", lambda text, *_: texts.append(text) or b"code")
    request(Modules(90, "14.0"), key, PACKED).wait()
    request_together(Modules(91, "14.0"), [key], PACKED, quick=False)
    until(lambda: len(texts) == 2)
    assert texts[0].split() == texts[1].split()


@kernel
def double(i, values):
    """values[i] = 2 values[i]."""
    values[i] = 2 * values[i]


@kernel
def set_zero(i, values):
    """values[i] = 0."""
    values[i] = 0


def recorded() -> Program:
    """A program of two kernels, one of which is launched twice."""
    program = Program("two kernels")
    values = program.array("values", np.int32)
    for each in (double, set_zero, double):
        program.parallel_for(4, each, values)
    return program


def one_thread() -> Workers:
    return Workers(share=0)


def in_a_thread(work: Any) -> threading.Thread:
    thread = threading.Thread(target=work)
    thread.start()
    return thread


def until(happened: Any) -> None:
    end = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < end, "it does not happen"
        threading.Event().wait(0.001)


def test_what_is_waited_for_does_not_wait_for_what_may_come_later():
    later, now, hold = Workers(share=0.5), Workers(), threading.Event()
    holding = [later.submit(hold.wait) for _ in range(64)]
    assert now.submit(lambda: "done").future.result(timeout=60) == "done"
    assert not any(task.future.done() for task in holding)
    hold.set()
    for task in holding:
        task.future.result()
    later.close()
    now.close()


def test_large_tasks_come_first_and_those_before_them_that_somebody_waits_for():
    workers, begun, hold, order = one_thread(), threading.Event(), threading.Event(), []
    workers.submit(lambda: (begun.set(), hold.wait()))
    begun.wait()
    tasks = {size: workers.submit(functools.partial(order.append, size), size)
             for size in (3, 1, 4, 2)}
    waiting = in_a_thread(lambda: workers.wait(tasks[2]))
    until(lambda: workers._tasks.qsize() == 5)
    hold.set()
    waiting.join()
    for task in tasks.values():
        task.future.result()
    assert order == [2, 4, 3, 1]  # and each once
    workers.close()


@pytest.mark.parametrize("busy", ["WRITING", "NOW"])
def test_whoever_waits_for_a_module_has_it_made_next(asked, monkeypatch, busy):
    threads = {name: one_thread() for name in ("WRITING", "NOW")}
    for name, workers in threads.items():
        monkeypatch.setattr(under_test, name, workers)
    begun, hold = threading.Event(), threading.Event()
    threads[busy].submit(lambda: (begun.set(), hold.wait()))
    begun.wait()
    modules = Modules(90, "14.0")
    for text in ("aaa", "bb", "c"):
        modules.request(text, functools.partial(str, text))
    until(lambda: threads[busy]._tasks.qsize() == 3)
    waiting = in_a_thread(modules.request("c", never).wait)
    until(lambda: threads[busy]._tasks.qsize() == 4)
    hold.set()
    waiting.join()
    for text in ("aaa", "bb"):
        modules.request(text, never).wait()
    for workers in threads.values():
        workers.close()
    assert asked[0][0] == "c"
    assert len(asked) == 3


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="threads have no priorities here")
def test_threads_for_later_give_way():
    def nice() -> int:
        return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    workers = Workers(nice=3)
    assert workers.submit(nice).future.result() == min(19, nice() + 3)
    workers.close()


def test_nothing_is_begun_after_the_end():
    workers, begun, hold = one_thread(), threading.Event(), threading.Event()
    running = workers.submit(lambda: (begun.set(), hold.wait()))
    begun.wait()
    waiting = [workers.submit(lambda: None) for _ in range(3)]
    threads = list(workers._threads)
    closing = in_a_thread(workers.close)
    until(lambda: not workers._threads)
    hold.set()
    closing.join()
    assert running.future.done()
    assert not any(thread.is_alive() for thread in threads)
    assert not any(task.future.done() for task in waiting)


class Compiler:
    """A stand-in of NVRTC, which fails where two threads need its library before it is open."""

    NVRTCError = RuntimeError

    def __init__(self):
        self.is_open, self.opening = False, 0

    def getSupportedArchs(self):
        return [75, 90]

    def getVersion(self):
        return 12, 8

    def createProgram(self, text, name, headers, names):
        return text

    def compileProgram(self, program, options):
        if not self.is_open:
            self.opening += 1
            assert self.opening == 1
            threading.Event().wait(0.01)
            self.is_open = True

    def getCUBIN(self, program):
        return program.encode()

    def destroyProgram(self, program):
        pass


def test_threads_do_not_open_the_compilers_library_at_the_same_time(monkeypatch):
    compiler = Compiler()
    monkeypatch.setattr(nvrtc, "nvrtc", lambda: compiler)
    monkeypatch.setattr(nvrtc, "_is_open", False)
    workers = Workers()
    tasks = [workers.submit(lambda: nvrtc.compiled("text", nvrtc.Target(90))) for _ in range(16)]
    assert {task.future.result() for task in tasks} == {b"text"}
    workers.close()

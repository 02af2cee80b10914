"""Modules of CUDA C++: compiled once, quickly first, and kept.  The compiler is a stand-in."""

from __future__ import annotations

import functools
import os
import threading
from typing import Any

import pytest

from portpart.backends import cache_folder
from portpart.backends.cuda import modules as under_test
from portpart.backends.cuda import nvrtc
from portpart.backends.cuda.compile import WORTH_BETTER, ResidentKernel
from portpart.backends.cuda.modules import LARGE, Modules
from portpart.backends.cuda.workers import Workers
from portpart.errors import InternalError

SMALL_TEXT, LARGE_TEXT = "x", "y" * (LARGE + 1)


@pytest.fixture
def asked(monkeypatch, tmp_path) -> list[Any]:
    """What the compiler is asked for; the code tells text and way."""
    seen: list[Any] = []

    def compiled(text, target, quick=False):
        seen.append((text[0], target, quick))
        return f"{text[0]} {target} {'quick' if quick else 'best'}".encode()

    monkeypatch.setattr(under_test, "compiled", compiled)
    monkeypatch.setattr(under_test, "target_for", lambda capability: capability)
    monkeypatch.setattr(under_test, "has_quick", lambda: True)
    monkeypatch.setenv("PORTPART_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(cache_folder, "cache_folders", cache_folder.cache_folders.__wrapped__)
    return seen


def never() -> str:
    raise AssertionError("the text of a module that is kept is made")


def test_a_module_is_compiled_once_and_kept(asked):
    modules = Modules(90, "14.0")
    code = modules.ask("words", lambda: SMALL_TEXT)
    assert code.wait() == b"x 90 best"
    assert code.is_best
    assert modules.ask("words", never) is code
    again = Modules(90, "14.0").ask("words", never)
    assert again.wait() == b"x 90 best"
    assert again.is_best
    assert asked == [("x", 90, False)]


@pytest.mark.parametrize(("capability", "compiler", "words"), [
    (80, "14.0", "words"), (90, "14.1", "words"), (90, "14.0", "other words")])
def test_code_for_other_circumstances_is_other_code(asked, capability, compiler, words):
    Modules(90, "14.0").ask("words", lambda: SMALL_TEXT).wait()
    other = Modules(capability, compiler).ask(words, lambda: SMALL_TEXT)
    assert other.wait() == f"x {capability} best".encode()
    assert len(asked) == 2


def test_a_large_module_is_compiled_quickly_first(asked):
    code = Modules(90, "14.0").ask("words", lambda: LARGE_TEXT)
    assert code.wait() == b"y 90 quick"
    assert not code.is_best
    later = Modules(90, "14.0").ask("words", never)  # another process, before the best is made
    assert (later.wait(), later.is_best) == (b"y 90 quick", False)
    assert code.improve().result() == b"y 90 best"
    assert code.improve() is code.improve()
    last = Modules(90, "14.0").ask("words", never)
    assert (last.wait(), last.is_best) == (b"y 90 best", True)
    assert asked == [("y", 90, True), ("y", 90, False)]


def test_where_quick_code_will_not_do_the_best_is_made_at_once(asked):
    modules = Modules(90, "14.0")
    modules.quick = False
    code = modules.ask("words", lambda: LARGE_TEXT)
    assert (code.wait(), code.is_best) == (b"y 90 best", True)


def test_what_the_compiler_says_reaches_those_who_wait(asked, monkeypatch):
    def refuses(text, target, quick=False):
        raise InternalError("NVRTC: no")

    monkeypatch.setattr(under_test, "compiled", refuses)
    with pytest.raises(InternalError, match="NVRTC: no"):
        Modules(90, "14.0").ask("words", lambda: SMALL_TEXT).wait()


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


def test_better_code_takes_the_place_of_quick_code_once_that_pays(asked):
    code = Modules(90, "14.0").ask("words", lambda: LARGE_TEXT)
    kernel = ResidentKernel(Loaded(), code, "program")
    assert kernel.function == (b"y 90 quick", "program")
    assert not kernel.used(WORTH_BETTER // 2)
    assert len(asked) == 1
    kernel.used(WORTH_BETTER // 2)  # now it is asked for
    code.improve().result()
    assert kernel.is_best or kernel.used(1)
    assert kernel.function == (b"y 90 best", "program")
    assert kernel.is_best


def one_thread() -> Workers:
    return Workers(share=0)


def in_a_thread(work: Any) -> threading.Thread:
    thread = threading.Thread(target=work)
    thread.start()
    return thread


def until(happened: Any) -> None:
    while not happened():
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
        modules.ask(text, functools.partial(str, text))
    until(lambda: threads[busy]._tasks.qsize() == 3)
    waiting = in_a_thread(modules.ask("c", never).wait)
    until(lambda: threads[busy]._tasks.qsize() == 4)
    hold.set()
    waiting.join()
    for text in ("aaa", "bb"):
        modules.ask(text, never).wait()
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


def test_quick_code_calls_what_better_code_has_inlined(monkeypatch, asked):
    texts = {}
    monkeypatch.setattr(under_test, "compiled",
                        lambda text, target, quick: texts.setdefault(quick, text).encode())
    text = "__device__ __forceinline__ void halve_1f_step(const int64* row)" + LARGE_TEXT
    Modules(90, "14.0").ask("words", lambda: text).improve().result()
    assert texts[False] == text
    assert texts[True] == text.replace("forceinline", "noinline")


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

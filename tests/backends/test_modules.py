"""Modules of CUDA C++: compiled once, quickly first, and kept.  The compiler is a stand-in."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from portpart.backends import cache_folder
from portpart.backends.cuda import modules as under_test
from portpart.backends.cuda.compile import WORTH_BETTER, ResidentKernel
from portpart.backends.cuda.modules import LARGE, Modules
from portpart.backends.cuda.workers import LATER, NOW, Workers
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


def test_what_is_waited_for_is_done_before_what_may_come_later():
    workers, started, order = Workers(), threading.Event(), []
    hold = threading.Event()
    first = [workers.submit(NOW, lambda: (started.set(), hold.wait())) for _ in range(64)]
    started.wait()
    later = workers.submit(LATER, lambda: order.append("later"))
    now = workers.submit(NOW, lambda: order.append("now"))
    hold.set()
    for each in (*first, now, later):
        each.result()
    assert order.index("now") == 0 or len(workers._threads) > 1
    workers.close()


def test_nothing_is_begun_after_the_end():
    workers, begun, hold = Workers(), threading.Event(), threading.Event()
    running = workers.submit(NOW, lambda: (begun.set(), hold.wait()))
    begun.wait()
    waiting = [workers.submit(LATER, lambda: None) for _ in range(3)]
    hold.set()
    workers.close()
    assert running.done()
    assert all(not thread.is_alive() for thread in workers._threads)
    assert len(waiting) == 3

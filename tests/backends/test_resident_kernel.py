"""When a resident kernel is asked for, of whom, and when it is used.  All others are stand-ins."""

from __future__ import annotations

import time
from typing import Any

import pytest

from portpart.backends import cache_folder
from portpart.backends.cuda import background, resident_kernel
from portpart.backends.cuda import modules as cuda_modules
from portpart.backends.cuda.modules import Modules
from portpart.backends.cuda.resident_kernel import WORTH_RESIDENT, ResidentKernel
from portpart.backends.cuda.words import CUDA_PRELUDE


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


class Text:
    """A stand-in of a program's text."""

    words, symbol, program = "a program", "program", "what is sent"

    def write(self) -> str:
        return "y"


class Queue:
    """A stand-in of the process in the background."""

    takes = True

    def __init__(self):
        self.offered: list[Any] = []

    def offer(self, file: str, capability: int, program: Any) -> bool:
        self.offered.append((file, capability, program))
        return self.takes


RESIDENT = (b"y for 90", "program")
FILE = Modules(90, "14.0").file_of(Text.words, quick=False)


@pytest.fixture
def compiled_here(monkeypatch, tmp_path) -> list[str]:
    """The texts that threads of this process compile; the time between looks is none."""
    texts: list[str] = []

    def compiled(text: str, target: int, quick: bool = False) -> bytes:
        texts.append(text.removeprefix(CUDA_PRELUDE))
        return f"{texts[-1]} for {target}".encode()

    monkeypatch.setattr(cuda_modules, "compiled", compiled)
    monkeypatch.setattr(cuda_modules, "target_for", lambda capability: capability)
    monkeypatch.setattr(resident_kernel, "PAUSE", 0.0)
    monkeypatch.setattr(resident_kernel, "SHARE", 0.0)
    monkeypatch.setenv("PORTPART_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(cache_folder, "cache_folders", cache_folder.cache_folders.__wrapped__)
    return texts


@pytest.fixture
def beside(monkeypatch) -> Queue:
    """What is offered to the process in the background."""
    queue = Queue()
    monkeypatch.setattr(background, "queue", queue)
    return queue


def resident() -> ResidentKernel:
    return ResidentKernel(Loaded(), Modules(90, "14.0"), Text())


def until(happened: Any) -> None:
    end = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.001)


def test_what_an_earlier_process_has_wanted_is_compiled_in_the_background(compiled_here, beside):
    program = resident()
    assert program.ready() is None
    assert not beside.offered
    program.walked(10, were_kept=True)
    assert set(beside.offered) == {(FILE, 90, "what is sent")}
    assert program.ready() is None
    cache_folder.write(FILE, b"y for 90")  # by the other process
    assert program.ready() == RESIDENT
    assert resident().ready() == RESIDENT
    assert not compiled_here


def test_what_is_wanted_for_the_first_time_has_to_be_launched_often(compiled_here, beside):
    program = resident()
    program.walked(WORTH_RESIDENT - 1, were_kept=False)
    assert program.ready() is None
    assert not beside.offered
    program.walked(1, were_kept=False)
    assert set(beside.offered) == {(FILE, 90, "what is sent")}
    assert not compiled_here


def test_without_a_process_threads_compile_what_is_launched_often(compiled_here, beside):
    beside.takes = False
    program = resident()
    program.walked(WORTH_RESIDENT - 1, were_kept=True)
    assert program.ready() is None
    assert not compiled_here
    program.walked(1, were_kept=True)
    until(lambda: program.ready() is not None)
    assert program.ready() == RESIDENT
    assert compiled_here == ["y"]
    assert resident().ready() == RESIDENT  # in another process
    assert compiled_here == ["y"]


def test_looks_become_rarer(compiled_here, beside, monkeypatch):
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    monkeypatch.setattr(resident_kernel, "PAUSE", 1.0)
    monkeypatch.setattr(resident_kernel, "SHARE", 0.5)
    program, looks = resident(), []
    program.walked(1, were_kept=True)
    for tenth in range(100):
        now, before = 1000.0 + tenth / 10, len(beside.offered)
        program.ready()
        if len(beside.offered) > before:
            looks.append(tenth / 10)
    assert looks == [1.0, 2.0, 3.0, 4.5, 6.8]


@pytest.mark.parametrize("how", ["of this program", "of all"])
def test_a_resident_kernel_may_be_waited_for(compiled_here, beside, how):
    modules = Modules(90, "14.0")
    modules.quick = how == "of this program"
    program = ResidentKernel(Loaded(), modules, Text(), waits=modules.quick)
    assert program.ready() == RESIDENT
    assert not beside.offered

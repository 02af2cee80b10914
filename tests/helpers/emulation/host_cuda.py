"""A space for tests: kernels run as their generated CUDA C++, compiled by the host's compiler.

One thread, teams of one lane, NumPy arrays.  What runs here is the text that a GPU would get, so
every algorithm test can exercise the CUDA translator on a machine without a GPU.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from portpart.backends.cuda.compile import Key
from portpart.backends.cuda.resident import ResidentWriter
from portpart.backends.cuda.segmented import SegmentedExecutable
from portpart.backends.cuda.translate import PACKED, STEP, Translation, packed_name, translate
from portpart.backends.language import Kernel
from portpart.backends.language.types import type_of
from portpart.backends.programs.arguments import address_of, tag_of, word_of
from portpart.backends.programs.interface import Array, Executable, ExecutionSpace
from portpart.backends.programs.program import Program
from portpart.backends.programs.steps import Branch, Element, Step, While
from portpart.backends.programs.table import ProgramTable
from tests.helpers.emulation.host_words import HOST_PRELUDE

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

COMPILER = shutil.which("g++") or shutil.which("clang++") or shutil.which("c++")
# Texts are many and run for a moment: what matters is how long the compiler takes.
FLAGS = ("-std=c++17", "-Og", "-pipe", "-w", "-fno-strict-aliasing", "-ffp-contract=off", "-shared",
         "-fPIC", "-fno-semantic-interposition", "-fno-exceptions", "-fno-rtti",
         "-fno-asynchronous-unwind-tables")
LIBRARIES = ("-nostdlib", "-lgcc") if sys.platform == "linux" else ()
"""All that generated code may call, besides functions for numbers, which Python has loaded; that of
C++ would take a seventh of the time."""

NO_COMPILER = "no C++ compiler found (looked for g++, clang++, c++)"

_entries: dict[str, Any] = {}
"""Compiled entry points by symbol; the symbol holds a digest of the text."""


seen: dict[Key, None] = {}
"""Every kernel that was asked for, with types and width, so that NVRTC can be given them too."""


residents: dict[str, str] = {}
"""The text of every program's resident kernel that was asked for, by symbol, likewise."""


def translated(
    kernel: Kernel, arguments: Iterable[Any], team: int, entry: str = PACKED
) -> Translation:
    """The text of `kernel` for launch arguments or slots of a program."""
    tags = tuple(map(tag_of, arguments))
    seen[kernel, tags, team] = None
    return translate(kernel, tuple(map(type_of, tags)), team, (entry,))


def compiled(symbol: str, text: str) -> Any:
    """The compiled function `symbol` of `text`, which takes one address."""
    return compiled_together({symbol: text})[symbol]


def compiled_together(texts: dict[str, str]) -> dict[str, Any]:
    """The compiled functions of texts, each with its symbol.

    Those that no test has asked for are compiled as one text: programs have many kernels in common.
    """
    places = {symbol: place_of(text).with_suffix(".in") for symbol, text in texts.items()
              if symbol not in _entries}
    missing = {symbol: place for symbol, place in places.items() if not place.exists()}
    if missing:
        library = library_of("\n".join(dict.fromkeys(texts[symbol] for symbol in missing)))
        for place in missing.values():
            replace_file(place, library.name)
    for symbol, place in places.items():
        entry = getattr(ctypes.CDLL(str(place.with_name(place.read_text()))), symbol)
        entry.argtypes, entry.restype = [ctypes.c_void_p], None
        _entries[symbol] = entry
    return {symbol: _entries[symbol] for symbol in texts}


def place_of(text: str) -> Path:
    """Where what is made of a text is kept; tests of other versions may use the same folder."""
    words = f"{COMPILER}{FLAGS}{LIBRARIES}{HOST_PRELUDE}{text}"
    folder = Path(os.environ.get("PORTPART_TEST_CACHE", tempfile.gettempdir())) / "portpart-host"
    return folder / hashlib.sha256(words.encode()).hexdigest()[:24]


def library_of(text: str) -> Path:
    """The compiled library of a text."""
    assert COMPILER is not None, NO_COMPILER
    library = place_of(text).with_suffix(".so")
    if not library.exists():
        library.parent.mkdir(parents=True, exist_ok=True)
        with one_process(library):
            if not library.exists():
                build(HOST_PRELUDE + text, library)
    return library


def build(text: str, library: Path) -> None:
    """Compile a text."""
    with tempfile.TemporaryDirectory(dir=library.parent) as scratch:
        written, built = Path(scratch, "kernels.cpp"), Path(scratch, "kernels.so")
        written.write_text(text)
        command = [str(COMPILER), *FLAGS, str(written), *LIBRARIES, "-o", str(built)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{done.stderr}\n{text}")
        os.replace(built, library)


@contextlib.contextmanager
def one_process(place: Path) -> Iterator[None]:
    """Wait until no other process makes this file: ranks need the same ones at the same time.

    The lock of a process that is killed ends with it.  A few files serve all names.
    """
    if fcntl is None:
        yield
        return
    with place.with_name(f"{place.name[:2]}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def replace_file(place: Path, content: str) -> None:
    """Write a file that other processes read: they see all of it or nothing."""
    unfinished = place.with_name(f"{place.name}.{os.getpid()}")
    unfinished.write_text(content)
    os.replace(unfinished, place)


STEPS = "_steps"
DECLARED = "static void (*{0})(const int64*, uint32);"
BOUND = "    {0} = reinterpret_cast<void (*)(const int64*, uint32)>(steps[{1}]);"
ENTRY = """
extern "C" void {0}_entry(const int64* row, uint32 own_block) {{ {0}(row, own_block); }}
"""


def with_steps(symbol: str, text: str, steps: Iterable[Translation]) -> Any:
    """A program whose steps are compiled apart, once for all programs, and called by address.

    Text and results are those of the program in one piece, which NVRTC's tests compile.
    """
    names = {each.step_symbol: each.text for each in steps}
    bind = [BOUND.format(name, number) for number, name in enumerate(names)]
    head = f'extern "C" void {symbol}{STEPS}(void* const* steps)'
    own = f"namespace program_{symbol} {{"  # its steps have the names that it gives to addresses
    whole = "\n".join([own, text, head, "{", *bind, "}", "}"])
    entries = compiled_together({**{f"{name}_entry": names[name] + ENTRY.format(name)
                                    for name in names}, symbol: whole, f"{symbol}{STEPS}": whole})
    addresses = [ctypes.cast(entries[f"{name}_entry"], ctypes.c_void_p).value for name in names]
    entries[f"{symbol}{STEPS}"]((ctypes.c_void_p * len(names))(*addresses))
    return entries[symbol]


class HostCudaSpace(ExecutionSpace):
    """Generated CUDA C++ on one thread of the host."""

    kind = "cpu"
    widest_team = 1
    name = "host-cuda"

    def empty(self, n: int, dtype: Any) -> Array:
        return np.empty(n, dtype)

    def full(self, n: int, value: Any, dtype: Any) -> Array:
        return np.full(n, value, dtype)

    def asarray(self, values: Any, dtype: Any = None) -> Array:
        return np.ascontiguousarray(values, dtype)

    def to_host(self, array: Array) -> np.ndarray:
        return np.asarray(array)

    def synchronize(self) -> None:
        """Every launch has finished when it returns."""

    def parallel_for(self, n: int, kernel: Kernel, *args: Any, team: int = 1) -> None:
        if n <= 0:
            return
        args = kernel.flattened(args)
        translation = translated(kernel, args, team)
        entry = compiled(packed_name(translation.symbol), translation.text)
        row = np.array([0, *map(word_of, args), n], np.int64)
        row[0] = address_of(row) + 8 * (len(row) - 1)
        self.counters.launches += 1
        entry(address_of(row))

    def executable(self, program: Program) -> Executable:
        if program.communication():
            return SegmentedExecutable(self, program, partial(HostCudaExecutable, self))
        return HostCudaExecutable(self, program)


class HostCudaExecutable:
    """A program as its resident kernel."""

    reads_flags = False

    def __init__(self, space: HostCudaSpace, program: Program) -> None:
        self.space = space
        self.table = ProgramTable(program.used_slots())
        rows = {id(step): self.table.add_row(step) for step in program.launches()}
        used = dict.fromkeys(_flags(program.steps))
        flags = {flag: self.table.add_address(flag) for flag in used}
        translations = {
            id(step): translated(step.kernel, step.args, step.team, STEP)
            for step in program.launches()
        }
        writer = ResidentWriter(translations, rows, flags, self.table.sizes)
        self.plan = self.table.plan()
        symbol, text = writer.write(program.steps)
        residents[symbol] = text
        writer.translations = {each: Translation(found.symbol, DECLARED.format(found.step_symbol))
                               for each, found in translations.items()}
        self.entry = with_steps(*writer.write(program.steps, symbol), translations.values())

    def run(self, bindings: dict[str, Any], size: int, sizes: Any = None) -> None:
        """Run with `bindings`."""
        places = self.table.place_scratch(sizes)
        scratch = np.empty(places[-1], np.uint8)
        sizes_of_table = self.table.sizes
        words = np.full(sizes_of_table.numbers + sizes_of_table.zeros, 77, np.int64)
        self.table.bind(bindings, (address_of(self.plan), address_of(words), 0, 0),
                        address_of(scratch), places)
        self.space.counters.launches += 1
        self.entry(self.table.address_of_values)

    def repeated(self, bindings: dict[str, Any], size: int) -> Callable[[], None]:
        """Run with the same bindings again and again."""
        return partial(self.run, bindings, size)


def _flags(steps: list[Step]) -> Iterator[Element]:
    for step in steps:
        if isinstance(step, While):
            yield step.flag
            yield from _flags(step.steps)
        elif isinstance(step, Branch):
            yield step.flag
            yield from _flags(step.then + step.orelse)

"""Modules of CUDA C++: compiled in threads, kept in the cache folder.

A module is known by what its text depends on, so that one that is kept needs no text.  A large one
is compiled twice.  Quickly made code is there in half the time, and whoever waits goes on with it;
better code is made once it pays, beside other work, and takes its place.  The results are the same
bits.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import cached_property

from portpart.backends import cache_folder
from portpart.backends.cuda.nvrtc import OPTIONS, QUICK, compiled, has_quick, target_for
from portpart.backends.cuda.resident import with_calls
from portpart.backends.cuda.workers import LATER, NOW, Task
from portpart.backends.language.fingerprint import of_the_compilers

LARGE = 30_000
"""Characters from which a module is large: it takes half a second."""


class Modules:
    """The modules for a kind of device; safe to use from several threads.

    Parameters
    ----------
    capability : int
        Compute capability, 90 for 9.0.
    compiler : str
        The version of CuPy, with which NVRTC comes.

    Attributes
    ----------
    quick : bool
        Whether large modules are compiled quickly first.
    """

    def __init__(self, capability: int, compiler: str) -> None:
        self.capability, self.compiler = capability, compiler
        self.quick = True
        self._codes: dict[str, Code] = {}
        self._lock = threading.Lock()

    def ask(self, words: str, text: Callable[[], str]) -> Code:
        """The code of a module, which is compiled in threads unless it is kept.

        Parameters
        ----------
        words : str
            All that its text depends on, besides the compilers.
        text : callable
            Makes the text.
        """
        with self._lock:
            if words not in self._codes:
                self._codes[words] = Code(self, words, text)
            return self._codes[words]

    def asked(self) -> list[Code]:
        """All that has been asked for."""
        with self._lock:
            return list(self._codes.values())

    def file_of(self, words: str, quick: bool) -> str:
        """Name of the file of a module."""
        how = [*OPTIONS, *([QUICK] if quick else [])]
        return cache_folder.file_of(f"sm_{self.capability}",
                                    f"{self.compiler} {of_the_compilers()} {how} {words}")


class Code:
    """Code of a module, when it is there.

    Attributes
    ----------
    is_best : bool
        Whether what there is first, is the best.
    """

    def __init__(self, modules: Modules, words: str, text: Callable[[], str]) -> None:
        self._modules, self._words, self._make_text = modules, words, text
        self._better: Future[bytes] | None = None
        self._lock = threading.Lock()
        self._first: Future[bytes] = Future()
        self._making: Task[bytes] | None = None
        kept = cache_folder.read(modules.file_of(words, False))
        self.is_best = kept is not None
        if kept is None and modules.quick:
            kept = cache_folder.read(modules.file_of(words, True))
        if kept is None:
            quick = modules.quick and len(self._text) > LARGE and has_quick()
            self.is_best = not quick
            self._making = NOW.submit(lambda: self._made(quick), len(self._text))
            self._first = self._making.future
        else:
            self._first.set_result(kept)

    def wait(self) -> bytes:
        """The first code that there is."""
        if self._making is not None and not self._first.done():
            NOW.hurry(self._making)
        return self._first.result()

    def improve(self) -> Future[bytes]:
        """Have the best code made, if that has not been asked for."""
        with self._lock:
            if self._better is None:
                self._better = LATER.submit(lambda: self._made(quick=False)).future
            return self._better

    @cached_property
    def _text(self) -> str:
        return self._make_text()

    def _made(self, quick: bool) -> bytes:
        text = with_calls(self._text) if quick else self._text
        code = compiled(text, target_for(self._modules.capability), quick)
        cache_folder.write(self._modules.file_of(self._words, quick), code)
        return code

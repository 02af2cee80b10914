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
from portpart.backends.cuda.workers import LATER, NOW, WRITING, Task
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
    """Code of a module, when it is there."""

    def __init__(self, modules: Modules, words: str, text: Callable[[], str]) -> None:
        self._modules, self._words, self._make_text = modules, words, text
        self._better: Future[bytes] | None = None
        self._lock = threading.Lock()
        self._kept = cache_folder.read(modules.file_of(words, False))
        self._quick = False
        if self._kept is None and modules.quick:
            self._kept = cache_folder.read(modules.file_of(words, True))
            self._quick = self._kept is not None
        if self._kept is None:
            self._writing = WRITING.submit(self._have_compiled, len(words))

    def wait(self) -> bytes:
        """The first code that there is."""
        if self._kept is None:
            self._kept = NOW.wait(WRITING.wait(self._writing))
        return self._kept

    @property
    def is_best(self) -> bool:
        """Whether what there is first, is the best."""
        self.wait()
        return not self._quick

    def improve(self) -> Future[bytes]:
        """Have the best code made, if that has not been asked for."""
        with self._lock:
            if self._better is None:
                self._better = LATER.submit(lambda: self._made(quick=False)).future
            return self._better

    @cached_property
    def _text(self) -> str:
        return self._make_text()

    def _have_compiled(self) -> Task[bytes]:
        """Write the text, and have it compiled."""
        quick = self._modules.quick and len(self._text) > LARGE and has_quick()
        self._quick = quick
        return NOW.submit(lambda: self._made(quick), len(self._text))

    def _made(self, quick: bool) -> bytes:
        text = with_calls(self._text) if quick else self._text
        code = compiled(text, target_for(self._modules.capability), quick)
        cache_folder.write(self._modules.file_of(self._words, quick), code)
        return code

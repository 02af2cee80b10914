"""The kernel of a resident program: loaded when it is there, compiled once that pays."""

from __future__ import annotations

import time
from types import ModuleType
from typing import Any

from portpart.backends.cuda import background
from portpart.backends.cuda.compile import ask_resident, loaded
from portpart.backends.cuda.modules import Modules
from portpart.backends.cuda.program_text import ProgramText

WORTH_RESIDENT = 1 << 15
"""Launches from Python of a program from which its resident kernel pays: a quarter of a second."""

PAUSE, SHARE = 1.0, 1 / 8
"""Seconds between two looks into the cache folder, and the share of the time waited so far, the
larger of which counts."""


class ResidentKernel:
    """The kernel of a resident program, which is compiled beside other work once that pays.

    It pays for a program that an earlier process has wanted, and for one that this process has
    launched often enough.  A process in the background compiles it; where there is none, threads do
    so for a program that has been launched often enough.

    Parameters
    ----------
    cupy : module
    modules : Modules
    text : ProgramText
    waits : bool
        Whether the program must not run without it.
    """

    def __init__(self, cupy: ModuleType, modules: Modules, text: ProgramText,
                 waits: bool = False) -> None:
        self._cupy, self._modules, self._text = cupy, modules, text
        self._waits = waits or not modules.quick
        self._code = modules.kept(text.words)
        self._left = WORTH_RESIDENT
        self._pays = False
        self._first_look = self._next_look = 0.0
        self._function: Any = None

    def walked(self, launches: int, were_kept: bool) -> None:
        """Count a run without it, by kernels that other processes had compiled or not."""
        self._left -= launches
        self._pays = self._pays or were_kept or self._left <= 0
        self._look()

    def ready(self) -> Any:
        """The function; None while it is not there."""
        if self._function is None:
            self._look()
            if self._code is not None and (self._waits or self._code.is_there):
                module = loaded(self._cupy, self._code.wait())
                self._function = module.get_function(self._text.symbol)
        return self._function

    def _look(self) -> None:
        """Look whether it is there, and have it compiled if that pays."""
        if self._code is not None:
            return
        if self._waits:
            self._code = ask_resident(self._modules, self._text)
        elif self._pays and self._is_time():
            self._code = self._modules.kept(self._text.words)
            if self._code is None and not self._is_offered() and self._left <= 0:
                self._code = ask_resident(self._modules, self._text)

    def _is_offered(self) -> bool:
        """Whether a process in the background will compile it."""
        file = self._modules.file_of(self._text.words, quick=False)
        return background.queue.offer(file, self._modules.capability, self._text.program)

    def _is_time(self) -> bool:
        now = time.monotonic()
        if now < self._next_look:
            return False
        self._first_look = self._first_look or now
        self._next_look = now + max(PAUSE, SHARE * (now - self._first_look))
        return True

"""The process that `background` starts: programs come in, files of the cache folder come out."""

from __future__ import annotations

import os
import pickle
import signal
import sys

import cupy

from portpart.backends import cache_folder
from portpart.backends.cuda.background import Order
from portpart.backends.cuda.background_journal import Journal
from portpart.backends.cuda.compile import ask_resident
from portpart.backends.cuda.modules import Code, Modules
from portpart.backends.cuda.program_pickle import from_bytes
from portpart.backends.cuda.program_text import ProgramText

NICE = 19
"""It gives way to everybody."""

LIMIT = 1800
"""Seconds after which the system ends it, whatever it is at."""


def main(journal_file: int) -> None:
    """Compile what stands in standard input, if no other process is at work."""
    os.nice(NICE)
    signal.alarm(LIMIT)
    with Journal(os.fdopen(journal_file, "r+b")) as journal:
        if journal.is_locked():  # on file systems of other machines locks are not inherited
            compile_all(pickle.load(sys.stdin.buffer), journal)


def compile_all(orders: list[Order], journal: Journal) -> None:
    """Compile programs side by side; the journal tells what goes wrong."""
    journal.begin(order.file for order in orders)
    codes: dict[str, Code] = {}
    for order in orders:
        try:
            codes[order.file] = asked(order)
        except Exception as problem:  # whatever it is: the others can be compiled
            journal.end(order.file, repr(problem))
    for file, code in codes.items():
        try:
            code.wait()
        except Exception as problem:
            journal.end(file, repr(problem))
        else:
            journal.end(file, "" if cache_folder.read(file) else "cannot be kept")


def asked(order: Order) -> Code:
    """The code of a program, which is compiled in threads.

    Raises
    ------
    ValueError
        If it is another one here than where it comes from.
    """
    modules = Modules(order.capability, cupy.__version__)
    text = ProgramText(from_bytes(order.program))
    if modules.file_of(text.words, quick=False) != order.file:
        raise ValueError("kernels or compilers are not those of the process that wants them")
    return ask_resident(modules, text)


if __name__ == "__main__":
    main(int(sys.argv[1]))

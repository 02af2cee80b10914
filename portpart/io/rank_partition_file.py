"""A partition file that several ranks write together."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

import numpy as np

from portpart.backends.communication.calls import each_of_ranks, from_first_rank
from portpart.backends.communication.plan import planned
from portpart.errors import InputError
from portpart.io.text.files import STREAM, PathLike, move_into_place, new_temporary
from portpart.io.text.packed import COMPRESSIONS
from portpart.io.text.render import rendered_rows

if TYPE_CHECKING:
    from portpart.backends.communication.protocol import Communicator


def write_own_lines(comm: Communicator, part: np.ndarray, path: PathLike) -> None:
    """Write the block of each vertex, one per line; all ranks call it with those of theirs.

    Raises
    ------
    InputError
        On all ranks, if one of them cannot write.
    """
    name = planned(comm, lambda: _checked_name(path))
    text = planned(comm, lambda: rendered_rows(part.astype(np.int64), np.arange(len(part) + 1)))
    lengths = each_of_ranks(comm, len(text))
    before, total = int(lengths[: comm.rank].sum()), int(lengths.sum())
    made: list[str] = []
    try:
        planned(comm, lambda: _make(comm.rank, name, made))
        temporary = from_first_rank(comm, "".join(made))
        planned(comm, lambda: _write(temporary, name, before, text))
        planned(comm, lambda: _finish(made, name, total))
    except BaseException:
        for each in made:
            with contextlib.suppress(OSError):
                os.unlink(each)
        raise


def _checked_name(path: PathLike) -> str:
    """The file to write, links followed."""
    name = os.fspath(path)
    if name == STREAM:
        raise InputError("ranks write a file together; standard output is none: gather() the "
                         "blocks")
    if os.path.splitext(name)[1].lower() in COMPRESSIONS:
        raise InputError(f"{name}: ranks write lines side by side, which a packed file cannot "
                         "have; pack it afterwards, or gather() the blocks")
    if os.path.exists(name) and not os.path.isfile(name):
        raise InputError(f"{name} is no regular file")
    return os.path.realpath(name)


def _make(rank: int, name: str, made: list[str]) -> None:
    """Make the file that all ranks write to, on rank 0; its name is added to `made`."""
    if rank > 0:
        return
    try:
        handle, temporary = new_temporary(name)
    except OSError as problem:
        raise InputError(f"{name} cannot be written: {problem.strerror or problem}") from problem
    made.append(temporary)
    os.close(handle)


def _write(temporary: str, name: str, begin: int, text: np.ndarray) -> None:
    """Write bytes from a place of a file on."""
    try:
        with open(temporary, "r+b", buffering=0) as file:
            file.seek(begin)
            left = text.data
            while len(left):
                left = left[file.write(left) :]
    except FileNotFoundError as problem:
        raise InputError(f"{name} cannot be written: this rank does not see {temporary}, which "
                         "rank 0 has made; write to a folder that all ranks share") from problem
    except OSError as problem:
        raise InputError(f"{name} cannot be written: {problem.strerror or problem}") from problem


def _finish(made: list[str], name: str, total: int) -> None:
    """Put the file in its place, on the rank that has made it."""
    for temporary in made:
        size = os.path.getsize(temporary)
        if size != total:
            raise InputError(f"{name} cannot be written: its lines have {total} bytes, and {size} "
                             "have arrived; write to a folder that all ranks share")
        try:
            move_into_place(temporary, name)
        except OSError as problem:
            raise InputError(
                f"{name} cannot be written: {problem.strerror or problem}") from problem
    made.clear()

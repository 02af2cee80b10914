"""A partition file that several ranks write or read together."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

import numpy as np

from portpart import backends
from portpart.backends.communication import each_of_ranks, from_first_rank, planned, sum_over_ranks
from portpart.errors import GraphFormatError, InputError, reading, writing
from portpart.formats import NumberLines, text
from portpart.io import partition_file
from portpart.io.metis_pieces import PieceSource, piece_of
from portpart.primitives import ship

if TYPE_CHECKING:
    from portpart.backends.communication import Communicator
    from portpart.backends.programs import Array

# A partition file that several ranks write together --------------------------------------------


def write_own_lines(comm: Communicator, part: np.ndarray, path: text.PathLike) -> None:
    """Write the block of each vertex, one per line; each rank calls it with its vertices' blocks.

    Raises
    ------
    InputError
        On all ranks, if one of them cannot write.
    """
    name = planned(comm, lambda: _checked_name(path))
    lines = planned(comm, lambda: text.rendered_rows(part.astype(np.int64),
                                                     np.arange(len(part) + 1)))
    lengths = each_of_ranks(comm, len(lines))
    before, total = int(lengths[: comm.rank].sum()), int(lengths.sum())
    made: list[str] = []
    try:
        planned(comm, lambda: _make(comm.rank, name, made))
        temporary = from_first_rank(comm, "".join(made))
        planned(comm, lambda: _write(temporary, name, before, lines))
        planned(comm, lambda: _finish(made, name, total))
    except BaseException:
        for each in made:
            with contextlib.suppress(OSError):
                os.unlink(each)
        raise


def _checked_name(path: text.PathLike) -> str:
    """Return the name of the file to write, with links followed."""
    name = os.fspath(path)
    if name == text.STREAM:
        raise InputError("ranks write a file together; standard output is none: gather() the "
                         "blocks")
    if os.path.splitext(name)[1].lower() in text.COMPRESSIONS:
        raise InputError(f"{name}: ranks write lines side by side, which a packed file cannot "
                         "have; pack it afterwards, or gather() the blocks")
    if os.path.exists(name) and not os.path.isfile(name):
        raise InputError(f"{name} is no regular file")
    return os.path.realpath(name)


def _make(rank: int, name: str, made: list[str]) -> None:
    """Make the file that all ranks write to, on rank 0; add its name to `made`."""
    if rank > 0:
        return
    with writing(name):
        handle, temporary = text.new_temporary(name)
    made.append(temporary)
    os.close(handle)


def _write(temporary: str, name: str, begin: int, lines: np.ndarray) -> None:
    """Write bytes from a position of a file on."""
    try:
        with writing(name, FileNotFoundError), open(temporary, "r+b", buffering=0) as file:
            file.seek(begin)
            left = lines.data
            while len(left):
                left = left[file.write(left) :]
    except FileNotFoundError as problem:
        raise InputError(f"{name} cannot be written: this rank does not see {temporary}, which "
                         "rank 0 has made; write to a folder that all ranks share") from problem


def _finish(made: list[str], name: str, total: int) -> None:
    """Rename the file to its name, on the rank that has made it."""
    for temporary in made:
        size = os.path.getsize(temporary)
        if size != total:
            raise InputError(f"{name} cannot be written: its lines have {total} bytes, and {size} "
                             "have arrived; write to a folder that all ranks share")
        with writing(name):
            text.move_into_place(temporary, name)
    made.clear()


# A partition file that several ranks read together, each some of the lines ---------------------


def read_own_blocks(comm: Communicator, path: text.PathLike, borders: np.ndarray,
                    free: bool = False) -> np.ndarray:
    """Read the blocks of the vertices of this rank.

    All ranks call it.

    Parameters
    ----------
    comm : Communicator
    path : str or text.PathLike
        As for `read_partition`, except standard input. Rank 0 reads a packed file.
    borders : numpy.ndarray of int64, shape (ranks + 1,)
        Rank r has the vertices ``borders[r] ... borders[r + 1] - 1``.
    free : bool
        As for `read_partition`: accept -1, and lines of a vertex, from 1, and its block.

    Returns
    -------
    numpy.ndarray of int32

    Raises
    ------
    GraphFormatError
        On all ranks, for an invalid block number or vertex, with file and line, or for a wrong
        number of lines.
    InputError
        On all ranks, if one cannot read the file.
    """
    n, name = int(borders[-1]), os.fspath(path)
    source = planned(comm, lambda: _piece(name, comm.rank, comm.size, n))
    lines = planned(comm, lambda: NumberLines.of(source, partition_file.SYNTAX))
    lengths = lines.lengths
    total, ones, twos = sum_over_ranks(
        comm, [len(lengths), (lengths == 1).sum(), (lengths == 2).sum()]).tolist()
    are_pairs = free and total > 0 and twos == total
    width = 2 if free and twos and not ones else 1
    planned(comm, lambda: partition_file.check_lengths(lines, width, free))
    before = int(each_of_ranks(comm, len(lengths))[: comm.rank].sum())

    def checked() -> tuple[np.ndarray, np.ndarray]:
        blocks = partition_file.checked_blocks(lines, are_pairs, free)
        if are_pairs:
            return partition_file.checked_items(lines, n), blocks
        if total != n:
            raise GraphFormatError(f"{name}: {total} lines for {n} vertices")
        return np.arange(before, before + len(blocks)), blocks

    return _at_owners(comm, name, borders, *planned(comm, checked))


def _piece(name: str, rank: int, size: int, n: int) -> PieceSource:
    """Return the lines that a rank reads: its piece of plain text, or on rank 0 a whole packed
    file.
    """
    if name == text.STREAM:
        raise InputError("ranks read files, not standard input")
    with reading(name), open(name, "rb") as file:
        begin = file.read(text.FIRST_BYTES)
        if not text.is_packed(begin) and not begin.startswith(text.ZIP_MEMBER):
            body = len(text.UTF8_MARK) if begin.startswith(text.UTF8_MARK) else 0
            return piece_of(name, file, body, rank, size)
    if rank > 0:
        return PieceSource(name, b"")
    whole = text.read_source(name, n)
    return PieceSource(whole.name, whole.data)


def _at_owners(comm: Communicator, name: str, borders: np.ndarray, vertices: np.ndarray,
               blocks: np.ndarray) -> np.ndarray:
    """Return blocks after sending them to the vertices' ranks; `FREE` for vertices without one."""
    owner = np.searchsorted(borders, vertices, side="right") - 1
    order = np.argsort(owner, kind="stable")
    space = backends.space("cpu")
    columns: list[Array] = [vertices[order].astype(np.int64), blocks[order].astype(np.int32)]
    (places, found), _ = ship(comm, space, columns, np.bincount(owner, minlength=comm.size))
    first, last = (int(each) for each in borders[comm.rank : comm.rank + 2])
    part = np.full(last - first, partition_file.FREE, np.int32)

    def check() -> None:
        times = np.bincount(places - first, minlength=len(part))
        if (times > 1).any():
            raise GraphFormatError(f"{name}: a second block for vertex "
                                   f"{first + int((times > 1).argmax()) + 1}")

    planned(comm, check)
    part[places - first] = space.to_host(found)
    return part

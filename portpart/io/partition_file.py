"""Partition files: the block of vertex i alone on line i, as METIS writes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from portpart.errors import GraphFormatError, InputError
from portpart.ingest import host_array
from portpart.io.files import PathLike, read_source, write_chunks
from portpart.io.render import rendered_rows
from portpart.io.tokens import LineSyntax, read_lines

SYNTAX = LineSyntax(comments=b"%#")

MAX_INT32 = 2**31 - 1


def read_partition(path: PathLike, num_vertices: int | None = None, *,
                   free: bool = False) -> np.ndarray:
    """Read a partition file.

    Parameters
    ----------
    path : str or PathLike
        Plain, ``.gz``, ``.xz`` or ``.bz2``; ``-`` reads standard input.
    num_vertices : int, optional
        Number of lines that must be there.
    free : bool, default False
        Accept -1, a vertex that is in no block, as in hMETIS's files of fixed vertices.

    Returns
    -------
    ndarray of int32, shape (n,)

    Raises
    ------
    GraphFormatError
        Naming file and line of what is no block number, or the wrong number of lines.
    """
    source = read_source(path)
    lines = read_lines(source.data, SYNTAX)
    if lines.bad_byte is not None:
        source.refuse_word(lines.bad_byte)
    part = lines.values
    several = np.diff(lines.starts) != 1
    if several.any():
        row = int(several.argmax())
        source.refuse(source.line_of_row(SYNTAX, 0, row), "expected one block number per line")
    bad = (part < (-1 if free else 0)) | (part > MAX_INT32)
    if bad.any():
        row = int(bad.argmax())
        source.refuse(source.line_of_row(SYNTAX, 0, row), f"{part[row]} is no block number")
    if num_vertices is not None and len(part) != num_vertices:
        raise GraphFormatError(f"{source.name}: {len(part)} lines for {num_vertices} vertices")
    return part.astype(np.int32)


def write_partition(part: Any, path: PathLike) -> None:
    """Write the block of each vertex, one per line; ``-`` writes to standard output.

    Device arrays are copied to the host.  The file is complete or not there.
    """
    blocks = host_array(part)
    if blocks.ndim != 1 or (len(blocks) and blocks.dtype.kind not in "iub"):
        raise InputError(f"part is an array of {blocks.dtype} and shape {blocks.shape}; a "
                         "one-dimensional array of integers is needed")
    write_chunks(path, [rendered_rows(blocks.astype(np.int64), np.arange(len(blocks) + 1))])

"""Files whose ranges of rows can be read separately."""

from __future__ import annotations

import os
from contextlib import ExitStack, suppress
from typing import Any

import numpy as np

from portpart import backends, formats, graphs
from portpart.backends.programs import ExecutionSpace
from portpart.errors import GraphFormatError, errors_about, reading, typed_memory_errors
from portpart.formats.text import FIRST_BYTES, PathLike, is_packed
from portpart.options import checked_integer

MAX_RANGES = 2**20

MAX_VERTEX_COST = 2**20


class RowFile:
    """A graph file whose rows can be read by ranges, as :func:`open_rows` returns it.

    Every rank opens the file and reads its range.  A context manager that closes the file.

    Attributes
    ----------
    name : str
        The name of the file.
    num_vertices, num_arcs : int
        Sizes of the whole graph, including loops.

    Examples
    --------
    >>> import portpart
    >>> portpart.io.write(portpart.generators.grid_2d(30), "grid.parhip")
    >>> with portpart.io.open_rows("grid.parhip") as file:
    ...     print(file.borders(3))
    ...     file.rows(300, 600)
    [0, 302, 599, 900]
    <Rows: vertices 300 to 600 of 900, 1,180 arcs, on cpu>
    """

    def __init__(self, name: str, stored: formats.StoredRows, opened: ExitStack) -> None:
        self.name = name
        self.num_vertices = stored.offsets.count - 1
        self.num_arcs = stored.targets.count
        self._stored, self._opened = stored, opened

    def __enter__(self) -> RowFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._opened.close()

    @typed_memory_errors
    def rows(self, first: int, last: int, space: ExecutionSpace | str = "cpu") -> graphs.Rows:
        """Read the rows of the vertices ``first <= v < last``.

        Parameters
        ----------
        first, last : int
            The range may be empty.
        space : ExecutionSpace or str
            Space of the rows, or the name of a device.

        Returns
        -------
        Rows
            Without self loops. Parallel edges are kept. Weights have the type of the file, which is
            the same for all ranges.

        Raises
        ------
        GraphFormatError
            If offsets decrease, a target is not a vertex or a weight is negative. Reverse arcs and
            checksums of archives are not checked.
        InputError
            If the range is invalid.
        """
        low, high = graphs.checked_range(first, last, self.num_vertices)
        weights, masses = self._stored.weights, self._stored.vertex_weights
        with errors_about(self.name):
            offsets = self._offsets(low, high)
            begin, end = int(offsets[0]), int(offsets[-1])
            return graphs.checked_rows(
                low, self.num_vertices, offsets - begin,
                _integers(self._stored.targets.part(begin, end), "targets"),
                None if weights is None else _integers(weights.part(begin, end), "weights"),
                None if masses is None else _integers(masses.part(low, high), "vertex weights"),
                space)

    def borders(self, size: int, vertex_cost: int = graphs.VERTEX_COST) -> list[int]:
        """Choose borders of ranges for `size` ranks, equal on all of them.

        Parameters
        ----------
        size : int
        vertex_cost : int
            Number of arcs that a vertex counts as.

        Returns
        -------
        list of int
            ``size + 1`` borders.  Each range has the same number of arcs and weighted vertices,
            to within one row.

        Raises
        ------
        GraphFormatError
            If an offset is invalid.

        Notes
        -----
        Reads about ``size * log2(num_vertices)`` offsets.
        """
        size = checked_integer("size", size, 1, MAX_RANGES)
        cost = checked_integer("vertex_cost", vertex_cost, 0, MAX_VERTEX_COST)
        return graphs.balanced_borders(lambda v: int(self._checked(v, v)[0]), self.num_vertices,
                                       self.num_arcs, size, cost)

    def _offsets(self, low: int, high: int) -> np.ndarray:
        """Return the offsets of the rows of a range, which ascend."""
        offsets = self._checked(low, high)
        if (row := graphs.first_true(np.diff(offsets) < 0)) is not None:
            raise GraphFormatError(f"{self.name}: the row of vertex {low + row} ends before it "
                                   f"begins, at arcs {offsets[row + 1]} and {offsets[row]}")
        return offsets

    def _checked(self, low: int, high: int) -> np.ndarray:
        """Return the offsets `low` to `high`, inclusive, checked to be from 0 to the number of
        arcs.
        """
        with errors_about(self.name):
            offsets = self._stored.as_offsets(self._stored.offsets.part(low, high + 1), low)
        wrong = (offsets < 0) | (offsets > self.num_arcs)
        wrong[0] |= low == 0 and offsets[0] != 0
        wrong[-1] |= high == self.num_vertices and offsets[-1] != self.num_arcs
        if (place := graphs.first_true(wrong)) is not None:
            raise GraphFormatError(f"{self.name}: offset {low + place} is {offsets[place]}; "
                                   f"offsets ascend from 0 to {self.num_arcs}, the number of arcs")
        return offsets


def open_rows(path: PathLike) -> RowFile:
    """Open a graph file to read ranges of its rows.

    Parameters
    ----------
    path : str or PathLike
        A ParHIP file, an ``.npz`` archive that is not compressed, as :func:`write` writes it, or a
        folder with the arrays of such an archive as ``.npy`` files.

    Returns
    -------
    RowFile

    Raises
    ------
    GraphFormatError
        If the file is in another format, or its size contradicts its header.
    InputError
        If the file cannot be read.

    Notes
    -----
    :func:`open_metis_piece` reads METIS files in pieces.

    Examples
    --------
    >>> import portpart
    >>> portpart.io.write(portpart.generators.grid_2d(3), "grid.npz")
    >>> with portpart.io.open_rows("grid.npz") as file:
    ...     file.rows(4, 5).targets.tolist()
    [1, 3, 5, 7]
    """
    name = os.fspath(path)
    with ExitStack() as opened:
        with reading(name):
            stored = _stored_rows(name, opened)
        return RowFile(name, stored, opened.pop_all())


def _stored_rows(name: str, opened: ExitStack) -> formats.StoredRows:
    """Return the places of the arrays of a graph; their files stay open."""
    if os.path.isdir(name):
        files = {}
        for key in (*formats.OWN_NAMES, *formats.BARE_NAMES):
            with suppress(FileNotFoundError):
                files[key] = opened.enter_context(open(os.path.join(name, f"{key}.npy"), "rb"))
        return formats.rows_of_folder(name, files)
    file = opened.enter_context(open(name, "rb"))
    size = os.fstat(file.fileno()).st_size
    begin = file.read(FIRST_BYTES)
    file.seek(0)
    if is_packed(begin):
        raise GraphFormatError(f"{name}: is packed; ranges of rows are read of files that are not: "
                               "unpack it first")
    if begin.startswith(b"PK"):
        return formats.rows_of_npz(name, file, size)
    if b"\0" not in begin[:formats.HEADER_BYTES] and begin:
        raise GraphFormatError(f"{name}: ranges of rows are read of ParHIP files, .npz archives "
                               "and folders of .npy files; open_metis_piece reads METIS files, "
                               "and portpart convert writes .parhip files")
    return formats.rows_of_parhip(name, file, size)


def _integers(values: np.ndarray, what: str) -> Any:
    """Return the numbers as int32 or int64, by their type only unless they are ids."""
    if what == "targets" and values.dtype == np.uint32 and (
            not len(values) or int(values.max()) <= graphs.MAX_INT32):
        return values.view(np.int32)
    return graphs.integral(backends.space("cpu"), values, what)

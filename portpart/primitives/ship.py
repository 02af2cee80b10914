"""Rows go to other ranks: the host finds out how many arrive, then all ranks exchange them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from portpart.backends.communication.plan import planned
from portpart.backends.communication.protocol import Communicator
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.steps import Parcel

Numbers = Sequence[int] | np.ndarray


def ship(comm: Communicator, space: ExecutionSpace, columns: Sequence[Array | None],
         counts: Numbers) -> tuple[list[Array | None], np.ndarray]:
    """Send rows to other ranks.

    Parameters
    ----------
    comm : Communicator
    space : ExecutionSpace
    columns : sequence of array of integers, or None
        The columns of the rows, those for rank 0 first.  Absent ones are absent on all ranks.
    counts : sequence of int, or array of int
        Rows for each rank.

    Returns
    -------
    list of array or None
        The columns of the rows that arrive, those from rank 0 first.
    numpy.ndarray of int64
        Rows from each rank.

    Raises
    ------
    OutOfMemory
        On all ranks, if one of them has no memory for what arrives.
    """
    arriving = exchanged(comm, counts)
    total = int(arriving.sum())
    results = planned(comm, lambda: [None if each is None else space.empty(total, each.dtype)
                                     for each in columns])
    for column, result in zip(columns, results):
        if column is not None:
            _exchange(comm, column, result, np.asarray(counts))
    return results, arriving


def _exchange(comm: Communicator, column: Array, result: Array, counts: np.ndarray) -> None:
    """Exchange a column; numbers that the host knows stay there."""
    comm.all_to_all(Parcel(send=column, send_counts=counts.astype(np.int64), recv=result,
                           recv_counts=np.zeros(comm.size, np.int64)))


def exchanged(comm: Communicator, numbers: Numbers) -> np.ndarray:
    """The numbers that all ranks have for this one, where it has as many for each of them.

    Parameters
    ----------
    comm : Communicator
    numbers : array of int, shape (ranks,) or (ranks, count)

    Returns
    -------
    numpy.ndarray of int64
        Of that shape.
    """
    given = np.ascontiguousarray(numbers, np.int64)
    arriving = np.zeros(given.size, np.int64)
    _exchange(comm, given.reshape(-1), arriving, np.full(comm.size, given.size // comm.size))
    return arriving.reshape(given.shape)

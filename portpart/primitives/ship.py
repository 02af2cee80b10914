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
    arriving = exchanged(comm, space, counts)
    given = [each for each in columns if each is not None]
    results = iter(sent(comm, space, given, counts, arriving))
    return [None if each is None else next(results) for each in columns], arriving


def sent(comm: Communicator, space: ExecutionSpace, columns: Sequence[Array], counts: Numbers,
         arriving: np.ndarray) -> list[Array]:
    """The same where every rank knows how many rows arrive from each."""
    total, sending = int(arriving.sum()), space.asarray(np.asarray(counts, np.int64))
    results = planned(comm, lambda: [space.empty(total, each.dtype) for each in columns])
    for column, result in zip(columns, results):
        comm.all_to_all(Parcel(send=column, send_counts=sending, recv=result,
                               recv_counts=space.zeros(comm.size, np.int64)))
    return results


def exchanged(comm: Communicator, space: ExecutionSpace, numbers: Numbers) -> np.ndarray:
    """The numbers that all ranks have for this one, where it has one for each of them."""
    arriving = space.zeros(comm.size, np.int64)
    comm.all_to_all(Parcel(send=space.asarray(np.asarray(numbers, np.int64)),
                           send_counts=space.full(comm.size, 1, np.int64), recv=arriving,
                           recv_counts=space.zeros(comm.size, np.int64)))
    return space.to_host(arriving)

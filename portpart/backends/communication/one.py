"""The communicator of a rank that is alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from portpart.backends.communication.protocol import (
    require_numbers,
    require_parcel,
    require_parts,
    require_space,
    require_words,
)
from portpart.backends.interface import Array
from portpart.backends.steps import Parcel
from portpart.backends.transfer import read, transfer_of


class One:
    """One rank: it carries out each step, and is its own peer.

    Examples
    --------
    >>> comm = One()
    >>> comm.rank, comm.size
    (0, 1)
    """

    rank = 0
    size = 1

    def all_reduce(self, words: Array, first: int, count: int, op: str) -> None:
        """Leave the words as they are."""
        require_words(words, first, count)

    def all_to_all(self, parcel: Parcel) -> None:
        """Copy what is sent to what arrives."""
        require_parcel(parcel, self.size)
        if len(parcel.send):  # else there is no number to wait for
            counts, = read([parcel.send_counts])
            require_parts(counts, parcel)
            count = int(counts[0])
            require_space(count, parcel)
            transfer_of(parcel.recv).copy(parcel.recv[:count], parcel.send[:count])
        transfer_of(parcel.recv_counts).copy(parcel.recv_counts, parcel.send_counts)

    def post(self, send: Array, numbers: np.ndarray,
             room: Callable[[int], Array]) -> tuple[Array, np.ndarray]:
        """Return what is sent."""
        require_numbers(send, numbers, self.size)
        return send[: int(numbers[0, 0])], numbers

    def vote(self, problem: Exception | None) -> None:
        """Raise the problem if there is one."""
        if problem is not None:
            raise problem

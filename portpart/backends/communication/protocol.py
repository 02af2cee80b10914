"""What a communicator does, and what all communicators check."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

import numpy as np

from portpart.backends.communication.errors import CommunicationError
from portpart.backends.interface import Array
from portpart.backends.steps import Parcel

MAX_COUNT = 2**31 - 1
"""Elements that two ranks exchange at once: MPI counts them with 32 bits."""


class Communicator(Protocol):
    """One of several ranks that run the same steps.

    All ranks call the same methods in the same order.  Only integers travel, so no result depends
    on the order in which they are combined.

    Attributes
    ----------
    rank : int
    size : int
        Number of ranks.
    """

    rank: int
    size: int

    def all_reduce(self, words: Array, first: int, count: int, op: str) -> None:
        """Replace ``count`` int64 words of an array by their sum, minimum or maximum.

        Parameters
        ----------
        words : array of int64
        first : int
            Index of the first word.
        count : int
            The same on all ranks.
        op : str
            ``"sum"``, ``"min"`` or ``"max"``.
        """

    def all_to_all(self, parcel: Parcel) -> None:
        """Send each rank its part of an array, and set what arrives and the numbers of elements."""

    def post(self, send: Array, numbers: np.ndarray,
             room: Callable[[int], Array]) -> tuple[Array, np.ndarray]:
        """Send each rank its part of an array, whose length it need not know, and some numbers.

        Parameters
        ----------
        send : array of integers
            One part for each rank, in order.
        numbers : numpy.ndarray of int64, shape (ranks, count)
            Numbers for each rank; first how many elements its part has.
        room : callable
            ``room(length)`` is an array of the type of `send` for what arrives.

        Returns
        -------
        array
            What arrives, that from rank 0 first.
        numpy.ndarray of int64, shape (ranks, count)
            The numbers from each rank for this one.
        """

    def vote(self, problem: Exception | None) -> None:
        """Raise the same error on all ranks if any of them has a problem.

        Parameters
        ----------
        problem : Exception or None
            What this rank cannot go on with.

        Raises
        ------
        Exception
            The problem of the lowest rank that has one; the message begins with the rank.
        """


def require_words(words: Array, first: int, count: int) -> None:
    """Raise CommunicationError unless these are words of an array."""
    if words.dtype != np.int64 or words.ndim != 1:
        raise CommunicationError(f"words of int64 are reduced, not {words.dtype}")
    if not 0 <= first <= first + count <= len(words):
        raise CommunicationError(f"words {first} to {first + count} are reduced, of an array of "
                                 f"{len(words)}")


def require_parcel(parcel: Parcel, size: int) -> None:
    """Raise CommunicationError unless the arrays of a parcel are of the right types and lengths."""
    for name in ("send_counts", "recv_counts"):
        counts = getattr(parcel, name)
        if counts.dtype != np.int64 or counts.shape != (size,):
            raise CommunicationError(f"{name} has shape {counts.shape} and type {counts.dtype}; "
                                     f"{size} numbers of int64 are needed")
    if parcel.send.dtype != parcel.recv.dtype or parcel.send.dtype.kind not in "iu":
        raise CommunicationError(f"{parcel.send.dtype} is sent, to arrive as {parcel.recv.dtype}; "
                                 "one type of integers is needed")


def require_parts(counts: np.ndarray, parcel: Parcel) -> None:
    """Raise CommunicationError unless an array has parts of these lengths for the ranks."""
    if (counts < 0).any() or counts.sum() > len(parcel.send):
        raise CommunicationError(wrong_parts(counts, len(parcel.send)))


def require_numbers(send: Array, numbers: np.ndarray, size: int) -> None:
    """Raise CommunicationError unless these are numbers for each rank, and lengths of its part."""
    if numbers.dtype != np.int64 or numbers.ndim != 2 or len(numbers) != size:
        raise CommunicationError(f"numbers have shape {numbers.shape} and type {numbers.dtype}; "
                                 f"{size} rows of int64 are needed")
    lengths = numbers[:, 0]
    if (lengths < 0).any() or lengths.sum() > len(send):
        raise CommunicationError(wrong_parts(lengths, len(send)))


def require_space(arriving: int, parcel: Parcel) -> None:
    """Raise CommunicationError if more elements arrive than an array takes."""
    if arriving > len(parcel.recv):
        raise CommunicationError(too_little_space(arriving, len(parcel.recv)))


def wrong_parts(counts: np.ndarray, length: int) -> str:
    """What is wrong with parts of these lengths, or a negative length."""
    return f"parts of {counts.tolist()} elements are sent, from an array of {length}"


def too_little_space(arriving: int, length: int) -> str:
    """What is wrong if more elements arrive than an array takes."""
    return f"{arriving} elements arrive at an array of {length}"


def rounds_of(count: int, limit: int) -> Iterator[slice]:
    """Slices of at most ``limit`` elements that together are ``count``."""
    for begin in range(0, count, limit):
        yield slice(begin, min(begin + limit, count))

"""The protocol of communicators, their errors, and what a rank prepares before all communicate."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar, cast

import numpy as np

from portpart.backends.programs import Array, Parcel
from portpart.errors import PortpartError, memory_errors

# Errors of ranks, and how the error of one rank is raised on all of them -----------------------


class CommunicationError(PortpartError, RuntimeError):
    """Ranks cannot exchange data: they are at different steps, or sizes do not match."""


class RankFailed(CommunicationError):
    """A rank has raised an exception that is not one of portpart, or makes no further call.

    The message quotes the exception.
    """


class CommunicatorLost(CommunicationError):
    """No rank has made progress for a long time: one may have been killed."""


def restated(problem: BaseException, rank: int) -> BaseException:
    """Return the error that all ranks raise if one has failed.

    Parameters
    ----------
    problem : BaseException
    rank : int
        The rank that has raised it.

    Returns
    -------
    BaseException
        For an error of portpart, one of the same class whose message begins with the rank; for an
        interrupt, another interrupt; otherwise `RankFailed`.
    """
    if isinstance(problem, KeyboardInterrupt):
        return KeyboardInterrupt()
    text = f"rank {rank}: {problem}"
    if not isinstance(problem, PortpartError):
        return RankFailed(f"rank {rank}: {type(problem).__name__}: {problem}")
    error = type(problem)(text)
    vars(error).update(vars(problem))
    return error


def has_ended_block(problem: BaseException, rank: int) -> BaseException:
    """Return the error that other ranks raise in calls that a rank does not make.

    Parameters
    ----------
    problem : BaseException
        The exception that has ended the ``with`` block of a graph on the rank.
    rank : int

    Returns
    -------
    BaseException
        An interrupt for an interrupt, otherwise `RankFailed`.
    """
    if isinstance(problem, KeyboardInterrupt):
        return KeyboardInterrupt()
    return RankFailed(f"rank {rank} has left the block of the graph by "
                      f"{type(problem).__name__}: {problem}")


# The protocol of communicators, and the checks that they share ---------------------------------


MAX_COUNT = 2**31 - 1
"""Maximum number of elements that two ranks exchange in one round: MPI counts them with 32 bits."""


class Communicator(Protocol):
    """One of several ranks that run the same steps.

    All ranks call the same methods in the same order. Only integers are sent, so that no result
    depends on the order in which they are combined.

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
        """Send each rank its part of an array; store the parts that arrive and their lengths."""

    def post(self, send: Array, numbers: np.ndarray,
             allocate: Callable[[int], Array]) -> tuple[Array, np.ndarray]:
        """Send each rank its part of an array, and some numbers. The receiver need not know the
        length.

        It may return before the parts have arrived; see `wait_of`.

        Parameters
        ----------
        send : array of integers
            One part for each rank, in order.
        numbers : numpy.ndarray of int64, shape (ranks, count)
            Numbers for each rank; the first one is the length of its part.
        allocate : callable
            ``allocate(length)`` returns an array of the type of `send` for the parts that arrive.

        Returns
        -------
        array
            The parts that arrive, with that from rank 0 first.
        numpy.ndarray of int64, shape (ranks, count)
            The numbers from each rank for this one.
        """

    def vote(self, problem: Exception | None) -> None:
        """Raise the same error on all ranks if any of them has a problem.

        Parameters
        ----------
        problem : Exception or None
            The error that prevents this rank from continuing.

        Raises
        ------
        Exception
            The problem of the lowest rank that has one; the message begins with the rank.
        """


def require_words(words: Array, first: int, count: int) -> None:
    """Raise CommunicationError unless the array has these words."""
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
    """Raise CommunicationError unless these are numbers for each rank, of which the first are
    lengths of parts.
    """
    if numbers.dtype != np.int64 or numbers.ndim != 2 or len(numbers) != size:
        raise CommunicationError(f"numbers have shape {numbers.shape} and type {numbers.dtype}; "
                                 f"{size} rows of int64 are needed")
    lengths = numbers[:, 0]
    if (lengths < 0).any() or lengths.sum() > len(send):
        raise CommunicationError(wrong_parts(lengths, len(send)))


def require_space(arriving: int, parcel: Parcel) -> None:
    """Raise CommunicationError if more elements arrive than fit into an array."""
    if arriving > len(parcel.recv):
        raise CommunicationError(too_little_space(arriving, len(parcel.recv)))


def wrong_parts(counts: np.ndarray, length: int) -> str:
    """Return what is wrong with parts of these lengths; lengths may be negative."""
    return f"parts of {counts.tolist()} elements are sent, from an array of {length}"


def too_little_space(arriving: int, length: int) -> str:
    """Return the message that more elements arrive than fit into an array."""
    return f"{arriving} elements arrive at an array of {length}"


def rounds_of(count: int, limit: int) -> Iterator[slice]:
    """Yield slices of at most ``limit`` elements that together have ``count``."""
    for begin in range(0, count, limit):
        yield slice(begin, min(begin + limit, count))


# Work of each rank before all of them communicate ----------------------------------------------


Result = TypeVar("Result")


def planned(comm: Communicator, plan: Callable[[], Result]) -> Result:
    """Return the result of a function, if it raises no exception on any rank.

    Parameters
    ----------
    comm : Communicator
    plan : callable
        Checks, compiles and allocates, and does not communicate.

    Raises
    ------
    Exception
        On all ranks, if it has raised one on any rank.
    """
    result, problem = None, None
    try:
        with memory_errors():
            result = plan()
    except Exception as error:
        problem = error
    comm.vote(problem)
    return cast(Result, result)

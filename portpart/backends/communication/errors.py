"""Errors of ranks, and how the error of one rank is raised on all of them."""

from __future__ import annotations

from portpart.errors import PortpartError


class CommunicationError(PortpartError, RuntimeError):
    """Ranks cannot exchange data: they are at different steps, or sizes do not fit."""


class RankFailed(CommunicationError):
    """A rank has raised an exception that is no error of portpart, or makes no further call.

    The message quotes the exception.
    """


class CommunicatorLost(CommunicationError):
    """No rank has gone on for a long time: one may have been killed."""


def restated(problem: BaseException, rank: int) -> BaseException:
    """The error that all ranks raise where one has failed.

    Parameters
    ----------
    problem : BaseException
    rank : int
        The rank that has raised it.

    Returns
    -------
    BaseException
        Of the same class if that is an error of portpart, with the rank in front of the message;
        another interrupt for an interrupt; else `RankFailed`.
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
    """The error that other ranks raise in calls to which a rank does not come.

    Parameters
    ----------
    problem : BaseException
        What has ended the ``with`` block of a graph on the rank.
    rank : int

    Returns
    -------
    BaseException
        An interrupt for an interrupt, else `RankFailed`.
    """
    if isinstance(problem, KeyboardInterrupt):
        return KeyboardInterrupt()
    return RankFailed(f"rank {rank} has left the block of the graph by "
                      f"{type(problem).__name__}: {problem}")

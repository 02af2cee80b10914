"""Errors of ranks, and how the error of one rank is raised on all of them."""

from __future__ import annotations

from portpart.errors import PortpartError


class CommunicationError(PortpartError, RuntimeError):
    """Ranks cannot exchange data: they are at different steps, or sizes do not fit."""


class RankFailed(CommunicationError):
    """A rank has raised an exception that is no error of portpart; the message quotes it."""


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
    if not isinstance(problem, Exception):
        return type(problem)()
    text = f"rank {rank}: {problem}"
    if not isinstance(problem, PortpartError):
        return RankFailed(f"rank {rank}: {type(problem).__name__}: {problem}")
    error = type(problem)(text)
    vars(error).update(vars(problem))
    return error

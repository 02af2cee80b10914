"""What each rank does by itself before all of them communicate."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from portpart.backends.communication.protocol import Communicator
from portpart.errors import memory_errors

Result = TypeVar("Result")


def planned(comm: Communicator, plan: Callable[[], Result]) -> Result:
    """What a function returns, if it raises nothing on any rank.

    Parameters
    ----------
    comm : Communicator
    plan : callable
        Checks, compiles and allocates, and does not communicate.

    Raises
    ------
    Exception
        On all ranks, if it has raised one on any of them.
    """
    result, problem = None, None
    try:
        with memory_errors():
            result = plan()
    except Exception as error:
        problem = error
    comm.vote(problem)
    return cast(Result, result)

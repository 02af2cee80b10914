"""What is alike on all ranks: those whose arrays are in the same memory have it once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Protocol, TypeVar, runtime_checkable

from portpart.backends.communication.plan import planned
from portpart.backends.communication.protocol import Communicator

Result = TypeVar("Result")


@runtime_checkable
class Sharing(Protocol):
    """A communicator some of whose ranks may use the same memory."""

    def keepers(self, where: Hashable) -> list[int]:
        """For each rank the first one that is where it is.  All ranks call it."""

    def once(self, where: Hashable, make: Callable[[], Result]) -> Result:
        """The result of the first rank among the ones in the same place.  All ranks call it."""


def keepers(comm: Communicator, where: Hashable) -> list[int]:
    """For each rank the one that keeps what is alike for it.

    All ranks call it.

    Parameters
    ----------
    comm : Communicator
    where : hashable
        The memory of this rank.
    """
    return comm.keepers(where) if isinstance(comm, Sharing) else list(range(comm.size))


def once(comm: Communicator, where: Hashable, make: Callable[[], Result]) -> Result:
    """What a function returns that returns the same on all ranks.

    All ranks call it.

    Parameters
    ----------
    comm : Communicator
    where : hashable
        The memory of this rank.
    make : callable
        Does not communicate.  What it returns may be shared with other ranks: it must not be
        changed.

    Raises
    ------
    Exception
        On all ranks, if the function has raised one on any of them.
    """
    return comm.once(where, make) if isinstance(comm, Sharing) else planned(comm, make)

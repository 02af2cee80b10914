"""Calls that ranks make together: what their hosts exchange, share, and know of their machine."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from hashlib import sha256
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np

from portpart.backends.communication.processes import ProcessCalls
from portpart.backends.communication.protocol import CommunicationError, Communicator, planned
from portpart.errors import DeviceUnavailable, InputError

# Calls that ranks make together, and the messages of their hosts -------------------------------


Result = TypeVar("Result")

WORD_BYTES = 8


def require_mpi() -> Any:
    """The module ``mpi4py.MPI``, which starts MPI.

    Raises
    ------
    DeviceUnavailable
        If it cannot be imported.
    """
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as problem:  # it is there and finds no library of MPI
        raise DeviceUnavailable("several MPI ranks need mpi4py and an MPI library: pip install "
                                f"'portpart[mpi]' ({problem})") from problem
    return MPI


def calls_of(comm: Any) -> ProcessCalls:
    """What makes calls on all ranks of a communicator of mpi4py, or of a process group of PyTorch.

    Raises
    ------
    CommunicationError
        If it is neither, or this process is none of its ranks.
    DeviceUnavailable
        If mpi4py cannot be imported.
    """
    distributed = sys.modules.get("torch.distributed")  # a caller with a group has imported it
    if distributed is not None and distributed.is_available():
        if isinstance(comm, distributed.ProcessGroup):
            from portpart.backends.communication.torch_group import TorchCalls

            return TorchCalls(comm)
        if comm is None or comm == distributed.GroupMember.NON_GROUP_MEMBER:
            raise CommunicationError(f"comm is {comm}, which torch.distributed has for no group: "
                                     "it is not initialized, or this process is none of the ranks")
    require_mpi()
    from portpart.backends.communication.mpi import MpiCalls

    return MpiCalls(comm)


def from_first_rank(comm: Communicator, text: str) -> str:
    """The text that rank 0 has given.  All ranks call it."""
    data = text.encode() if comm.rank == 0 else b""
    length = np.array([len(data)], np.int64)
    comm.all_reduce(length, 0, 1, "max")
    words = np.zeros(-(-int(length[0]) // WORD_BYTES), np.int64)
    words.view(np.uint8)[: len(data)] = np.frombuffer(data, np.uint8)
    comm.all_reduce(words, 0, len(words), "sum")
    return words.tobytes()[: int(length[0])].decode()


def sum_over_ranks(comm: Communicator, values: Any) -> np.ndarray:
    """The sums of integers over all ranks, as int64.  All ranks call it."""
    words = np.array(values, np.int64)
    comm.all_reduce(words.reshape(-1), 0, words.size, "sum")
    return words


def each_of_ranks(comm: Communicator, number: int) -> np.ndarray:
    """The numbers of all ranks, as int64.  All ranks call it."""
    return sum_over_ranks(comm, np.where(np.arange(comm.size) == comm.rank, number, 0))


def agree(comm: Communicator, given: Mapping[str, str]) -> None:
    """Check that all ranks have been given the same.

    Parameters
    ----------
    comm : Communicator
    given : mapping of str to str
        Values by what they are called.

    Raises
    ------
    InputError
        On all ranks, if something differs from what rank 0 has.
    """
    expected = json.loads(from_first_rank(comm, json.dumps(dict(given))))

    def check() -> None:
        for name in {**expected, **given}:
            here, there = given.get(name, "missing"), expected.get(name, "missing")
            if here != there:
                raise InputError(f"{name} is {here}, and {there} on rank 0; all ranks must be "
                                 "given the same")

    planned(comm, check)


# What is alike on all ranks: those whose arrays are in the same memory have it once ------------


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


# What a rank has of its host: its number among the ranks there, and how many cores it may use


WORD_BITS = 62
"""Cores of a word, one bit each."""

BOOT = "/proc/sys/kernel/random/boot_id"
"""Distinguishes hosts of one name, as containers may have it."""


def number_on_host(comm: Communicator) -> int:
    """How many ranks before this one are on its host.  All ranks call it."""
    hosts = each_of_ranks(comm, _host())
    return int((hosts[: comm.rank] == hosts[comm.rank]).sum())


def cores_of_rank(comm: Communicator) -> int:
    """The cores of the host over the ranks there, or the cores that the launcher has left this
    rank.

    All ranks call it.
    """
    mine = _usable_cores()
    width = np.array([max(mine) // WORD_BITS + 1], np.int64)
    comm.all_reduce(width, 0, 1, "max")
    words = np.zeros((comm.size, 1 + int(width[0])), np.int64)
    words[comm.rank, 0] = _host()
    for core in mine:
        words[comm.rank, 1 + core // WORD_BITS] |= 1 << core % WORD_BITS
    every = sum_over_ranks(comm, words)
    here = every[every[:, 0] == every[comm.rank, 0], 1:]
    together = sum(bin(word).count("1") for word in np.bitwise_or.reduce(here).tolist())
    return max(1, min(len(mine), together // len(here)))


def _usable_cores() -> set[int]:
    """The cores that the launcher has left this process."""
    if hasattr(os, "sched_getaffinity"):
        return os.sched_getaffinity(0)
    return set(range(os.cpu_count() or 1))


def _host() -> int:
    """A number of this host."""
    name = platform.node()
    with suppress(OSError), open(BOOT) as file:
        name += file.read()
    return int.from_bytes(sha256(name.encode()).digest()[:7], "little")

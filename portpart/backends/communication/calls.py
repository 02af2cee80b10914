"""Calls that ranks make together: data that their hosts exchange and share, and facts of their
machine.
"""

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
    """Return the module ``mpi4py.MPI``, which starts MPI.

    Raises
    ------
    DeviceUnavailable
        If it cannot be imported.
    """
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as problem:  # mpi4py exists but finds no library of MPI
        raise DeviceUnavailable("several MPI ranks need mpi4py and an MPI library: pip install "
                                f"'portpart[mpi]' ({problem})") from problem
    return MPI


def calls_of(comm: Any) -> ProcessCalls:
    """Return the calls for all ranks of a communicator of mpi4py, or of a process group of PyTorch.

    Raises
    ------
    CommunicationError
        If it is neither, or this process is not one of its ranks.
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
    """Return the text of rank 0. All ranks call it."""
    data = text.encode() if comm.rank == 0 else b""
    length = np.array([len(data)], np.int64)
    comm.all_reduce(length, 0, 1, "max")
    words = np.zeros(-(-int(length[0]) // WORD_BYTES), np.int64)
    words.view(np.uint8)[: len(data)] = np.frombuffer(data, np.uint8)
    comm.all_reduce(words, 0, len(words), "sum")
    return words.tobytes()[: int(length[0])].decode()


def sum_over_ranks(comm: Communicator, values: Any) -> np.ndarray:
    """Return the sums of integers over all ranks, as int64. All ranks call it."""
    words = np.array(values, np.int64)
    comm.all_reduce(words.reshape(-1), 0, words.size, "sum")
    return words


def each_of_ranks(comm: Communicator, number: int) -> np.ndarray:
    """Return the numbers of all ranks, as int64. All ranks call it."""
    return sum_over_ranks(comm, np.where(np.arange(comm.size) == comm.rank, number, 0))


def agree(comm: Communicator, given: Mapping[str, str]) -> None:
    """Check that all ranks have the same values.

    Parameters
    ----------
    comm : Communicator
    given : mapping of str to str
        Values by name.

    Raises
    ------
    InputError
        On all ranks, if a value differs from that of rank 0.
    """
    expected = json.loads(from_first_rank(comm, json.dumps(dict(given))))

    def check() -> None:
        for name in {**expected, **given}:
            here, there = given.get(name, "missing"), expected.get(name, "missing")
            if here != there:
                raise InputError(f"{name} is {here}, and {there} on rank 0; all ranks must be "
                                 "given the same")

    planned(comm, check)


# Data equal on all ranks: ranks whose arrays are in the same memory share one copy -------------


@runtime_checkable
class Sharing(Protocol):
    """A communicator some of whose ranks may use the same memory."""

    def keepers(self, where: Hashable) -> list[int]:
        """Return for each rank the first rank in the same place. All ranks call it."""

    def once(self, where: Hashable, make: Callable[[], Result]) -> Result:
        """Return the result of the first rank in the same place. All ranks call it."""


def keepers(comm: Communicator, where: Hashable) -> list[int]:
    """Return for each rank the rank that keeps its shared data.

    All ranks call it.

    Parameters
    ----------
    comm : Communicator
    where : hashable
        The memory of this rank.
    """
    return comm.keepers(where) if isinstance(comm, Sharing) else list(range(comm.size))


def once(comm: Communicator, where: Hashable, make: Callable[[], Result]) -> Result:
    """Return the result of a function that returns the same on all ranks.

    All ranks call it.

    Parameters
    ----------
    comm : Communicator
    where : hashable
        The memory of this rank.
    make : callable
        Does not communicate. Its result may be shared with other ranks and must not be changed.

    Raises
    ------
    Exception
        On all ranks, if the function has raised one on any of them.
    """
    return comm.once(where, make) if isinstance(comm, Sharing) else planned(comm, make)


# The share of a rank in its host: its number among the ranks there, and its cores


WORD_BITS = 62
"""Number of cores of a word, one bit each."""

BOOT = "/proc/sys/kernel/random/boot_id"
"""Distinguishes hosts of the same name, as containers may have."""


def number_on_host(comm: Communicator) -> int:
    """Return how many ranks before this one are on its host. All ranks call it."""
    hosts = each_of_ranks(comm, _host())
    return int((hosts[: comm.rank] == hosts[comm.rank]).sum())


def cores_of_rank(comm: Communicator) -> int:
    """Return the number of cores of the host divided by the ranks there, or the number of cores
    that the launcher has assigned to this rank. All ranks call it.
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
    """Return the cores that the launcher has assigned to this process."""
    if hasattr(os, "sched_getaffinity"):
        return os.sched_getaffinity(0)
    return set(range(os.cpu_count() or 1))


def _host() -> int:
    """Return a number that identifies this host."""
    name = platform.node()
    with suppress(OSError), open(BOOT) as file:
        name += file.read()
    return int.from_bytes(sha256(name.encode()).digest()[:7], "little")

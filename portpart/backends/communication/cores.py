"""What a rank has of its host: its number among the ranks there, and how many cores it may use."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from portpart.backends.communication.calls import each_of_ranks, sum_over_ranks

if TYPE_CHECKING:
    from portpart.backends.communication.protocol import Communicator

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

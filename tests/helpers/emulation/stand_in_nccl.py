"""NCCL for tests on a machine without a GPU: its calls are carried out by MPI.

As on a GPU, calls return before they are done: an event behind them tells when they are.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
from mpi4py import MPI

from portpart.backends.communication.mpi import keep
from portpart.backends.cuda import nccl, nccl_calls
from tests.helpers.emulation import stand_in_gpu


class Call:
    """A call that may not be done.  It works on copies: arrays may go away when it is broken off.

    What has arrived is in its place once somebody has seen that the call is done.
    """

    def __init__(self, owner: NcclCommunicator, request: MPI.Request, given: np.ndarray | None,
                 arriving: np.ndarray | None = None, place: np.ndarray | None = None) -> None:
        self.owner, self.request, self.given = owner, request, given
        self.arriving, self.place = arriving, place

    def is_done(self) -> bool:
        done = bool(self.request.Test())
        if done and self.place is not None:
            self.place[:] = self.arriving
            self.place = None
        return done


_begun: list[Call] = []
"""Calls that may not be done."""

PATIENCE = 60
"""Seconds that what comes later on the stream waits for them."""

made: list[NcclCommunicator] = []
"""The communicators of this process."""

_group: list[Callable[[], Call]] | None = None
"""Calls of an open group."""


class NcclError(RuntimeError):
    """What NCCL complains about."""


class Event:
    """Calls that were begun before it was recorded."""

    def __init__(self, disable_timing: bool = False) -> None:
        self.calls: list[Call] = []

    def record(self, stream: Any) -> None:
        self.calls, self.seconds = list(_begun), time.perf_counter()

    def synchronize(self) -> None:
        while not self.done:
            time.sleep(0)

    @property
    def done(self) -> bool:
        return all(each.is_done() for each in self.calls)


def memory(place: int, size: int) -> np.ndarray:
    """Bytes at an address."""
    return np.frombuffer((ctypes.c_char * size).from_address(place), np.uint8)


def complete() -> None:
    """Wait for what has been begun: what is launched now comes behind it."""
    begin = time.monotonic()
    while not all(each.is_done() for each in _begun):
        assert time.monotonic() - begin < PATIENCE
    _begun.clear()


class NcclCommunicator:
    """The communicator of a rank."""

    def __init__(self, size: int, number: tuple[int, ...], rank: int) -> None:
        self.comm = MPI.COMM_WORLD.Dup()
        assert (size, rank) == (self.comm.size, self.comm.rank)
        assert self.comm.bcast(number) == number
        self.aborted = False
        self._prepared: set[Any] = set()
        made.append(self)

    def _prepare(self, way: Any) -> None:
        """Wait for all ranks, as NCCL does in the first call that takes a way."""
        if way not in self._prepared:
            self._prepared.add(way)
            self.comm.barrier()

    def allReduce(self, send: int, recv: int, count: int, kind: str, op: MPI.Op,
                  stream: int) -> None:
        assert kind == "int64"
        self._prepare(count.bit_length())
        words = memory(recv, 8 * count).view(np.int64)
        assert send == recv
        given, sums = words.copy(), np.empty_like(words)
        _begin(lambda: Call(self, self.comm.Iallreduce(given, sums, op), given, sums, words))

    def send(self, place: int, count: int, kind: str, peer: int, stream: int) -> None:
        assert kind == "uint8"
        def begun() -> Call:
            given = memory(place, count).copy()
            return Call(self, self.comm.Isend(given, peer), given)

        _begin(begun)

    def recv(self, place: int, count: int, kind: str, peer: int, stream: int) -> None:
        assert kind == "uint8"
        arriving = np.empty(count, np.uint8)
        _begin(lambda: Call(self, self.comm.Irecv(arriving, peer), None, arriving,
                            memory(place, count)))

    def check_async_error(self) -> None:
        assert not self.aborted

    def abort(self) -> None:
        self.aborted = True
        keep([each for each in _begun if each.owner is self])
        _begun[:] = [each for each in _begun if each.owner is not self]

    def destroy(self) -> None:
        self.comm.Free()


def _begin(call: Callable[[], Call]) -> None:
    if _group is None:
        _begun.append(call())
    else:
        _group.append(call)


def group_start() -> None:
    global _group
    assert _group is None
    _group = []


def group_end() -> None:
    global _group
    assert _group is not None
    _begun.extend(call() for call in _group)
    _group = None


MODULE = SimpleNamespace(
    available=True, NcclError=NcclError, NcclCommunicator=NcclCommunicator,
    get_unique_id=lambda: tuple(range(-64, 64)), groupStart=group_start, groupEnd=group_end,
    NCCL_INT64="int64", NCCL_UINT8="uint8", NCCL_SUM=MPI.SUM, NCCL_MIN=MPI.MIN, NCCL_MAX=MPI.MAX)


@contextmanager
def stand_in_nccl(cupy: Any, device: str) -> Iterator[Callable[..., nccl.Nccl]]:
    """Make communicators of ranks that have this device, in place of a GPU."""
    with (mock.patch.object(nccl, "import_cupy", return_value=cupy),
          mock.patch.object(nccl, "nccl_of", return_value=MODULE),
          mock.patch.object(nccl, "place_of", return_value=("here", device)),
          mock.patch.object(nccl_calls, "import_cupy", return_value=cupy),
          mock.patch.object(nccl_calls, "nccl_of", return_value=MODULE),
          mock.patch.object(nccl_calls, "place_of", return_value=("here", device)),
          mock.patch.object(stand_in_gpu, "before", [complete]),
          mock.patch.object(cupy.cuda, "Event", Event)):
        yield nccl.Nccl

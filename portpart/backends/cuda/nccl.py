"""Ranks of MPI that have a GPU each: arrays travel from GPU to GPU by NCCL, through CuPy.

MPI is how ranks find each other, vote, and tell each other of errors.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np
from mpi4py import MPI

from portpart.backends.communication.errors import CommunicationError
from portpart.backends.communication.mpi import Mpi
from portpart.backends.communication.plan import planned
from portpart.backends.communication.processes import PATIENCE
from portpart.backends.communication.protocol import (
    require_parcel,
    require_parts,
    require_space,
    require_words,
)
from portpart.backends.cuda.space import import_cupy
from portpart.backends.cuda.transfer import device_transfer
from portpart.backends.interface import Array
from portpart.backends.steps import MAX, MIN, SUM, Parcel
from portpart.backends.transfer import read, transfer_of
from portpart.errors import DeviceUnavailable

__all__ = ["Nccl"]

INSTEAD = f"{Mpi.__module__}.{Mpi.__name__}"
"""What exchanges arrays of GPUs through the host."""

OPERATIONS = {SUM: "NCCL_SUM", MIN: "NCCL_MIN", MAX: "NCCL_MAX"}


class Nccl(Mpi):
    """The ranks of an MPI communicator, each with CuPy's current GPU of its process.

    Arrays of the host go by MPI.  As of `Mpi`, all ranks have to make one.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
    patience : float
        Seconds that a step waits without progress.

    Raises
    ------
    CommunicationError
        On all ranks, if two of them have the same GPU, or if NCCL fails.
    DeviceUnavailable
        On all ranks, if one of them has no GPU, or no NCCL.
    """

    def __init__(self, comm: MPI.Intracomm, patience: float = PATIENCE) -> None:
        super().__init__(comm, patience=patience)
        self._cupy = planned(self, import_cupy)
        device_transfer(self._cupy)
        self._nccl = planned(self, lambda: _nccl_of(self._cupy))
        places = self._steps.allgather(planned(self, lambda: _place(self._cupy)))
        planned(self, lambda: _require_own_devices(places, self.rank))
        number = planned(self, lambda: self._nccl.get_unique_id() if self.rank == 0 else None)
        number = self._steps.bcast(number)
        self._ranks = self._nccl.NcclCommunicator(self.size, number, self.rank)
        self._event = self._cupy.cuda.Event(disable_timing=True)
        self._connect()

    def _connect(self) -> None:
        """Exchange something between all ranks: connections are made while all are alive."""
        words = self._cupy.zeros(2 * self.size, np.int64)
        ones = np.ones(self.size, np.int64)
        self._deliver(words[: self.size], ones, words[self.size :], ones)

    def free(self) -> None:
        """Give back the communicators.  All ranks call it; nothing happens if a step was left."""
        if self._is_whole:
            self._ranks.destroy()
        super().free()

    def all_reduce(self, words: Array, first: int, count: int, op: str) -> None:
        """See `Communicator`."""
        if isinstance(words, np.ndarray):
            super().all_reduce(words, first, count, op)
            return
        require_words(words, first, count)
        part = words[first : first + count]
        if count:
            with self._step() as stream:
                self._ranks.allReduce(part.data.ptr, part.data.ptr, count, self._nccl.NCCL_INT64,
                                      getattr(self._nccl, OPERATIONS[op]), stream)

    def _counts_of(self, parcel: Parcel) -> tuple[np.ndarray, np.ndarray]:
        if isinstance(parcel.send_counts, np.ndarray):
            return super()._counts_of(parcel)
        require_parcel(parcel, self.size)
        ones = np.ones(self.size, np.int64)
        self._deliver(parcel.send_counts, ones, parcel.recv_counts, ones)
        sent, arriving = read([parcel.send_counts, parcel.recv_counts])
        require_parts(sent, parcel)
        require_space(int(arriving.sum()), parcel)
        return sent, arriving

    def _deliver(self, send: Array, sent: np.ndarray, recv: Array,
                 arriving: np.ndarray) -> None:
        """Send each rank its part of an array, as one group of calls."""
        if isinstance(send, np.ndarray):
            super()._deliver(send, sent, recv, arriving)
            return
        there, here = np.cumsum(sent) - sent, np.cumsum(arriving) - arriving
        own, mine = self.rank, int(sent[self.rank])
        transfer_of(recv).copy(recv[here[own] : here[own] + mine],
                               send[there[own] : there[own] + mine])
        with self._step() as stream:
            self._nccl.groupStart()
            for step in range(1, self.size):  # no rank is the first that all others send to
                source, target = (self.rank - step) % self.size, (self.rank + step) % self.size
                for call, array, first, count, rank in (
                        (self._ranks.recv, recv, here, arriving, source),
                        (self._ranks.send, send, there, sent, target)):
                    if count[rank]:
                        size = array.itemsize
                        call(array.data.ptr + size * int(first[rank]), size * int(count[rank]),
                             self._nccl.NCCL_UINT8, rank, stream)
            self._nccl.groupEnd()

    @contextmanager
    def _step(self) -> Iterator[int]:
        """Calls on the current stream, which are done when this ends, or given up."""
        stream = self._cupy.cuda.get_current_stream()
        try:
            yield stream.ptr
            self._event.record(stream)
            self._watch(self._is_done, self._left)
        except BaseException as problem:
            self._is_whole = False
            self._ranks.abort()
            if isinstance(problem, self._nccl.NcclError):
                raise CommunicationError(f"NCCL: {problem}") from problem
            raise

    def _tell(self, problem: BaseException) -> None:
        super()._tell(problem)
        self._ranks.abort()  # to destroy it would wait for others, which do so too

    def _is_done(self) -> bool:
        return bool(self._event.done)

    def _left(self) -> int:
        """One step, unless NCCL has failed."""
        self._ranks.check_async_error()
        return 1


def _nccl_of(cupy: ModuleType) -> Any:
    """CuPy's NCCL.

    Raises
    ------
    DeviceUnavailable
        If there is none.
    """
    from cupy.cuda import nccl

    if not nccl.available:
        raise DeviceUnavailable(f"CuPy {cupy.__version__} finds no NCCL: install the extra nccl13 "
                                f"(nvidia-nccl-cu13), or use {INSTEAD}")
    return nccl


def _place(cupy: ModuleType) -> tuple[str, str]:
    """The machine, and the place of its current GPU."""
    return platform.node(), str(cupy.cuda.Device().pci_bus_id)


def _require_own_devices(places: list[tuple[str, str]], rank: int) -> None:
    """Raise CommunicationError if a rank has the GPU of one before it."""
    first = places.index(places[rank])
    if first < rank:
        machine, device = places[rank]
        raise CommunicationError(
            f"GPU {device} of {machine} is rank {first}'s already, and NCCL takes one rank a GPU: "
            "start no more ranks than there are GPUs and give each its own "
            f"(CUDA_VISIBLE_DEVICES), or use {INSTEAD}")

"""Ranks of MPI with a GPU each: NCCL sends arrays from GPU to GPU, called through CuPy.

Ranks find each other, vote, and report errors with MPI.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from mpi4py import MPI

from portpart.backends.communication import (
    PATIENCE,
    CommunicationError,
    Communicator,
    FailureCheck,
    Mpi,
    Operation,
    ProgramRun,
    ReducedWords,
    nothing_new,
    planned,
    require_parcel,
    require_parts,
    require_space,
    require_words,
    rounds_of,
)
from portpart.backends.cuda.slots import (
    LARGEST,
    SlotKernels,
    Slots,
    limits_between,
    max_bytes,
    others,
)
from portpart.backends.cuda.space import import_cupy
from portpart.backends.cuda.transfer import device_transfer
from portpart.backends.programs import MAX, MIN, SUM, Array, Parcel, transfer_of
from portpart.errors import DeviceUnavailable

if TYPE_CHECKING:
    from cupy import ndarray
    from cupy.cuda.nccl import NcclCommunicator

# Connections of NCCL between GPUs, which need NCCL and a GPU for each rank ---------------------


INSTEAD = f"{Mpi.__module__}.{Mpi.__name__}"
"""The class that exchanges arrays of GPUs through the host."""


class NcclLinks:
    """Connections of NCCL between ranks, which exist longer than the calls that use them.

    Attributes
    ----------
    ranks : cupy.cuda.nccl.NcclCommunicator or None
        None before the connections are made, and after they have been aborted.
    """

    def __init__(self) -> None:
        self.ranks: NcclCommunicator | None = None

    def abort(self) -> None:
        """Abort the connections and all their steps; waits for no other rank."""
        ranks, self.ranks = self.ranks, None
        if ranks is not None:
            ranks.abort()

    def close(self) -> None:
        """Close the connections. All ranks call it."""
        ranks, self.ranks = self.ranks, None
        if ranks is not None:
            ranks.destroy()

    __del__ = abort  # unclosed links must not wait for others


def nccl_of(cupy: ModuleType) -> ModuleType:
    """Return CuPy's NCCL.

    Raises
    ------
    DeviceUnavailable
        If CuPy has none.
    """
    from cupy.cuda import nccl

    if not nccl.available:
        raise DeviceUnavailable(f"CuPy {cupy.__version__} finds no NCCL: install the extra nccl13 "
                                f"(nvidia-nccl-cu13), or use {INSTEAD}")
    return nccl


def place_of(cupy: ModuleType) -> tuple[str, str]:
    """Return the machine and the place of its current GPU."""
    return platform.node(), str(cupy.cuda.Device().pci_bus_id)


def require_own_devices(places: list[tuple[str, str]], rank: int) -> None:
    """Raise CommunicationError if a rank has the same GPU as a rank before it."""
    first = places.index(places[rank])
    if first < rank:
        machine, device = places[rank]
        raise CommunicationError(
            f"GPU {device} of {machine} is rank {first}'s already, and NCCL takes one rank a GPU: "
            "start no more ranks than there are GPUs and give each its own "
            f"(CUDA_VISIBLE_DEVICES), or use {INSTEAD}")


# Ranks of MPI with a GPU each: NCCL sends arrays from GPU to GPU, called through CuPy ----------
#
# Ranks find each other, vote, and report errors with MPI.


__all__ = ["Nccl"]

Result = TypeVar("Result")

OPERATIONS = {SUM: "NCCL_SUM", MIN: "NCCL_MIN", MAX: "NCCL_MAX"}

LONGEST = 1 << 17
"""Maximum number of words that one call of NCCL reduces; more need several calls."""


class Nccl(Mpi):
    """The ranks of an MPI communicator, each with CuPy's current GPU of its process.

    Arrays of the host are sent with MPI. As with `Mpi`, all ranks must create an object.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
    patience : float
        Seconds that a step waits without progress.
    links : NcclLinks, optional
        Connections of an earlier object, which stay open when this one is freed; if one of the
        ranks has none, all make new ones.
    look : callable
        As in `Mpi`.

    Raises
    ------
    CommunicationError
        On all ranks, if two of them have the same GPU, or if NCCL fails.
    DeviceUnavailable
        On all ranks, if one of them has no GPU, or no NCCL.
    """

    def __init__(self, comm: MPI.Intracomm, patience: float = PATIENCE,
                 links: NcclLinks | None = None, look: FailureCheck = nothing_new) -> None:
        super().__init__(comm, patience=patience, look=look)
        self._cupy = planned(self, import_cupy)
        device_transfer(self._cupy)
        self._nccl = planned(self, lambda: nccl_of(self._cupy))
        self._links, self._is_owner = links or NcclLinks(), links is None
        self._event = self._cupy.cuda.Event(disable_timing=True)
        self._is_waiting = self._is_unread = False
        self._slot_kernels: SlotKernels | None = None
        if not self._all_have_links():
            self._links.abort()
            self._connect()

    def _all_have_links(self) -> bool:
        words = np.array([self._links.ranks is not None], np.int64)
        self.all_reduce(words, 0, 1, MIN)
        return bool(words[0])

    def _connect(self) -> None:
        """Make connections, and use them while all ranks are alive.

        NCCL prepares a way to send or to reduce in the first call that uses it, in which the host
        waits for all ranks and cannot be interrupted. The way depends on the number of words.
        """
        places = self._steps.allgather(planned(self, lambda: place_of(self._cupy)))
        planned(self, lambda: require_own_devices(places, self.rank))
        number = planned(self, lambda: self._nccl.get_unique_id() if self.rank == 0 else None)
        number = self._steps.bcast(number)
        self._links.ranks = planned(self, lambda: self._of_nccl(
            lambda: self._nccl.NcclCommunicator(self.size, number, self.rank)))
        words = self._cupy.zeros(max(LONGEST, 2 * self.size), np.int64)
        ones = np.ones(self.size, np.int64)
        self._deliver(words[: self.size], ones, words[self.size : 2 * self.size], ones)
        for power in range(LONGEST.bit_length()):
            self._reducing(words, 0, 1 << power, SUM)()
        self.settle()

    def run(self, main: Callable[[Communicator], Result]) -> Result:
        """See `ProcessRanks.run`; if a step was abandoned, connections are aborted."""
        try:
            return super().run(main)
        except BaseException:
            if not self._is_whole:
                self._links.abort()
            raise

    def free(self) -> None:
        """Free the communicators. All ranks call it; it does nothing if a step was abandoned."""
        if self._is_whole and self._is_owner:
            self._links.close()
        super().free()

    def all_reduce(self, words: Array, first: int, count: int, op: str) -> None:
        """See `Communicator`."""
        if isinstance(words, np.ndarray):
            super().all_reduce(words, first, count, op)
        else:
            self._reducing(words, first, count, op)()
            self.settle()

    def all_to_all(self, parcel: Parcel) -> None:
        """See `Communicator`."""
        super().all_to_all(parcel)
        self.settle()

    def lead(self, run: ProgramRun) -> None:
        """Execute a run; the host waits only where the program reads a value."""
        run.run_alone(self._prepared)
        self.settle()

    def _prepared(self, call: Operation) -> Callable[[], None]:
        """Return a function that begins a step. All ranks prepare the same step."""
        if isinstance(call, ReducedWords):
            return self._reducing(call.array, call.first, call.count, call.op)
        slots = self._slots_for(call)
        return partial(Mpi.all_to_all, self, call) if slots is None else partial(
            self._exchange_slots, slots)

    def _reducing(self, words: Array, first: int, count: int, op: str) -> Callable[[], None]:
        """Return a function that begins to reduce words."""
        if isinstance(words, np.ndarray):
            return partial(super().all_reduce, words, first, count, op)
        require_words(words, first, count)
        begin, size = words.data.ptr + words.itemsize * first, words.itemsize
        pieces = [(begin + size * piece.start, piece.stop - piece.start)
                  for piece in rounds_of(count, LONGEST)] if self.size > 1 else []
        kind, code = self._nccl.NCCL_INT64, getattr(self._nccl, OPERATIONS[op])

        def begin_to_reduce() -> None:
            with self._step() as stream:
                for place, length in pieces:
                    self._ranks.allReduce(place, place, length, kind, code, stream)

        return begin_to_reduce

    def _counts_of(self, parcel: Parcel) -> tuple[np.ndarray, np.ndarray]:
        if isinstance(parcel.send_counts, np.ndarray):
            return super()._counts_of(parcel)
        require_parcel(parcel, self.size)
        ones = np.ones(self.size, np.int64)
        self._deliver(parcel.send_counts, ones, parcel.recv_counts, ones)
        waits = [transfer_of(each).fetch(each) for each in (parcel.send_counts, parcel.recv_counts)]
        self.settle()
        sent, arriving = (wait() for wait in waits)
        require_parts(sent, parcel)
        require_space(int(arriving.sum()), parcel)
        return sent, arriving

    def _deliver(self, send: Array, sent: np.ndarray, recv: ndarray, arriving: np.ndarray) -> None:
        """Begin to send each rank its part of an array, as one group of calls."""
        if isinstance(send, np.ndarray):
            super()._deliver(send, sent, recv, arriving)
            return
        there, here = np.cumsum(sent) - sent, np.cumsum(arriving) - arriving
        own, mine, size = self.rank, int(sent[self.rank]), send.itemsize
        if mine:
            transfer_of(recv).copy(recv[here[own] : here[own] + mine],
                                   send[there[own] : there[own] + mine])
        self._exchange_bytes(
            (send.data.ptr + size * int(there[other]), size * int(sent[other]),
             recv.data.ptr + size * int(here[other]), size * int(arriving[other]), other)
            for other in others(self.rank, self.size))

    def _exchange_bytes(self, messages: Iterable[tuple[int, int, int, int, int]]) -> None:
        """Begin to send and receive bytes: for each rank an address and a number for both."""
        ranks = self._ranks
        calls = [(call, place, size, rank) for send, sent, recv, arriving, rank in messages
                 for call, place, size in ((ranks.recv, recv, arriving), (ranks.send, send, sent))
                 if size]
        if not calls:
            return
        with self._step() as stream:
            self._nccl.groupStart()
            for call, place, size, rank in calls:
                call(place, size, self._nccl.NCCL_UINT8, rank, stream)
            self._nccl.groupEnd()

    def _slots_for(self, parcel: Parcel) -> Slots | None:
        """Return slots for the data that a parcel sends, unless it may be too much. All ranks call
        it.
        """
        require_parcel(parcel, self.size)
        if isinstance(parcel.send, np.ndarray) or isinstance(parcel.send_counts, np.ndarray):
            return None
        lengths = np.zeros((self.size, 2), np.int64)
        lengths[self.rank] = len(parcel.send), len(parcel.recv)
        super().all_reduce(lengths.reshape(-1), 0, lengths.size, SUM)
        limits = limits_between(lengths)
        if max_bytes(limits, parcel.send.itemsize) > LARGEST:
            return None
        if self._slot_kernels is None:
            self._slot_kernels = SlotKernels(self._cupy, self.size)
        return Slots(self._slot_kernels, parcel, limits, self.rank)

    def _exchange_slots(self, slots: Slots) -> None:
        """Begin an exchange whose lengths the host does not know."""
        slots.pack()
        self._exchange_bytes(slots.messages)
        slots.unpack()
        self._is_unread = True

    @property
    def _ranks(self) -> NcclCommunicator:
        if self._links.ranks is None:
            raise CommunicationError("the connections between GPUs have been broken off")
        return self._links.ranks

    @contextmanager
    def _step(self) -> Iterator[int]:
        """Calls of NCCL on the current stream."""
        stream = self._cupy.cuda.get_current_stream()
        with self._unbroken():
            yield stream.ptr
        self._is_waiting = True

    def settle(self) -> None:
        """Wait for steps that have begun, and check whether numbers of elements were right."""
        problem = None
        if self._is_unread and self._slot_kernels is not None:
            found = self._slot_kernels.problem
            problem = transfer_of(found).fetch(found)
        self.wait()
        self._is_unread = False
        if problem is not None and self._slot_kernels is not None:
            self._slot_kernels.require_right(problem())

    def wait(self) -> None:
        """Wait for steps that have begun, and check the other ranks."""
        self.waiting()()

    def waiting(self) -> Callable[[], None]:
        """See `Asynchronous`."""
        if not self._is_waiting:
            return lambda: None
        with self._unbroken():
            self._event.record(self._cupy.cuda.get_current_stream())
        return self._watch_event

    def _watch_event(self) -> None:
        with self._unbroken():
            self._watch(lambda: bool(self._event.done), self._left)
        self._is_waiting = False

    @contextmanager
    def _unbroken(self) -> Iterator[None]:
        """Abort connections if the block raises an exception."""
        try:
            yield
        except BaseException as problem:
            self._is_whole = False
            self._links.abort()
            if isinstance(problem, self._nccl.NcclError):
                raise CommunicationError(f"NCCL: {problem}") from problem
            raise

    def _of_nccl(self, call: Callable[[], Result]) -> Result:
        """Return the result of a call of NCCL; convert its errors to ours."""
        try:
            return call()
        except self._nccl.NcclError as problem:
            raise CommunicationError(f"NCCL: {problem}") from problem

    def _send_error(self, problem: BaseException) -> None:
        super()._send_error(problem)
        self._links.abort()  # destroying them would wait for the other ranks, which wait as well

    def _left(self) -> int:
        """Return 1, one step, unless NCCL has failed."""
        self._ranks.check_async_error()
        return 1

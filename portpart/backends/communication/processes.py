"""Ranks that are processes: a rank that waits also checks for messages of failed ranks.

If a rank has failed, the others leave their step and raise its error.
"""

from __future__ import annotations

import pickle
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from portpart.backends.communication import protocol
from portpart.backends.programs import MIN, Array, Parcel, read, transfer_of
from portpart.base.interrupts import late_interrupts

Result = TypeVar("Result")

PATIENCE = 300.0
"""Seconds without progress after which the other ranks are considered lost."""

SPINS = 200
"""Number of polls of a step before the core is yielded to other threads."""

FailureCheck = Callable[[], BaseException | None]
"""Returns the error of another rank that makes no more calls, or None."""


def nothing_new() -> None:
    """Return None: no error is reported."""


class ProcessCalls(ABC):
    """Calls that processes make together, each with separate messages.

    Attributes
    ----------
    rank : int
    size : int
        Number of ranks.
    mpi : mpi4py.MPI.Intracomm or None
        Their communicator, if they are ranks of MPI.
    """

    mpi: Any = None

    def __init__(self, rank: int, size: int) -> None:
        self.rank, self.size = rank, size
        self._end: bytes | None = None

    def run(self, main: Callable[[protocol.Communicator], Result]) -> Result:
        """Run a function on each rank; an error of one rank is raised on all.

        Messages that one call leaves do not reach the next one.
        """
        interrupts: list[KeyboardInterrupt] = []
        comm: ProcessRanks | None = None
        problem = self.end()
        if problem is not None:
            raise problem
        try:
            with late_interrupts():  # without a communicator others cannot be notified
                comm = self._communicator()
        except KeyboardInterrupt as interrupt:
            interrupts.append(interrupt)

        def begun(comm: protocol.Communicator) -> Result:
            for problem in interrupts:
                raise problem
            return main(comm)

        if comm is None:
            raise KeyboardInterrupt
        try:
            return comm.run(begun)
        finally:
            comm.free()

    def leave(self, problem: BaseException) -> None:
        """Inform the other ranks that this one makes no more calls because of an exception.

        They raise its error where they wait for this rank, now or in the next call.
        """
        if self._end is None:
            self._end = packed(protocol.has_ended_block(problem, self.rank))
            self._send_end(self._end)

    def end(self) -> BaseException | None:
        """Return the error of a rank that makes no more calls, if any."""
        if self._end is None:
            self._end = self._heard_end()
        return None if self._end is None else unpacked(self._end)

    @abstractmethod
    def free(self) -> None:
        """Free the resources of calls. All ranks call it."""

    @abstractmethod
    def _communicator(self) -> ProcessRanks:
        """Return the communicator of a call."""

    @abstractmethod
    def _send_end(self, text: bytes) -> None:
        """Send a packed error to all other ranks; this one makes no more calls."""

    @abstractmethod
    def _heard_end(self) -> bytes | None:
        """Return the error that another rank has sent with `_send_end`."""


class ProcessRanks(ABC):
    """A rank that is a process: see `Communicator`.

    Parameters
    ----------
    rank, size : int
    patience : float
        Seconds that a step waits without progress.
    """

    def __init__(self, rank: int, size: int, patience: float) -> None:
        self.rank, self.size, self._patience = rank, size, patience
        self._raised: BaseException | None = None
        self._is_whole = True

    def run(self, main: Callable[[protocol.Communicator], Result]) -> Result:
        """Run a function on each rank; an error of one rank is raised on all.

        Parameters
        ----------
        main : callable
            Receives the communicator.

        Returns
        -------
        object
            Its result on this rank.

        Raises
        ------
        PortpartError
            The error of a rank: the class is the same, and the message begins with the rank.
        RankFailed
            If the error is not one of portpart.
        KeyboardInterrupt
            On Ctrl-C, on this rank or on another one.
        """
        try:
            result = main(self)
            self.vote(None)  # no rank continues while another one may fail
        except BaseException as problem:
            if problem is self._raised:
                raise
            stated = protocol.restated(problem, self.rank)
            self._send_error(stated)
            raise stated from problem
        return result

    @abstractmethod
    def free(self) -> None:
        """Free all resources. All ranks call it; it does nothing if a step was abandoned."""

    def all_reduce(self, words: Array, first: int, count: int, op: str) -> None:
        """See `Communicator`."""
        protocol.require_words(words, first, count)
        if self.size == 1:  # words of a single rank stay as they are
            return
        part = words[first : first + count]
        transfer_of(part).write(part, self._reduced(read([part])[0], op))

    def all_to_all(self, parcel: Parcel) -> None:
        """See `Communicator`."""
        sent, arriving = self._counts_of(parcel)
        self._deliver(parcel.send, sent, parcel.recv[: int(arriving.sum())], arriving)

    def post(self, send: Array, numbers: np.ndarray,
             allocate: Callable[[int], Array]) -> tuple[Array, np.ndarray]:
        """See `Communicator`."""
        protocol.require_numbers(send, numbers, self.size)
        given = np.ascontiguousarray(numbers)
        reported = self._exchanged(given)
        recv = allocate(int(reported[:, 0].sum()))
        self._deliver(send, given[:, 0], recv, reported[:, 0])
        return recv, reported

    def _counts_of(self, parcel: Parcel) -> tuple[np.ndarray, np.ndarray]:
        """Return what a parcel sends to each rank, and what each rank sends to this one."""
        protocol.require_parcel(parcel, self.size)
        sent = read([parcel.send_counts])[0]
        protocol.require_parts(sent, parcel)
        arriving = self._exchanged(sent)
        protocol.require_space(int(arriving.sum()), parcel)
        transfer_of(parcel.recv_counts).write(parcel.recv_counts, arriving)
        return sent, arriving

    def _exchanged(self, numbers: np.ndarray) -> np.ndarray:
        """Exchange numbers: each rank has one for every rank; return those for this rank."""
        return numbers.copy() if self.size == 1 else self._swapped(numbers)

    def _deliver(self, send: Array, sent: np.ndarray, recv: Array, arriving: np.ndarray) -> None:
        """Send each rank its part, and receive the parts for this rank; the numbers are known."""
        transfer = transfer_of(recv)
        if self.size == 1:
            transfer.copy(recv[: int(arriving[0])], send[: int(sent[0])])
            return
        on_host = transfer.host_memory(recv)
        self._exchange(transfer_of(send).on_host(send[: int(sent.sum())]), sent, on_host, arriving)
        transfer.write(recv, on_host)

    def vote(self, problem: Exception | None) -> None:
        """See `Communicator`."""
        lowest = np.array([self.size if problem is None else self.rank], np.int64)
        self.all_reduce(lowest, 0, 1, MIN)
        rank = int(lowest[0])
        if rank == self.size:
            return
        text = (b"" if problem is None or rank != self.rank
                else packed(protocol.restated(problem, rank)))
        length = np.array([len(text)], np.int64)
        self._broadcast(length, rank)
        data = np.frombuffer(text.ljust(int(length[0])), np.uint8).copy()
        self._broadcast(data, rank)
        self._raise(unpacked(data.tobytes()))

    def _raise(self, problem: BaseException) -> None:
        """Raise an error that all ranks know."""
        self._raised = problem
        raise problem

    def _watch(self, is_done: Callable[[], bool], left: Callable[[], int]) -> None:
        """Poll a step until it is done; a change of the number `left` is progress."""
        last, before = time.monotonic(), left()
        while True:
            for _ in range(SPINS):
                if is_done():
                    return
            self._look_for_news()
            time.sleep(0)
            now = left()
            if now != before:
                last, before = time.monotonic(), now
            elif time.monotonic() - last > self._patience:
                raise lost(self._patience)

    @abstractmethod
    def _reduced(self, words: np.ndarray, op: str) -> np.ndarray:
        """Return the sums, minima or maxima of words of all ranks."""

    @abstractmethod
    def _swapped(self, numbers: np.ndarray) -> np.ndarray:
        """Exchange several numbers for every rank; return those for this rank."""

    @abstractmethod
    def _exchange(self, send: np.ndarray, sent: np.ndarray, recv: np.ndarray,
                  arriving: np.ndarray) -> None:
        """Send each rank its part of an array of the host; the numbers of elements are known."""

    @abstractmethod
    def _broadcast(self, array: np.ndarray, rank: int) -> None:
        """Set an array to the values of a rank."""

    @abstractmethod
    def _send_error(self, problem: BaseException) -> None:
        """Send an error to all other ranks; does not wait."""

    @abstractmethod
    def _look_for_news(self) -> None:
        """Raise the error that a rank has sent, if any."""


def lost(patience: float) -> protocol.CommunicatorLost:
    """Return the error to raise if nothing has happened for this many seconds."""
    return protocol.CommunicatorLost(f"no other rank has gone on for {patience:g} seconds")


def packed(problem: BaseException) -> bytes:
    """Pack an error for another rank; one that cannot be pickled is sent as `RankFailed`."""
    try:
        text = pickle.dumps(problem)
        pickle.loads(text)
    except Exception:
        return pickle.dumps(protocol.RankFailed(str(problem)))
    return text


def unpacked(text: bytes) -> BaseException:
    """Unpack the error of another rank of the same job."""
    problem: BaseException = pickle.loads(text)
    return problem

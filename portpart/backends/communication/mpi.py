"""Ranks of MPI, through mpi4py.

Steps wait in a loop that also looks for news of failed ranks on a second communicator: where a
rank has failed, the others leave the step and raise its error.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from mpi4py import MPI

from portpart.backends.communication.errors import (
    CommunicationError,
    CommunicatorLost,
    RankFailed,
    restated,
)
from portpart.backends.communication.protocol import (
    MAX_COUNT,
    Communicator,
    require_numbers,
    require_parcel,
    require_parts,
    require_space,
    require_words,
    rounds_of,
)
from portpart.backends.interface import Array
from portpart.backends.interrupts import late_interrupts
from portpart.backends.steps import MAX, MIN, SUM, Parcel
from portpart.backends.transfer import read, transfer_of

__all__ = ["Mpi"]

Result = TypeVar("Result")

OPERATIONS = {SUM: MPI.SUM, MIN: MPI.MIN, MAX: MPI.MAX}

PATIENCE = 300.0
"""Seconds without progress after which the other ranks count as lost."""

SPINS = 200
"""Looks at a step that does not end before the core is left to others, each time."""

_abandoned: list[Any] = []
"""Requests of steps that were left, with their arrays: MPI may still write there."""


class MpiCalls:
    """Calls that all ranks of an MPI communicator make together, each with messages of its own.

    The communicator is duplicated, so that its owner can use it, and free it, as before.  All its
    ranks have to make one, and the same calls in the same order.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm

    Raises
    ------
    CommunicationError
        If it is no communicator of one group of ranks.
    """

    def __init__(self, comm: MPI.Intracomm) -> None:
        self._comm = _duplicate(_checked(comm), PATIENCE)
        self.rank, self.size = self._comm.rank, self._comm.size

    def run(self, main: Callable[[Communicator], Result]) -> Result:
        """Call a function on each rank, as `Mpi.run` does; what one call leaves no other gets."""
        interrupts: list[KeyboardInterrupt] = []
        comm: Mpi | None = None
        try:
            with late_interrupts():  # who has no communicator yet cannot tell the others
                comm = Mpi(self._comm)
        except KeyboardInterrupt as problem:
            interrupts.append(problem)

        def begun(comm: Communicator) -> Result:
            for problem in interrupts:
                raise problem
            return main(comm)

        if comm is None:
            raise KeyboardInterrupt
        try:
            return comm.run(begun)
        finally:
            comm.free()

    def free(self) -> None:
        """Give back the duplicate.  All ranks call it."""
        self._comm.Free()


class Mpi:
    """The ranks of an MPI communicator.

    The communicator is duplicated, so that its owner can use it, and free it, as before.  All its
    ranks have to make one.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
    max_count : int
        Elements of a message at most; more go in several.
    patience : float
        Seconds that a step waits without progress.

    Raises
    ------
    CommunicationError
        If it is no communicator of one group of ranks.
    """

    def __init__(self, comm: MPI.Intracomm, max_count: int = MAX_COUNT,
                 patience: float = PATIENCE) -> None:
        _checked(comm)
        self._steps, self._news = _duplicate(comm, patience), _duplicate(comm, patience)
        self.rank, self.size = self._steps.rank, self._steps.size
        self._max_count, self._patience = max_count, patience
        self._raised: BaseException | None = None
        self._is_whole = True

    def run(self, main: Callable[[Mpi], Result]) -> Result:
        """Call a function on each rank, so that an error of one is raised on all.

        Parameters
        ----------
        main : callable
            Gets the communicator.

        Returns
        -------
        object
            What it has returned on this rank.

        Raises
        ------
        PortpartError
            What a rank has raised: the class is the same, and the message begins with the rank.
        RankFailed
            If that is no error of portpart.
        KeyboardInterrupt
            On Ctrl-C, on this rank or on another one.
        """
        try:
            result = main(self)
            self.vote(None)  # no rank goes on while another one may fail
        except BaseException as problem:
            if problem is self._raised:
                raise
            stated = restated(problem, self.rank)
            self._tell(stated)
            raise stated from problem
        return result

    def free(self) -> None:
        """Give back the duplicates.  All ranks call it; nothing happens if a step was left."""
        if self._is_whole:
            self._steps.Free()
            self._news.Free()

    def all_reduce(self, words: Array, first: int, count: int, op: str) -> None:
        """See `Communicator`."""
        require_words(words, first, count)
        if self.size == 1:  # they are what they become
            return
        part = words[first : first + count]
        given = read([part])[0].copy()
        result = np.empty_like(given)
        for piece in rounds_of(count, self._max_count):
            self._wait([self._steps.Iallreduce(given[piece], result[piece], OPERATIONS[op])],
                       given, result)
        transfer_of(part).write(part, result)

    def all_to_all(self, parcel: Parcel) -> None:
        """See `Communicator`."""
        sent, arriving = self._counts_of(parcel)
        self._deliver(parcel.send, sent, parcel.recv[: int(arriving.sum())], arriving)

    def post(self, send: Array, numbers: np.ndarray,
             room: Callable[[int], Array]) -> tuple[Array, np.ndarray]:
        """See `Communicator`."""
        require_numbers(send, numbers, self.size)
        given = np.ascontiguousarray(numbers)
        told = self._exchanged(given)
        recv = room(int(told[:, 0].sum()))
        self._deliver(send, given[:, 0], recv, told[:, 0])
        return recv, told

    def _counts_of(self, parcel: Parcel) -> tuple[np.ndarray, np.ndarray]:
        """What a parcel sends to each rank, and what each rank sends to this one."""
        require_parcel(parcel, self.size)
        sent = read([parcel.send_counts])[0]
        require_parts(sent, parcel)
        arriving = self._exchanged(sent)
        require_space(int(arriving.sum()), parcel)
        transfer_of(parcel.recv_counts).write(parcel.recv_counts, arriving)
        return sent, arriving

    def _exchanged(self, numbers: np.ndarray) -> np.ndarray:
        """What all ranks have for this one of numbers that each has for all."""
        if self.size == 1:
            return numbers.copy()
        arriving = np.empty_like(numbers)
        self._wait([self._steps.Ialltoall(numbers, arriving)], numbers, arriving)
        return arriving

    def _deliver(self, send: Array, sent: np.ndarray, recv: Array,
                 arriving: np.ndarray) -> None:
        """Send each rank its part, and get what is for this one; the numbers are known."""
        transfer = transfer_of(recv)
        on_host = transfer.host_memory(recv)
        self._exchange(transfer_of(send).on_host(send[: int(sent.sum())]), sent, on_host,
                       arriving)
        transfer.write(recv, on_host)

    def _exchange(self, send: np.ndarray, sent: np.ndarray, recv: np.ndarray,
                  arriving: np.ndarray) -> None:
        """Send each rank its part of an array of the host; the numbers of elements are known."""
        here, there = np.cumsum(arriving) - arriving, np.cumsum(sent) - sent
        requests = []
        for step in range(1, self.size):  # no rank is the first that all others send to
            source, target = (self.rank - step) % self.size, (self.rank + step) % self.size
            requests += self._pieces(self._steps.Irecv, recv, here, arriving, source)
            requests += self._pieces(self._steps.Isend, send, there, sent, target)
        mine, own = int(sent[self.rank]), self.rank
        recv[here[own] : here[own] + mine] = send[there[own] : there[own] + mine]
        self._wait(requests, send, recv)

    def vote(self, problem: Exception | None) -> None:
        """See `Communicator`."""
        lowest = np.array([self.size if problem is None else self.rank], np.int64)
        self.all_reduce(lowest, 0, 1, MIN)
        rank = int(lowest[0])
        if rank == self.size:
            return
        text = b"" if problem is None or rank != self.rank else packed(restated(problem, rank))
        length = np.array([len(text)], np.int64)
        self._wait([self._steps.Ibcast(length, rank)], length)
        data = np.frombuffer(text.ljust(int(length[0])), np.uint8).copy()
        self._wait([self._steps.Ibcast(data, rank)], data)
        self._raised = unpacked(data.tobytes())
        raise self._raised

    def _pieces(self, begin: Callable[..., MPI.Request], array: np.ndarray, first: np.ndarray,
                counts: np.ndarray, rank: int) -> list[MPI.Request]:
        """Begin the messages with the part of a rank; a part without elements has none."""
        part = array[first[rank] : first[rank] + counts[rank]]
        return [begin(part[piece], rank) for piece in rounds_of(len(part), self._max_count)]

    def _wait(self, requests: list[MPI.Request], *arrays: np.ndarray) -> None:
        """Wait for requests, and for news of ranks that have failed."""
        try:
            self._watch(lambda: MPI.Request.Testall(requests),
                        lambda: sum(not request.Test() for request in requests))
        except BaseException:
            self._is_whole = False
            _abandoned.append((requests, arrays))
            raise

    def _watch(self, is_done: Callable[[], bool], left: Callable[[], int]) -> None:
        """Look at a step until it is done; the number of what is `left` tells that it goes on."""
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
                raise CommunicatorLost(
                    f"no other rank has gone on for {self._patience:g} seconds")

    def _look_for_news(self) -> None:
        """Raise the error of a rank that has told of one."""
        status = MPI.Status()
        if self._news.Iprobe(MPI.ANY_SOURCE, 0, status):
            data = np.empty(status.Get_count(MPI.BYTE), np.uint8)
            self._news.Recv(data, status.Get_source(), 0)
            self._raised = unpacked(data.tobytes())
            raise self._raised

    def _tell(self, problem: BaseException) -> None:
        """Tell all other ranks about an error; waits for none of them."""
        self._is_whole = False
        data = np.frombuffer(packed(problem), np.uint8).copy()
        requests = [self._news.Isend(data, rank, 0) for rank in range(self.size)
                    if rank != self.rank]
        _abandoned.append((requests, data))


def _checked(comm: MPI.Intracomm) -> MPI.Intracomm:
    """The communicator, if ranks of one group have it."""
    if comm == MPI.COMM_NULL:
        raise CommunicationError("comm is MPI.COMM_NULL: it has been freed, or this process "
                                 "is none of its ranks")
    if not isinstance(comm, MPI.Intracomm):
        raise CommunicationError(f"comm is {comm!r}; an mpi4py.MPI.Intracomm is needed")
    return comm


def _duplicate(comm: MPI.Intracomm, patience: float) -> MPI.Intracomm:
    """A duplicate; unlike `Dup` this hears Ctrl-C, and does not wait for ever."""
    duplicate, request = comm.Idup()
    begin = time.monotonic()
    while not request.Test():
        time.sleep(0)
        if time.monotonic() - begin > patience:
            raise CommunicatorLost(
                f"no other rank has made this call for {patience:g} seconds")
    return duplicate


def packed(problem: BaseException) -> bytes:
    """An error for another rank; one that cannot travel is told as `RankFailed`."""
    try:
        text = pickle.dumps(problem)
        pickle.loads(text)
    except Exception:
        return pickle.dumps(RankFailed(str(problem)))
    return text


def unpacked(text: bytes) -> BaseException:
    """The error that another rank of the same job has packed."""
    problem: BaseException = pickle.loads(text)
    return problem

"""Ranks of MPI, through mpi4py.

Steps wait in a loop that also checks a second communicator for messages of failed ranks. If a rank
has failed, the others leave the step and raise its error.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from mpi4py import MPI

from portpart.backends.communication import processes
from portpart.backends.communication.protocol import (
    MAX_COUNT,
    CommunicationError,
    CommunicatorLost,
    rounds_of,
)
from portpart.backends.programs import MAX, MIN, SUM

__all__ = ["Mpi"]

OPERATIONS = {SUM: MPI.SUM, MIN: MPI.MIN, MAX: MPI.MAX}


def keep(abandoned: Any) -> None:
    """Keep requests of an abandoned step, and their arrays, until the process ends.

    MPI may still write there, and it finishes after Python has deleted its modules.
    """
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(abandoned))


class MpiCalls(processes.ProcessCalls):
    """Calls that all ranks of an MPI communicator make together, each with separate messages.

    The communicator is duplicated, so that its owner can use and free it as before. All its ranks
    must create an object, and make the same calls in the same order.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm

    Raises
    ------
    CommunicationError
        If it is not a communicator of one group of ranks.
    """

    def __init__(self, comm: MPI.Intracomm) -> None:
        self.mpi = _duplicate(_checked(comm), processes.PATIENCE, processes.nothing_new)
        super().__init__(self.mpi.rank, self.mpi.size)

    def free(self) -> None:
        """Free the duplicate, unless a rank makes no more calls. All ranks call it."""
        if self.end() is None:
            self.mpi.Free()

    def _communicator(self) -> Mpi:
        return Mpi(self.mpi, look=self.end)

    def _send_end(self, text: bytes) -> None:
        _send_to_all(self.mpi, text)

    def _heard_end(self) -> bytes | None:
        return _received(self.mpi)


class Mpi(processes.ProcessRanks):
    """The ranks of an MPI communicator.

    The communicator is duplicated, so that its owner can use and free it as before. All its ranks
    must create an object.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
    max_count : int
        Maximum number of elements of a message; more are sent in several messages.
    patience : float
        Seconds that a step waits without progress.
    look : callable
        Returns the error of another rank that makes no more calls, or None.

    Raises
    ------
    CommunicationError
        If it is not a communicator of one group of ranks.
    """

    def __init__(self, comm: MPI.Intracomm, max_count: int = MAX_COUNT,
                 patience: float = processes.PATIENCE,
                 look: processes.FailureCheck = processes.nothing_new) -> None:
        _checked(comm)
        self._steps, self._news = (_duplicate(comm, patience, look) for _ in range(2))
        super().__init__(self._steps.rank, self._steps.size, patience)
        self._max_count, self._look = max_count, look

    def free(self) -> None:
        """Free the duplicates. All ranks call it; it does nothing if a step was abandoned."""
        if self._is_whole:
            self._steps.Free()
            self._news.Free()

    def _reduced(self, words: np.ndarray, op: str) -> np.ndarray:
        given, result = words.copy(), np.empty_like(words)
        for piece in rounds_of(len(words), self._max_count):
            self._wait([self._steps.Iallreduce(given[piece], result[piece], OPERATIONS[op])],
                       given, result)
        return result

    def _swapped(self, numbers: np.ndarray) -> np.ndarray:
        arriving = np.empty_like(numbers)
        self._wait([self._steps.Ialltoall(numbers, arriving)], numbers, arriving)
        return arriving

    def _broadcast(self, array: np.ndarray, rank: int) -> None:
        self._wait([self._steps.Ibcast(array, rank)], array)

    def _exchange(self, send: np.ndarray, sent: np.ndarray, recv: np.ndarray,
                  arriving: np.ndarray) -> None:
        here, there = np.cumsum(arriving) - arriving, np.cumsum(sent) - sent
        requests = []
        for step in range(1, self.size):  # no rank receives from all at once
            source, target = (self.rank - step) % self.size, (self.rank + step) % self.size
            requests += self._pieces(self._steps.Irecv, recv, here, arriving, source)
            requests += self._pieces(self._steps.Isend, send, there, sent, target)
        mine, own = int(sent[self.rank]), self.rank
        recv[here[own] : here[own] + mine] = send[there[own] : there[own] + mine]
        self._wait(requests, send, recv)

    def _pieces(self, begin: Callable[..., MPI.Request], array: np.ndarray, first: np.ndarray,
                counts: np.ndarray, rank: int) -> list[MPI.Request]:
        """Begin the messages with the part of a rank; a part without elements has none."""
        part = array[first[rank] : first[rank] + counts[rank]]
        return [begin(part[piece], rank) for piece in rounds_of(len(part), self._max_count)]

    def _wait(self, requests: list[MPI.Request], *arrays: np.ndarray) -> None:
        """Wait for requests, and check for messages of failed ranks."""
        try:
            self._watch(lambda: MPI.Request.Testall(requests),
                        lambda: sum(not request.Test() for request in requests))
        except BaseException:
            self._is_whole = False
            keep((requests, arrays))
            raise

    def _look_for_news(self) -> None:
        text = _received(self._news)
        problem = self._look() if text is None else processes.unpacked(text)
        if problem is not None:
            self._raise(problem)

    def _send_error(self, problem: BaseException) -> None:
        self._is_whole = False
        _send_to_all(self._news, processes.packed(problem))


def _send_to_all(comm: MPI.Intracomm, text: bytes) -> None:
    """Send a text to all other ranks; does not wait."""
    data = np.frombuffer(text, np.uint8).copy()
    requests = [comm.Isend(data, rank, 0) for rank in range(comm.size) if rank != comm.rank]
    keep((requests, data))


def _received(comm: MPI.Intracomm) -> bytes | None:
    """Return a text that another rank has sent, if any."""
    status = MPI.Status()
    if not comm.Iprobe(MPI.ANY_SOURCE, 0, status):
        return None
    data = np.empty(status.Get_count(MPI.BYTE), np.uint8)
    comm.Recv(data, status.Get_source(), 0)
    return data.tobytes()


def _checked(comm: MPI.Intracomm) -> MPI.Intracomm:
    """Return the communicator if it has one group of ranks."""
    if comm == MPI.COMM_NULL:
        raise CommunicationError("comm is MPI.COMM_NULL: it has been freed, or this process "
                                 "is none of its ranks")
    if not isinstance(comm, MPI.Intracomm):
        raise CommunicationError(f"comm is {comm!r}; an mpi4py.MPI.Intracomm, or a "
                                 "torch.distributed.ProcessGroup, is needed")
    return comm


def _duplicate(comm: MPI.Intracomm, patience: float, look: processes.FailureCheck) -> MPI.Intracomm:
    """Return a duplicate; unlike `Dup` this handles Ctrl-C, and never waits for lost ranks."""
    duplicate, request = comm.Idup()
    begin = time.monotonic()
    while not request.Test():
        problem = look()
        if problem is None and time.monotonic() - begin > patience:
            problem = CommunicatorLost(f"no other rank has made this call for {patience:g} seconds")
        if problem is not None:
            keep((request, duplicate))
            raise problem
        time.sleep(0)
    return duplicate

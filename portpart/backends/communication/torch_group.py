"""Ranks of a process group of PyTorch, which communicate with gloo.

Ranks find each other and report errors through the store of the group. The group itself sends
nothing: ranks make new connections. So it may use any backend, and it works as before after an
error.
"""

from __future__ import annotations

import atexit
import ctypes
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any

import numpy as np
import torch
import torch.distributed as dist

from portpart.backends.communication import processes
from portpart.backends.communication.exchange import UFUNCS
from portpart.backends.communication.protocol import (
    MAX_COUNT,
    CommunicationError,
    CommunicatorLost,
    rounds_of,
)
from portpart.backends.programs import MAX, MIN, SUM

__all__ = ["TorchCalls"]

OPERATIONS = {SUM: dist.ReduceOp.SUM, MIN: dist.ReduceOp.MIN, MAX: dist.ReduceOp.MAX}

FEW = 2**14
"""Maximum number of words that all ranks send to each other and add up. The ring of longer arrays
needs more steps.
"""

TICK = 0.02
"""Seconds between two checks for messages while a step waits."""

HEARD = 5.0
"""Seconds that a rank with an error waits until other ranks have read it: the store may be in its
process, which may end then.
"""

GRACE = 1.0
"""Seconds that a rank without a connection waits for the report of the cause."""

MARGIN = 60.0
"""Seconds that gloo waits longer than a rank does."""

_made: Counter[str] = Counter()
"""Number of graphs per name of a group: ranks agree on the next number."""

_abandoned: list[tuple[Any, ...]] = []
"""Abandoned steps, with their arrays and links: gloo may still write there."""


class TorchCalls(processes.ProcessCalls):
    """Calls that all ranks of a process group make together, each with separate messages.

    All of its ranks must create an object, and make the same calls in the same order.

    Parameters
    ----------
    group : torch.distributed.ProcessGroup
    max_count : int
        Maximum number of elements of a message; more are sent in several messages.
    patience : float
        Seconds that a step waits.

    Raises
    ------
    CommunicationError
        If this process is not one of its ranks, or the group has no store.
    """

    def __init__(self, group: dist.ProcessGroup, max_count: int = MAX_COUNT,
                 patience: float = processes.PATIENCE) -> None:
        store, name = _store_of(group), group.group_name
        _made[name] += 1
        super().__init__(group.rank(), group.size())
        self._max_count, self._patience = max_count, patience
        self._board = Board(dist.PrefixStore(f"portpart/{_made[name]}", store), self.rank,
                            self.size)
        self._count = 0
        self._comm: TorchRanks | None = None

    def free(self) -> None:
        """Free the links. All ranks call it."""
        self._comm = None

    def _communicator(self) -> TorchRanks:
        before, self._count = self._comm, self._count + 1
        self._comm = TorchRanks(self._board.of_call(self._count), self.end, self._max_count,
                                self._patience)
        self._comm.meet(before)
        return self._comm

    def _send_end(self, text: bytes) -> None:
        self._comm = None
        self._board.report(text)

    def _heard_end(self) -> bytes | None:
        return self._board.news()


class Board:
    """Messages of ranks outside of steps: some keys of a store.

    Parameters
    ----------
    store : torch.distributed.Store
    rank, size : int
    """

    def __init__(self, store: dist.Store, rank: int, size: int) -> None:
        self.store, self.rank, self.size = store, rank, size

    def of_call(self, number: int) -> Board:
        """Return the board of a call."""
        return Board(dist.PrefixStore(str(number), self.store), self.rank, self.size)

    def mark(self, what: str) -> None:
        """Record that this rank has done something."""
        with _answers():
            self.store.set(f"{what}/{self.rank}", "1")

    def is_marked(self, what: str) -> bool:
        """Whether all ranks have recorded it."""
        with _answers():
            return bool(self.store.check([f"{what}/{rank}" for rank in range(self.size)]))

    def report(self, text: bytes) -> bytes:
        """Report an error; the first one counts and is returned. Waits for ranks that read it."""
        with suppress(CommunicatorLost), _answers():
            if self.store.add("problems", 1) > 1:
                _until(lambda: bool(self.store.check(["news"])), GRACE)
                return self.news() or text
            self.store.set("news", text)
            self.mark("heard")
            _until(lambda: self.is_marked("heard"), HEARD)
        return text

    def news(self) -> bytes | None:
        """Return the error that another rank has reported, if any."""
        with _answers():
            if not self.store.check(["news"]):
                return None
            text: bytes = self.store.get("news")
            self.mark("heard")
            return text


class TorchRanks(processes.ProcessRanks):
    """The ranks of a process group in one call.

    Attributes
    ----------
    links : torch.distributed.ProcessGroupGloo or None
        Connections of the ranks, unless a step was abandoned.
    """

    def __init__(self, board: Board, look: processes.FailureCheck, max_count: int,
                 patience: float) -> None:
        super().__init__(board.rank, board.size, patience)
        self.links: dist.ProcessGroupGloo | None = None
        self._board, self._look, self._max_count = board, look, max_count
        self._largest = 0
        self._before: TorchRanks | None = None

    def meet(self, before: TorchRanks | None) -> None:
        """Wait for all ranks; reuse the links of the previous call if all ranks still have them."""
        if self.size == 1 or (before is not None and self._has_met(before)):
            return
        _abandoned[:] = [each for each in _abandoned if not each[0].is_completed()]
        self._board.mark("here")
        if not _until(lambda: self._board.is_marked("here"), self._patience, self._look_for_news):
            raise CommunicatorLost(
                f"no other rank has made this call for {self._patience:g} seconds")
        self.links = dist.ProcessGroupGloo(
            dist.PrefixStore("links", self._board.store), self.rank, self.size,
            timedelta(seconds=self._patience + MARGIN))

    def _has_met(self, before: TorchRanks) -> bool:
        """Wait for all ranks; return False if one of them has no links."""
        self.links, self._before = before.links, before
        try:
            if self.links is not None:
                self._swapped(np.zeros(self.size, np.int64))
        except _NoLinks:
            self._is_whole = True
        self._before = None
        return self.links is not None

    def free(self) -> None:
        """Do nothing: working links are kept for the next call."""

    def _reduced(self, words: np.ndarray, op: str) -> np.ndarray:
        if self.size * len(words) <= FEW:
            every = np.empty((self.size, len(words)), np.int64)
            self._send(np.tile(words, self.size), None, every.reshape(-1), None)
            return UFUNCS[op].reduce(every)
        result, options = words.copy(), dist.AllreduceOptions()
        options.reduceOp = OPERATIONS[op]
        for piece in rounds_of(len(words), self._max_count):
            self._wait(self._given_links().allreduce([_tensor(result[piece])], options), result)
        return result

    def _swapped(self, numbers: np.ndarray) -> np.ndarray:
        given = numbers.reshape(self.size, -1)
        largest = np.full((self.size, 1), given[:, 0].max())
        reported = np.empty((self.size, given.shape[1] + 1), np.int64)
        self._send(np.hstack([given, largest]).reshape(-1), None, reported.reshape(-1), None)
        self._largest = int(reported[:, -1].max())
        return np.ascontiguousarray(reported[:, :-1]).reshape(numbers.shape)

    def _exchange(self, send: np.ndarray, sent: np.ndarray, recv: np.ndarray,
                  arriving: np.ndarray) -> None:
        if self.size == 1:
            recv[:] = send
            return
        piece = max(1, self._max_count // self.size)
        if self._largest <= piece:
            if self._largest:
                self._send(send, sent, recv, arriving)
            return
        here, there = np.cumsum(arriving) - arriving, np.cumsum(sent) - sent
        for part in rounds_of(self._largest, piece):
            out, into = (np.clip(each - part.start, 0, part.stop - part.start)
                         for each in (sent, arriving))
            came = np.empty(int(into.sum()), recv.dtype)
            self._send(send[_places(there + part.start, out)], out, came, into)
            recv[_places(here + part.start, into)] = came

    def _send(self, send: np.ndarray, sent: np.ndarray | None, recv: np.ndarray,
              arriving: np.ndarray | None) -> None:
        """Send each rank its part of an array; None means equal parts."""
        parts = [[] if each is None else (each * _width(send.dtype)).tolist()
                 for each in (arriving, sent)]
        self._wait(self._given_links().alltoall_base(_tensor(recv), _tensor(send), *parts), send,
                   recv)

    def _broadcast(self, array: np.ndarray, rank: int) -> None:
        options = dist.BroadcastOptions()
        options.rootRank, options.rootTensor = rank, 0
        if self.size > 1:
            self._wait(self._given_links().broadcast([_tensor(array)], options), array)

    def _given_links(self) -> dist.ProcessGroupGloo:
        """Return the connections of the ranks.

        Raises
        ------
        CommunicatorLost
            If a step was abandoned.
        """
        if self.links is None:
            raise CommunicatorLost("an earlier step of this call was left")
        return self.links

    def _wait(self, work: Any, *arrays: np.ndarray) -> None:
        """Wait for a step, and check for messages of failed ranks."""
        begin = time.monotonic()
        try:
            while True:
                is_over = work.is_completed()
                try:
                    work.wait(timedelta(seconds=TICK))
                    return
                except RuntimeError as problem:  # the step takes longer, or has failed
                    self._look_for_news()
                    if is_over:
                        self._has_failed(problem)
                if time.monotonic() - begin > self._patience:
                    raise processes.lost(self._patience)
        except BaseException:
            self._is_whole = False
            _abandoned.append((work, arrays, self.links))
            self.links = None
            raise

    def _has_failed(self, problem: Exception) -> None:
        """Raise the error of the rank that made a step fail."""
        _until(lambda: False, GRACE, self._look_for_news)
        raise CommunicatorLost("the connection to another rank is lost; its process may have "
                               "ended") from problem

    def _look_for_news(self) -> None:
        text = self._board.news()
        problem = self._look() if text is None else processes.unpacked(text)
        if problem is not None:
            self._raise(problem)
        if self._before is not None and self._before.is_reported():
            raise _NoLinks

    def is_reported(self) -> bool:
        """Whether a rank has reported an error in this call, even if other ranks have ended it."""
        return self._board.news() is not None

    def _send_error(self, problem: BaseException) -> None:
        self._is_whole, self.links = False, None
        text = processes.packed(problem)
        first = self._board.report(text)
        if first != text:
            self._raise(processes.unpacked(first))


class _NoLinks(Exception):
    """A rank has lost its links since the previous call."""


def _store_of(group: dist.ProcessGroup) -> dist.Store:
    """Return the store by which the ranks of a group have found each other."""
    if group.rank() < 0:
        raise CommunicationError("this process is none of the ranks of the group")
    try:
        if hasattr(group, "get_group_store"):
            return group.get_group_store()
        return dist.distributed_c10d._world.pg_map[group][1]  # PyTorch without that method
    except (KeyError, RuntimeError) as problem:
        raise CommunicationError("the group has no store by which its ranks can meet; "
                                 "torch.distributed.new_group makes one that has") from problem


@contextmanager
def _answers() -> Iterator[None]:
    """Access a store; if it does not answer, the process that had it has ended."""
    try:
        yield
    except RuntimeError as problem:
        raise CommunicatorLost("the store of the group does not answer; the process that has it "
                               "may have ended") from problem


def _until(is_done: Callable[[], bool], seconds: float,
           look: Callable[[], None] = lambda: None) -> bool:
    """Poll until something is done, for at most this many seconds; return whether it is."""
    begin, pause = time.monotonic(), TICK / 32
    while not is_done():
        look()
        if time.monotonic() - begin > seconds:
            return False
        time.sleep(pause)
        pause = min(2 * pause, TICK)
    return True


def _width(kind: np.dtype) -> int:
    """Return the number of tensor elements per array element: gloo supports bytes and integers of 4
    or 8 bytes.
    """
    return 1 if kind.itemsize in (4, 8) else kind.itemsize


def _tensor(array: np.ndarray) -> torch.Tensor:
    """Return a tensor of the same memory, which is not written if it is not writeable."""
    kind = f"i{array.itemsize}" if _width(array.dtype) == 1 else "u1"
    if not len(array):
        return torch.from_numpy(np.empty(0, kind))
    if not array.flags.writeable:
        memory: Any = (ctypes.c_char * array.nbytes).from_address(array.ctypes.data)
        return torch.from_numpy(np.frombuffer(memory, kind))
    return torch.from_numpy(array.view(kind))


def _places(first: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the places of `counts` elements from each of these places on."""
    return np.concatenate([np.arange(begin, begin + count) for begin, count in zip(first, counts)])


def _keep_abandoned() -> None:
    """Keep links with an unfinished step open: closing them would wait for it."""
    for _, _, links in _abandoned:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(links))


atexit.register(_keep_abandoned)

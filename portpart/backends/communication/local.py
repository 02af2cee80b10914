"""Ranks of one process: a single rank, and threads that run in turns."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar, cast

import numpy as np

from portpart.backends.communication import exchange, protocol
from portpart.backends.communication.exchange import post
from portpart.backends.programs import Array, Parcel, publish, read, transfer_of
from portpart.errors import memory_errors

# Ranks of one process: threads that run in turns -----------------------------------------------
#
# One rank runs until it reaches a step of communication, or a program with such steps; then the
# next rank runs. The last rank that reaches it does it for all. Ranks never run at the same time,
# so that programs of many ranks can be tested and debugged in one process without races.


Result = TypeVar("Result")

WAKE_SECONDS = 1.0
"""The thread that waits for the ranks wakes up at this interval, to handle signals."""


class Local:
    """Several ranks in one process, as threads that run in turns.

    Parameters
    ----------
    size : int
        Number of ranks.
    max_count : int
        Maximum number of elements that two ranks exchange in one round.

    Examples
    --------
    >>> import numpy as np
    >>> def total(comm):
    ...     words = np.array([comm.rank + 1])
    ...     comm.all_reduce(words, 0, 1, "sum")
    ...     return int(words[0])
    >>> Local(3).run(total)
    [6, 6, 6]
    """

    def __init__(self, size: int, max_count: int = protocol.MAX_COUNT) -> None:
        self.size, self.max_count = size, max_count

    def run(self, main: Callable[[protocol.Communicator], Result]) -> list[Result]:
        """Run a function on each rank.

        Parameters
        ----------
        main : callable
            Receives the communicator of the rank.

        Returns
        -------
        list
            The result of each rank.

        Raises
        ------
        PortpartError
            The error of a rank: the class is the same, and the message begins with the rank.
        RankFailed
            If the error is not one of portpart.
        KeyboardInterrupt
            On Ctrl-C.  All ranks end at their next step.
        """
        turns = _Turns(self.size, self.max_count, main)
        threads = [threading.Thread(target=turns.run, args=(rank,), daemon=True,
                                    name=f"rank {rank}") for rank in range(self.size)]
        for thread in threads:
            thread.start()
        turns.begin()
        try:
            turns.wait()
        except BaseException as problem:
            turns.failure = turns.failure or _Failure(exchange.ALL, problem)
            turns.wait()
            raise
        if turns.failure is not None:
            raise turns.failure.stated() from turns.failure.problem
        return turns.results


class _Vote(NamedTuple):
    """The problem of a rank, or None."""

    problem: Exception | None


class _Program(NamedTuple):
    """A run of a program."""

    run: exchange.ProgramRun


class _Talk(NamedTuple):
    """Messages of a rank."""

    run: exchange.TalkRun


class _Place:
    """Place of a rank, and what the first rank in this place makes for all ranks there."""

    def __init__(self, where: Hashable) -> None:
        self.where, self.keepers = where, list[int]()
        self.made: Any = None
        self.problem: Exception | None = None

    def make(self, make: Callable[[], Any]) -> None:
        """Store the result or the exception of a function."""
        try:
            with memory_errors():
                self.made = make()
        except Exception as problem:
            self.problem = problem


_Call = exchange.ReducedWords | Parcel | exchange.Posting | _Program | _Talk | _Vote | _Place


def _described(call: _Call) -> str:
    """Return what the ranks that make a call must agree on."""
    if isinstance(call, (_Program, _Talk, _Vote, _Place)):
        return {_Program: "a program", _Talk: "messages", _Vote: "vote",
                _Place: "what is alike"}[type(call)]
    return exchange.described(call)


class _Failure(NamedTuple):
    """An error, and the rank where it occurred first."""

    rank: int
    problem: BaseException

    def stated(self) -> BaseException:
        """Return the error as all ranks raise it."""
        return self.problem if self.rank == exchange.ALL else protocol.restated(self.problem,
                                                                                self.rank)


class _Rank:
    """The communicator of one rank."""

    def __init__(self, turns: _Turns[Any], rank: int) -> None:
        self._turns, self.rank, self.size = turns, rank, turns.size

    def all_reduce(self, words: Array, first: int, count: int, op: str) -> None:
        publish([words])
        self._turns.step(self.rank, exchange.ReducedWords(words, first, count, op))

    def all_to_all(self, parcel: Parcel) -> None:
        publish([parcel.send])
        self._turns.step(self.rank, parcel)

    def post(self, send: Array, numbers: np.ndarray,
             allocate: Callable[[int], Array]) -> tuple[Array, np.ndarray]:
        publish([send])
        posting = exchange.Posting(send, numbers, allocate)
        self._turns.step(self.rank, posting)
        return posting.recv, posting.reported

    def lead(self, run: exchange.ProgramRun) -> None:
        """Execute the programs of all ranks in one turn."""
        publish(run.arrays)
        self._turns.step(self.rank, _Program(run))

    def hold(self, run: exchange.TalkRun) -> None:
        """Exchange the messages of all ranks in one turn: turns take longer than messages."""
        self._turns.step(self.rank, _Talk(run))

    def keepers(self, where: Hashable) -> list[int]:
        place = _Place(where)
        self._turns.step(self.rank, place)
        return place.keepers

    def once(self, where: Hashable, make: Callable[[], Result]) -> Result:
        """Ranks call this in order, the first one first."""
        place = _Place(where)
        if not self._turns.has_come(where):
            place.make(make)
        self._turns.step(self.rank, place)
        return cast(Result, place.made)

    def vote(self, problem: Exception | None) -> None:
        self._turns.step(self.rank, _Vote(problem))


class _Turns(Generic[Result]):
    """The rank that runs, and the calls of ranks that wait.

    A rank changes these only while it runs, so that no lock is needed.

    Attributes
    ----------
    failure : _Failure or None
        The first error that has ended a rank.
    ended : threading.Event
        Set when all ranks have ended.
    results : list
    """

    def __init__(self, size: int, max_count: int,
                 main: Callable[[protocol.Communicator], Result]) -> None:
        self.size, self._max_count, self._main = size, max_count, main
        self.failure: _Failure | None = None
        self.ended = threading.Event()
        self.results: list[Result] = [cast(Result, None)] * size
        self._wake = [threading.Lock() for _ in range(size)]  # a semaphore is slower
        for each in self._wake:
            each.acquire()
        self._calls: list[_Call | None] = [None] * size
        self._outcomes: list[_Failure | None] = [None] * size
        self._raised: list[BaseException | None] = [None] * size
        self._alive = list(range(size))

    def begin(self) -> None:
        """Start the first rank."""
        self._wake[0].release()

    def wait(self) -> None:
        """Wait until all ranks have ended.

        A signal that arrives just before the thread sleeps is handled when it wakes.
        """
        while not self.ended.wait(WAKE_SECONDS):
            pass

    def run(self, rank: int) -> None:
        """Run on one rank, in its thread."""
        self._wake[rank].acquire()
        try:
            if self.failure is None:
                self.results[rank] = self._main(_Rank(self, rank))
        except BaseException as problem:
            known = problem is self._raised[rank]
            self.failure = self.failure or _Failure(exchange.ALL if known else rank, problem)
        self._alive.remove(rank)
        if self._alive:
            self._pass_on()
        else:
            self.ended.set()

    def has_come(self, where: Hashable) -> bool:
        """Whether a rank in this place waits."""
        return any(isinstance(call, _Place) and call.where == where for call in self._calls)

    def step(self, rank: int, call: _Call) -> None:
        """Wait until all ranks have made the same call, and it is done."""
        self._calls[rank] = call
        self._pass_on()
        self._wake[rank].acquire()
        failure, self._outcomes[rank] = self._outcomes[rank] or self.failure, None
        if failure is not None:
            self._raised[rank] = problem = failure.stated()
            raise problem

    def _pass_on(self) -> None:
        """Resume a rank that has not made the call; if all have, do it before."""
        running = [rank for rank in self._alive if self._calls[rank] is None]
        if not running and self.failure is None:
            self._outcomes = [self._carried_out()] * self.size
            self._calls = [None] * self.size
        self._wake[running[0] if running and self.failure is None else self._alive[0]].release()

    def _carried_out(self) -> _Failure | None:
        """Do the call that all ranks have made; return the error that they then raise."""
        try:
            return self._done([call for call in self._calls if call is not None])
        except exchange.Refused as refused:
            return _Failure(refused.rank, refused.problem)

    def _done(self, calls: list[_Call]) -> _Failure | None:
        exchange.require_same(["has ended" if call is None else f"is at {_described(call)}"
                               for call in self._calls])
        if isinstance(calls[0], (_Vote, _Place)):
            votes = enumerate(cast("list[_Vote | _Place]", calls))
            failed = next((_Failure(rank, each.problem) for rank, each in votes if each.problem),
                          None)
            if isinstance(calls[0], _Place):
                _share(cast("list[_Place]", calls))
            return failed
        if isinstance(calls[0], _Program):
            runs = [each.run for each in cast("list[_Program]", calls)]
            runs[0].run_together(runs, self._prepared, lambda: self.failure is None)
            publish([array for run in runs for array in run.arrays])
        elif isinstance(calls[0], _Talk):
            self._hold([each.run for each in cast("list[_Talk]", calls)])
        elif isinstance(calls[0], exchange.Posting):
            post(cast("list[exchange.Posting]", calls), self._max_count)
        else:
            exchange.require_right(self._prepared(calls)())
        return None

    def _hold(self, runs: list[exchange.TalkRun]) -> None:
        """Exchange the messages of all ranks, which all have the same number."""
        while self.failure is None and not all(run.is_over for run in runs):
            exchange.require_same([f"has {'ended its' if run.is_over else 'further'} messages"
                                   for run in runs])
            postings = [run.message() for run in runs]
            for rank, run in enumerate(runs):
                if run.problem is not None:
                    raise exchange.Refused(rank, run.problem)
            publish([each.send for each in postings])
            post(postings, self._max_count)
            for run, each in zip(runs, postings):
                run.receive(each.recv, each.reported)

    def _prepared(self, calls: Sequence[Any]) -> exchange.Prepared:
        """Return a function that does the step."""
        if isinstance(calls[0], exchange.ReducedWords):
            return exchange.reducing(cast("list[exchange.ReducedWords]", calls))
        return exchange.exchanging(cast("list[Parcel]", calls), self._max_count)


def _share(places: list[_Place]) -> None:
    """Give ranks in the same place the object that the first of them has made."""
    every = [each.where for each in places]
    for each in places:
        each.keepers = [every.index(where) for where in every]
        each.made = places[every.index(each.where)].made


# The communicator of a single rank -------------------------------------------------------------


class One:
    """A single rank, which does each step by itself and is its own peer.

    Examples
    --------
    >>> comm = One()
    >>> comm.rank, comm.size
    (0, 1)
    """

    rank = 0
    size = 1

    def all_reduce(self, words: Array, first: int, count: int, op: str) -> None:
        """Do nothing: the words stay as they are."""
        protocol.require_words(words, first, count)

    def all_to_all(self, parcel: Parcel) -> None:
        """Copy the data that is sent to the receiving array."""
        protocol.require_parcel(parcel, self.size)
        if len(parcel.send):  # otherwise there is no number to wait for
            counts, = read([parcel.send_counts])
            protocol.require_parts(counts, parcel)
            count = int(counts[0])
            protocol.require_space(count, parcel)
            transfer_of(parcel.recv).copy(parcel.recv[:count], parcel.send[:count])
        transfer_of(parcel.recv_counts).copy(parcel.recv_counts, parcel.send_counts)

    def post(self, send: Array, numbers: np.ndarray,
             allocate: Callable[[int], Array]) -> tuple[Array, np.ndarray]:
        """Return the data that is sent."""
        protocol.require_numbers(send, numbers, self.size)
        return send[: int(numbers[0, 0])], numbers

    def vote(self, problem: Exception | None) -> None:
        """Raise the problem, if any."""
        if problem is not None:
            raise problem

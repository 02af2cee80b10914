"""The steps of a program that communicate, and how they are executed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, runtime_checkable

import numpy as np

from portpart.backends import programs
from portpart.backends.communication import protocol
from portpart.errors import InputError, PortpartError

# Steps of communication, for ranks whose arrays are all accessible -----------------------------


UFUNCS = {programs.SUM: np.add, programs.MIN: np.minimum, programs.MAX: np.maximum}


ALL = -1
"""Replaces a rank: the error is raised as it is."""


class Refused(Exception):
    """An impossible step, with the lowest rank concerned, or `ALL`."""

    def __init__(self, rank: int, problem: Exception) -> None:
        self.rank, self.problem = rank, problem


@dataclass(frozen=True)
class ReducedWords:
    """Words of an array of one rank, and how they are combined with those of the other ranks."""

    array: programs.Array
    first: int
    count: int
    op: str


def require_same(doing: Sequence[str]) -> None:
    """Raise `Refused` if ranks are at different steps; each step is described."""
    other = next((rank for rank, each in enumerate(doing) if each != doing[0]), None)
    if other is not None:
        raise Refused(ALL, protocol.CommunicationError(
            f"rank 0 {doing[0]}, and rank {other} {doing[other]}"))


def described(call: ReducedWords | programs.Parcel | Posting) -> str:
    """Return what the ranks that make a call must agree on."""
    if isinstance(call, ReducedWords):
        return f"all_reduce of {call.count} words by {call.op}"
    if isinstance(call, Posting):
        return f"post of {call.send.dtype} and {call.numbers.shape[-1]} numbers"
    return f"all_to_all of {call.send.dtype}"


def reducing(ranks: Sequence[ReducedWords]) -> Callable[[], None]:
    """Return a function that replaces the words of all ranks by their sum, minimum or maximum."""
    for rank, words in enumerate(ranks):
        _check(rank, protocol.require_words, words.array, words.first, words.count)
    parts = [words.array[words.first : words.first + words.count] for words in ranks]
    device = programs.together(parts, len(parts))
    if device is not None:
        return device.reduce(parts, ranks[0].op)
    return partial(_reduce_by_host, parts, ranks[0].op)


def _reduce_by_host(parts: Sequence[programs.Array], op: str) -> None:
    result = UFUNCS[op].reduce(programs.read(parts))
    for part in parts:
        programs.transfer_of(part).write(part, result)
    programs.publish(parts)


def exchanging(parcels: Sequence[programs.Parcel],
               max_count: int) -> Callable[[], programs.DeviceTransfers | None]:
    """Return a function that copies the part that each rank sends to the receiving rank.

    A part of more than ``max_count`` elements needs several rounds.

    Returns
    -------
    callable
        Returns the object for `require_right`, which checks the numbers of elements.
    """
    size = len(parcels)
    for rank, parcel in enumerate(parcels):
        _check(rank, protocol.require_parcel, parcel, size)
    arrays = [each for parcel in parcels for _, each in parcel.named()]
    device = programs.together(arrays, size) if max_count == protocol.MAX_COUNT else None
    if device is None:
        return partial(_exchange_by_host, parcels, max_count)
    launch = device.exchange(parcels)

    def exchange() -> programs.DeviceTransfers | None:
        launch()
        return device

    return exchange


def require_right(device: programs.DeviceTransfers | None) -> None:
    """Raise `Refused` if an exchange on a device had wrong numbers; waits."""
    if device is not None:
        _, wrong = device.reading([])()()
        refuse(wrong)


def refuse(wrong: programs.Wrong | None) -> None:
    """Raise `Refused` for wrong numbers, if there are any."""
    if wrong is not None:
        raise Refused(wrong.rank, protocol.CommunicationError(
            protocol.wrong_parts(wrong.counts, wrong.length) if wrong.arriving < 0
            else protocol.too_little_space(wrong.arriving, wrong.length)))


def _exchange_by_host(parcels: Sequence[programs.Parcel], max_count: int) -> None:
    counts = np.array(programs.read([parcel.send_counts for parcel in parcels]))
    for rank, parcel in enumerate(parcels):
        _check(rank, protocol.require_parts, counts[rank], parcel)
    for rank, parcel in enumerate(parcels):
        _check(rank, protocol.require_space, int(counts[:, rank].sum()), parcel)
    for rank, parcel in enumerate(parcels):
        programs.transfer_of(parcel.recv_counts).write(parcel.recv_counts, counts[:, rank])
    _copy_parts(parcels, counts, max_count)


FEW_COPIES, SHORT = 3, 1 << 22
"""With more copies than this, of this many bytes at most, one kernel for all takes less time."""


def _copy_parts(ranks: Sequence[programs.Parcel | Posting], counts: np.ndarray,
                max_count: int) -> None:
    """Copy the part that each rank (row) sends to each other rank, in pieces; a device copies many
    short parts at once.
    """
    sent, arrived = np.cumsum(counts, axis=1) - counts, np.cumsum(counts, axis=0) - counts
    if max_count == protocol.MAX_COUNT and np.count_nonzero(counts) > FEW_COPIES and (
            int(counts.sum()) * ranks[0].send.itemsize <= SHORT):
        arrays = [array for each in ranks for array in (each.send, each.recv)]
        device = programs.together(arrays, len(ranks))
        if device is not None:
            device.deliver([(ranks[target].recv, int(arrived[source, target]), ranks[source].send,
                             int(sent[source, target]), int(counts[source, target]))
                            for source, target in np.argwhere(counts).tolist()])
            return
    for part in protocol.rounds_of(int(counts.max()), max_count):
        for source, target in np.argwhere(counts > part.start).tolist():
            begin, end = part.start, min(part.stop, int(counts[source, target]))
            here, there = int(sent[source, target]), int(arrived[source, target])
            recv, send = ranks[target].recv, ranks[source].send
            programs.transfer_of(recv).copy(recv[there + begin : there + end],
                                            send[here + begin : here + end])
    programs.publish([each.recv for each in ranks])


@dataclass
class Posting:
    """The data that a rank sends and receives in `Communicator.post`."""

    send: programs.Array
    numbers: np.ndarray
    allocate: Callable[[int], programs.Array]
    recv: Any = field(default=None, init=False)
    reported: Any = field(default=None, init=False)


def post(postings: Sequence[Posting], max_count: int) -> None:
    """Allocate the array that each rank receives, and copy the data to it."""
    size = len(postings)
    for rank, each in enumerate(postings):
        _check(rank, protocol.require_numbers, each.send, each.numbers, size)
    numbers = np.array([each.numbers for each in postings])
    for rank, each in enumerate(postings):
        each.reported = numbers[:, rank].copy()
        each.recv = _check(rank, each.allocate, int(numbers[:, rank, 0].sum()))
    _copy_parts(postings, numbers[:, :, 0], max_count)


def _check(rank: int, require: Callable[..., Any], *given: Any) -> Any:
    try:
        return require(*given)
    except PortpartError as problem:
        raise Refused(rank, problem) from None


# Steps of a program that communicate, as spaces execute them -----------------------------------


COMM = "comm"
"""Name that a run of a program that communicates binds its communicator to."""


def communicator_of(program: str, bindings: Mapping[str, Any]) -> protocol.Communicator:
    """Return the communicator of a run.

    Raises
    ------
    InputError
        If there is none.
    """
    try:
        found: protocol.Communicator = bindings[COMM]
    except KeyError:
        raise InputError(f"program {program!r} communicates; bind {COMM!r} to the communicator "
                         "of the rank") from None
    return found


Operation = ReducedWords | programs.Parcel

Prepared = Callable[[], programs.DeviceTransfers | None]
"""Does a step when called; returns the object that checks the numbers of elements."""


class ProgramRun(Protocol):
    """A run of a program of one rank.

    Attributes
    ----------
    arrays : sequence of Array
        Some arrays that the program exchanges, which show where it runs.
    """

    arrays: Sequence[programs.Array]

    def run_alone(self, prepared: Callable[[Operation], Callable[[], object]]) -> None:
        """Run the program on this rank, while other processes run it on theirs.

        Parameters
        ----------
        prepared : callable
            Prepares a step, which may be repeated.
        """

    def run_together(self, runs: Sequence[Any], prepared: Callable[[Sequence[Operation]], Prepared],
                     goes_on: Callable[[], bool]) -> None:
        """Run a program on all ranks together.

        Parameters
        ----------
        runs : sequence of ProgramRun
            The runs of all ranks, this one first.
        prepared : callable
            Prepares the step that all ranks have reached.
        goes_on : callable
            Called regularly; if it returns False, the runs are abandoned.

        Raises
        ------
        Refused
            If ranks reach different steps, or one of them raises an exception.
        """


@runtime_checkable
class Leader(Protocol):
    """A communicator that executes programs in its own way."""

    def lead(self, run: ProgramRun) -> None:
        """Execute a run together with the runs of the other ranks."""


class TalkRun(Protocol):
    """Messages of a rank, one after another.

    Attributes
    ----------
    is_over : bool
        Whether there is no further message.
    problem : Exception or None
        The error that has ended them.
    """

    is_over: bool
    problem: Exception | None

    def message(self) -> Posting:
        """Return the next message; if there is a problem, it is empty."""

    def receive(self, words: programs.Array, reported: np.ndarray) -> None:
        """Take what has arrived."""


@runtime_checkable
class TalkLeader(Protocol):
    """A communicator that exchanges messages in its own way."""

    def hold(self, run: TalkRun) -> None:
        """Exchange all messages of the ranks; an error of one rank is raised on all."""


@runtime_checkable
class Asynchronous(Protocol):
    """A communicator that may return before a step is done."""

    def waiting(self) -> Callable[[], None]:
        """Return a function that waits for the steps that have begun now, and not for later work of
        the device; it raises the error of a rank that has failed.
        """


def wait_of(comm: protocol.Communicator) -> Callable[[], Callable[[], None]]:
    """Return a function whose result must be called before the host waits for earlier work of a
    device.

    Otherwise that wait would not end if another rank fails.
    """
    return comm.waiting if isinstance(comm, Asynchronous) else lambda: lambda: None


def follow(run: ProgramRun, comm: protocol.Communicator) -> None:
    """Execute a run."""
    if isinstance(comm, Leader):
        comm.lead(run)
        return
    run.run_alone(lambda call: partial(perform, call, comm))


def operation_of(step: programs.Communication, arrays: Mapping[str, Any]) -> Operation:
    """Return a step with these arrays."""
    if isinstance(step, programs.AllReduce):
        count = step.count
        if isinstance(count, programs.Element):
            count = int(arrays[count.slot.name][count.index])
        return ReducedWords(arrays[step.words.name], step.first, count, step.op)
    return programs.Parcel(**{field: arrays[slot.name] for field, slot in step.parcel.named()})


def perform(call: Operation, comm: protocol.Communicator) -> None:
    """Do a step."""
    if isinstance(call, ReducedWords):
        comm.all_reduce(call.array, call.first, call.count, call.op)
    else:
        comm.all_to_all(call)

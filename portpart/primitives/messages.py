"""Messages between ranks, which the host composes, and talks, which consist of messages.

A message has rows for each rank, packed as words of 32 bits, and a few words that all ranks get. It
takes one step, because the sizes that ranks need for allocation are sent with it.

A *talk* is a generator that yields messages and receives what has arrived. An exception that it
raises between two messages is raised on all ranks: the next message reports it, without a step for
votes.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from portpart.backends import language as kl
from portpart.backends.communication import Communicator, Posting, TalkLeader, wait_of
from portpart.backends.programs import Array, ExecutionSpace
from portpart.primitives import mail
from portpart.primitives.basic import gather, lower_bound

Result = TypeVar("Result")

NUMBERS = 6
"""Numbers that each rank gets with a message: its length; the rows of the second part, if it has
one, or `FAILED`; and the words.
"""

FAILED = -1


class Part(NamedTuple):
    """Rows for each rank.

    Attributes
    ----------
    columns : sequence of array of integers
        At most four; the rows for rank 0 are first.
    counts : numpy.ndarray of int64, shape (ranks,)
        Rows for each rank.
    kinds : sequence of dtype, optional
        Types for sending, which hold the numbers; by default the types of the columns.
    order : array of int32, optional
        Places of the rows in the columns; without it the columns are in this order.
    """

    columns: Sequence[Array]
    counts: np.ndarray
    kinds: Sequence[Any] | None = None
    order: Array | None = None

    @property
    def layout(self) -> mail.MailLayout:
        """Return the layout of a row in a message."""
        return _layout(*(self.kinds or [each.dtype for each in self.columns]))

    def in_order(self, space: ExecutionSpace) -> Part:
        """Return the part with columns in the order of the rows."""
        if self.order is None:
            return self
        return Part([gather(space, each, self.order) for each in self.columns], self.counts,
                    self.kinds)


class Message(NamedTuple):
    """Data that a rank sends: at most two parts, with the same columns on all ranks, and three
    words.
    """

    parts: Sequence[Part] = ()
    words: Sequence[int] = ()


class Received(NamedTuple):
    """Data that arrives.

    Attributes
    ----------
    parts : list of Part
        The rows of all ranks, with those from rank 0 first.
    words : numpy.ndarray of int64, shape (ranks, words)
    """

    parts: list[Part]
    words: np.ndarray


@lru_cache
def _layout(*kinds: Any) -> mail.MailLayout:
    types = [np.dtype(each) for each in kinds]
    return mail.layout_of_types(types[0], types[1:])


Talk = Generator[Message, Received, Result]


def held(comm: Communicator, space: ExecutionSpace, talk: Talk[Result]) -> Result:
    """Return the result of a talk. All ranks call it together.

    A talk must not communicate except by its messages: one thread may run those of several ranks.

    Raises
    ------
    Exception
        On all ranks, the exception of the lowest rank whose talk has raised one.
    """
    if comm.size == 1:
        return _held_alone(comm, space, talk)
    run = _Run(space, talk, comm.size)
    if isinstance(comm, TalkLeader):
        comm.hold(run)
    begun = wait_of(comm)
    while not run.is_over:
        with space.while_waiting(begun()):  # the host reads nothing before messages have arrived
            message = run.message()
        run.receive(*comm.post(message.send, message.numbers, message.allocate))
        if run.has_failed:
            comm.vote(run.problem)
    begun()()
    return cast(Result, run.result)


class _Run:
    """A talk of a rank; see `TalkRun`.

    Attributes
    ----------
    has_failed : bool
        Whether the talk of a rank has raised an exception.
    result : object
        What the talk has returned.
    """

    def __init__(self, space: ExecutionSpace, talk: Talk[Any], size: int) -> None:
        self._space, self._talk, self._size = space, talk, size
        self._sent: Message | None = None
        self._arrived: Any = None
        self.problem: Exception | None = None
        self.is_over = self.has_failed = False
        self.result: Any = None

    def message(self) -> Posting:
        """See `TalkRun`; the last message is empty, and reports errors behind the one before."""
        space = self._space
        numbers = np.zeros((self._size, NUMBERS), np.int64)
        with space.active():
            words = space.empty(0, np.int32)
            try:
                given: Any = None
                if self._sent is not None:
                    given = _unpacked(space, self._sent, *self._arrived)
                self._sent = self._talk.send(given)
                words, numbers = _packed(space, self._sent, self._size)
            except StopIteration as end:
                self.result, self.is_over = end.value, True
            except Exception as error:
                self.problem, numbers[:, 1] = error, FAILED
        return Posting(words, numbers, self._allocate)

    def _allocate(self, length: int) -> Array:
        with self._space.active():
            return self._space.empty(length, np.int32)

    def receive(self, words: Array, reported: np.ndarray) -> None:
        """See `TalkRun`."""
        self._arrived = words, reported
        self.has_failed = bool((reported[:, 1] == FAILED).any())


def _held_alone(comm: Communicator, space: ExecutionSpace, talk: Talk[Result]) -> Result:
    """Return the result of a talk on a single rank, which receives what it sends."""
    received: Any = None
    try:
        while True:
            message = talk.send(received)
            received = Received([each.in_order(space) for each in message.parts],
                                np.array([message.words], np.int64))
    except StopIteration as end:
        return cast(Result, end.value)
    except Exception as problem:
        comm.vote(problem)
        raise


def _packed(space: ExecutionSpace, message: Message, size: int) -> tuple[Array, np.ndarray]:
    """Return the words of a message, and the numbers that are sent with it."""
    parts, numbers = message.parts, np.zeros((size, NUMBERS), np.int64)
    for part in parts:
        numbers[:, 0] += part.counts * part.layout.width
    if len(parts) == 2:
        numbers[:, 1] = parts[1].counts
    if message.words:
        numbers[:, 2 : 2 + len(message.words)] = message.words
    words = space.empty(int(numbers[:, 0].sum()), np.int32)
    for part, kernel, places in _ways(space, parts, pack_row):
        space.parallel_for(_num_rows(part), kernel, words, places, part.columns[0],
                           mail.Fields(*part.columns[1:]), part.order)
    return words, numbers


def _unpacked(space: ExecutionSpace, message: Message, words: Array,
              reported: np.ndarray) -> Received:
    """Return the parts that arrive from all ranks."""
    given, counts = message.parts, []
    if len(given) == 2:
        counts = [reported[:, 0] - reported[:, 1] * given[1].layout.width, reported[:, 1]]
    elif given:
        counts = [reported[:, 0]]
    if given:
        counts[0] = counts[0] // given[0].layout.width
    made = iter(space.allocate([(int(count.sum()), each.dtype)
                                for part, count in zip(given, counts) for each in part.columns]))
    parts = [Part([next(made) for _ in part.columns], count, part.kinds)
             for part, count in zip(given, counts)]
    for part, kernel, places in _ways(space, parts, unpack_row):
        space.parallel_for(_num_rows(part), kernel, words, places, part.columns[0],
                           mail.Fields(*part.columns[1:]))
    return Received(parts, reported[:, 2:])


def _num_rows(part: Part) -> int:
    return int(part.counts.sum())


class RowPlaces(kl.Record):
    """Places of the rows of a part in the words, if there are two parts.

    Attributes
    ----------
    table : array of int64, or None
        From `at` on, the first row of each rank and the end of all rows; then for each rank the
        offset of its words from where they would be if the words had only rows of this part.
    at : int
    size : int
        Number of ranks.
    """

    table: Any
    at: int
    size: int


def _ways(space: ExecutionSpace, parts: Sequence[Part],
          kernel: kl.Kernel) -> list[tuple[Part, kl.Kernel, RowPlaces]]:
    """Return the parts that have rows, and how a kernel finds the words of these.

    The words of a single part are in the order of its rows. If there are two parts, the words for a
    rank are contiguous.
    """
    filled = [each for each in parts if each.counts.any()]
    is_alone = len(filled) < 2
    kernels = [kernel.bound(layout=each.layout, is_alone=is_alone) for each in filled]
    if is_alone:
        return [(part, each, RowPlaces(None, 0, 0)) for part, each in zip(filled, kernels)]
    widths = [each.layout.width for each in filled]
    counts = [each.counts.tolist() for each in filled]
    size, place = len(counts[0]), 0
    firsts: list[list[int]] = [[0] for _ in filled]
    shifts: list[list[int]] = [[] for _ in filled]
    for rank in range(size):  # few numbers: NumPy would be slower
        for width, count, first, shift in zip(widths, counts, firsts, shifts):
            shift.append(place - first[-1] * width)
            first.append(first[-1] + count[rank])
            place += count[rank] * width
    numbers = [each for pair in zip(firsts, shifts) for each in (*pair[0], *pair[1])]
    table = space.asarray(np.array(numbers, np.int64))  # one copy for both parts
    return [(part, each, RowPlaces(table, number * (2 * size + 1), size))
            for number, (part, each) in enumerate(zip(filled, kernels))]


@kl.device
def place_of_row(i, places: RowPlaces, layout: mail.MailLayout, is_alone: kl.StaticValue):
    """Return where the words of row i begin."""
    item = i * layout.width
    if not is_alone:
        rank = lower_bound(places.table, places.at, places.at + places.size, i + 1) - 1
        item += places.table[rank + places.size + 1]
    return item


@kl.kernel
def pack_row(i, words, places: RowPlaces, lead, fields: mail.Fields, order,
             layout: mail.MailLayout, is_alone: kl.StaticValue):
    """Pack row i."""
    item = place_of_row(i, places, layout, is_alone)
    row = kl.value_or(order, i, i)
    mail.put(words, item, lead, row, layout.lead)
    mail.put_fields(words, item, fields, row, layout)


@kl.kernel
def unpack_row(i, words, places: RowPlaces, lead, fields: mail.Fields, layout: mail.MailLayout,
               is_alone: kl.StaticValue):
    """Unpack row i."""
    item = place_of_row(i, places, layout, is_alone)
    lead[i] = mail.got(words, item, layout.lead)
    mail.get_fields(words, item, fields, i, layout)

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
from portpart.backends.communication import Communicator
from portpart.backends.programs import Array, ExecutionSpace
from portpart.primitives import mail
from portpart.primitives.basic import lower_bound

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
    """

    columns: Sequence[Array]
    counts: np.ndarray
    kinds: Sequence[Any] | None = None

    @property
    def ways(self) -> RowPacking:
        """Return how rows are packed and unpacked."""
        return _ways(*(self.kinds or [each.dtype for each in self.columns]))


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


class RowPacking(NamedTuple):
    """How rows of some types are packed and unpacked."""

    layout: mail.MailLayout
    pack: kl.Kernel
    unpack: kl.Kernel


@lru_cache
def _ways(*kinds: Any) -> RowPacking:
    types = [np.dtype(each) for each in kinds]
    layout = mail.layout_of_types(types[0], types[1:])
    return RowPacking(layout, pack_row.bound(layout=layout), unpack_row.bound(layout=layout))


Talk = Generator[Message, Received, Result]


def held(comm: Communicator, space: ExecutionSpace, talk: Talk[Result]) -> Result:
    """Return the result of a talk. All ranks call it together.

    Raises
    ------
    Exception
        On all ranks, the exception of the lowest rank whose talk has raised one.
    """
    if comm.size == 1:
        return _held_alone(comm, talk)
    message, problem, result = Message(), None, None
    came, reported = space.empty(0, np.int32), np.zeros((comm.size, NUMBERS), np.int64)
    has_begun = has_ended = False
    while not has_ended:
        words, numbers = space.empty(0, np.int32), np.zeros((comm.size, NUMBERS), np.int64)
        try:
            given: Any = _unpacked(space, message, came, reported) if has_begun else None
            message, has_begun = talk.send(given), True
            words, numbers = _packed(space, message, comm.size)
        except StopIteration as end:
            result, has_ended = end.value, True
        except Exception as error:
            problem, numbers[:, 1] = error, FAILED
        came, reported = comm.post(words, numbers, lambda length: space.empty(length, np.int32))
        if (reported[:, 1] == FAILED).any():
            comm.vote(problem)
    return cast(Result, result)


def _held_alone(comm: Communicator, talk: Talk[Result]) -> Result:
    """Return the result of a talk on a single rank, which receives what it sends, unchanged."""
    received: Any = None
    try:
        while True:
            message = talk.send(received)
            received = Received(list(message.parts), np.array([message.words], np.int64))
    except StopIteration as end:
        return cast(Result, end.value)
    except Exception as problem:
        comm.vote(problem)
        raise


def _packed(space: ExecutionSpace, message: Message, size: int) -> tuple[Array, np.ndarray]:
    """Return the words of a message, and the numbers that are sent with it."""
    parts, numbers = message.parts, np.zeros((size, NUMBERS), np.int64)
    for part in parts:
        numbers[:, 0] += part.counts * part.ways.layout.width
    if len(parts) == 2:
        numbers[:, 1] = parts[1].counts
    if message.words:
        numbers[:, 2 : 2 + len(message.words)] = message.words
    words = space.empty(int(numbers[:, 0].sum()), np.int32)
    _for_rows(space, words, parts, [each.ways.pack for each in parts])
    return words, numbers


def _unpacked(space: ExecutionSpace, message: Message, words: Array,
              reported: np.ndarray) -> Received:
    """Return the parts that arrive from all ranks."""
    given, counts = message.parts, []
    if len(given) == 2:
        counts = [reported[:, 0] - reported[:, 1] * given[1].ways.layout.width, reported[:, 1]]
    elif given:
        counts = [reported[:, 0]]
    if given:
        counts[0] = counts[0] // given[0].ways.layout.width
    parts = []
    for part, count in zip(given, counts):
        total = int(count.sum())
        parts.append(Part([space.empty(total, each.dtype) for each in part.columns], count,
                          part.kinds))
    _for_rows(space, words, parts, [each.ways.unpack for each in parts])
    return Received(parts, reported[:, 2:])


class RowPlaces(kl.Record):
    """Places of the rows of a part in the words.

    Attributes
    ----------
    table : array of int64
        From `at` on, the first row of each rank and the end of all rows; then for each rank the
        offset of its words from where they would be if the words had only rows of this part.
    at : int
    size : int
        Number of ranks.
    """

    table: Array
    at: int
    size: int


def _for_rows(space: ExecutionSpace, words: Array, parts: Sequence[Part],
              kernels: Sequence[kl.Kernel]) -> None:
    """Run kernels for all rows of the parts; the words for a rank are contiguous."""
    if not len(words):
        return
    layouts, counts = [each.ways.layout for each in parts], [each.counts.tolist() for each in parts]
    size, place = len(counts[0]), 0
    firsts: list[list[int]] = [[0] for _ in parts]
    shifts: list[list[int]] = [[] for _ in parts]
    for rank in range(size):  # few numbers: NumPy would be slower
        for layout, count, first, shift in zip(layouts, counts, firsts, shifts):
            shift.append(place - first[-1] * layout.width)
            first.append(first[-1] + count[rank])
            place += count[rank] * layout.width
    numbers = [each for pair in zip(firsts, shifts) for each in (*pair[0], *pair[1])]
    table = space.asarray(np.array(numbers, np.int64))  # one copy for all parts
    for number, (part, kernel, first) in enumerate(zip(parts, kernels, firsts)):
        space.parallel_for(first[-1], kernel, words,
                           RowPlaces(table, number * (2 * size + 1), size), part.columns[0],
                           mail.Fields(*part.columns[1:]))


@kl.device
def place_of_row(i, places: RowPlaces, layout: mail.MailLayout):
    """Return where the words of row i begin."""
    rank = lower_bound(places.table, places.at, places.at + places.size, i + 1) - 1
    return i * layout.width + places.table[rank + places.size + 1]


@kl.kernel
def pack_row(i, words, places: RowPlaces, lead, fields: mail.Fields, layout: mail.MailLayout):
    """Pack row i."""
    item = place_of_row(i, places, layout)
    mail.put(words, item, lead, i, layout.lead)
    mail.put_fields(words, item, fields, i, layout)


@kl.kernel
def unpack_row(i, words, places: RowPlaces, lead, fields: mail.Fields, layout: mail.MailLayout):
    """Unpack row i."""
    item = place_of_row(i, places, layout)
    lead[i] = mail.got(words, item, layout.lead)
    mail.get_fields(words, item, fields, i, layout)

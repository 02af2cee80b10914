"""Items that ranks send to each other: fields of a few vertices, packed as words of 32 bits.

A `MailLayout` says where the lead of an item and its fields are. It follows from the types of the
fields.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from portpart.backends import language as kl
from portpart.backends.communication import Communicator, planned
from portpart.backends.programs import AnySlot, Array, ExecutionSpace, Parcel

WORD_BYTES = 4

MAX_FIELDS = 3
"""Maximum number of fields of an item."""


class MailSizes(NamedTuple):
    """The numbers that determine the lengths of `Mail`.

    Attributes
    ----------
    ranks : int
    sent, arriving : int
        Maximum number of words of all items that are sent, and that arrive.
    """

    ranks: int
    sent: int
    arriving: int


def _ranks(sizes: Any) -> int:
    return int(sizes.ranks)


class Mail(kl.Record):
    """Items for each rank, and items that have arrived.

    Attributes
    ----------
    send, recv : array of int32
        The words of the items, in the order of the ranks.
    send_counts, recv_counts : array of int64, shape (ranks,)
        Words for each rank, and from each rank.
    send_next : array of int64, shape (ranks,)
        Place of the next item for each rank.
    recv_first : array of int64, shape (ranks + 1,)
        Number of items from the ranks before each rank.
    items : array of int64, shape (1,)
        Number of items that have arrived.
    """

    send: Array = kl.work(np.int32, lambda sizes: sizes.sent)
    send_counts: Array = kl.work(np.int64, _ranks)
    send_next: Array = kl.work(np.int64, _ranks)
    recv: Array = kl.work(np.int32, lambda sizes: sizes.arriving)
    recv_counts: Array = kl.work(np.int64, _ranks)
    recv_first: Array = kl.work(np.int64, lambda sizes: sizes.ranks + 1)
    items: Array = kl.work(np.int64, lambda sizes: 1)

    @property
    def parcel(self) -> Parcel:
        """Return the arrays that a step of communication exchanges."""
        return Parcel(send=self.send, send_counts=self.send_counts, recv=self.recv,
                      recv_counts=self.recv_counts)


class Fields(kl.Record):
    """Up to three arrays of integers whose elements are sent together."""

    first: Any = None
    second: Any = None
    third: Any = None


@dataclass(frozen=True)
class Place(kl.Static):
    """Place of a field in an item; a wide field has two words."""

    at: int = 0
    wide: bool = False
    used: bool = False

    @property
    def end(self) -> int:
        """Return the place after the field."""
        return self.at + self.used * (1 + self.wide)


@dataclass(frozen=True)
class MailLayout(kl.Static):
    """Places of the lead of an item and of its fields."""

    lead: Place
    first: Place
    second: Place
    third: Place

    @property
    def width(self) -> int:
        """Return the number of words of an item."""
        return self.third.end


def layout_of(lead: AnySlot, slots: Sequence[AnySlot], narrow: bool = False) -> MailLayout:
    """Return the layout of items with fields of these types after a lead of the type of `lead`.

    With `narrow`, no value of a field has more than 32 bits.
    """
    for slot in slots:
        if slot.dtype is None or slot.dtype.kind != "i":
            name = getattr(slot, "name", slot)
            raise ValueError(f"slot {name!r} has no signed integers, which alone travel")
    types = [np.dtype(np.int32) if narrow else slot.dtype for slot in slots]
    return layout_of_types(lead.dtype, types)


def layout_of_types(lead: np.dtype | None, types: Sequence[np.dtype | None]) -> MailLayout:
    """Return the layout of items with fields of these types after a lead of the type `lead`."""
    if len(types) > MAX_FIELDS:
        raise ValueError(f"{len(types)} fields; an item has {MAX_FIELDS} at most")
    places = []
    end = 0
    for each in (lead, *types, *[None] * (MAX_FIELDS - len(types))):
        wide = each is not None and each.itemsize > WORD_BYTES
        places.append(Place(end, wide, used=each is not None))
        end = places[-1].end
    return MailLayout(*places)


@kl.device
def put(words, item, values, i, place: Place):
    """Store values[i] as a field of the item that begins at words[item]."""
    if place.used:
        put_number(words, item, kl.int64(values[i]), place)


@kl.device
def put_number(words, item, number, place: Place):
    """Store a number as a field of the item that begins at words[item]."""
    words[item + place.at] = kl.int32(number)
    if place.wide:
        words[item + place.at + 1] = kl.int32(number >> 32)


@kl.device
def count_item(rank, mail: Mail, layout: MailLayout):
    """Count the words of an item for a rank; atomic."""
    kl.atomic_add(mail.send_counts, rank, layout.width)


@kl.device
def next_item(rank, mail: Mail, layout: MailLayout):
    """Return where the next counted item for a rank begins; atomic, in any order."""
    return kl.atomic_add(mail.send_next, rank, layout.width)


@kl.device
def got(words, item, place: Place):
    """Return a field of the item that begins at words[item]."""
    value = kl.int64(words[item + place.at])
    if place.wide:
        value = (kl.int64(words[item + place.at + 1]) << 32) | (value & 0xFFFFFFFF)
    return value


@kl.device
def put_fields(words, item, fields: Fields, i, layout: MailLayout):
    """Store element i of each field in an item."""
    put(words, item, fields.first, i, layout.first)
    put(words, item, fields.second, i, layout.second)
    put(words, item, fields.third, i, layout.third)


@kl.device
def get_fields(words, item, fields: Fields, i, layout: MailLayout):
    """Set element i of each field to the value in the item."""
    if layout.first.used:
        fields.first[i] = got(words, item, layout.first)
    if layout.second.used:
        fields.second[i] = got(words, item, layout.second)
    if layout.third.used:
        fields.third[i] = got(words, item, layout.third)


# Rows go to other ranks: the host learns how many arrive, then all ranks exchange them ---------


Numbers = Sequence[int] | np.ndarray


Column = TypeVar("Column", bound="Array | None")


def ship(comm: Communicator, space: ExecutionSpace, columns: Sequence[Column],
         counts: Numbers) -> tuple[list[Column], np.ndarray]:
    """Send rows to other ranks.

    Parameters
    ----------
    comm : Communicator
    space : ExecutionSpace
    columns : sequence of array of integers, or None
        The columns of the rows, with the rows for rank 0 first. A column is absent on all ranks or
        on none.
    counts : sequence of int, or array of int
        Rows for each rank.

    Returns
    -------
    list of array or None
        The columns of the rows that arrive, with the rows from rank 0 first.
    numpy.ndarray of int64
        Rows from each rank.

    Raises
    ------
    OutOfMemory
        On all ranks, if one of them has no memory for the rows that arrive.
    """
    arriving = exchanged(comm, counts)
    total = int(arriving.sum())
    results = planned(comm, lambda: [None if each is None else space.empty(total, each.dtype)
                                     for each in columns])
    for column, result in zip(columns, results):
        if column is not None and result is not None:
            _exchange(comm, column, result, np.asarray(counts))
    return cast("list[Column]", results), arriving


def _exchange(comm: Communicator, column: Array, result: Array, counts: np.ndarray) -> None:
    """Exchange a column; a column in host memory stays there."""
    comm.all_to_all(Parcel(send=column, send_counts=counts.astype(np.int64), recv=result,
                           recv_counts=np.zeros(comm.size, np.int64)))


def exchanged(comm: Communicator, numbers: Numbers) -> np.ndarray:
    """Exchange numbers: return those of all ranks for this rank, as many as it has for each.

    Parameters
    ----------
    comm : Communicator
    numbers : array of int, shape (ranks,) or (ranks, count)

    Returns
    -------
    numpy.ndarray of int64
        Of that shape.
    """
    given = np.ascontiguousarray(numbers, np.int64)
    arriving = np.zeros(given.size, np.int64)
    _exchange(comm, given.reshape(-1), arriving, np.full(comm.size, given.size // comm.size))
    return arriving.reshape(given.shape)

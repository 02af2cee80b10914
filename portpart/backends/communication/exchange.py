"""What the steps of communication do, for ranks whose arrays are all at hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from portpart.backends.communication.errors import CommunicationError
from portpart.backends.communication.protocol import (
    MAX_COUNT,
    require_numbers,
    require_parcel,
    require_parts,
    require_space,
    require_words,
    rounds_of,
    too_little_space,
    wrong_parts,
)
from portpart.backends.interface import Array
from portpart.backends.steps import MAX, MIN, SUM, Parcel
from portpart.backends.transfer import DeviceTransfers, Wrong, publish, read, together, transfer_of
from portpart.errors import PortpartError

UFUNCS = {SUM: np.add, MIN: np.minimum, MAX: np.maximum}


ALL = -1
"""In place of a rank: the error is raised as it is."""


class Refused(Exception):
    """A step that is impossible, and the lowest rank concerned, or `ALL`."""

    def __init__(self, rank: int, problem: Exception) -> None:
        self.rank, self.problem = rank, problem


@dataclass(frozen=True)
class ReducedWords:
    """Words of an array of one rank, and how they are combined with those of the others."""

    array: Array
    first: int
    count: int
    op: str


def require_same(doing: Sequence[str]) -> None:
    """Refuse that ranks, of which each is described, are at different steps."""
    other = next((rank for rank, each in enumerate(doing) if each != doing[0]), None)
    if other is not None:
        raise Refused(ALL, CommunicationError(
            f"rank 0 {doing[0]}, and rank {other} {doing[other]}"))


def described(call: ReducedWords | Parcel | Posting) -> str:
    """What the ranks that make a call have to agree on."""
    if isinstance(call, ReducedWords):
        return f"all_reduce of {call.count} words by {call.op}"
    if isinstance(call, Posting):
        return f"post of {call.send.dtype} and {call.numbers.shape[-1]} numbers"
    return f"all_to_all of {call.send.dtype}"


def reducing(ranks: Sequence[ReducedWords]) -> Callable[[], None]:
    """What replaces the words of all ranks by their sum, minimum or maximum, when it is called."""
    for rank, words in enumerate(ranks):
        _check(rank, require_words, words.array, words.first, words.count)
    parts = [words.array[words.first : words.first + words.count] for words in ranks]
    device = together(parts, len(parts))
    if device is not None:
        return device.reduce(parts, ranks[0].op)
    return partial(_reduce_by_host, parts, ranks[0].op)


def _reduce_by_host(parts: Sequence[Array], op: str) -> None:
    result = UFUNCS[op].reduce(read(parts))
    for part in parts:
        transfer_of(part).write(part, result)
    publish(parts)


def exchanging(parcels: Sequence[Parcel], max_count: int) -> Callable[[], DeviceTransfers | None]:
    """What copies what each rank sends to where it arrives, when it is called.

    A part of more than ``max_count`` elements takes several rounds.

    Returns
    -------
    callable
        Returns the object that `require_right` asks whether numbers of elements were right.
    """
    size = len(parcels)
    for rank, parcel in enumerate(parcels):
        _check(rank, require_parcel, parcel, size)
    arrays = [each for parcel in parcels for _, each in parcel.named()]
    device = together(arrays, size) if max_count == MAX_COUNT else None
    if device is None:
        return partial(_exchange_by_host, parcels, max_count)
    launch = device.exchange(parcels)

    def exchange() -> DeviceTransfers | None:
        launch()
        return device

    return exchange


def require_right(device: DeviceTransfers | None) -> None:
    """Refuse what was exchanged on a device with wrong numbers; waits."""
    if device is not None:
        _, wrong = device.reading([])()
        refuse(wrong)


def refuse(wrong: Wrong | None) -> None:
    """Refuse wrong numbers, if there are any."""
    if wrong is not None:
        raise Refused(wrong.rank, CommunicationError(
            wrong_parts(wrong.counts, wrong.length) if wrong.arriving < 0
            else too_little_space(wrong.arriving, wrong.length)))


def _exchange_by_host(parcels: Sequence[Parcel], max_count: int) -> None:
    counts = np.array(read([parcel.send_counts for parcel in parcels]))
    for rank, parcel in enumerate(parcels):
        _check(rank, require_parts, counts[rank], parcel)
    for rank, parcel in enumerate(parcels):
        _check(rank, require_space, int(counts[:, rank].sum()), parcel)
    sent, arrived = np.cumsum(counts, axis=1) - counts, np.cumsum(counts, axis=0) - counts
    for part in rounds_of(int(counts.max()), max_count):
        for source, target in np.argwhere(counts > part.start).tolist():
            begin, end = part.start, min(part.stop, int(counts[source, target]))
            here, there = int(sent[source, target]), int(arrived[source, target])
            recv, send = parcels[target].recv, parcels[source].send
            transfer_of(recv).copy(recv[there + begin : there + end],
                                   send[here + begin : here + end])
    for rank, parcel in enumerate(parcels):
        transfer_of(parcel.recv_counts).write(parcel.recv_counts, counts[:, rank])
    publish([parcel.recv for parcel in parcels])


@dataclass
class Posting:
    """What a rank sends to others, and what it gets: see `Communicator.post`."""

    send: Array
    numbers: np.ndarray
    room: Callable[[int], Array]
    recv: Any = field(default=None, init=False)
    reported: Any = field(default=None, init=False)


def post(postings: Sequence[Posting], max_count: int) -> None:
    """Make room for what each rank gets, and copy it there."""
    size = len(postings)
    for rank, each in enumerate(postings):
        _check(rank, require_numbers, each.send, each.numbers, size)
    numbers = np.array([each.numbers for each in postings])
    lengths = numbers[:, :, 0].tolist()
    for rank, each in enumerate(postings):
        each.reported = numbers[:, rank].copy()
        each.recv = _check(rank, each.room, sum(length[rank] for length in lengths))
    arrived = [0] * size
    for each, length in zip(postings, lengths):
        here = 0
        for target, count in enumerate(length):
            recv, there = postings[target].recv, arrived[target]
            for part in rounds_of(count, max_count):
                transfer_of(recv).copy(recv[there + part.start : there + part.stop],
                                       each.send[here + part.start : here + part.stop])
            here += count
            arrived[target] += count
    publish([each.recv for each in postings])


def _check(rank: int, require: Callable[..., Any], *given: Any) -> Any:
    try:
        return require(*given)
    except PortpartError as problem:
        raise Refused(rank, problem) from None

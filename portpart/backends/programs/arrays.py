"""Capacity of work arrays, copies of arrays of any kind, and constant arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from portpart.backends import language as kl
from portpart.backends.language import Record
from portpart.backends.programs.interface import Array
from portpart.backends.programs.steps import Parcel

MIN_RESERVED = 2**22
"""Minimum capacity of work arrays, unless fewer items are possible: only larger arrays are made
again when they must grow. This saves memory where it is scarce, and takes no time elsewhere.
"""


def reserved(count: int, most: int) -> int:
    """Return the capacity of work arrays for `count` items, which may grow to `most` items.

    >>> reserved(10, 1000), reserved(10, 10**9), reserved(10**8, 10**9)
    (1000, 4194304, 100000000)
    """
    return min(most, max(count, MIN_RESERVED))


def bytes_of(pieces: tuple[type[Record], ...], sizes: Any) -> int:
    """Return the bytes of the work arrays of several records."""
    return sum(piece.num_bytes(sizes) for piece in pieces)


# Copies of arrays of any kind: to the host, from it, and within memory of one kind -------------
#
# Communicators do not know kinds of arrays. They copy with the object that is registered for the
# type: here for host arrays, in their space for others.


class Transfer:
    """Copies of contiguous arrays of one type; work that is launched before comes first.

    These are of arrays of the host: reading them copies nothing.
    """

    def fetch(self, array: Array) -> Callable[[], np.ndarray]:
        """Begin to copy a short array to the host; return a function that waits and returns it."""
        return lambda: array

    def on_host(self, array: Array) -> np.ndarray:
        """Return the numbers of a long array, in host memory from which MPI can send them."""
        return array

    def host_memory(self, array: Array) -> np.ndarray:
        """Return host memory of the same size and type, to be copied to the array later."""
        return array

    def write(self, array: Array, numbers: np.ndarray) -> None:
        """Set the array to the numbers, which may change afterwards."""
        if array is not numbers:
            array[:] = numbers

    def copy(self, target: Array, source: Array) -> None:
        """Set an array to the values of another one of the same type and length."""
        target[:] = source

    def publish(self, arrays: Sequence[Array]) -> None:
        """Make launched work visible to other threads and other devices."""

    def together(self, arrays: Sequence[Array], ranks: int) -> DeviceTransfers | None:
        """Return the object that exchanges elements of these arrays on their device, or None if the
        host must do it.
        """


class DeviceTransfers(Protocol):
    """Steps of communication between ranks whose arrays are on one device, without waiting.

    Methods except `deliver` prepare a step once and return a function that does it.
    """

    def exchange(self, parcels: Sequence[Parcel]) -> Callable[[], None]:
        """Copy the parts of all ranks to the receivers, unless numbers of elements are wrong."""

    def reduce(self, parts: Sequence[Array], op: str) -> Callable[[], None]:
        """Replace the words of all ranks by their sum, minimum or maximum."""

    def deliver(self, copies: Sequence[tuple[Array, int, Array, int, int]]) -> None:
        """Copy parts of arrays of one type: to an array and a place, from an array and a place, and
        how many elements.
        """

    def reading(self, arrays: Sequence[Array]) -> Callable[[], Callable[[], Read]]:
        """Begin to read short int64 arrays of all ranks in one copy, with errors of exchanges;
        another function waits for them.
        """


class Read(NamedTuple):
    """The concatenated numbers of arrays, and wrong numbers of exchanges."""

    numbers: np.ndarray
    wrong: Wrong | None


class Wrong(NamedTuple):
    """Wrong numbers of elements.

    Attributes
    ----------
    rank : int
    counts : numpy.ndarray of int64
        The numbers that it sends to each rank.
    arriving : int
        The number of elements that arrive if it is too large, otherwise -1.
    length : int
        Length of its array.
    """

    rank: int
    counts: np.ndarray
    arriving: int
    length: int


HOST = Transfer()

_transfers: dict[type, Transfer] = {}


def register(kind: type, transfer: Transfer) -> None:
    """Register the object that copies arrays of a type."""
    _transfers[kind] = transfer


def transfer_of(array: Array) -> Transfer:
    """Return the object that copies an array."""
    return _transfers.get(type(array), HOST)


def read(arrays: Sequence[Array]) -> list[np.ndarray]:
    """Return the numbers of short arrays, with one wait for all."""
    begun = [transfer_of(array).fetch(array) for array in arrays]
    return [wait() for wait in begun]


def publish(arrays: Sequence[Array]) -> None:
    """Make work launched for these arrays visible to other threads and other devices."""
    for transfer in {transfer_of(array): None for array in arrays}:
        transfer.publish([array for array in arrays if transfer_of(array) is transfer])


def together(arrays: Sequence[Array], ranks: int) -> DeviceTransfers | None:
    """Return the object that exchanges elements of these arrays in place; None if the host must."""
    transfer = transfer_of(arrays[0])
    if any(transfer_of(array) is not transfer for array in arrays):
        return None
    return transfer.together(arrays, ranks)


# Arrays with equal elements --------------------------------------------------------------------


@kl.kernel
def fill(i, array, value):
    """array[i] = value."""
    array[i] = value

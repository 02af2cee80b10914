"""Copies of arrays of any kind: to the host, from it, and within memory of one kind.

Communicators know no kind of array.  They copy by what is registered for the type: for arrays of
the host here, for others by their space.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from portpart.backends.interface import Array
from portpart.backends.steps import Parcel


class Transfer(Protocol):
    """Copies of contiguous arrays of one type; work that is launched before comes first."""

    def fetch(self, array: Array) -> Callable[[], np.ndarray]:
        """Begin to copy a short array to the host; what gives the numbers waits for them."""

    def on_host(self, array: Array) -> np.ndarray:
        """The numbers of a long array, in memory of the host from which MPI can send them."""

    def host_memory(self, array: Array) -> np.ndarray:
        """Memory of the host of the same size and type, to be copied to the array later."""

    def write(self, array: Array, numbers: np.ndarray) -> None:
        """Set an array; the numbers may change afterwards."""

    def copy(self, target: Array, source: Array) -> None:
        """Set an array to another one of the same type and length."""

    def publish(self, arrays: Sequence[Array]) -> None:
        """Make sure that other threads, and other devices, find what this thread has launched."""

    def together(self, arrays: Sequence[Array], ranks: int) -> DeviceTransfers | None:
        """The object that exchanges elements of these arrays where they are; None if the host has
        to.
        """


class DeviceTransfers(Protocol):
    """Steps of communication between ranks whose arrays are on one device: nothing waits.

    They are prepared once, and done whenever what is returned is called.
    """

    def exchange(self, parcels: Sequence[Parcel]) -> Callable[[], None]:
        """Copy what each rank sends to where it arrives, unless numbers of elements are wrong."""

    def reduce(self, parts: Sequence[Array], op: str) -> Callable[[], None]:
        """Replace the words of all ranks by their sum, minimum or maximum."""

    def reading(self, arrays: Sequence[Array]) -> Callable[[], Read]:
        """Read short arrays of int64 of all ranks in one copy, with what went wrong; waits."""


class Read(NamedTuple):
    """The numbers of arrays, one behind the other, and wrong ones in what was exchanged."""

    numbers: np.ndarray
    wrong: Wrong | None


class Wrong(NamedTuple):
    """Wrong numbers of elements.

    Attributes
    ----------
    rank : int
    counts : numpy.ndarray of int64
        What it sends to each rank.
    arriving : int
        What arrives, if that is too much; else -1.
    length : int
        Of its array.
    """

    rank: int
    counts: np.ndarray
    arriving: int
    length: int


class HostTransfer:
    """Arrays of the host: reading them copies nothing."""

    def fetch(self, array: np.ndarray) -> Callable[[], np.ndarray]:
        return lambda: array

    def on_host(self, array: np.ndarray) -> np.ndarray:
        return array

    def host_memory(self, array: np.ndarray) -> np.ndarray:
        return array

    def write(self, array: np.ndarray, numbers: np.ndarray) -> None:
        if array is not numbers:
            array[:] = numbers

    def copy(self, target: np.ndarray, source: np.ndarray) -> None:
        target[:] = source

    def publish(self, arrays: Sequence[np.ndarray]) -> None:
        """All work is done when it returns."""

    def together(self, arrays: Sequence[np.ndarray], ranks: int) -> None:
        """The host does it."""


HOST = HostTransfer()

_transfers: dict[type, Transfer] = {}


def register(kind: type, transfer: Transfer) -> None:
    """Have arrays of a type copied by this."""
    _transfers[kind] = transfer


def transfer_of(array: Any) -> Transfer:
    """The object that copies an array."""
    return _transfers.get(type(array), HOST)


def read(arrays: Sequence[Array]) -> list[np.ndarray]:
    """The numbers of short arrays, which are waited for together."""
    begun = [transfer_of(array).fetch(array) for array in arrays]
    return [wait() for wait in begun]


def publish(arrays: Sequence[Array]) -> None:
    """Make sure that other threads, and other devices, find what was launched for these arrays."""
    for transfer in {transfer_of(array): None for array in arrays}:
        transfer.publish([array for array in arrays if transfer_of(array) is transfer])


def together(arrays: Sequence[Array], ranks: int) -> DeviceTransfers | None:
    """The object that exchanges elements of these arrays in place; None if the host has to."""
    transfer = transfer_of(arrays[0])
    if any(transfer_of(array) is not transfer for array in arrays):
        return None
    return transfer.together(arrays, ranks)

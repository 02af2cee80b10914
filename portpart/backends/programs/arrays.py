"""Room for work arrays, copies of arrays of any kind, and constant arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from portpart.backends import language as kl
from portpart.backends.language import Record
from portpart.backends.programs.interface import Array
from portpart.backends.programs.steps import Parcel

ROOMY = 2**22
"""Work arrays have room for this many items, if there will be as many: only above that are they
made again when more are needed, which saves memory where it is scarce, and costs no time
elsewhere."""


def roomy(count: int, most: int) -> int:
    """How much room work arrays have for `count` items, of which there will be `most` in the end.

    >>> roomy(10, 1000), roomy(10, 10**9), roomy(10**8, 10**9)
    (1000, 4194304, 100000000)
    """
    return min(most, max(count, ROOMY))


def bytes_of(pieces: tuple[type[Record], ...], sizes: Any) -> int:
    """Bytes of the work arrays of several records."""
    return sum(piece.num_bytes(sizes) for piece in pieces)


# Copies of arrays of any kind: to the host, from it, and within memory of one kind -------------
#
# Communicators know no kind of array.  They copy by what is registered for the type: for arrays of
# the host here, for others by their space.


Kind = TypeVar("Kind", contravariant=True)


class Transfer(Protocol[Kind]):
    """Copies of contiguous arrays of one type; work that is launched before comes first."""

    def fetch(self, array: Kind) -> Callable[[], np.ndarray]:
        """Begin to copy a short array to the host; what gives the numbers waits for them."""

    def on_host(self, array: Kind) -> np.ndarray:
        """The numbers of a long array, in memory of the host from which MPI can send them."""

    def host_memory(self, array: Kind) -> np.ndarray:
        """Memory of the host of the same size and type, to be copied to the array later."""

    def write(self, array: Kind, numbers: np.ndarray) -> None:
        """Set an array; the numbers may change afterwards."""

    def copy(self, target: Kind, source: Kind) -> None:
        """Set an array to another one of the same type and length."""

    def publish(self, arrays: Sequence[Kind]) -> None:
        """Make sure that other threads, and other devices, find what this thread has launched."""

    def together(self, arrays: Sequence[Kind], ranks: int) -> DeviceTransfers | None:
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

_transfers: dict[type, Transfer[Any]] = {}


def register(kind: type[Kind], transfer: Transfer[Kind]) -> None:
    """Have arrays of a type copied by this."""
    _transfers[kind] = transfer


def transfer_of(array: Array) -> Transfer[Any]:
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


# Arrays whose elements are all the same --------------------------------------------------------


@kl.kernel
def fill(i, array, value):
    """array[i] = value."""
    array[i] = value

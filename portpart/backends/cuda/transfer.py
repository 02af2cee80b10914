"""Copies of arrays of GPUs, and the memory in CuPy's pool."""

from __future__ import annotations

import contextlib
import itertools
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from portpart.backends.cuda.together import MAX_RANKS, CudaTransfers, DeviceOrder
from portpart.backends.programs import Transfer, address_of, register

if TYPE_CHECKING:
    from cupy import ndarray
    from cupy.cuda import Device, MemoryPool, PinnedMemoryPointer, Stream
    from numpy.typing import DTypeLike

# Copies to the host that continue while more work is launched ----------------------------------


LEAST_SIZE = 4096


class PinnedReadback:
    """Pinned memory for copies to the host, one at a time.

    With pageable memory, the call would return when the copy is complete. Reuse of the memory saves
    a third of the time of a copy.

    Parameters
    ----------
    cupy : module
    size : int
        Bytes of the largest copy.
    """

    def __init__(self, cupy: ModuleType, size: int) -> None:
        self.size = max(size, LEAST_SIZE)
        self._memory = cupy.cuda.alloc_pinned_memory(self.size)
        self._copied = cupy.cuda.Event(disable_timing=True)

    def begin(self, array: ndarray, stream: Stream) -> None:
        """Copy a contiguous array, after earlier work on the stream."""
        array.data.copy_to_host_async(self._memory.ptr, array.nbytes, stream)
        self._copied.record(stream)

    def arrived(self, dtype: np.dtype, length: int) -> np.ndarray:
        """Return the elements of the array when they have arrived."""
        self._copied.synchronize()
        return np.frombuffer(self._memory, dtype, length).copy()


# Copies of arrays of GPUs, for the space and for communicators ---------------------------------


LARGEST_TRAVELLER = 1 << 16
"""Maximum bytes of a host array that the driver copies at once: CuPy's way takes 40 us."""


def travels(values: np.ndarray, dtype: DTypeLike | None) -> bool:
    """Whether a host array may be copied as it is, without pinned memory."""
    return (0 < values.nbytes <= LARGEST_TRAVELLER and values.ndim == 1
            and values.flags.c_contiguous and values.dtype.isnative and values.dtype.kind in "biuf"
            and (dtype is None or values.dtype == dtype))


ALREADY_ENABLED = 704
"""CUDA's error for a peer whose memory is already accessible."""

_NOTHING = contextlib.nullcontext()


class DeviceTransfer(Transfer):
    """Copies of CuPy's arrays, on the current stream of the calling thread on their device.

    Parameters
    ----------
    cupy : module
    """

    def __init__(self, cupy: ModuleType) -> None:
        self._cupy = cupy
        self._current_stream = cupy.cuda.get_current_stream
        self._is_only_one = cupy.cuda.runtime.getDeviceCount() == 1
        self._together: dict[tuple[int, ...], CudaTransfers | None] = {}
        self._turns: dict[tuple[int, ...], DeviceOrder] = {}
        self._readbacks: defaultdict[int, list[PinnedReadback]] = defaultdict(list)

    def fetch(self, array: ndarray) -> Callable[[], np.ndarray]:
        """See `Transfer`; does not wait for later launches."""
        with self._at(array):
            kept = self._readbacks[array.data.device_id]
            readback = self._readback(kept, array.nbytes)
            readback.begin(array, self._current_stream())

        def wait() -> np.ndarray:
            found = readback.arrived(array.dtype, len(array))
            kept.append(readback)
            return found

        return wait

    def _at(self, array: ndarray) -> AbstractContextManager[Device]:
        """Return a context in which the array's device is CuPy's current one."""
        return _NOTHING if self._is_only_one else array.data.device

    def _readback(self, kept: list[PinnedReadback], size: int) -> PinnedReadback:
        """Return memory for a copy, which no other thread uses."""
        try:
            readback = kept.pop()
        except IndexError:
            return PinnedReadback(self._cupy, size)
        return readback if readback.size >= size else PinnedReadback(self._cupy, size)

    def on_host(self, array: ndarray) -> np.ndarray:
        memory = self.host_memory(array)
        with self._at(array):
            stream = self._current_stream()
            if memory.nbytes:
                array.data.copy_to_host_async(address_of(memory), memory.nbytes, stream)
            stream.synchronize()
        return memory

    def host_memory(self, array: ndarray) -> np.ndarray:
        """Return memory, which is pinned if there is much to copy."""
        if array.nbytes <= LARGEST_TRAVELLER:
            return np.empty(len(array), array.dtype)
        memory: PinnedMemoryPointer = self._cupy.cuda.alloc_pinned_memory(array.nbytes)
        return np.frombuffer(memory, array.dtype, len(array))

    def write(self, array: ndarray, numbers: np.ndarray) -> None:
        numbers = np.ascontiguousarray(numbers, array.dtype)
        if numbers.nbytes:
            with self._at(array):
                stream = self._current_stream()
                array.data.copy_from_host_async(address_of(numbers), numbers.nbytes, stream)
                # for few numbers in pageable memory, the call returns when they have been read
                if numbers.nbytes > LARGEST_TRAVELLER:
                    stream.synchronize()

    def copy(self, target: ndarray, source: ndarray) -> None:
        if not source.nbytes:
            return
        here, there = target.data.device_id, source.data.device_id
        if here != there:
            self._turns_of((here, there)).order([there], here)
        with self._at(target):
            target.data.copy_from_device_async(source.data, source.nbytes, self._current_stream())
        if here != there:  # changes of the source wait
            self._turns_of((here, there)).order([here], there)

    def _turns_of(self, numbers: tuple[int, ...]) -> DeviceOrder:
        if numbers not in self._turns:
            self._turns[numbers] = DeviceOrder(self._cupy, numbers)
        return self._turns[numbers]

    def publish(self, arrays: Sequence[ndarray]) -> None:
        """Wait, unless all arrays are on the default stream of one device, which threads share."""
        somewhere = {array.data.device_id: array for array in arrays}
        for array in somewhere.values():
            with self._at(array):
                stream = self._current_stream()
                if stream.ptr or len(somewhere) > 1:
                    stream.synchronize()

    def together(self, arrays: Sequence[ndarray], ranks: int) -> CudaTransfers | None:
        """Return kernels, on the default streams of devices that can access each other's memory.

        They need arrays of different memory.
        """
        numbers = tuple(dict.fromkeys(each.data.device_id for each in arrays))
        places = [each.data.ptr for each in arrays if each.size]
        if ranks > MAX_RANKS or len(set(places)) < len(places):
            return None
        for number in numbers:
            with _NOTHING if self._is_only_one else self._cupy.cuda.Device(number):
                if self._current_stream().ptr:
                    return None
        if numbers not in self._together:
            self._together[numbers] = self._together_on(numbers)
        return self._together[numbers]

    def _together_on(self, numbers: tuple[int, ...]) -> CudaTransfers | None:
        runtime = self._cupy.cuda.runtime
        pairs = list(itertools.permutations(numbers, 2))
        if not all(runtime.deviceCanAccessPeer(*pair) for pair in pairs):
            return None
        for here, there in pairs:
            with self._cupy.cuda.Device(here):
                try:
                    runtime.deviceEnablePeerAccess(there)
                except runtime.CUDARuntimeError as problem:
                    if problem.status != ALREADY_ENABLED:
                        raise
        with _NOTHING if self._is_only_one else self._cupy.cuda.Device(numbers[0]):
            return CudaTransfers(self._cupy, self.write, self.fetch, self._turns_of(numbers))


@cache
def device_transfer(cupy: ModuleType) -> DeviceTransfer:
    """Return the transfer of CuPy's arrays, which communicators use from now on."""
    transfer = DeviceTransfer(cupy)
    register(cupy.ndarray, transfer)
    return transfer


# The device memory that CuPy's pool holds, and when it returns unused memory -------------------
#
# The pool keeps the memory of freed arrays, and divides it among smaller new ones. It cannot join
# separate allocations, and returns only those without a part in use. So when it holds nearly all
# memory, much of it may be free but in pieces too small for a large array. Memory that is returned
# earlier is not divided, and the device can join it.


MUCH = 16
"""Unused memory of the pool is much if it is at least 1 / MUCH of the device's memory."""

LARGE = 8192
"""An array is large if its number of elements is at least 1 / LARGE of the device's bytes."""


class HeldMemory:
    """Memory of a device that a pool holds.

    Parameters
    ----------
    pool : callable
        Returns CuPy's pool, which a process may replace.
    total : int
        Bytes of the device.

    Attributes
    ----------
    much : int
        Minimum unused bytes to return.
    large : int
        Minimum elements of a large array.
    """

    def __init__(self, pool: Callable[[], MemoryPool], total: int) -> None:
        self._pool, self._half = pool, total // 2
        self.much, self.large = total // MUCH, total // LARGE

    def give_back(self) -> int:
        """Return unused memory to the device if it is much; return the number of bytes."""
        pool = self._pool()
        held = int(pool.total_bytes())
        # the bytes in use need not be known in most cases
        if held > self.much and pool.free_bytes() > self.much:
            pool.free_all_blocks()
        return held - int(pool.total_bytes())

    def make_place(self, size: int) -> None:
        """Return memory before a large array is made with which the pool holds more than half of
        the device.
        """
        if self._pool().total_bytes() + size > self._half:
            self.give_back()

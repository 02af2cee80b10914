"""Copies of arrays of GPUs, for the space and for communicators."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from portpart.backends.cuda.landing import Landing
from portpart.backends.cuda.together import MAX_RANKS, Together
from portpart.backends.interface import Array
from portpart.backends.packing import address_of
from portpart.backends.transfer import register

LARGEST_TRAVELLER = 1 << 16
"""Bytes of a host array up to which the driver takes a copy at once: CuPy's way takes 40 us."""

_NOTHING = contextlib.nullcontext()


class DeviceTransfer:
    """Copies of CuPy's arrays, on the current stream of the calling thread on their device.

    Parameters
    ----------
    cupy : module
    """

    def __init__(self, cupy: ModuleType) -> None:
        self._cupy = cupy
        self._current_stream = cupy.cuda.get_current_stream
        self._is_only_one = cupy.cuda.runtime.getDeviceCount() == 1
        self._together: dict[int, Together] = {}
        self._landings: defaultdict[int, list[Landing]] = defaultdict(list)

    def fetch(self, array: Array) -> Callable[[], np.ndarray]:
        """See `Transfer`; what is launched meanwhile is not waited for."""
        with self._at(array):
            kept = self._landings[array.data.device_id]
            landing = self._landing(kept, array.nbytes)
            landing.begin(array, self._current_stream())

        def wait() -> np.ndarray:
            found = landing.arrived(array.dtype, len(array))
            kept.append(landing)
            return found

        return wait

    def _at(self, array: Array) -> Any:
        """Context in which the array's device is CuPy's current one."""
        return _NOTHING if self._is_only_one else array.device

    def _landing(self, kept: list[Landing], size: int) -> Landing:
        """A place for a copy that nobody else uses meanwhile, in whatever thread."""
        try:
            landing = kept.pop()
        except IndexError:
            return Landing(self._cupy, size)
        return landing if landing.size >= size else Landing(self._cupy, size)

    def on_host(self, array: Array) -> np.ndarray:
        memory = self.host_memory(array)
        with self._at(array):
            stream = self._current_stream()
            if memory.nbytes:
                array.data.copy_to_host_async(address_of(memory), memory.nbytes, stream)
            stream.synchronize()
        return memory

    def host_memory(self, array: Array) -> np.ndarray:
        """Memory that is pinned if there is much to copy."""
        if array.nbytes <= LARGEST_TRAVELLER:
            return np.empty(len(array), array.dtype)
        memory: Any = self._cupy.cuda.alloc_pinned_memory(array.nbytes)
        return np.frombuffer(memory, array.dtype, len(array))

    def write(self, array: Array, numbers: np.ndarray) -> None:
        numbers = np.ascontiguousarray(numbers, array.dtype)
        if numbers.nbytes:
            with self._at(array):
                stream = self._current_stream()
                array.data.copy_from_host_async(address_of(numbers), numbers.nbytes, stream)
                # of few numbers in pageable memory the call returns when they have been read
                if numbers.nbytes > LARGEST_TRAVELLER:
                    stream.synchronize()

    def copy(self, target: Array, source: Array) -> None:
        if source.nbytes:
            with self._at(target):
                target.data.copy_from_device_async(source.data, source.nbytes,
                                                   self._current_stream())

    def publish(self, arrays: Sequence[Array]) -> None:
        """Wait, unless all is on the default stream of one device, which threads share."""
        somewhere = {array.data.device_id: array for array in arrays}
        for array in somewhere.values():
            with self._at(array):
                stream = self._current_stream()
                if stream.ptr or len(somewhere) > 1:
                    stream.synchronize()

    def together(self, arrays: Sequence[Array], ranks: int) -> Together | None:
        """Kernels, on the default stream of one device; they need arrays of different memory."""
        number = arrays[0].data.device_id
        places = [each.data.ptr for each in arrays if each.size]
        if (ranks > MAX_RANKS or len(set(places)) < len(places)
                or any(each.data.device_id != number for each in arrays)):
            return None
        with self._at(arrays[0]):
            if self._current_stream().ptr:
                return None
            if number not in self._together:
                self._together[number] = Together(self._cupy, self.write, self.fetch)
        return self._together[number]


@cache
def device_transfer(cupy: ModuleType) -> DeviceTransfer:
    """The transfer of CuPy's arrays, which communicators find from now on."""
    transfer = DeviceTransfer(cupy)
    register(cupy.ndarray, transfer)
    return transfer

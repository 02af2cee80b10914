"""Ways to run a program on CUDA, and what a program needs of its device."""

from __future__ import annotations

from types import ModuleType
from typing import Any, Protocol

from portpart.backends.cuda.compile import KernelCache
from portpart.backends.interface import Array, Counters

RESIDENT, GRAPH, WALK = "resident", "graph", "walk"


class Device(Protocol):
    """The part of the CUDA space that programs use."""

    cupy: ModuleType
    device_id: int
    multiprocessors: int
    kernels: KernelCache
    counters: Counters
    program_mode: str
    profiling: bool

    def active(self) -> Any:
        """Context in which this device is CuPy's current one."""

    def current_stream(self) -> Any:
        """CuPy's current stream of the calling thread."""

    def empty(self, n: int, dtype: Any) -> Array:
        """Uninitialised array of `n` elements."""

    def zeros(self, n: int, dtype: Any) -> Array:
        """Array of `n` zeros."""

    def asarray(self, values: Any, dtype: Any = None) -> Array:
        """`values` as a contiguous array of this device."""

    def address_of(self, array: Any) -> int:
        """Where an array begins that a kernel on this device can read; any other is refused."""

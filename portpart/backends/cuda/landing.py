"""Copies to the host that go on while more is launched."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

LEAST_SIZE = 4096


class Landing:
    """Where copies to the host arrive, one at a time: memory that is pinned.

    To pageable memory the call that copies would return when all is there.  What is kept for the
    next copy saves a third of the time of one.

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

    def begin(self, array: Any, stream: Any) -> None:
        """Copy a contiguous array, behind what was launched on the stream before."""
        array.data.copy_to_host_async(self._memory.ptr, array.nbytes, stream)
        self._copied.record(stream)

    def arrived(self, dtype: np.dtype, length: int) -> np.ndarray:
        """The elements of the array, when they are there."""
        self._copied.synchronize()
        return np.frombuffer(self._memory, dtype, length).copy()

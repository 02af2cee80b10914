"""Cooperative launches: all blocks run at the same time, so they may wait for each other."""

from __future__ import annotations

import ctypes
from types import ModuleType
from typing import Any

from portpart.backends.language.team_arrays import BLOCK


def missing_for_cooperation(cupy: ModuleType, device: int) -> str | None:
    """What keeps kernels from waiting for each other's blocks here; None if nothing does."""
    try:
        from cupy_backends.cuda.api import driver
    except ImportError as error:
        return f"CuPy's driver interface cannot be imported: {error}"
    if not hasattr(driver, "launchCooperativeKernel"):
        return "this CuPy knows no cooperative launch"
    if not cupy.cuda.Device(device).attributes.get("CooperativeLaunch", 0):
        return f"cuda:{device} supports no cooperative launch"
    return None


class Cooperative:
    """A kernel of one pointer, launched cooperatively.

    Parameters
    ----------
    function : cupy.cuda.Function
    multiprocessors : int
    """

    def __init__(self, function: Any, multiprocessors: int) -> None:
        from cupy_backends.cuda.api import driver

        self._driver = driver
        self._function = function  # keeps the module loaded
        self._pointer = function.ptr
        self._multiprocessors = multiprocessors
        self._fit = driver.occupancyMaxActiveBlocksPerMultiprocessor(self._pointer, BLOCK, 0)
        self._address = ctypes.c_uint64()
        self._given = (ctypes.c_void_p * 1)(ctypes.addressof(self._address))
        self._arguments = ctypes.addressof(self._given)

    def launch(self, address: int, stream: Any, blocks: int) -> None:
        """Start the kernel with `address` as its argument; for one thread at a time.

        On each multiprocessor that many blocks, if they fit.
        """
        self._address.value = address
        grid = self._multiprocessors * min(blocks, self._fit)
        self._driver.launchCooperativeKernel(self._pointer, grid, 1, 1, BLOCK, 1, 1, 0, stream.ptr,
                                             self._arguments)

"""Launches of single kernels: the driver is given the words of the arguments.

CuPy examines every argument once more and packs it, which takes longer than the launch.
"""

from __future__ import annotations

import ctypes
import threading
from array import array
from typing import Any

from portpart.backends.language.team_arrays import BLOCK
from portpart.errors import InputError


class Direct:
    """A kernel that takes this many arguments, each in the low bytes of a word.

    Parameters
    ----------
    function : cupy.cuda.Function
    count : int
    """

    def __init__(self, function: Any, count: int) -> None:
        from cupy_backends.cuda.api import driver

        self._launch = driver.launchKernel
        self._function = function  # keeps the module loaded
        self._pointer = function.ptr
        words = (ctypes.c_int64 * count)()
        first = ctypes.addressof(words)
        self._words = memoryview(words).cast("B").cast("q")
        self._places = (ctypes.c_void_p * count)(*range(first, first + 8 * count, 8))
        self._arguments = ctypes.addressof(self._places)
        self._lock = threading.Lock()

    def launch(self, words: list[int], stream: Any, blocks: int) -> None:
        """Start this many blocks with these arguments, which the driver has read when this returns.

        Raises
        ------
        InputError
            If a number does not fit a word.
        """
        try:
            given = array("q", words)
        except OverflowError as error:
            raise InputError(f"a kernel takes numbers of 64 bits: {error}") from None
        with self._lock:
            self._words[:] = given
            self._launch(self._pointer, blocks, 1, 1, BLOCK, 1, 1, 0, stream.ptr,
                         self._arguments, 0)

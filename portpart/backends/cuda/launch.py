"""Launches of single kernels: direct ones, and cooperative ones."""

from __future__ import annotations

import ctypes
import struct
import threading
from array import array
from contextlib import AbstractContextManager
from types import ModuleType
from typing import TYPE_CHECKING, Protocol

import numpy as np

from portpart.backends.cuda.compile import KernelCache
from portpart.backends.language.team_arrays import BLOCK
from portpart.backends.programs import LINE, Counters, ProgramTable
from portpart.errors import InputError

if TYPE_CHECKING:
    from cupy import cuda, ndarray
    from cupy.cuda import Function, Stream
    from numpy.typing import ArrayLike, DTypeLike

RESIDENT, WALK = "resident", "walk"
"""Ways to run a program on CUDA."""


class Device(Protocol):
    """The part of the CUDA space that programs use."""

    cupy: ModuleType
    device_id: int
    multiprocessors: int
    kernels: KernelCache
    counters: Counters
    program_mode: str
    profiling: bool

    def active(self) -> AbstractContextManager[cuda.Device]:
        """Return a context in which this device is CuPy's current one."""

    def current_stream(self) -> Stream:
        """Return CuPy's current stream of the calling thread."""

    def empty(self, n: int, dtype: DTypeLike) -> ndarray:
        """Return an uninitialised array of `n` elements."""

    def zeros(self, n: int, dtype: DTypeLike) -> ndarray:
        """Return an array of `n` zeros."""

    def asarray(self, values: ArrayLike, dtype: DTypeLike | None = None) -> ndarray:
        """Return `values` as a contiguous array of this device."""

    def address_of(self, array: ndarray) -> int:
        """Return the address of an array that kernels on this device can read; others raise an
        error.
        """


# Cooperative launches: all blocks run at the same time, so they may wait for each other --------


def can_cooperate(cupy: ModuleType, device: int) -> bool:
    """Whether the blocks of a kernel may wait for each other on this device."""
    return bool(cupy.cuda.Device(device).attributes.get("CooperativeLaunch", 0))


class Given:
    """The values that a kernel receives, bound once: those of a layout."""

    def __init__(self, layout: ProgramTable) -> None:
        self._values = layout.values()
        self._places = (ctypes.c_void_p * 1)(self._values.buffer_info()[0])
        self.arguments = ctypes.addressof(self._places)

    def set_where(self, where: tuple[int, ...]) -> None:
        """Set the addresses that differ between launches."""
        self._values[ProgramTable.WHERE] = array("q", where)


class Resident:
    """The kernel of a program on a device, with its data there; launched cooperatively.

    Parameters
    ----------
    function : Function
    space : CudaSpace
    layout : ProgramTable
    threads : int
        Number of threads of a block.

    Attributes
    ----------
    where : tuple of int
        Addresses of the plan of rows, of words, and of the barrier of all blocks, for the next run
        and for the one after that.
    """

    def __init__(self, function: Function, space: Device, layout: ProgramTable,
                 threads: int = BLOCK) -> None:
        from cupy_backends.cuda.api import driver

        self._driver = driver
        self._function = function  # keeps the module loaded
        self._pointer = function.ptr
        self._multiprocessors = space.multiprocessors
        self._threads = threads
        self._fit = driver.occupancyMaxActiveBlocksPerMultiprocessor(self._pointer, threads, 0)
        self._plan = space.asarray(layout.plan())
        sizes = layout.sizes
        words = -(-8 * (sizes.numbers + sizes.zeros) // LINE) * LINE
        # Waiting blocks read the barrier all the time, so that writes near it are slow.
        self._memory = space.zeros((words + 2 * LINE) // 8, np.int64)
        begin = int(self._memory.data.ptr)
        self.where = int(self._plan.data.ptr), begin, begin + words, begin + words + LINE
        self._given = (ctypes.c_void_p * 1)(layout.address_of_values)
        self._arguments = ctypes.addressof(self._given)

    def launch(self, stream: Stream, blocks: int, given: Given | None = None) -> None:
        """Launch the kernel with the values of its layout, or others; one thread at a time.

        Each multiprocessor gets `blocks` blocks, if they fit.
        """
        arguments = self._arguments
        if given is not None:
            given.set_where(self.where)
            arguments = given.arguments
        grid = self._multiprocessors * min(blocks, self._fit)
        self._driver.launchCooperativeKernel(self._pointer, grid, 1, 1, self._threads, 1, 1, 0,
                                             stream.ptr, arguments)
        plan, words, here, there = self.where
        self.where = plan, words, there, here


# Launches of single kernels: the driver receives the words of the arguments --------------------
#
# CuPy checks every argument again and packs it, which takes longer than the launch.


class Direct:
    """A kernel with `count` arguments, each in the low bytes of a word.

    Parameters
    ----------
    function : Function
    count : int
    threads : int
        Number of threads of a block.
    """

    def __init__(self, function: Function, count: int, threads: int = BLOCK) -> None:
        from cupy_backends.cuda.api import driver

        self._launch, self._threads = driver.launchKernel, threads
        self._function = function  # keeps the module loaded
        self._pointer = function.ptr
        self._words = (ctypes.c_int64 * count)()
        self._pack = struct.Struct(f"={count}q").pack_into
        first = ctypes.addressof(self._words)
        self._places = (ctypes.c_void_p * count)(*range(first, first + 8 * count, 8))
        self._arguments = ctypes.addressof(self._places)
        self._lock = threading.Lock()

    def launch(self, words: list[int], stream: Stream, blocks: int) -> None:
        """Launch this many blocks with these arguments, which the driver has read when this
        returns.

        Raises
        ------
        InputError
            If a number does not fit into a word.
        """
        with self._lock:
            try:
                self._pack(self._words, 0, *words)
            except struct.error as error:
                raise InputError(f"a kernel takes numbers of 64 bits: {error}") from None
            self._launch(self._pointer, blocks, 1, 1, self._threads, 1, 1, 0, stream.ptr,
                         self._arguments, 0)

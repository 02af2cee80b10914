"""The CUDA space: CuPy arrays, kernels translated to CUDA C++ and compiled by NVRTC.

All work is done on CuPy's current stream of the calling thread, in order with other work of that
thread in CuPy: input arrays are complete when a kernel reads them, and results can be used at once.
To overlap work, a thread enters its own stream (``with stream:``).
"""

from __future__ import annotations

import contextlib
import ctypes
import sys
import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from portpart.backends import programs
from portpart.backends.cuda.compile import KernelCache, Walked, blocks_for
from portpart.backends.cuda.dry_run import CudaDryRuns
from portpart.backends.cuda.launch import RESIDENT, WALK, Direct, can_cooperate
from portpart.backends.cuda.nvrtc import do_without_folder
from portpart.backends.cuda.program import CudaExecutable
from portpart.backends.cuda.segmented import SegmentedExecutable
from portpart.backends.cuda.transfer import HeldMemory, device_transfer, travels
from portpart.backends.language import Kernel
from portpart.backends.language.arrays import Part
from portpart.backends.language.team_arrays import BLOCK, block_of
from portpart.base.interrupts import late_signals
from portpart.errors import DeviceUnavailable, InputError, OutOfMemory

if TYPE_CHECKING:
    from cupy import ndarray
    from cupy.cuda import Device, Event
    from numpy.typing import DTypeLike


OLDEST_CAPABILITY = 70
"""Teams within a warp need the independent thread scheduling of compute capability 7.0."""

MAX_BLOCKS = 1 << 16
"""Maximum number of blocks of a launch from Python; more items are processed in strides."""


DRIVER = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
"""The driver's library; CUDA reports a missing driver as one that is too old."""

NO_DRIVER = (f"there is no CUDA driver here ({DRIVER} cannot be loaded): a GPU needs NVIDIA's "
             "driver, a container to be started with its GPUs")

SMALL = 1 << 20
"""Up to this many bytes, the arrays of a record are cut from one allocation, to save host time."""

_NOTHING = contextlib.nullcontext()


class CudaSpace(programs.ExecutionSpace):
    """Execution on one CUDA device.

    Parameters
    ----------
    device : int or None
        Number of the device; None means CuPy's current one.

    Attributes
    ----------
    program_mode : str
        How programs run: ``"resident"``, as one kernel; ``"graph"``, as a CUDA graph with
        conditional nodes; ``"walk"``, launch by launch from the host.  The results are the same. By
        default the first of them that device, driver and packages support.
    profiling : bool
        Whether resident programs made from now on measure the time of each launch and of each step
        of communication.

    Raises
    ------
    DeviceUnavailable
        If CuPy, the driver or the device is missing; the message says which.
    """

    kind = "cuda"
    widest_team = BLOCK
    runs_behind = True

    def __init__(self, device: int | None = None) -> None:
        super().__init__()
        self.cupy = import_cupy()
        do_without_folder()
        self.device_id = usable_device(device)
        self.name = f"cuda:{self.device_id}"
        with self.cupy.cuda.Device(self.device_id) as current:
            self.multiprocessors = int(current.attributes["MultiProcessorCount"])
            self.memory = HeldMemory(self.cupy.get_default_memory_pool,
                                     int(self.cupy.cuda.runtime.memGetInfo()[1]))
        self.kernels = KernelCache(self.cupy, self.device_id)
        self._rehearsals = CudaDryRuns(self.kernels.modules)
        self._current_device = self.cupy.cuda.runtime.getDevice
        self._is_only_one = self.cupy.cuda.runtime.getDeviceCount() == 1
        self._no_memory = self.cupy.cuda.memory.OutOfMemoryError
        self._array = self.cupy.ndarray
        self._is_contiguous = programs.contiguity_of(self._array)
        self._set_memory = self.cupy.cuda.runtime.memsetAsync
        self.current_stream = self.cupy.cuda.get_current_stream
        self._functions: dict[tuple[Hashable, ...], Direct] = {}
        self._transfer = device_transfer(self.cupy)
        self._threads = threading.local()
        self.program_mode = self.program_modes()[0]
        self.profiling = False

    def program_modes(self) -> list[str]:
        """Return the ways to run programs that work here, fastest first."""
        return [RESIDENT, WALK] if can_cooperate(self.cupy, self.device_id) else [WALK]

    def empty(self, n: int, dtype: DTypeLike) -> programs.Array:
        try:
            with self.active():
                if n > self.memory.large:
                    self.memory.make_place(n * np.dtype(dtype).itemsize)
                return self._array(n, dtype)  # cupy.empty checks more
        except self._no_memory as error:
            raise self._out_of_memory(n, dtype) from error

    def allocate(self, parts: Sequence[Part], zeros: bool = False) -> list[programs.Array]:
        begins = [end := 0]
        for length, dtype in parts:
            begins.append(end := end + -(-length * dtype.itemsize // programs.LINE) * programs.LINE)
        if end > SMALL or len(parts) == 1:
            return super().allocate(parts, zeros)
        data: Any = (self.zeros if zeros else self.empty)(end, np.uint8).data
        return [self._array(length, dtype, data + begin)
                for (length, dtype), begin in zip(parts, begins)]

    def full(self, n: int, value: float, dtype: DTypeLike) -> programs.Array:
        result = self.empty(n, dtype)
        # CuPy's way takes four times as long to launch
        self.parallel_for(n, programs.fill, result, value)
        return result

    def zeros(self, n: int, dtype: DTypeLike) -> programs.Array:
        result: ndarray = self.empty(n, dtype)  # cupy.zeros takes twice as long
        if n > 0:
            with self.active():
                self._set_memory(result.data.ptr, 0, result.nbytes, self.current_stream().ptr)
        return result

    def asarray(self, values: Any, dtype: DTypeLike | None = None) -> programs.Array:
        if isinstance(values, np.ndarray) and travels(values, dtype):
            return self._sent(values, len(values))
        elsewhere = getattr(getattr(values, "device", None), "id", self.device_id)
        size = getattr(values, "size", 0)
        with self.active(), self._allocating(size if isinstance(size, int) else 0, dtype):
            if elsewhere != self.device_id:
                values = self._from_other_device(values)
            return self.cupy.ascontiguousarray(self.cupy.asarray(values, dtype))

    def _from_other_device(self, values: Any) -> programs.Array:
        if type(values) is not self._array or values.ndim != 1 or not values.flags.c_contiguous:
            return self.cupy.array(values)
        result = self._array(len(values), values.dtype)
        self._transfer.copy(result, values)  # after the work of the other device
        return result

    def with_slack(self, values: np.ndarray, slack: int) -> programs.Array:
        if not travels(values, values.dtype):
            return super().with_slack(values, slack)
        return self._sent(values, len(values) + slack)

    def _sent(self, values: np.ndarray, length: int) -> programs.Array:
        """Return an array of this length that begins with a few host values."""
        result: ndarray = self.empty(length, values.dtype)
        # From pageable memory the call returns when the numbers have been read.
        with self.active():
            result.data.copy_from_host_async(programs.address_of(values), values.nbytes,
                                             self.current_stream())
        return result

    def to_host(self, array: programs.Array) -> np.ndarray:
        if isinstance(array, np.ndarray):
            return array
        self._begin_to_wait()
        with self.active():
            if type(array) is not self._array or array.ndim != 1 or not self._is_contiguous(array):
                return self.cupy.asnumpy(array)
            result = np.empty(len(array), array.dtype)
            stream = self.current_stream()
            if result.nbytes > 0:
                array.data.copy_to_host_async(programs.address_of(result), result.nbytes, stream)
            stream.synchronize()
        return result

    def fetch(self, array: programs.Array) -> Callable[[], np.ndarray]:
        arrived = self._transfer.fetch(array)

        def wait() -> np.ndarray:
            self._begin_to_wait()
            return arrived()

        return wait

    @contextlib.contextmanager
    def while_waiting(self, work: Callable[[], object]) -> Iterator[None]:
        around = self._threads.__dict__.get("waiting")
        self._threads.waiting = work
        try:
            yield
        finally:
            self._threads.waiting = around

    def _begin_to_wait(self) -> None:
        """Count a wait, and do the work that is left for the first one."""
        self.counters.synchronizations += 1
        work = self._threads.__dict__.pop("waiting", None)
        if work is not None:
            work()

    def synchronize(self) -> None:
        self.counters.synchronizations += 1
        with self.active():
            self.current_stream().synchronize()

    def mark(self) -> Event:
        with self.active():
            event = self.cupy.cuda.Event()
            event.record(self.current_stream())
        return event

    def seconds_between(self, mark: Event, later: Event) -> float:
        later.synchronize()
        return float(self.cupy.cuda.get_elapsed_time(mark, later)) / 1000

    def library_sort(self, keys: programs.Array) -> programs.Array:
        with self.active(), self._allocating(2 * len(keys), np.int64):
            return self.cupy.argsort(keys, kind="stable")

    def library_sort_in_place(self, keys: programs.Array) -> bool:
        with self.active(), self._allocating(len(keys), keys.dtype):
            keys.sort()
        return True

    def parallel_for(self, n: int, kernel: Kernel, *args: programs.Bound, team: int = 1) -> None:
        if n <= 0:
            return
        args = kernel.flattened(args)
        array, is_contiguous = self._array, self._is_contiguous
        key: list[Any] = [kernel, team]
        words = [n]
        for argument in args:
            kind = type(argument)
            if kind is array:
                if argument.ndim != 1 or not is_contiguous(argument):
                    programs.tag_of(argument)  # raises the error
                key.append(argument.dtype)
                words.append(argument.data.ptr)
            elif kind is int:
                key.append(kind)
                words.append(argument)
            elif argument is None:
                key.append(None)
            else:
                key.append(tag := programs.tag_of(argument))
                words.append(self.address_of(argument) if tag.startswith("*")
                             else programs.bits_of(argument, tag))
        self.counters.launches += 1
        with self.active():
            function = self._functions.get(tuple(key)) or self._direct(kernel, team, key, args)
            function.launch(words, self.current_stream(), blocks_for(n, team, MAX_BLOCKS))

    @property
    def dry_runs(self) -> CudaDryRuns | None:
        return self._rehearsals if self.program_mode == RESIDENT and not self.profiling else None

    def _direct(self, kernel: Kernel, team: int, key: list[Any], args: tuple[Any, ...]) -> Direct:
        """Compile the kernel of a first launch with such arguments."""
        tags = tuple(map(programs.tag_of, args))
        function = Direct(self.kernels.direct(kernel, tags, team),
                          1 + len(tags) - tags.count(programs.ABSENT), block_of(team))
        self._functions[tuple(key)] = function
        return function

    @property
    def num_compiled(self) -> int:
        return super().num_compiled + len(self._functions)

    def executable(self, program: programs.Program) -> programs.Executable:
        if program.communication():
            with self.active():
                return SegmentedExecutable(self, program, partial(self._compiled, walked=Walked()),
                                           self._request, self.profiling)
        return self._compiled(program)

    def _compiled(self, program: programs.Program, walked: Walked | None = None) -> CudaExecutable:
        with self.active():
            return CudaExecutable(self, program, walked)

    def _request(self, executables: Sequence[CudaExecutable]) -> None:
        """Request the code of programs that will run in turn, to be compiled in parallel."""
        missing = [each.program for each in executables if not each.is_requested()]
        if missing:
            in_place = self.program_mode == RESIDENT and self.kernels.modules.quick
            self.kernels.request_packed(missing, in_place)

    def address_of(self, array: programs.Array) -> int:
        """Return the address of an array that kernels on this device can read; others raise an
        error.
        """
        if not isinstance(array, self._array):
            raise InputError(f"an array of the host was given to a kernel on {self.name}; "
                             "bring it there with space.asarray")
        address: int = array.data.ptr
        return address

    def active(self) -> Device:
        """Return a context in which this space's device is CuPy's current one, for any thread."""
        if self._is_only_one or self._current_device() == self.device_id:
            if not hasattr(self._threads, "has_begun"):
                self._threads.has_begun = True
                self.cupy.cuda.runtime.free(0)  # a thread has no context before CUDA's first call
            return _NOTHING
        return self.cupy.cuda.Device(self.device_id)

    @contextlib.contextmanager
    def _allocating(self, n: int, dtype: DTypeLike | None) -> Iterator[None]:
        try:
            yield
        except self._no_memory as error:
            raise self._out_of_memory(n, dtype) from error

    def free_bytes(self) -> int | None:
        with self.active():
            free = self.cupy.cuda.runtime.memGetInfo()[0]
            return int(free + self.cupy.get_default_memory_pool().free_bytes())

    def give_back(self) -> int:
        with self.active():
            return self.memory.give_back()

    def _out_of_memory(self, n: int, dtype: DTypeLike | None) -> OutOfMemory:
        needed = n * np.dtype(dtype or np.float64).itemsize
        return OutOfMemory(f"{needed / 2**20:.0f} MiB of memory on {self.name} were needed and "
                           f"{(self.free_bytes() or 0) / 2**20:.0f} MiB were free")


def import_cupy() -> ModuleType:
    """Return CuPy, or raise an error that says how to install it."""
    if "cupy" not in sys.modules and find_spec("cupy") is not None:
        do_without_folder()
    try:
        with late_signals():
            import cupy
    except Exception as error:
        raise DeviceUnavailable(
            f"CuPy cannot be imported ({error}); install cupy-cuda13x or cupy-cuda12x, "
            "whichever fits the driver"
        ) from error
    return cupy


def has_driver() -> bool:
    """Whether the driver's library is on this machine, in any version."""
    try:
        ctypes.CDLL(DRIVER)
    except OSError:
        return False
    return True


def num_devices() -> int:
    """Return the number of devices, at least one; raises DeviceUnavailable for none."""
    cupy = import_cupy()
    try:
        count = int(cupy.cuda.runtime.getDeviceCount())
    except Exception as error:
        reason = f"the CUDA driver cannot be used: {error}" if has_driver() else NO_DRIVER
        raise DeviceUnavailable(reason) from error
    if count == 0:
        raise DeviceUnavailable("this machine has no CUDA device")
    return count


def usable_device(device: int | None) -> int:
    """Return the number of a device that portpart can use; None means CuPy's current one."""
    cupy, count = import_cupy(), num_devices()
    current = cupy.cuda.runtime.getDevice()
    number = current if device is None else device
    if number >= count:
        raise DeviceUnavailable(f"there is no device cuda:{number}; the last is cuda:{count - 1}")
    capability = int(cupy.cuda.Device(number).compute_capability)
    if capability < OLDEST_CAPABILITY:
        raise DeviceUnavailable(
            f"cuda:{number} has compute capability {capability / 10}; 7.0 or newer is needed"
        )
    return int(number)

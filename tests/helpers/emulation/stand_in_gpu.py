"""A GPU for tests on a machine without one: the space of CUDA over a stand-in for CuPy.

Its arrays are not those of NumPy, which refuses them as CuPy's are refused.  Kernels run as their
generated CUDA C++, compiled by the host's compiler; the host walks programs.  There may be several,
of which each thread has a current one: what is done on another one is refused.
"""

from __future__ import annotations

import contextlib
import ctypes
import operator
import threading
import time
from collections.abc import Callable, Iterator
from itertools import product
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np

from portpart.backends import cuda, spaces as all_spaces
from portpart.backends.cuda import space as cuda_space
from portpart.backends.cuda.translate import packed_name
from portpart.backends.language import Kernel
from portpart.backends.programs.arguments import address_of, bits_of, tag_of
from portpart.backends.programs.program import Program
from tests.helpers.emulation.host_cuda import (
    COMPILER,
    NO_COMPILER,
    compiled,
    compiled_together,
    library_of,
    translated,
)
from tests.helpers.emulation.host_words import GRID

DEVICE = 0

_threads = threading.local()


def current() -> int:
    """The current device of this thread."""
    return getattr(_threads, "devices", [DEVICE])[-1]


def require_current(number: int) -> None:
    """Refuse what is done on a device that is not the current one."""
    assert number == current(), f"device {current()} is the current one, and not {number}"


class Device:
    """A device."""

    attributes = {"MultiProcessorCount": 4, "CooperativeLaunch": 0, "ClockRate": 1_000_000}
    compute_capability = "90"

    def __init__(self, number: int | None = None) -> None:
        self.id = current() if number is None else number

    def __enter__(self) -> Device:
        _threads.devices = [*getattr(_threads, "devices", [DEVICE]), self.id]
        _threads.has_context = True
        return self

    def __exit__(self, *_: object) -> None:
        _threads.devices.pop()


class Stream:
    """A stream on which all is done when a call returns."""

    def __init__(self, ptr: int = 0) -> None:
        self.ptr, self.waits = ptr, 0

    def synchronize(self) -> None:
        self.waits += 1

    def record(self, event: Event) -> None:
        event.record(self)

    def wait_event(self, event: Event) -> None:
        """All is done."""


class Event:
    """Something that has happened."""

    done = True

    def __init__(self, disable_timing: bool = False) -> None:
        del disable_timing
        self.device = current()

    def record(self, stream: Any = None) -> None:
        require_current(self.device)
        self.seconds = time.perf_counter()

    def synchronize(self) -> None:
        """All is done."""


before: list[Callable[[], None]] = []
"""What has to be done before anything that comes later on the stream."""


def in_turn() -> None:
    """Do what comes before."""
    for each in before:
        each()


class Pointer:
    """Where an array begins."""

    def __init__(self, memory: np.ndarray, device: int, begin: int = 0) -> None:
        self.memory, self.begin, self.device_id = memory, begin, device

    @property
    def ptr(self) -> int:
        return address_of(self.memory) + self.begin

    def __add__(self, count: int) -> Pointer:
        return Pointer(self.memory, self.device_id, self.begin + count)

    @property
    def device(self) -> Device:
        return Device(self.device_id)

    def copy_from_host_async(self, place: int, size: int, stream: Stream) -> None:
        self._move(self.ptr, place, size)

    def copy_to_host_async(self, place: int, size: int, stream: Stream) -> None:
        self._move(place, self.ptr, size)

    def copy_from_device_async(self, source: Pointer, size: int, stream: Stream) -> None:
        assert isinstance(source, Pointer)
        self._move(self.ptr, source.ptr, size)

    def _move(self, there: int, here: int, size: int) -> None:
        require_current(self.device_id)
        in_turn()
        ctypes.memmove(there, here, size)


class Pinned(bytearray):
    """Memory of the host, with its address."""

    @property
    def ptr(self) -> int:
        return ctypes.addressof((ctypes.c_char * len(self)).from_buffer(self))


class ndarray:  # noqa: N801  (the name that CuPy has for it)
    """An array of the device."""

    def __init__(self, shape: Any, dtype: Any = float, memptr: Pointer | None = None) -> None:
        self.inner = (np.full(shape, 77, dtype) if memptr is None  # what nobody has set is no zero
                      else np.ndarray(shape, dtype, memptr.memory, memptr.begin))
        self.device = Device()

    @classmethod
    def of(cls, inner: Any, device: Device | None = None) -> ndarray:
        made = cls.__new__(cls)
        made.inner, made.device = np.asarray(inner), device or Device()
        return made

    @property
    def data(self) -> Pointer:
        return Pointer(self.inner, self.device.id)

    dtype = property(lambda self: self.inner.dtype)
    ndim = property(lambda self: self.inner.ndim)
    size = property(lambda self: self.inner.size)
    shape = property(lambda self: self.inner.shape)
    nbytes = property(lambda self: self.inner.nbytes)
    itemsize = property(lambda self: self.inner.itemsize)
    flags = property(lambda self: self.inner.flags)
    __cuda_array_interface__ = property(lambda self: self.inner.__array_interface__)

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    def __len__(self) -> int:
        return len(self.inner)

    def __int__(self) -> int:
        return int(self.inner)

    __index__ = __int__

    def __bool__(self) -> bool:
        return bool(self.inner)

    def __getitem__(self, key: Any) -> ndarray:
        if not isinstance(key, slice):
            require_current(self.device.id)
        return ndarray.of(self.inner[_inner(key)], self.device)

    def __setitem__(self, key: Any, value: Any) -> None:
        require_current(self.device.id)
        self.inner[_inner(key)] = _inner(value)

    def get(self) -> np.ndarray:
        return self.inner.copy()

    def sort(self) -> None:
        require_current(self.device.id)
        self.inner.sort()

    __hash__ = object.__hash__


def _inner(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.ndim:
        raise TypeError("an array of the host stands beside one of the device")
    if isinstance(value, tuple):
        return tuple(map(_inner, value))
    if isinstance(value, ndarray):
        require_current(value.device.id)
        return value.inner
    return value


def _lend(name: str) -> None:
    """Give the class an operator or a method of NumPy's arrays."""
    plain = getattr(operator, name, None) or getattr(np.ndarray, name)

    def call(self: ndarray, *given: Any, **named: Any) -> ndarray:
        if name != "view":
            require_current(self.device.id)
        return ndarray.of(plain(self.inner, *map(_inner, given), **named), self.device)

    setattr(ndarray, name, call)


for _name in "add sub mul floordiv eq ne lt le gt ge and or invert rshift lshift neg".split():
    _lend(f"__{_name}__")
for _name in "astype view copy sum min max any all ravel reshape cumsum".split():
    _lend(_name)


def asarray(values: Any, dtype: Any = None) -> ndarray:
    if isinstance(values, ndarray):
        return values if dtype in (None, values.dtype) else values.astype(dtype)
    return ndarray.of(np.array(values, dtype))


class RawModule:
    """CUDA C++, compiled by the host's compiler; three blocks of five threads, one at a time."""

    def __init__(self, code: str) -> None:
        self.library = ctypes.CDLL(str(library_of(GRID + code)))

    def get_function(self, name: str) -> Any:
        def launch(grid: tuple[int], block: tuple[int], given: tuple[Any, ...]) -> None:
            in_turn()
            for index, thread in product(range(3), range(5)):
                self.library.set_place((ctypes.c_uint * 4)(thread, index, 5, 3))
                self.library[name](*(ctypes.c_int64(int(each)) for each in given))
        return launch


def _begin(address: int) -> None:
    """The first call of CUDA in a thread, which gives it a context."""
    assert address == 0
    _threads.has_context = True


class Module(SimpleNamespace):
    """A module, known by what it is and not by what is in it."""

    __hash__ = object.__hash__


def copied(values: Any, dtype: Any = None) -> ndarray:
    """The values on the current device, wherever they are."""
    return ndarray.of(np.array(values.inner if isinstance(values, ndarray) else values, dtype))


class CUDARuntimeError(Exception):
    """What the runtime complains about."""

    status = 704


def _set_memory(place: int, value: int, size: int, stream: int) -> None:
    in_turn()
    ctypes.memset(place, value, size)


def _enable(peer: int) -> None:
    """Somebody else has done so already."""
    assert peer != current()
    raise CUDARuntimeError


def cupy(count: int = 1) -> Any:
    """What the space uses of CuPy, where there are so many devices."""
    stream = Stream()
    runtime = SimpleNamespace(
        getDevice=current, getDeviceCount=lambda: count, free=_begin, memsetAsync=_set_memory,
        memGetInfo=lambda: (2**30, 2**30), driverGetVersion=lambda: 0,
        deviceCanAccessPeer=lambda here, there: True, deviceEnablePeerAccess=_enable,
        CUDARuntimeError=CUDARuntimeError)
    pool = SimpleNamespace(free_bytes=lambda: 0, total_bytes=lambda: 0)
    cuda = SimpleNamespace(
        Device=Device, Event=Event, runtime=runtime, alloc_pinned_memory=Pinned,
        get_current_stream=lambda: stream, memory=SimpleNamespace(OutOfMemoryError=MemoryError),
        get_elapsed_time=lambda one, other: 1000 * (other.seconds - one.seconds))
    return Module(
        __version__="0", ndarray=ndarray, asarray=asarray, array=copied, empty=ndarray, cuda=cuda,
        ascontiguousarray=lambda array: ndarray.of(np.ascontiguousarray(array.inner)),
        zeros=lambda n, dtype: ndarray.of(np.zeros(n, dtype)),
        asnumpy=lambda array: array.inner.copy(), RawModule=RawModule,
        argsort=lambda keys, kind: ndarray.of(np.argsort(keys.inner, kind=kind)),
        get_default_memory_pool=lambda: pool)


class _Kernels:
    """Kernels of a device that the host's compiler compiles."""

    modules = SimpleNamespace(quick=True)

    def __init__(self, number: int) -> None:
        self._number = number

    def request_packed(self, programs: Any, in_place: bool) -> None:
        """They are compiled when they are wanted."""

    def packed(self, program: Program, in_place: bool) -> dict[int, Any]:
        def launcher(kernel: Kernel, args: Any, team: int) -> Any:
            entry = _entry(kernel, args, team)

            def launch(grid: Any, block: Any, given: Any) -> None:
                require_current(self._number)
                entry(int(given[0]))
            return launch

        launches = program.launches()
        together = [translated(each.kernel, each.args, each.team) for each in launches]
        compiled_together({packed_name(each.symbol): each.text for each in together})
        return {id(each): launcher(each.kernel, each.args, each.team) for each in launches}


def _entry(kernel: Kernel, args: Any, team: int) -> Any:
    translation = translated(kernel, args, team)
    entry = compiled(packed_name(translation.symbol), translation.text)

    def launch(row: int) -> None:
        in_turn()
        entry(row)

    return launch


class StandInGpu(cuda_space.CudaSpace):
    """The space of CUDA on the stand-in."""

    def __init__(self, number: int = DEVICE, made: Any = None) -> None:
        if COMPILER is None:
            import pytest  # ranks do without it

            pytest.skip(NO_COMPILER)
        with contextlib.ExitStack() as changed:
            module = made or cupy()
            for name, value in (("import_cupy", lambda: module),
                                ("do_without_folder", lambda: None)):
                changed.enter_context(mock.patch.object(cuda_space, name, value))
            super().__init__(number)
        self.kernels: Any = _Kernels(number)
        self.program_mode = "walk"

    def parallel_for(self, n: int, kernel: Kernel, *args: Any, team: int = 1) -> None:
        if n <= 0:
            return
        args = kernel.flattened(args)
        words = [0 if each is None else self.address_of(each) if tag_of(each).startswith("*")
                 else bits_of(each, tag_of(each)) for each in args]
        row = np.array([0, *words, n], np.int64)
        row[0] = address_of(row) + 8 * (len(row) - 1)
        self.counters.launches += 1
        with self.active():
            assert _threads.has_context
            require_current(self.device_id)
            _entry(kernel, args, team)(address_of(row))


@contextlib.contextmanager
def in_place(count: int = 1) -> Iterator[list[StandInGpu]]:
    """Have stand-ins be the GPUs of this process."""
    made = cupy(count)
    spaces = [StandInGpu(number, made) for number in range(count)]
    with (mock.patch.dict(all_spaces._spaces, {(each.name, None): each for each in spaces}),
          mock.patch.object(cuda, "usable_device", lambda number: number or DEVICE),
          mock.patch.object(cuda, "num_devices", return_value=count)):
        yield spaces

"""Steps of communication between ranks of one process, as kernels: the host waits for no number.

If ranks have several GPUs that reach each other's memory, the first GPU runs the kernels. A kernel
checks the numbers of elements; if they are wrong, it moves nothing and reports that nothing
arrives. The host checks the report at its next wait.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from portpart.backends.cuda.cpp_words import COPYING
from portpart.backends.language.team_arrays import BLOCK
from portpart.backends.programs import MAX, MIN, SUM, Array, Parcel, Read, Wrong

if TYPE_CHECKING:
    from cupy import ndarray
    from cupy.cuda import Device, Event, Function
    from numpy.typing import ArrayLike

MAX_RANKS = 16

MAX_BLOCKS = 256

CODES = {SUM: 0, MIN: 1, MAX: 2}

SPACE = 2
"""Error: more elements arrive than there is space for. Otherwise (1) parts are too long."""

HEAD = 5
"""Words that report errors, before the numbers of elements for all ranks."""

SOURCE = COPYING + """
namespace {

const int FIELDS = 6;  // of a rank: send, its counts, recv, its counts, lengths of send and recv

__device__ __forceinline__ int64 part(const int64* ranks, int source, int target)
{
    return at<int64>(ranks[FIELDS * source + 1])[target];
}

__device__ bool is_wrong(const int64* ranks, int size, int rank, int kind, int64* problem)
{
    int64 sum = 0;
    bool wrong = false;
    for (int other = 0; other < size; ++other) {
        const int64 count = kind == 1 ? part(ranks, rank, other) : part(ranks, other, rank);
        wrong = wrong || count < 0;
        sum += count;
    }
    wrong = wrong || sum > ranks[FIELDS * rank + (kind == 1 ? 4 : 5)];
    if (wrong && thread() == 0) {
        problem[0] = kind;
        problem[1] = rank;
        problem[2] = sum;
        problem[3] = ranks[FIELDS * rank + (kind == 1 ? 4 : 5)];
        problem[4] = size;
        for (int other = 0; other < size; ++other) problem[5 + other] = part(ranks, rank, other);
    }
    return wrong;
}

}  // namespace

extern "C" __global__ void exchange_parts(const int64* ranks, int64 size, int64 width,
                                          int64* problem)
{
    bool wrong = false;
    for (int kind = 1; kind <= 2 && !wrong; ++kind)
        for (int rank = 0; rank < size && !wrong; ++rank)
            wrong = is_wrong(ranks, size, rank, kind, problem);
    for (int64 i = thread(); i < size * size; i += threads())
        at<int64>(ranks[FIELDS * (i % size) + 3])[i / size]
            = wrong ? 0 : part(ranks, i / size, i % size);
    if (wrong) return;
    for (int source = 0; source < size; ++source) {
        int64 here = ranks[FIELDS * source];
        for (int target = 0; target < size; ++target) {
            const int64 count = part(ranks, source, target);
            int64 there = ranks[FIELDS * target + 2];
            for (int before = 0; before < source; ++before)
                there += width * part(ranks, before, target);
            copy_elements(there, here, count, width);
            here += width * count;
        }
    }
}

extern "C" __global__ void copy_parts(const int64* copies, int64 count, int64 width)
{
    for (int64 copy = 0; copy < count; ++copy)  // each has two addresses and a number of elements
        copy_elements(copies[3 * copy], copies[3 * copy + 1], copies[3 * copy + 2], width);
}

extern "C" __global__ void reduce_words(const int64* ranks, int64 size, int64 count, int64 code)
{
    for (int64 i = thread(); i < count; i += threads()) {
        int64 result = at<int64>(ranks[0])[i];
        for (int rank = 1; rank < size; ++rank) {
            const int64 word = at<int64>(ranks[rank])[i];
            if (code == 0) result = int64(uint64(result) + uint64(word));
            else if (code == 1) result = word < result ? word : result;
            else result = word > result ? word : result;
        }
        for (int rank = 0; rank < size; ++rank) at<int64>(ranks[rank])[i] = result;
    }
}

extern "C" __global__ void collect_words(const int64* parts, int64 count, int64* words)
{
    int64 begin = 0;
    for (int64 part = 0; part < count; ++part) {  // each has an address and its end
        const int64 end = parts[2 * part + 1];
        for (int64 i = begin + thread(); i < end; i += threads())
            words[i] = at<int64>(parts[2 * part])[i - begin];
        begin = end;
    }
}
"""


class DeviceOrder:
    """The order of work on the default streams of some GPUs.

    Parameters
    ----------
    cupy : module
    numbers : sequence of int
        Numbers of the GPUs.
    """

    def __init__(self, cupy: ModuleType, numbers: Sequence[int]) -> None:
        self._cupy, self._numbers = cupy, tuple(numbers)
        self._is_only_one = cupy.cuda.runtime.getDeviceCount() == 1
        self._events: dict[int, Event] = {}
        for number in numbers:
            with self._on(number):
                self._events[number] = cupy.cuda.Event(disable_timing=True)

    def first(self) -> AbstractContextManager[Device | None]:
        """Return a context in which the first GPU is CuPy's current one."""
        return self._on(self._numbers[0])

    def _on(self, number: int) -> AbstractContextManager[Device | None]:
        return nullcontext() if self._is_only_one else self._cupy.cuda.Device(number)

    @contextmanager
    def all_before_and_after(self) -> Iterator[None]:
        """Order work of the first GPU in this block after all earlier work of the GPUs, and before
        later work.
        """
        first, *others = self._numbers
        self.order(others, first)
        with self.first():
            yield
        for other in others:
            self.order([first], other)

    def order(self, earlier: Sequence[int], later: int) -> None:
        """Let later work of a GPU wait for the earlier work of others."""
        for number in earlier:
            with self._on(number):
                self._events[number].record(self._cupy.cuda.get_current_stream())
        if earlier:
            with self._on(later):
                stream = self._cupy.cuda.get_current_stream()
                for number in earlier:
                    stream.wait_event(self._events[number])


class CudaTransfers:
    """Exchanges between ranks of some GPUs, on default streams, by one thread at a time.

    Parameters
    ----------
    cupy : module
    write, fetch : callable
        Copy to a device, and begin to copy from it.
    turns : DeviceOrder
        The order of these GPUs, the first of which is CuPy's current one.
    """

    def __init__(self, cupy: ModuleType, write: Callable[[Array, np.ndarray], None],
                 fetch: Callable[[Array], Callable[[], np.ndarray]], turns: DeviceOrder) -> None:
        self._turns = turns
        module = cupy.RawModule(code=SOURCE)
        self._exchange = module.get_function("exchange_parts")
        self._copy = module.get_function("copy_parts")
        self._reduce = module.get_function("reduce_words")
        self._collect = module.get_function("collect_words")
        self._cupy, self._write, self._fetch = cupy, write, fetch
        self._problem = cupy.zeros(HEAD + MAX_RANKS, np.int64)

    def exchange(self, parcels: Sequence[Parcel]) -> Callable[[], None]:
        """See `portpart.backends.programs.arrays.DeviceTransfers`."""
        words = [[*(each.data.ptr for each in (parcel.send, parcel.send_counts, parcel.recv,
                                               parcel.recv_counts)),
                  len(parcel.send), len(parcel.recv)] for parcel in parcels]
        width = parcels[0].send.itemsize
        longest = max(parcel.recv.nbytes for parcel in parcels)
        return self._prepared(self._exchange, words, longest // max(4, width),
                              np.int64(len(parcels)), np.int64(width),
                              np.uint64(self._problem.data.ptr))

    def reduce(self, parts: Sequence[ndarray], op: str) -> Callable[[], None]:
        """See `portpart.backends.programs.arrays.DeviceTransfers`."""
        return self._prepared(self._reduce, [each.data.ptr for each in parts], len(parts[0]),
                              np.int64(len(parts)), np.int64(len(parts[0])),
                              np.int64(CODES[op]))

    def deliver(self, copies: Sequence[tuple[ndarray, int, ndarray, int, int]]) -> None:
        """See `portpart.backends.programs.arrays.DeviceTransfers`."""
        width = copies[0][0].itemsize
        words = [(to.data.ptr + width * there, source.data.ptr + width * here, count)
                 for to, there, source, here, count in copies]
        self._prepared(self._copy, words, max(count for *_, count in words), np.int64(len(words)),
                       np.int64(width))()

    def _prepared(self, function: Function, words: ArrayLike, items: int,
                  *given: np.generic) -> Callable[[], None]:
        with self._turns.first():
            table = self._cupy.empty(np.size(words), np.int64)
        self._write(table, np.array(words, np.int64).reshape(-1))
        blocks = max(1, min(MAX_BLOCKS, -(-items // BLOCK)))

        def launch() -> None:
            with self._turns.all_before_and_after():
                function((blocks,), (BLOCK,), (np.uint64(table.data.ptr), *given))

        return launch

    def reading(self, arrays: Sequence[Array]) -> Callable[[], Callable[[], Read]]:
        """See `portpart.backends.programs.arrays.DeviceTransfers`."""
        head = len(self._problem)
        ends = np.cumsum([head, *map(len, arrays)])
        with self._turns.first():
            words = self._cupy.empty(int(ends[-1]), np.int64)
        table = [[each.data.ptr, int(end)] for each, end in zip([self._problem, *arrays], ends)]
        collect = self._prepared(self._collect, table, len(words), np.int64(len(ends)),
                                 np.uint64(words.data.ptr))

        def begin() -> Callable[[], Read]:
            collect()
            fetched = self._fetch(words)

            def found() -> Read:
                numbers = fetched()
                return Read(numbers[head:], self._wrong(numbers[:head]))

            return found

        return begin

    def _wrong(self, numbers: np.ndarray) -> Wrong | None:
        """Return the error that a kernel has reported, and clear it."""
        kind, rank, total, length, ranks = map(int, numbers[:HEAD])
        if not kind:
            return None
        self._write(self._problem, np.zeros(len(numbers), np.int64))
        return Wrong(rank, numbers[HEAD : HEAD + ranks], total if kind == SPACE else -1, length)

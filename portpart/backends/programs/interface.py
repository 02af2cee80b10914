"""The execution space as the rest of the library sees it.

Everything above ``backends/`` allocates, launches, sorts and reads through one `ExecutionSpace`;
no other module asks which device it is.
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from portpart.backends.language import Kernel
from portpart.backends.language.arrays import Array
from portpart.backends.programs.program import Program

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike

    from portpart.backends.programs.steps import Bound


class Executable(Protocol):
    """A program compiled for one space."""

    def run(self, bindings: Mapping[str, Bound], size: int, sizes: Any = None) -> None:
        """Run with arrays and scalars bound to the slots.

        Parameters
        ----------
        bindings : dict
        size : int
            The largest work size.
        sizes
            What the lengths of scratch follow from.
        """


class DryRuns(Protocol):
    """Has the code of calls compiled side by side, before the first of it is wanted."""

    def once(self, kind: str, call: Callable[[ExecutionSpace], None]) -> None:
        """Ask for the code of a call, unless that has been done for one of its kind.

        Parameters
        ----------
        kind : str
            What programs depend on.
        call : callable
            Makes the call in a space in which nothing runs.
        """


class Counters(threading.local):
    """Launches and host synchronisations that the calling thread has asked of a space.

    Each thread has separate counts, so the counts of a call are its alone; for benchmarks and
    `stats`.
    """

    def __init__(self) -> None:
        self.launches = 0
        self.synchronizations = 0

    @contextmanager
    def put_back(self) -> Iterator[None]:
        """Do not count what this thread does inside."""
        before = self.launches, self.synchronizations
        try:
            yield
        finally:
            self.launches, self.synchronizations = before


class ExecutionSpace(ABC):
    """Memory and parallel loops of one device.

    Attributes
    ----------
    name : str
        ``"cpu"``, ``"cuda:0"`` ...
    kind : str
        ``"cpu"`` or ``"cuda"``.
    widest_team : int
        Most lanes that work side by side on one item.
    counters : Counters
    """

    name: str
    kind: str
    widest_team: int

    runs_behind = False
    """Whether launches return before they are done, so that there is time to prepare others."""

    is_dry_run = False
    """Whether nothing runs: the code of all that would run is asked for."""

    def __init__(self) -> None:
        self.counters = Counters()
        self._executables: dict[Hashable, tuple[Program, Executable]] = {}

    @abstractmethod
    def empty(self, n: int, dtype: DTypeLike) -> Array:
        """Uninitialised array of `n` elements."""

    @abstractmethod
    def full(self, n: int, value: float, dtype: DTypeLike) -> Array:
        """Array of `n` elements, all `value`."""

    def zeros(self, n: int, dtype: DTypeLike) -> Array:
        """Array of `n` zeros."""
        return self.full(n, 0, dtype)

    @abstractmethod
    def asarray(self, values: ArrayLike | None, dtype: DTypeLike | None = None) -> Array:
        """`values` as a contiguous array of this space; copies only where it must."""

    def with_room(self, values: np.ndarray, room: int) -> Array:
        """`values` of the host, and behind them this many elements of which nothing is known."""
        array = self.empty(len(values) + room, values.dtype)
        array[: len(values)] = self.asarray(values)
        return array

    @abstractmethod
    def to_host(self, array: Array) -> np.ndarray:
        """NumPy copy (on the CPU: the array itself); waits for the work before it."""

    def fetch(self, array: Array) -> Callable[[], np.ndarray]:
        """Begin to copy a contiguous array to the host; what gives the copy then waits for it.

        Work launched later is not waited for.
        """
        return partial(self.to_host, array)

    def read(self, array: Array, expected_size: Callable[[], list[int]]) -> list[int]:
        """The numbers of a short array; where nothing runs, what is guessed."""
        numbers: list[int] = self.to_host(array).tolist()
        return numbers

    def guess(self, what: str, graph: Any, otherwise: list[int]) -> list[int]:
        """In a dry run, numbers that the device would count; here those of `otherwise`.

        Parameters
        ----------
        what : {"clusters", "start", "communities", "nets", "large", "slots", "pairs", "arcs",
            "wide"}
            What they are: sizes of the next level, of a walk, below it for starts, or of
            communities; nets with counters; slots of hash rows; arcs of a clique graph before and
            after equal ones are merged, and whether their weights are wide.
        graph : Graph or Hypergraph
        otherwise : list of int
        """
        return otherwise

    def active(self) -> AbstractContextManager[Any]:
        """Context in which the space's device is the current one of the calling thread."""
        return nullcontext()

    @property
    def dry_runs(self) -> DryRuns | None:
        """Compiles the code of calls ahead; None where it is compiled when it is needed."""
        return None

    @abstractmethod
    def parallel_for(self, n: int, kernel: Kernel, *args: Bound, team: int = 1) -> None:
        """Run `kernel` for the work items 0 ... n-1, `team` lanes each; asynchronous on a GPU."""

    def library_sort(self, keys: Array) -> Array | None:
        """The int64 permutation that sorts integer `keys`, stable.

        By the library that comes with the device; None if there is none, as on the CPU.
        """
        return None

    def library_sort_in_place(self, keys: Array) -> bool:
        """Sort `keys` by that library; False if there is none."""
        return False

    @abstractmethod
    def synchronize(self) -> None:
        """Wait until all launched work is done."""

    def mark(self) -> Any:
        """The time when all work launched so far is done.  Does not wait.

        Here it is now: a space that launches and goes on overrides this.
        """
        return time.perf_counter()

    def seconds_between(self, mark: Any, later: Any) -> float:
        """Seconds from one mark to a later one; waits for the latter."""
        return float(later - mark)

    @abstractmethod
    def executable(self, program: Program) -> Executable:
        """Compile `program` for this space."""

    def free_bytes(self) -> int | None:
        """At most this many bytes are available for arrays; None if unknown."""
        return None

    def give_back(self) -> int:
        """Return memory to the device that is held without use, if that is much; how many bytes."""
        return 0

    def cached_executable(self, key: Hashable, record: Callable[[], Program]) -> Executable:
        """The executable of the program that `record()` makes, compiled once per `key`."""
        if key not in self._executables:
            program = record()
            self._executables[key] = (program, self.executable(program))
        return self._executables[key][1]

    @property
    def num_compiled(self) -> int:
        """Programs and kernels that are ready: a call after which there are more had to compile."""
        return len(self._executables)

    def __deepcopy__(self, memo: dict[int, ExecutionSpace]) -> ExecutionSpace:
        """The space itself: a copy of a graph lives where the graph lives."""
        return self

    def copy(self, array: Array) -> Array:
        """A new array with the same elements."""
        result = self.empty(len(array), array.dtype)
        result[...] = array
        return result

"""The execution space as the rest of the library uses it.

All code above ``backends/`` allocates, launches, sorts and reads through one `ExecutionSpace`; no
other module tests which device it is.
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from portpart.backends.language import Kernel
from portpart.backends.language.arrays import Array, Part
from portpart.backends.programs.program import Program

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike

    from portpart.backends.programs.steps import Bound


Result = TypeVar("Result")


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
            Values that the lengths of scratch depend on.
        """


class DryRuns(Protocol):
    """Compiles the code of calls in parallel before it is needed."""

    def once(self, kind: str, call: Callable[[ExecutionSpace], None]) -> None:
        """Request the code of a call, unless that has been done for a call of its kind.

        Parameters
        ----------
        kind : str
            Everything that programs depend on.
        call : callable
            Makes the call in a space in which nothing runs.
        """


class Counters(threading.local):
    """Launches and host synchronisations of the calling thread in a space.

    Each thread has separate counts, so that those of a call are its own; for benchmarks and
    `stats`.
    """

    def __init__(self) -> None:
        self.launches = 0
        self.synchronizations = 0

    @contextmanager
    def put_back(self) -> Iterator[None]:
        """Do not count launches of this thread in the block."""
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
        Maximum number of lanes of a team.
    counters : Counters
    """

    name: str
    kind: str
    widest_team: int

    runs_behind = False
    """Whether launches return before they are done, so that the host can prepare others."""

    is_dry_run = False
    """Whether nothing runs, and the code of all that would run is requested."""

    def __init__(self) -> None:
        self.counters = Counters()
        self._executables: dict[Hashable, tuple[Program, Executable]] = {}

    @abstractmethod
    def empty(self, n: int, dtype: DTypeLike) -> Array:
        """Return an uninitialised array of `n` elements."""

    @abstractmethod
    def full(self, n: int, value: float, dtype: DTypeLike) -> Array:
        """Return an array of `n` elements, all `value`."""

    def zeros(self, n: int, dtype: DTypeLike) -> Array:
        """Return an array of `n` zeros."""
        return self.full(n, 0, dtype)

    def allocate(self, parts: Sequence[Part], zeros: bool = False) -> list[Array]:
        """Return an uninitialised array, or one of zeros, for each length and type of `parts`.

        A space may cut small arrays from one allocation, which is freed with the last of them.
        """
        make = self.zeros if zeros else self.empty
        return [make(length, dtype) for length, dtype in parts]

    @abstractmethod
    def asarray(self, values: ArrayLike | None, dtype: DTypeLike | None = None) -> Array:
        """Return `values` as a contiguous array of this space; copies only if necessary."""

    def with_slack(self, values: np.ndarray, slack: int) -> Array:
        """Return host `values` with this many uninitialised elements after them."""
        array = self.empty(len(values) + slack, values.dtype)
        array[: len(values)] = self.asarray(values)
        return array

    @abstractmethod
    def to_host(self, array: Array) -> np.ndarray:
        """Return a NumPy copy (on the CPU, the array itself); waits for earlier work."""

    def fetch(self, array: Array) -> Callable[[], np.ndarray]:
        """Begin to copy a contiguous array to the host; return a function that waits and returns
        it.

        It does not wait for work that is launched later.
        """
        return partial(self.to_host, array)

    def read(self, array: Array, expected_size: Callable[[], list[int]]) -> list[int]:
        """Return the numbers of a short array; in a dry run, the guess."""
        numbers: list[int] = self.to_host(array).tolist()
        return numbers

    def read_all(self, array: Array, expected: int) -> np.ndarray:
        """Return the numbers of a long array; in a dry run, all of them as expected."""
        return self.to_host(array)

    def guess(self, what: str, graph: Any, otherwise: list[int]) -> list[int]:
        """Return guesses of numbers that the device would count, in a dry run; here `otherwise`.

        Parameters
        ----------
        what : {"clusters", "start", "communities", "nets", "large", "slots", "pairs", "arcs",
            "wide"} The meaning of the numbers: sizes of the next level, of a walk, below it for
            starts, or of communities; nets with counters; slots of hash rows; arcs of a clique
            graph before and after equal ones are merged, and whether their weights are wide.
        graph : Graph or Hypergraph
        otherwise : list of int
        """
        return otherwise

    def active(self) -> AbstractContextManager[Any]:
        """Return a context in which the space's device is the current one of the calling thread."""
        return nullcontext()

    @property
    def dry_runs(self) -> DryRuns | None:
        """Return the object that compiles code of calls ahead; None if code is compiled when
        needed.
        """
        return None

    @abstractmethod
    def parallel_for(self, n: int, kernel: Kernel, *args: Bound, team: int = 1) -> None:
        """Run `kernel` for the work items 0 ... n-1, with teams of `team` lanes; asynchronous on a
        GPU.
        """

    def library_sort(self, keys: Array) -> Array | None:
        """Return the stable int64 permutation that sorts integer `keys`, from the device's library.

        None if it has no library, as on the CPU.
        """
        return None

    def library_sort_in_place(self, keys: Array) -> bool:
        """Sort `keys` with that library; return False if there is none."""
        return False

    @abstractmethod
    def synchronize(self) -> None:
        """Wait until all launched work is done."""

    def mark(self) -> Any:
        """Return the time when all work launched so far will be done. Does not wait.

        Here it is the present time; a space with asynchronous launches overrides this.
        """
        return time.perf_counter()

    def while_waiting(self, work: Callable[[], object]) -> AbstractContextManager[None]:
        """Return a context in which this thread does some work when it first waits for the device.

        Spaces that never wait ignore the work.
        """
        return nullcontext()

    def seconds_between(self, mark: Any, later: Any) -> float:
        """Return the seconds from one mark to a later one; waits for the later one."""
        return float(later - mark)

    def run_tasks(self, tasks: Sequence[Callable[[], Result]], max_concurrent: int,
                  ) -> Generator[Result, None, None]:
        """Execute independent tasks and yield their results in the order of the tasks.

        Here one task follows the other, each when its result is requested. A space of several
        threads may execute up to `max_concurrent` tasks at the same time.
        """
        for task in tasks:
            yield task()

    @abstractmethod
    def executable(self, program: Program) -> Executable:
        """Compile `program` for this space."""

    def free_bytes(self) -> int | None:
        """Return the bytes available for arrays, at most; None if unknown."""
        return None

    def give_back(self) -> int:
        """Return unused memory to the device if it is much; return the number of bytes."""
        return 0

    def cached_executable(self, key: Hashable, record: Callable[[], Program]) -> Executable:
        """Return the executable of the program that `record()` makes, compiled once per `key`."""
        if key not in self._executables:
            program = record()
            self._executables[key] = (program, self.executable(program))
        return self._executables[key][1]

    @property
    def num_compiled(self) -> int:
        """Return the number of compiled programs and kernels: a call that increases it had to
        compile.
        """
        return len(self._executables)

    def __deepcopy__(self, memo: dict[int, ExecutionSpace]) -> ExecutionSpace:
        """Return the space itself: a copy of a graph is in the graph's space."""
        return self

    def copy(self, array: Array) -> Array:
        """Return a new array with the same elements."""
        result = self.empty(len(array), array.dtype)
        result[...] = array
        return result

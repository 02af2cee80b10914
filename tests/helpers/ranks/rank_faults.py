"""What goes wrong on one of several ranks in calls of theirs, and what all ranks must raise."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

import portpart
from portpart import generators
from tests.helpers.ranks.process_calls import comm_of

SECONDS = 10
RANKS = 3

Case = Callable[["Run"], Any]


class Run:
    """One run of a fault.

    Attributes
    ----------
    number, culprit : int
        Of the run, and of the rank at which it goes wrong.
    is_here : bool
        Whether this is that rank.
    rows : RankGraph
    folder : Path
    rng : numpy.random.Generator
        The same on all ranks.
    """

    def __init__(self, number: int, world: Any, rows: Any, folder: Path) -> None:
        self.number, self.culprit = number, number % world.size
        self.world, self.rows, self.folder = world, rows, folder
        self.comm, self.is_here = comm_of(world), world.rank == self.culprit
        self.rng = np.random.default_rng(number)

    def arrays(self) -> list[Any]:
        """Rows of this rank of a mesh, which may be changed."""
        graph = generators.delaunay(600)
        begin, end = (graph.num_vertices * (self.world.rank + i) // self.world.size for i in (0, 1))
        offsets = np.asarray(graph.offsets[begin : end + 1]).astype(np.int64)
        return [offsets - offsets[0], np.array(graph.targets[offsets[0] : offsets[-1]])]

    def make(self, *arrays: Any, comm: Any = None) -> None:
        portpart.distributed_graph(*arrays, comm=self.comm if comm is None else comm).free()

    def read(self, name: str) -> None:
        portpart.read_distributed(self.folder / name, comm=self.comm).free()


class Exploding:
    """An array that cannot be read."""

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise ZeroDivisionError("it explodes")


def raises(run: Run) -> None:
    """An argument of a rank raises."""
    offsets, targets = run.arrays()
    run.make(offsets, Exploding() if run.is_here else targets)


def raises_amid(run: Run) -> None:
    """A rank raises amid the steps of a partition."""
    place = ["cluster_ranks", "contract_ranks"][run.number % 2]
    with patched(f"portpart.algorithms.coarsening.ranks.hierarchy.{place}",
                 explode if run.is_here else None):
        portpart.partition(run.rows, 4)


def explode(*_: Any, **__: Any) -> Any:
    raise ZeroDivisionError("it explodes")


def reports_badly(run: Run) -> None:
    """Rank 0 cannot tell about progress."""
    portpart.partition(run.rows, 4, progress=explode)


def memory(run: Run) -> None:
    """A rank runs out of memory, anywhere in a partition."""
    from portpart.backends.cpu import space

    allocate, left = space.allocate, [int(run.rng.integers(1, 250))]

    def allocate_or_not(*given: Any) -> Any:
        left[0] -= 1
        if left[0] <= 0:
            raise MemoryError
        return allocate(*given)

    with patched("portpart.backends.cpu.space.allocate",
                 allocate_or_not if run.is_here else None):
        portpart.partition(run.rows, 4)


def memory_of_numpy(run: Run) -> None:
    """NumPy finds no memory on a rank while a graph is made."""
    with patched("portpart.graphs.checked_rows",
                 no_memory if run.is_here else None):
        run.make(*run.arrays())


def no_memory(*_: Any, **__: Any) -> Any:
    raise MemoryError("Unable to allocate 8.00 EiB")


def other_k(run: Run) -> None:
    portpart.partition(run.rows, 4 + run.is_here)


def above_n(run: Run) -> None:
    portpart.partition(run.rows, 2**30)


def asymmetric(run: Run) -> None:
    """The weight of an arc differs from that of its reverse."""
    offsets, targets = run.arrays()
    weights = np.full(len(targets), 7)
    weights[run.rng.integers(len(weights) // 2)] += run.is_here
    run.make(offsets, targets, weights)


def no_reverse(run: Run) -> None:
    """An arc has no reverse arc."""
    offsets, targets = run.arrays()
    place = int(run.rng.integers(len(targets) // 2))
    if run.is_here:
        targets[place] = (targets[place] + 300) % 600
    run.make(offsets, targets)


def out_of_range(run: Run) -> None:
    offsets, targets = run.arrays()
    targets[int(run.rng.integers(len(targets) // 2))] += 600 * run.is_here
    run.make(offsets, targets)


def other_types(run: Run) -> None:
    """One rank has weights, the others have none, or the other way round."""
    offsets, targets = run.arrays()
    run.make(offsets, targets, np.ones(len(targets)) if run.is_here else None)


def freed(run: Run) -> None:
    comm = run.world.Dup()
    comm.Free()
    run.make(*run.arrays(), comm=comm)


def interrupted(run: Run) -> None:
    """Ctrl-C reaches one rank, anywhere in a partition or between two of them."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs ignore it
    delay = float(run.rng.uniform(0, 0.15))
    timer = threading.Timer(delay, lambda: os.kill(os.getpid(), signal.SIGINT))
    with portpart.distributed_graph(*run.arrays(), comm=run.comm) as rows:
        if run.is_here:
            timer.start()
        while True:
            portpart.partition(rows, 4)


def leaves(run: Run) -> None:
    """Code of a rank between two calls raises, before others come to the next call or after."""
    rows = portpart.distributed_graph(*run.arrays(), comm=run.comm)
    with suppress(ZeroDivisionError), rows:
        portpart.partition(rows, 3)
        if run.is_here:
            explode()
        time.sleep(run.number % 2 * 0.1)
        portpart.partition(rows, 4)
    portpart.partition(rows, 4)


def short_file(run: Run) -> None:
    """A file ends too early."""
    run.read(["short.parhip", "short.npz", "short.graph"][run.number % 3])


def damaged_file(run: Run) -> None:
    """A file has a number that is none, or a wrong one, in the lines of one rank."""
    run.read([f"word{run.culprit}.graph", f"target{run.culprit}.parhip"][run.number // 3 % 2])


def unwritable(run: Run) -> None:
    """A rank cannot write its lines."""
    result = portpart.partition(run.rows, 4)
    from portpart.errors import InputError

    def full(*_: Any) -> None:
        raise InputError("x.part cannot be written: No space left on device")

    before = sorted(path.name for path in run.folder.iterdir())
    with patched("portpart.io.rank_partition_file._write", full if run.is_here else None):
        try:
            result.save(run.folder / "x.part")
        finally:
            run.world.Barrier()
            assert sorted(path.name for path in run.folder.iterdir()) == before


class patched:  # noqa: N801 - like those of contextlib
    """Put something in the place of a name of a module, unless it is None."""

    def __init__(self, name: str, value: Any) -> None:
        module, _, self._name = name.rpartition(".")
        self._module, self._value = sys.modules[module], value

    def __enter__(self) -> None:
        self._before = getattr(self._module, self._name)
        if self._value is not None:
            setattr(self._module, self._name, self._value)

    def __exit__(self, *_: object) -> None:
        setattr(self._module, self._name, self._before)


FAULTS: dict[Case, tuple[str, str]] = {
    raises: ("RankFailed", "rank {}: ZeroDivisionError: it explodes"),
    raises_amid: ("RankFailed", "rank {}: ZeroDivisionError: it explodes"),
    reports_badly: ("RankFailed", "rank 0: ZeroDivisionError: it explodes"),
    memory: ("OutOfMemory", "rank {}: "),
    memory_of_numpy: ("OutOfMemory", "rank {}: main memory does not suffice"),
    other_k: ("InputError", "rank [12]: k is [45], and [45] on rank 0"),
    above_n: ("InputError", "rank 0: k is 1073741824 for a graph of 4000 vertices"),
    asymmetric: ("InputError", "rank [0-2]: vertex .* of weight [78] .*rows are not symmetric"),
    no_reverse: ("InputError", "rank [0-2]: .*rows are not symmetric"),
    out_of_range: ("InputError", "rank {}: [0-9]+, a neighbour of vertex"),
    other_types: ("InputError", "rank [0-2]: there are (no|some) edge weights"),
    freed: ("CommunicationError", "comm is MPI.COMM_NULL: it has been freed"),
    interrupted: ("KeyboardInterrupt", ""),
    leaves: ("RankFailed", "rank {} has left the block of the graph by ZeroDivisionError: it expl"),
    short_file: ("GraphFormatError", "rank [0-2]: .*short"),
    damaged_file: ("GraphFormatError", "rank {}: .*(word|target)"),
    unwritable: ("InputError", "rank {}: x.part cannot be written"),
}
"""What each fault ends as; {} stands for the rank at which it goes wrong."""

BY_NAME = {case.__name__: case for case in FAULTS}


def numbers_of(name: str, runs: int) -> range:
    """Numbers of the runs of a fault; those of a few runs begin with another rank each."""
    first = [*BY_NAME].index(name)
    return range(first, first + runs)


def outcome(case: Case, run: Run) -> list[Any]:
    """Class, text and seconds of what a fault raises on this rank."""
    begin = time.monotonic()
    try:
        case(run)
    except BaseException as problem:
        return [type(problem).__name__, str(problem), time.monotonic() - begin]
    return ["nothing", "", time.monotonic() - begin]


def on_rank(names: list[str], runs: int, folder: Path, world: Any) -> dict[str, list[Any]]:
    """Be a rank; returns the outcomes of all faults."""
    from portpart.algorithms.coarsening.ranks.hierarchy import Fold
    from portpart.algorithms.recipes import portpart_ranks

    portpart_ranks.fold_for = lambda space: Fold(500, 2**30)
    rows = portpart.read_distributed(folder / "whole.parhip", comm=comm_of(world))
    wanted = portpart.partition(rows, 4).cut
    first = Run(0, world, rows, folder)
    first.make(*first.arrays())  # kernels are loaded before seconds count
    answers: dict[str, list[Any]] = {name: [] for name in names}
    for name in names:
        for number in numbers_of(name, runs):
            answers[name].append(outcome(BY_NAME[name], Run(number, world, rows, folder)))
            assert world.allreduce(1) == world.size
        assert portpart.partition(rows, 4).cut == wanted, name
    return answers


def as_wanted(runs: int, names: list[str], answers: dict[int, Any]) -> dict[str, int]:
    """How many runs of each fault have ended as they must, by what ranks tell."""
    return {name: sum(is_as_wanted(name, number, [answers[rank][name][place]
                                                  for rank in range(RANKS)])
                      for place, number in enumerate(numbers_of(name, runs))) for name in names}


def is_as_wanted(name: str, number: int, outcomes: list[Any]) -> bool:
    """Whether all ranks have ended as they must; prints what is otherwise."""
    kind, text = FAULTS[BY_NAME[name]]
    pattern = text.replace("{}", str(number % RANKS))
    good = (all(found == kind and re.match(pattern, said) and seconds < SECONDS
                for found, said, seconds in outcomes)
            and len({said for _, said, _ in outcomes}) == 1)
    if not good:
        print(f"{name}, run {number}: {outcomes}", file=sys.stderr)
    return good

"""A space that runs nothing and whose arrays take no memory; it counts what they would take.

An algorithm uses it like any other space: programs are recorded without arrays, and allocations and
their ends are added up. Numbers that a device would count, such as those of clusters, come from
measured levels or from shares.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from portpart.backends.language import Kernel
from portpart.backends.programs import Array, Executable, ExecutionSpace, Program, ProgramTable
from portpart.graphs import EDGE_WEIGHT, MAX_ARCS, MAX_INT32, Hypergraph

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from portpart.backends.programs import Bound, Result

SMALL = 2**16
"""Smaller arrays (in bytes) have memory: the host may write into them."""

SORTING_WORDS = 4
"""Words per key during a library's sort: copies of keys and places, and as many again."""

START_SHARES, COMMUNITY_SHARES = (0.4, 0.75), (0.7, 0.7)
"""Shares of vertices and arcs that levels keep without a walk: for starts, and for communities."""

LARGE_SHARE = 0.1
"""Share of the pins in nets with separate counters, unless it is known."""

Sizes = tuple[int, ...]
"""Sizes of a level: vertices and arcs, or vertices, nets and pins."""


@dataclass(frozen=True)
class Shrinking:
    """How levels shrink.

    Attributes
    ----------
    shares : tuple of float
        Share of each size that a level keeps of the previous one, without a walk.
    end : int
        Vertices at which coarsening ends; without a walk, those of the coarsest graph.
    walk : sequence of tuple of int
        Sizes of the levels of a walk, finest first.
    degrees : sequence of int
        The highest degree on each of these levels.
    slots : dict
        Slots of hash rows in main memory, by sizes of a level, if known.
    below : sequence of tuple of int
        Sizes of the levels that starts grow on.
    pairs, pairs_kept : float
        Arcs of the clique graph per pin before merging, and the share of them that remains.
    large : int, optional
        Number of nets with counters, if known.
    """

    shares: tuple[float, ...]
    end: int = 1
    walk: Sequence[Sizes] = ()
    degrees: Sequence[int] = ()
    slots: dict[Sizes, int] = field(default_factory=dict)
    below: Sequence[Sizes] = ()
    pairs: float = 8
    pairs_kept: float = 0.6
    large: int | None = None


def kept(shares: Sequence[float], sizes: Sizes, end: int = 1) -> Sizes:
    """Return the sizes of the next level by shares.

    There are at least `end` vertices, and at most as many arcs as pairs of vertices.
    """
    n, *others = (int(share * size) for share, size in zip(shares, sizes))
    n = max(n, min(end, sizes[0] - 1))
    return (n, *others) if len(others) > 1 else (n, *(min(arcs, n * n) for arcs in others))


class Unwritten(np.ndarray):
    """An array whose elements share one place in memory; the host must not write into it."""

    def __setitem__(self, where: Any, values: Any) -> None:
        """Do nothing."""

    def sort(self, *args: Any, **kwargs: Any) -> None:
        """Do nothing."""


class _Counted(weakref.ref[np.ndarray]):
    """Reference to an array; `weakref.finalize` takes several times as long."""

    __slots__ = ("address", "num_bytes")
    address: int
    num_bytes: int


class SizingSpace(ExecutionSpace):
    """Counts the bytes of all allocated arrays.

    Parameters
    ----------
    shrinking : Shrinking
    threads : int
        Tasks at the same time, at most.

    Attributes
    ----------
    live, most : int
        Bytes now, and the maximum since the last progress.
    highest : int
        Maximum number of bytes since a task has begun.
    hierarchy : int
        Maximum number of bytes when a level had been made.
    coarsening, refinement : int
        Maximum while levels were made, and in the time between.
    """

    kind = "cpu"
    name = "sizes"
    widest_team = 1
    is_dry_run = True

    def __init__(self, shrinking: Shrinking, threads: int = 1) -> None:
        super().__init__()
        self.shrinking, self.threads = shrinking, threads
        self.live = self.most = self.hierarchy = self.coarsening = self.refinement = 0
        self.highest = 0
        self._depths: dict[tuple[int, Sizes], int] = {}
        self._made: dict[int, _Counted] = {}

    def enter(self, phase: str, level: int, num_levels: int) -> None:
        """Record progress of a call: a level was made, or another phase has begun or ended."""
        if phase.endswith("coarsening"):
            self.hierarchy = max(self.hierarchy, self.live)
            self.coarsening = max(self.coarsening, self.most)
        else:
            self.refinement = max(self.refinement, self.most)
        self.most = self.live

    def empty(self, n: int, dtype: DTypeLike) -> Array:
        n, kind = int(n), np.dtype(dtype)
        owner = np.zeros(n if n * kind.itemsize < SMALL else 1, kind)
        self.live += n * kind.itemsize
        self.most, self.highest = max(self.most, self.live), max(self.highest, self.live)
        counted = self._made[id(owner)] = _Counted(owner, self._end)
        counted.address, counted.num_bytes = id(owner), n * kind.itemsize
        return owner if len(owner) == n else Unwritten((n,), kind, owner, strides=(0,))

    def full(self, n: int, value: float, dtype: DTypeLike) -> Array:
        return self.empty(n, dtype)

    def asarray(self, values: Any, dtype: DTypeLike | None = None) -> Array:
        array = np.asarray(values, dtype)
        owner: Any = array
        while getattr(owner, "base", None) is not None:
            owner = owner.base
        if id(owner) in self._made:
            return array  # only arrays of the host are copied
        made = self.empty(array.size, array.dtype)
        if array.nbytes < SMALL:
            made[:] = array.reshape(-1)
        result: Array = made.reshape(array.shape)
        return result

    def to_host(self, array: Array) -> np.ndarray:
        assert isinstance(array, np.ndarray)
        return array

    def read(self, array: Array, guess: Callable[[], list[int]]) -> list[int]:
        return guess()

    def read_all(self, array: Array, expected: int) -> np.ndarray:
        return np.full(len(array), expected)

    def guess(self, what: str, graph: Any, otherwise: list[int]) -> list[int]:
        known = self.shrinking
        if isinstance(graph, Hypergraph):
            return self._of_nets(what, graph, otherwise)
        sizes = graph.num_vertices, graph.num_arcs
        if what == "slots":
            return [known.slots.get(sizes, otherwise[0])]
        if what == "communities":
            return [*kept(COMMUNITY_SHARES, sizes), *otherwise[2:]]
        if what == "start":
            _, found = self._after(known.below, sizes)
            return [*(found or kept(START_SHARES, sizes)), *otherwise[2:]]
        coarse, degree = self.coarser(sizes)
        return [*coarse, degree, *otherwise[3:]]

    def coarser(self, sizes: Sizes) -> tuple[Sizes, int]:
        """Return the sizes of the next level, and its highest degree."""
        known = self.shrinking
        depth, found = self._after(known.walk, sizes)
        if not found:
            found = kept(known.shares, sizes, known.end)
            return found, min(found)
        return found, known.degrees[depth]

    def _after(self, walk: Sequence[Sizes], sizes: Sizes) -> tuple[int, Sizes]:
        """Return depth and sizes of the next level on a walk, which may be that of another graph.

        The first level is matched with the level of the walk that is nearest in size. The last
        level is followed by itself, because coarsening has ended there.
        """
        if len(walk) < 2:
            return 0, ()
        depth = self._depths.get((id(walk), sizes))
        if depth is None:
            depth = min(range(len(walk)), key=lambda depth: abs(math.log(
                max(1, sizes[0]) / max(1, walk[depth][0]))))
        below = min(depth + 1, len(walk) - 1)
        found = tuple(-(-size * after // max(1, before))
                      for size, before, after in zip(sizes, walk[depth], walk[below]))
        self._depths[id(walk), found] = below
        return below, found

    def _of_nets(self, what: str, graph: Hypergraph, otherwise: list[int]) -> list[int]:
        known, sizes = self.shrinking, (graph.num_vertices, graph.num_nets, graph.num_pins)
        if what == "large":
            by_share = 1 + min(graph.num_nets, int(LARGE_SHARE * graph.num_pins) // 65)
            return [by_share if known.large is None else known.large]
        if what == "slots":
            return [known.slots.get(sizes, otherwise[0])]
        if what == "pairs":
            return [min(MAX_ARCS, int(known.pairs * graph.num_pins))]
        if what == "wide":
            return [int(2 * EDGE_WEIGHT * graph.total_net_weight > MAX_INT32)]
        if what == "arcs":
            return [int(known.pairs_kept * otherwise[0])]
        if otherwise[0] == graph.num_vertices:  # only nets were merged
            return [*sizes, *otherwise[3:]]
        return [*self.coarser(sizes)[0], *otherwise[3:]]

    def library_sort(self, keys: Array) -> Array:
        scratch = self.empty(SORTING_WORDS * len(keys), np.int64)
        del scratch
        return self.empty(len(keys), np.int64)

    def library_sort_in_place(self, keys: Array) -> bool:
        scratch = self.empty(len(keys), np.int64)
        del scratch
        return True

    def parallel_for(self, n: int, kernel: Kernel, *args: Bound, team: int = 1) -> None:
        """Do nothing."""

    def run_tasks(self, tasks: Sequence[Callable[[], Result]], max_concurrent: int,
                  ) -> Generator[Result, None, None]:
        """Run task after task, and add the bytes that others take at the same time."""
        others, of_one = min(self.threads, max_concurrent, len(tasks)) - 1, 0
        for task in tasks:
            begin, of_others = self.live, others * of_one
            self.live += of_others
            self.highest = self.live
            result = task()
            self.live -= of_others
            of_one = max(of_one, self.highest - of_others - begin)
            yield result

    def executable(self, program: Program) -> Executable:
        return _Unrun(self, program)

    def synchronize(self) -> None:
        """Do nothing."""

    def _end(self, counted: _Counted) -> None:
        del self._made[counted.address]
        self.live -= counted.num_bytes


class _Unrun:
    """A program that does not run; its scratch memory is counted."""

    def __init__(self, space: SizingSpace, program: Program) -> None:
        self.space, self.table = space, ProgramTable(program.used_slots())

    def run(self, bindings: Mapping[str, Bound], size: int, sizes: Any = None) -> None:
        """Count the scratch memory of a run."""
        self.space.empty(self.table.place_scratch(sizes)[-1], np.uint8)

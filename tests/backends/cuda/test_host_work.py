"""What a GPU's host saves: allocations, and time in which it would wait."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from bench.recipes import copied, run
from portpart import generators
from portpart.algorithms.multilevel import refiners
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.refinement import Refiner
from portpart.backends.cuda import space as cuda_space
from portpart.backends.programs import LINE
from portpart.backends.programs.interface import ExecutionSpace
from tests.helpers.emulation.stand_in_gpu import StandInGpu
from tests.helpers.spaces import reference

PARTS = [(5, np.dtype(np.int8)), (0, np.dtype(np.int64)), (40, np.dtype(np.int32)),
         (3, np.dtype(np.float64)), (1, np.dtype(np.int8))]


@pytest.mark.parametrize("zeros", [False, True])
def test_small_arrays_of_one_allocation_do_not_overlap(zeros: bool) -> None:
    space = StandInGpu()
    made = space.allocate(PARTS, zeros)
    assert [(len(each), each.dtype) for each in made] == PARTS
    spans = [(each.data.ptr, each.data.ptr + each.nbytes) for each in made]
    assert all(a[1] <= b[0] or b[1] <= a[0] for a, b in combinations(spans, 2))
    assert all((begin - spans[0][0]) % LINE == 0 for begin, _ in spans)
    if zeros:
        assert not any(space.to_host(each).any() for each in made)


def test_large_arrays_are_freed_one_by_one() -> None:
    space = StandInGpu()
    large, small = space.allocate([(cuda_space.SMALL, np.dtype(np.int8)), (1, np.dtype(np.int8))])
    assert large.data.memory is large.inner
    assert small.data.memory is small.inner


def test_work_is_done_once_at_the_first_wait() -> None:
    space, done = StandInGpu(), []
    array = space.full(3, 7, np.int32)
    with space.while_waiting(lambda: done.append(space.to_host(array)[0])):
        assert not done
        space.to_host(array)
        space.to_host(array)
    assert done == [7]


def test_work_inside_leaves_that_around_for_a_later_wait() -> None:
    space, done = StandInGpu(), []
    array = space.full(3, 7, np.int32)
    with space.while_waiting(lambda: done.append("around")):
        with space.while_waiting(lambda: done.append("inside")):
            space.fetch(array)()
            space.to_host(array)
            assert done == ["inside"]
        space.fetch(array)()
    assert done == ["inside", "around"]


def test_work_is_forgotten_without_a_wait() -> None:
    space, done = StandInGpu(), []
    with space.while_waiting(lambda: done.append(1)):
        pass
    space.to_host(space.full(3, 7, np.int32))
    assert not done


@pytest.mark.parametrize(("make", "early"), [(reference, False), (StandInGpu, True)])
def test_the_refiner_is_made_before_the_first_coarser_graph_is_known(
        make: type[ExecutionSpace], early: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []

    class Noting(Refiner):
        def __init__(self, *args: object, **options: object) -> None:
            events.append("refiner")
            super().__init__(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(refiners, "Refiner", Noting)
    graph = copied(generators.grid_2d(40, 40), make())
    note = Trace(graph.space, graph, lambda phase, *_: events.append(phase))
    run(graph, 2, "portpart", "fast", 1, note)
    assert events.count("refiner") == 1
    assert (events.index("refiner") < events.index("coarsening", 1)) == early

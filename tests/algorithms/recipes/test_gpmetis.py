"""GP-metis from end to end: true results on all sorts of graphs, and to the CPU and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import portpart
from portpart import backends
from portpart.algorithms.multilevel.problem import Constraints, Problem
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.multilevel.walk import partition_multilevel
from portpart.algorithms.objectives.communication import communication_cost
from portpart.algorithms.objectives.cut import CUT
from portpart.algorithms.objectives.distances import distances_on
from portpart.algorithms.objectives.objective import Objective
from portpart.algorithms.recipes.gpmetis import GpmetisConfig, gpmetis as recipe
from portpart.backends.programs.arguments import Bindings
from portpart.backends.programs.interface import ExecutionSpace
from portpart.backends.programs.program import Program
from portpart.generators import delaunay
from portpart.graphs.topology import Topology
from portpart.options import changed
from tests.api.test_edge_cases import partition
from tests.conftest import cuda_space
from tests.helpers.emulation.host_cuda import COMPILER, NO_COMPILER, HostCudaSpace
from tests.helpers.metis_calls import watching_metis
from tests.helpers.refining import balance_of
from tests.helpers.spaces import reference

MESH = delaunay(3000)


def gpmetis(graph: Any, k: int, **options: Any) -> portpart.PartitionResult:
    """The result, checked against plain answers."""
    return partition(graph, k, algorithm="gpmetis", **options)


def test_starts_are_counted_on_the_cpu() -> None:
    assert gpmetis(MESH, 6, starts=1).feasible
    assert gpmetis(MESH, 6, starts=12).feasible


def test_a_configuration_tells_the_algorithm() -> None:
    config = changed(GpmetisConfig(handoff_vertices=500), {
        "coarsening.coarsest_per_block": 20, "coarsening.min_coarsest": 0})
    sizes = [level["vertices"] for level in portpart.partition(MESH, 4, preset=config)
             .stats["levels"]]
    assert all(fine <= 2 * coarse for fine, coarse in pairwise(sizes))
    assert any(80 < size <= 500 for size in sizes)
    assert 20 <= sizes[-1] <= 80


def test_as_published_metis_partitions_what_is_handed_over() -> None:
    """Once, by its k-way method: mt-metis has all that the CPU does."""
    with watching_metis() as asked:
        result = portpart.partition(delaunay(40_000), 6, algorithm="gpmetis", preset="paper")
    sizes = [level["vertices"] for level in result.stats["levels"]]
    assert [each[:3] for each in asked] == [(6, sizes[-1], False)]
    assert len(sizes) > 2
    assert sizes[-1] <= 16384 < sizes[-2]


class FarArray(np.ndarray):
    """An array of the device of these tests."""

    def __setitem__(self, key: Any, value: Any) -> None:
        assert isinstance(value, FarArray) or not isinstance(value, np.ndarray)
        super().__setitem__(key, value)


class NearSpace(HostCudaSpace):
    """The CPU beside it, which must not touch arrays of the device."""

    def owns(self, array: Any) -> bool:
        return not isinstance(array, FarArray)

    def check(self, arrays: Iterable[Any]) -> None:
        assert all(self.owns(array) for array in arrays if isinstance(array, np.ndarray))

    def parallel_for(self, n: int, kernel: Any, *args: Any, team: int = 1) -> None:
        self.check(kernel.flattened(args))
        super().parallel_for(n, kernel, *args, team=team)

    def executable(self, program: Program) -> Any:
        return CheckedExecutable(self, program, super().executable(program))


class FarSpace(NearSpace):
    """A device with a memory of its own: it takes its own arrays only, and hands out copies."""

    name, kind = "far", "cuda"

    def owns(self, array: Any) -> bool:
        return isinstance(array, FarArray)

    def empty(self, n: int, dtype: Any) -> Any:
        return super().empty(n, dtype).view(FarArray)

    def full(self, n: int, value: Any, dtype: Any) -> Any:
        return super().full(n, value, dtype).view(FarArray)

    def asarray(self, values: Any, dtype: Any = None) -> Any:
        if isinstance(values, FarArray) and dtype in (None, values.dtype):
            return values
        return np.array(values, dtype).view(FarArray)

    def to_host(self, array: Any) -> np.ndarray:
        self.check([array])
        return np.array(array)


class CheckedExecutable:
    """A program that takes arrays of its space only."""

    def __init__(self, space: NearSpace, program: Program, inner: Any) -> None:
        self.space, self.inner = space, inner
        self.bindings = Bindings(program.used_slots())

    def run(self, bindings: dict[str, Any], size: int, sizes: Any = None) -> None:
        """Run with `bindings`."""
        self.space.check(self.bindings.read(bindings))
        self.inner.run(bindings, size, sizes)


def found_in(space: ExecutionSpace, config: GpmetisConfig,
             objective: Callable[[ExecutionSpace], Objective] = lambda _: CUT,
             **wanted: Any) -> Any:
    """Partition and levels that the recipe finds in a space, from a request in host memory."""
    graph = delaunay(3000).to(space)
    arrays: dict[str, Any] = {name: space.asarray(value, np.int32)
                              for name, value in wanted.items()}
    trace = Trace(space, graph, None)
    problem = Problem(graph, balance_of(graph, 6), 4, trace, Constraints(**arrays),
                      objective=objective(space))
    part = partition_multilevel(problem, recipe(problem, config))
    return space.to_host(part), [level["vertices"] for level in trace.summary()["levels"]]


FIXED = np.where(np.arange(3000) % 40 == 0, np.arange(3000) // 500, -1)
WANTED: dict[str, dict[str, Any]] = {
    "plain": {}, "fixed": {"fixed": FIXED}, "initial": {"initial": np.arange(3000) // 500},
    "both": {"fixed": FIXED, "initial": np.arange(3000) // 500},
}


@pytest.fixture(params=["far", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ExecutionSpace:
    """A space that is not the CPU's."""
    if request.param == "cuda":
        return cuda_space()
    if COMPILER is None:
        pytest.skip(NO_COMPILER)
    near = NearSpace()
    monkeypatch.setattr(backends, "host_of", lambda here: near if here is far else here)
    far = FarSpace()
    return far


@pytest.mark.parametrize("cycles", [0, 1])
@pytest.mark.parametrize("wanted", WANTED)
@pytest.mark.parametrize("handoff", [0, 1500, 10_000])
def test_the_way_to_the_cpu_and_back_changes_nothing(
    device: ExecutionSpace, handoff: int, wanted: str, cycles: int
) -> None:
    config = changed(GpmetisConfig(handoff_vertices=handoff), {
        "search.cycles": cycles, "coarsening.min_coarsest": 200})
    far, levels = found_in(device, config, **WANTED[wanted])
    here, same_levels = found_in(reference(), config, **WANTED[wanted])
    assert np.array_equal(far, here)
    assert levels == same_levels


def test_what_an_objective_looks_up_goes_along(device: ExecutionSpace) -> None:
    def costs(space: ExecutionSpace) -> Objective:
        return communication_cost(distances_on(space, Topology("2:3", "1:10")))

    config = GpmetisConfig(handoff_vertices=1500)
    far, here = (found_in(space, config, costs)[0] for space in (device, reference()))
    assert np.array_equal(far, here)
    assert not np.array_equal(here, found_in(reference(), config)[0])


def test_fine_levels_stay_on_the_device_and_coarse_ones_on_the_cpu(
    device: ExecutionSpace, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    launched = device.parallel_for

    def note(n: int, kernel: Any, *args: Any, team: int = 1) -> None:
        if kernel.name == "copy_row":
            sizes.append(n - 1)  # an item for each coarse vertex and one for the end
        launched(n, kernel, *args, team=team)

    monkeypatch.setattr(device, "parallel_for", note)
    _, levels = found_in(device, changed(GpmetisConfig(handoff_vertices=1000), {
        "coarsening.min_coarsest": 100}))
    first_small = next(size for size in levels if size <= 1000)
    assert sizes == [size for size in levels[1:] if size >= first_small]
    assert levels[-1] < first_small

"""GP-metis from end to end: true results on all sorts of graphs, and to the CPU and back."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import portpart
from portpart import GpmetisConfig, backends
from portpart.algorithms.gpmetis import gpmetis as recipe
from portpart.algorithms.request import Request
from portpart.algorithms.tracing import Trace
from portpart.backends.interface import ExecutionSpace
from portpart.backends.program import Program
from portpart.generators import delaunay, grid_2d, rmat
from tests import oracles
from tests.algorithms.refining import balance_of
from tests.algorithms.spaces import reference
from tests.backends.host_cuda import COMPILER, NO_COMPILER, HostCudaSpace
from tests.conftest import cuda_space
from tests.graphs import RawGraph, raw_graph, raw_graphs
from tests.test_edge_cases import SHAPES, partition

MESH = delaunay(3000)


def gpmetis(graph: Any, k: int, **options: Any) -> portpart.PartitionResult:
    """The result, checked against plain answers."""
    return partition(graph, k, algorithm="gpmetis", **options)


@pytest.mark.parametrize("k", [1, 2, 7])
@pytest.mark.parametrize("name", SHAPES)
def test_shapes(name: str, k: int) -> None:
    assert gpmetis(SHAPES[name], k).feasible


@pytest.mark.parametrize("k", [1, 2, 3, 60, 1000, 2999, 3000, 5000])
def test_any_number_of_blocks(k: int) -> None:
    result = gpmetis(MESH, k)
    assert result.feasible
    assert np.count_nonzero(result.block_weights) == min(k, 3000)


@given(raw=raw_graphs(12, loops=False), k=st.integers(1, 15),
       imbalance=st.sampled_from([0, 0.03, 1]))
@settings(max_examples=60)
def test_random_graphs(raw: RawGraph, k: int, imbalance: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gpmetis(raw.graph(), k, imbalance=imbalance)


def test_large_weights() -> None:
    weights = np.random.default_rng(0).integers(0, 2**45, 3000)
    tails = np.repeat(np.arange(3000), np.diff(MESH.offsets))
    edges = (tails + MESH.targets) * 2**33
    assert gpmetis(MESH, 5, vertex_weights=weights, edge_weights=edges).feasible


def test_a_vertex_heavier_than_a_block_is_named() -> None:
    weights = np.ones(3000, int)
    weights[17] = 10_000
    with pytest.warns(UserWarning, match="vertex 17 weighs 10000"):
        result = portpart.partition(MESH, 4, algorithm="gpmetis", vertex_weights=weights)
    assert not result.feasible


def test_fixed_vertices_are_where_they_have_to_be() -> None:
    fixed = np.full(3000, -1)
    fixed[::50] = np.arange(60) % 6
    result = gpmetis(MESH, 6, fixed=fixed)
    assert result.feasible
    assert np.array_equal(result.part[::50], fixed[::50])


def test_targets_are_kept() -> None:
    result = portpart.partition(MESH, 3, algorithm="gpmetis", target=[1, 2, 5])
    assert result.feasible
    assert (result.block_weights <= result.block_weight_limits).all()
    assert result.block_weights[2] > 1500


def test_an_initial_partition_is_improved_and_never_made_worse() -> None:
    first = portpart.partition(MESH, 8, algorithm="gpmetis").part
    better = gpmetis(MESH, 8, initial=first, preset="strong")
    assert better.cut <= oracles.cut(MESH, first)
    drawn = np.random.default_rng(0).integers(0, 8, 3000)
    assert gpmetis(MESH, 8, initial=drawn).cut < oracles.cut(MESH, drawn) / 2


def test_blocks_weigh_what_they_must_at_least() -> None:
    result = gpmetis(MESH, 7, min_block_weight=400, imbalance=0.2)
    assert result.feasible
    assert result.block_weights.min() >= 400


@pytest.mark.parametrize("preset", ["default", "strong"])
def test_every_preset_partitions_within_the_limit(preset: str) -> None:
    result = gpmetis(MESH, 6, preset=preset)
    assert result.feasible
    assert len(result.stats["cuts"]) == (3 if preset == "strong" else 1)


def test_starts_are_counted_on_the_cpu() -> None:
    assert gpmetis(MESH, 6, starts=1).feasible
    assert gpmetis(MESH, 6, starts=12).feasible


def test_a_configuration_tells_the_algorithm() -> None:
    config = GpmetisConfig(coarsest_per_block=20, least_coarsest=0, handoff_vertices=500)
    sizes = [level["vertices"] for level in portpart.partition(MESH, 4, preset=config)
             .stats["levels"]]
    assert all(fine <= 2 * coarse for fine, coarse in pairwise(sizes))
    assert any(80 < size <= 500 for size in sizes)
    assert 20 <= sizes[-1] <= 80


def test_both_contractions_lead_to_the_same_partition() -> None:
    parts = [portpart.partition(rmat(11, 6), 9, preset=GpmetisConfig(contraction=way)).part
             for way in ("hash", "sort", "auto")]
    assert np.array_equal(parts[0], parts[1])
    assert np.array_equal(parts[0], parts[2])


@pytest.mark.parametrize("graph", [grid_2d(60), rmat(11, 6), delaunay(6000)],
                         ids=["grid", "rmat", "mesh"])
def test_the_cut_is_near_that_of_metis(graph: portpart.Graph) -> None:
    import pymetis

    adjacency = pymetis.CSRAdjacency(graph.offsets, graph.targets)
    for k in (2, 16):
        _, part = pymetis.part_graph(k, adjacency, recursive=False)
        assert gpmetis(graph, k).cut <= 1.15 * oracles.cut(graph, part)


def test_a_barbell_is_cut_at_its_bar() -> None:
    cliques = [(c + i, c + j) for c in (0, 40) for i in range(40) for j in range(i)]
    graph = raw_graph(80, [*cliques, (3, 55)]).graph()
    assert gpmetis(graph, 2).cut == 1


def test_no_time_is_enough_for_a_partition() -> None:
    assert gpmetis(MESH, 8, preset="strong", time_limit=0).feasible


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
        self.check(args)
        super().parallel_for(n, kernel, *args, team=team)

    def executable(self, program: Program) -> Any:
        return CheckedExecutable(self, super().executable(program))


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

    def __init__(self, space: NearSpace, inner: Any) -> None:
        self.space, self.inner = space, inner

    def run(self, bindings: dict[str, Any], size: int) -> None:
        """Run with `bindings`."""
        self.space.check(bindings.values())
        self.inner.run(bindings, size)


def found_in(space: ExecutionSpace, config: GpmetisConfig, **wanted: Any) -> Any:
    """Partition and levels that the recipe finds in a space, from a request in host memory."""
    graph = delaunay(3000).to(space)
    arrays = {name: space.asarray(value, np.int32) for name, value in wanted.items()}
    trace = Trace(space, graph, None)
    part = recipe(graph, balance_of(graph, 6), 0.03, config, 4, trace, Request(**arrays))
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


@pytest.mark.parametrize("contraction", ["hash", "sort"])
@pytest.mark.parametrize("cycles", [0, 1])
@pytest.mark.parametrize("wanted", WANTED)
@pytest.mark.parametrize("handoff", [0, 1500, 10_000])
def test_the_way_to_the_cpu_and_back_changes_nothing(
    device: ExecutionSpace, handoff: int, wanted: str, cycles: int, contraction: str
) -> None:
    config = GpmetisConfig(handoff_vertices=handoff, cycles=cycles, least_coarsest=200,
                           contraction=contraction)
    far, levels = found_in(device, config, **WANTED[wanted])
    here, same_levels = found_in(reference(), config, **WANTED[wanted])
    assert np.array_equal(far, here)
    assert levels == same_levels


def test_fine_levels_stay_on_the_device_and_coarse_ones_on_the_cpu(
    device: ExecutionSpace, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    launched = device.parallel_for

    def note(n: int, kernel: Any, *args: Any, team: int = 1) -> None:
        if kernel.name == "copy_row":
            sizes.append(n)
        launched(n, kernel, *args, team=team)

    monkeypatch.setattr(device, "parallel_for", note)
    _, levels = found_in(device, GpmetisConfig(handoff_vertices=1000, least_coarsest=100))
    first_small = next(size for size in levels if size <= 1000)
    assert sizes == [size for size in levels[1:] if size >= first_small]
    assert levels[-1] < first_small

"""The start: METIS on the coarsest graph within its 32 bits, and partitions that are obvious."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from portpart.algorithms.initial.metis import (
    MAX_METIS_SUM,
    metis_partition,
    scaled,
    trivial_partition,
)
from portpart.algorithms.initial.options import InitialOptions
from portpart.algorithms.recipes.jet import JetConfig
from portpart.backends.programs.interface import ExecutionSpace
from portpart.generators import delaunay, grid_2d
from portpart.options import changed
from tests import oracles
from tests.helpers.checked import partition
from tests.helpers.graphs import raw_graph
from tests.helpers.metis_calls import watching_metis


@given(st.lists(st.integers(0, 2**55), min_size=1, max_size=50))
def test_scaled_weights_fit_metis(values: list[int]) -> None:
    weights = np.array(values)
    result = scaled(weights)
    assert result.dtype == np.int32
    assert result.sum(dtype=np.int64) < 2**31
    assert ((result > 0) == (weights > 0)).all()
    assert (np.argsort(result[np.argsort(weights)], kind="stable") == np.arange(len(values))).all()
    if sum(values) <= MAX_METIS_SUM:
        assert np.array_equal(result, weights)


@pytest.mark.parametrize("recursive", [True, False])
def test_huge_weights_partition_like_small_ones(recursive: bool) -> None:
    matrix = grid_2d(12).to_scipy().astype(np.int64)
    ones = np.ones(144, np.int64)
    small = metis_partition(matrix, ones, 4, 0.03, 1, recursive=recursive)
    huge = metis_partition(matrix * 2**50, ones * 2**54, 4, 0.03, 1, recursive=recursive)
    assert np.bincount(huge, minlength=4).max() <= 40
    assert oracles.cut(grid_2d(12), huge) <= 1.5 * oracles.cut(grid_2d(12), small)


def test_the_start_depends_on_the_seed_and_not_on_the_order_of_arcs() -> None:
    random = np.random.default_rng(0)
    edges = random.integers(0, 200, (800, 2))
    plain, shuffled = (
        raw_graph(200, edges[edges[:, 0] != edges[:, 1]], shuffle=s).graph().to_scipy()
        for s in (None, 5)
    )
    starts = [metis_partition(m, None, 5, 0.03, seed) for m, seed in
              ((plain, 1), (plain, 1), (shuffled, 1), (plain, 2))]
    assert np.array_equal(starts[0], starts[1])
    assert np.array_equal(starts[0], starts[2])
    assert not np.array_equal(starts[0], starts[3])


@pytest.mark.parametrize("recursive", [True, False])
@pytest.mark.parametrize("imbalance", [0.0, 1e-9, 0.03, 50.0, 1e300])
def test_any_imbalance_is_taken(imbalance: float, recursive: bool) -> None:
    part = metis_partition(grid_2d(10).to_scipy(), None, 3, imbalance, 0, recursive=recursive)
    assert set(part.tolist()) <= {0, 1, 2}


@pytest.mark.parametrize("seed", [0, 2**31, 2**63 - 1, 2**64])
def test_any_seed_is_taken(seed: int) -> None:
    assert len(metis_partition(grid_2d(10).to_scipy(), None, 3, 0.03, seed)) == 100


@pytest.mark.parametrize("recursive", [True, False])
def test_arcs_of_weight_zero_and_vertices_of_weight_zero(recursive: bool) -> None:
    matrix = grid_2d(10).to_scipy()
    matrix.data[:] = 0
    part = metis_partition(matrix, np.zeros(100, np.int64), 4, 0.03, 0, recursive=recursive)
    assert ((part >= 0) & (part < 4)).all()


@pytest.mark.parametrize("recursive", [True, False])
def test_a_graph_without_edges(recursive: bool) -> None:
    matrix = raw_graph(20, []).graph().to_scipy()
    part = metis_partition(matrix, None, 4, 0.03, 0, recursive=recursive)
    assert np.bincount(part, minlength=4).max() <= 6


@pytest.mark.parametrize(("method", "imbalance", "ufactor"), [
    ("metis", 0.03, 10), ("metis", 0.5, 145), ("metis-kway", 0.03, 30), ("metis-kway", 0.5, 500)])
def test_metis_is_asked_once_with_the_imbalance_of_its_method(
    method: str, imbalance: float, ufactor: int
) -> None:
    """Three bisections in a row of 1.03 ** (1 / 3) each make 8 blocks; the k-way method is one."""
    options = InitialOptions(method, starts=1)
    preset = changed(JetConfig(), {"initial": options})
    with watching_metis() as asked:
        assert partition(delaunay(2000), 8, preset=preset, imbalance=imbalance).feasible
    assert [(each.num_blocks, *each[2:]) for each in asked] == [(8, method == "metis", ufactor)]


def test_obvious_partitions(space: ExecutionSpace) -> None:
    path = raw_graph(3, [(0, 1), (1, 2)]).graph().to(space)
    empty = raw_graph(0, []).graph().to(space)

    def trivial(graph, k):
        part = trivial_partition(graph, k)
        return None if part is None else oracles.host(part).tolist()

    assert trivial(path, 1) == [0, 0, 0]
    assert trivial(path, 2) is None
    assert sorted(trivial(path, 3)) == [0, 1, 2]
    assert len(set(trivial(path, 8))) == 3
    assert trivial(empty, 4) == []

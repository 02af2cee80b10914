"""as_graph on the GPU: arrays stay there, answers are those of the host."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from portpart import backends
from portpart.errors import InputError
from portpart.inputs.convert import as_graph
from tests import oracles
from tests.helpers.gpu import require_cupy
from tests.helpers.graphs import random_graph

pytestmark = pytest.mark.gpu


@pytest.fixture
def cupy() -> Any:
    return require_cupy()


@pytest.mark.parametrize("skewed", [False, True])
def test_device_arrays_are_shared_and_checked(cupy: Any, skewed: bool) -> None:
    host = random_graph(20_000, 90_000, 1, weighted=True, vertex_weighted=True, skewed=skewed)
    parts = tuple(cupy.asarray(a) for a in (host.offsets, host.targets, host.weights))
    graph = as_graph(parts, vertex_weights=cupy.asarray(host.vertex_weights))
    assert graph.space.kind == "cuda"
    assert graph.targets.data.ptr == parts[1].data.ptr
    assert graph.total_arc_weight == host.total_arc_weight
    oracles.assert_same_graph(graph.to(backends.space("cpu")), host)


def test_cupy_matrix_and_symmetrize_equal_the_host(cupy: Any) -> None:
    sparse = pytest.importorskip("cupyx.scipy.sparse")
    matrix = random_graph(3_000, 9_000, 2, weighted=True).to_scipy().astype(float)
    matrix.data[::7] += 3
    on_host = as_graph(matrix, symmetrize="max")
    on_device = as_graph(sparse.csr_matrix(matrix), symmetrize="max")
    for name in ("offsets", "targets", "weights"):
        assert (getattr(on_device, name).get() == getattr(on_host, name)).all()
    with pytest.raises(InputError) as host_error:
        as_graph(matrix)
    with pytest.raises(InputError) as device_error:
        as_graph(sparse.csr_matrix(matrix))
    assert str(host_error.value) == str(device_error.value)


def test_edge_list_equals_the_host(cupy: Any) -> None:
    rows = np.random.default_rng(3).integers(0, 4_000, (50_000, 3))
    on_host, on_device = (as_graph(each, symmetrize="max") for each in (rows, cupy.asarray(rows)))
    assert on_device.space.kind == "cuda"
    for name in ("offsets", "targets", "weights"):
        assert (getattr(on_device, name).get() == getattr(on_host, name)).all()


def test_loops_are_dropped_on_the_device(cupy: Any) -> None:
    graph = as_graph((cupy.asarray([0, 2, 3]), cupy.asarray([0, 1, 0])))
    assert (graph.offsets.get().tolist(), graph.targets.get().tolist()) == ([0, 1, 2], [1, 0])


@pytest.mark.parametrize(("offsets", "targets", "weights", "message"), [
    ([0, 2, 1], [1, 0], None, r"indptr\[2\] = 1"),
    ([0, 1, 2], [1, 2], None, r"indices\[1\] = 2"),
    ([0, 1, 2], [1, 0], [2, -2], "weight -2"),
    ([0, 1, 2], [1, 0], [0.5, 0.5], r"edge_weights\[0\] is 0.5"),
])
def test_errors_are_those_of_the_host(
    cupy: Any, offsets: Any, targets: Any, weights: Any, message: str
) -> None:
    parts = tuple(cupy.asarray(a) for a in (offsets, targets, weights) if a is not None)
    with pytest.raises(InputError, match=message):
        as_graph(parts)


def test_arrays_that_changed_on_the_device_are_noticed(cupy: Any) -> None:
    parts = (cupy.asarray([0, 1, 2], np.int32), cupy.asarray([1, 0], np.int32))
    graph = as_graph(parts)
    parts[1][:] = 10**9
    with pytest.raises(InputError, match=r"have changed since: indices\[0\] = 1000000000"):
        as_graph(graph)


def test_weights_are_rounded_on_the_device_as_on_the_host(cupy: Any) -> None:
    matrix = random_graph(3_000, 9_000, 2, weighted=True).to_scipy() * 0.37
    parts = tuple(cupy.asarray(a) for a in (matrix.indptr, matrix.indices, matrix.data))
    for mode in ("round", "abs"):
        on_host, on_device = as_graph(matrix, weights=mode), as_graph(parts, weights=mode)
        assert on_device.weight_scale == on_host.weight_scale
        oracles.assert_same_graph(on_device.to(backends.space("cpu")), on_host)


def test_rows_with_two_readings_are_refused_on_the_device(cupy: Any) -> None:
    rows = np.array([[(i - 1) % 8, (i + 1) % 8] for i in range(8)])
    with pytest.raises(InputError, match=r"portpart\.from_adjacency"):
        as_graph(cupy.asarray(rows))

"""Edge weights as people have them: negative, fractional, of any type, and what becomes of them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, strategies as st

import portpart
from portpart import backends
from portpart.backends.programs.interface import ExecutionSpace
from portpart.errors import InputError
from portpart.graphs.weights import converted
from portpart.inputs.convert import as_graph
from tests.helpers.graphs import random_graph

CPU = backends.space("cpu")
LAPLACIAN = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(8, 8))
numbers = (st.just(0.0) | st.floats(1e-250, 1e300) | st.floats(1e-6, 100)
           | st.integers(0, 10**6).map(float))


def half_to_even(value: float, scale: float) -> int:
    """The product as float64 has it, rounded by exact arithmetic."""
    return round(Fraction(value * scale))


@given(st.lists(numbers, max_size=20))
def test_default_scale_is_the_largest_power_of_ten_within_the_limits(values: list[float]) -> None:
    integers, scale = converted(CPU, np.array(values), "round")
    assert integers.tolist() == [half_to_even(value, scale) for value in values]
    assert max(integers.tolist(), default=0) < 2**31
    assert sum(integers.tolist()) < 2**53
    if not any(values):
        assert scale == 1
        return
    exponent = round(math.log10(scale))
    assert scale == float(f"1e{exponent}")
    if exponent < 308:
        larger = float(f"1e{exponent + 1}")
        tenfold = [half_to_even(value, larger) for value in values]
        assert max(tenfold) >= 2**31 or sum(tenfold) >= 2**53


def test_default_scale_keeps_the_sum_below_two_to_53() -> None:
    values = np.full(2**23 + 3, 2.0)
    integers, scale = converted(CPU, values, "round")
    assert scale == 1e8
    assert int(integers.sum()) == 2 * 10**8 * len(values)
    values = np.full(2**23 + 3, 2.0**31 - 1)
    assert converted(CPU, values, "round")[1] == 0.1


@given(st.lists(st.floats(-(2.0**62), 2.0**62, allow_subnormal=False)
                | st.sampled_from([math.nan, math.inf, -math.inf])
                | st.integers(-9, 9).map(float), min_size=1, max_size=8))
def test_nothing_negative_becomes_positive_unless_abs_is_asked_for(values: list[float]) -> None:
    array = np.array(values)
    finite = all(map(math.isfinite, values))
    for mode in ("keep", "round"):
        try:
            integers, scale = converted(CPU, array, mode)
        except InputError:
            continue
        assert finite
        for value, integer in zip(values, integers.tolist()):
            assert integer == half_to_even(value, scale)
    if finite:
        integers, scale = converted(CPU, array, "abs")
        assert integers.tolist() == [half_to_even(abs(value), scale) for value in values]
    else:
        with pytest.raises(InputError, match="finite"):
            converted(CPU, array, "abs")


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble])
def test_every_kind_of_array_is_scaled_on_every_space(space: ExecutionSpace, dtype: Any) -> None:
    exact = np.array([0.5, 1.5, 2.5, 0.25, 3, 0, 100], dtype)
    if np.dtype(dtype).itemsize > 8 and space.kind == "cuda":
        exact = exact.astype(np.float64)
    read_only = exact.copy()
    read_only.flags.writeable = False
    for given_array in (exact, read_only, np.repeat(exact, 3)[::3], exact[::-1][::-1]):
        integers, scale = converted(space, space.asarray(given_array), "round", 1)
        assert space.to_host(integers).tolist() == [0, 2, 2, 0, 3, 0, 100]
        assert scale == 1
        integers, scale = converted(space, space.asarray(given_array), "abs", 10)
        assert space.to_host(integers).tolist() == [5, 15, 25, 2, 30, 0, 1000]
        integers, scale = converted(space, space.asarray(given_array), "round")
        assert scale == 1e7
        assert space.to_host(integers).tolist()[:3] == [5 * 10**6, 15 * 10**6, 25 * 10**6]


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
def test_absolute_values_of_whole_numbers_are_not_scaled(
    space: ExecutionSpace, dtype: Any
) -> None:
    values = space.asarray(np.array([-128, 127, 0, -1], dtype))
    integers, scale = converted(space, values, "abs")
    assert space.to_host(integers).tolist() == [128, 127, 0, 1]
    assert scale == 1
    integers, scale = converted(space, values.astype(np.float32), "abs")
    assert (space.to_host(integers).tolist(), scale) == ([128, 127, 0, 1], 1)


def test_matrix_with_negative_values_names_the_remedies_and_they_work() -> None:
    with pytest.raises(InputError, match=r'\(0, 1\) has weight -1.*"abs".*"ignore"'):
        portpart.partition(LAPLACIAN.astype(int), 2)
    with pytest.raises(InputError, match=r'"abs".*"ignore"'):
        portpart.partition(LAPLACIAN, 2)
    for mode in ("abs", "ignore", False):
        result = portpart.partition(LAPLACIAN, 2, weights=mode)
        assert (result.cut, result.stats["weight_scale"]) == (1, 1)
    with pytest.raises(InputError, match=r'"round" takes none below 0.*"abs"'):
        portpart.partition(LAPLACIAN, 2, weights="round")


def test_fractional_values_name_the_remedies_and_they_work() -> None:
    matrix = random_graph(30, 90, 3, weighted=True).to_scipy() * 0.37
    with pytest.raises(InputError, match=r'must be integers.*weights="round".*weights="ignore"'):
        portpart.partition(matrix, 2)
    negative = sp.csr_array(np.array([[0, -0.37], [-0.37, 0]]))
    with pytest.raises(InputError, match=r'is -0.37.*weights="abs".*weights="ignore"'):
        portpart.partition(negative, 2)
    result = portpart.partition(matrix, 4, weights="round", weight_scale=100)
    exact = as_graph((matrix.indptr, matrix.indices, np.rint(matrix.data * 100)))
    assert result.cut == portpart.partition(exact, 4).cut
    assert result.stats["weight_scale"] == 100


def test_mapping_tells_the_scale_of_its_traffic() -> None:
    traffic = random_graph(30, 90, 3, weighted=True).to_scipy() * 0.5
    found = portpart.map_processes(traffic, "2:2", "1:10", weights="round", weight_scale=2)
    assert found.stats["weight_scale"] == 2
    assert found.cost == portpart.map_processes(traffic * 2, "2:2", "1:10").cost


@pytest.mark.parametrize("loop", [-4, 0.5, math.nan, 10**6])
def test_loops_do_not_count(loop: float) -> None:
    matrix = sp.csr_array(np.array([[loop, 0.25], [0.25, loop]]))
    graph = as_graph(matrix, weights="round")
    assert (graph.weight_scale, graph.total_arc_weight) == (1e9, 5 * 10**8)
    whole = sp.csr_array(np.array([[loop, 2], [2, loop]]))
    assert as_graph(whole).total_arc_weight == 4
    assert as_graph([(0, 0, loop), (0, 1, 2)]).total_arc_weight == 4


def test_values_of_any_size_and_complex_ones_have_a_way() -> None:
    def two(value: Any) -> sp.csr_array:
        return sp.csr_array(np.array([[0, value], [value, 0]]))

    assert as_graph(two(3 + 4j), weights="abs").total_arc_weight == 10
    assert as_graph(two(3 + 4j), weights="ignore").weights is None
    largest = as_graph(two(np.uint64(2**64 - 1)), weights="round")
    assert (largest.total_arc_weight, largest.weight_scale) == (2 * 1844674407, 1e-10)
    assert as_graph(two(1e308), weights="round").weight_scale == 1e-299
    with pytest.raises(InputError, match="e-324, is too small"):
        as_graph(two(5e-324), weights="round")


def test_every_kind_of_input_takes_the_option() -> None:
    edges = [(0, 1, 0.5), (1, 2, 0.25)]
    networkx = nx.Graph()
    networkx.add_weighted_edges_from(edges)
    matrix = nx.to_scipy_sparse_array(networkx)
    for obj in (edges, networkx, networkx.to_directed(), matrix,
                (matrix.indptr, matrix.indices, matrix.data)):
        graph = as_graph(obj, weights="round", weight_scale=4)
        assert (graph.total_arc_weight, graph.weight_scale) == (6, 4)
        assert as_graph(obj, weights="ignore").weights is None
    again = as_graph(as_graph(edges, weights="round", weight_scale=4), weights="round",
                     weight_scale=10)
    assert (again.total_arc_weight, again.weight_scale) == (60, 40)
    assert as_graph(again, weights="ignore").weight_scale == 1


def test_scale_stays_with_the_graph() -> None:
    graph = as_graph([(0, 1, 0.5)], weights="round", weight_scale=6)
    heavier = as_graph(graph, vertex_weights=[1, 2])
    elsewhere = heavier.to(backends.space("cpu", threads=1))
    assert (heavier.weight_scale, elsewhere.weight_scale) == (6, 6)


@pytest.mark.parametrize(("options", "message"), [
    ({"weights": "squared"}, "'squared'; it must be one of keep, ignore, abs, round"),
    ({"weights": [1, 2]}, "of type list.*edge_weights"),
    ({"weight_scale": 10}, 'weight_scale goes with weights="round" or "abs"'),
    ({"weights": "round", "weight_scale": 0}, "positive"),
    ({"weights": "round", "weight_scale": "many"}, "positive"),
    ({"weights": "abs", "weight_scale": math.inf}, "positive"),
    ({"copy": "never"}, "copy is 'never'"),
    ({"weights": "ignore", "edge_weights": [1, 2]}, "ignore"),
    ({"weights": "round", "weight_scale": 1e-3}, "rounds every weight to 0; the largest is 0.5"),
    ({"weights": "round", "weight_scale": 1e20}, r"\[0\] is 0.5; times 1e\+20 .*2\*\*62"),
])
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        as_graph([(0, 1, 0.5), (1, 2, 0.25)], **options)

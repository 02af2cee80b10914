"""Every metric against an answer by hand, by plain loops, by NetworkX or by METIS."""

from __future__ import annotations

import json
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, strategies as st

import portpart
from portpart import backends, metrics
from portpart.errors import InputError
from portpart.graphs.graph import Graph
from tests import oracles
from tests.helpers.gpu import require_cupy
from tests.helpers.graphs import drawn_graphs, partitioned_graphs, random_graph

Case = tuple[Graph, np.ndarray, int]


@given(partitioned_graphs())
def test_cut_boundary_and_volume_equal_plain_loops(case: Case) -> None:
    graph, part, k = case
    assert metrics.cut(graph, part) == oracles.cut(graph, part)
    assert metrics.boundary_vertices(graph, part).tolist() == oracles.boundary(graph, part)
    sent = oracles.communication_volumes(graph, part, k)
    assert metrics.communication_volume(graph, part, k) == (sum(sent), max(sent))


@given(partitioned_graphs())
def test_block_weights_and_components_equal_plain_loops(case: Case) -> None:
    graph, part, k = case
    expected = oracles.block_weights(graph, part, k)
    assert metrics.block_weights(graph, part, k).tolist() == expected
    assert metrics.max_block_weight(graph, part, k) == max(expected)
    assert (metrics.components_per_block(graph, part, k).tolist()
            == oracles.components_per_block(graph, part, k))


@given(partitioned_graphs())
def test_quotient_graph_equals_plain_loops(case: Case) -> None:
    graph, part, k = case
    quotient = metrics.quotient_graph(graph, part, k)
    oracles.assert_same_graph(quotient, oracles.quotient(graph, part, k))
    oracles.assert_valid_graph(quotient)
    assert quotient.total_arc_weight == 2 * metrics.cut(graph, part)


def test_cut_equals_networkx() -> None:
    graph = random_graph(60, 300, 7, weighted=True)
    part = np.random.default_rng(1).integers(0, 2, 60)
    source = nx.from_scipy_sparse_array(graph.to_scipy())
    inside = set(np.flatnonzero(part))
    assert metrics.cut(graph, part) == nx.cut_size(source, inside, weight="weight")
    assert set(metrics.boundary_vertices(graph, part)) == (
        nx.node_boundary(source, inside) | nx.node_boundary(source, set(source) - inside))
    blocks = [source.subgraph(np.flatnonzero(part == block)) for block in (0, 1)]
    assert metrics.components_per_block(graph, part).tolist() == [
        nx.number_connected_components(block) for block in blocks]


def test_cut_equals_what_metis_reports() -> None:
    pymetis = pytest.importorskip("pymetis")
    graph = random_graph(2000, 8000, 8)
    cut, part = pymetis.part_graph(7, pymetis.CSRAdjacency(graph.offsets, graph.targets))
    assert metrics.cut(graph, part) == cut


def test_two_triangles_by_hand() -> None:
    result = metrics.evaluate(drawn_graphs()["two_triangles"], [0, 0, 0, 1, 1, 1], 3)
    assert result.as_dict() == {
        "num_vertices": 6, "num_edges": 7, "k": 3, "cut": 1, "imbalance": 0.5,
        "block_weights": [3, 3, 0], "max_block_weight": 3, "min_block_weight": 0, "boundary": 2,
        "communication_volume": 2, "max_communication_volume": 1, "components": [1, 1, 0],
        "neighbour_pairs": 1,
    }
    assert (result.empty_blocks, result.disconnected_blocks) == (1, 0)
    assert json.loads(json.dumps(result.as_dict())) == result.as_dict()
    printed = dict(line.rsplit(None, 1) for line in str(result).splitlines())
    shown = [printed[name] for name in ("vertices", "edges", "cut", "empty blocks", "imbalance")]
    assert shown == ["6", "7", "1", "1", "0.5000"]


@given(partitioned_graphs())
def test_evaluation_collects_the_single_metrics(case: Case) -> None:
    graph, part, k = case
    result = metrics.evaluate(graph, part, k)
    assert result.cut == metrics.cut(graph, part)
    assert result.imbalance == metrics.imbalance(graph, part, k)
    assert result.boundary == len(metrics.boundary_vertices(graph, part))
    assert result.components.tolist() == metrics.components_per_block(graph, part, k).tolist()
    assert result.is_balanced(0.5) == metrics.is_balanced(graph, part, k, 0.5)


@given(partitioned_graphs(), st.decimals(0, 3, places=2))
def test_balanced_means_imbalance_at_most(case: Case, imbalance: Decimal) -> None:
    graph, part, k = case
    weights = metrics.block_weights(graph, part, k)
    total = int(weights.sum())
    exact = Fraction(int(weights.max()), -(-total // k)) - 1 if total else Fraction(0)
    assert metrics.imbalance(graph, part, k) == float(exact)
    assert metrics.is_balanced(graph, part, k, imbalance) == (exact <= Fraction(imbalance))


@given(st.integers(0, 3000), st.integers(1, 70), st.decimals(0, 2, places=3))
def test_limit_equals_counting(total: int, k: int, imbalance: Decimal) -> None:
    limit = metrics.block_weight_limit(total, k, imbalance)
    assert limit == oracles.block_weight_limit(total, k, str(imbalance))


@pytest.mark.parametrize(("total", "k", "imbalance", "limit"), [
    (100 * 64, 64, 0.03, 103),  # binary 0.03 is above 3/100
    (1000, 10, 0.1, 110),  # 1.1 * 100 is 110.00000000000001 in binary
    (1000, 10, 0.07, 107),  # 1.07 * 100 is 107.0
    (2900, 1, 0.29, 3741),  # 1.29 * 2900 is 3740.9999999999995 or 3741
    (10, 3, 0, 4), (0, 5, 0.5, 0), (7, 2, "1/4", 5), (7, 2, Fraction(1, 4), 5),
    (10**18, 1, 0.03, 103 * 10**16), (100, 10, np.float64(0.1), 11), (100, 10, 1e-05, 10),
])
def test_limit_takes_the_decimal_that_was_written(
    total: int, k: int, imbalance: Any, limit: int
) -> None:
    assert metrics.block_weight_limit(total, k, imbalance) == limit


@pytest.mark.parametrize(("k", "imbalance", "message"), [
    (0, 0.03, "k is 0"), (4, -0.1, "imbalance is -0.1"), (4, float("nan"), "finite number"),
    (4, float("inf"), "finite number"), (4, "much", "finite number"),
])
def test_impossible_limits_are_refused(k: int, imbalance: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        metrics.block_weight_limit(100, k, imbalance)


@pytest.mark.parametrize(("part", "k", "message"), [
    ([0, 1], None, r"shape \(2,\) for a graph of 6 vertices"),
    ([[0] * 6], None, r"shape \(1, 6\)"),
    ([0.0] * 6, None, "float64; block numbers must be integers"),
    ([0, 0, -1, 0, 0, -2], None, r"part\[2\] is -1; block numbers must be >= 0"),
    ([0, 1, 2, 3, 4, 5], 4, r"part\[4\] is 4; block numbers must lie in 0 ... 3"),
    ([0, 2**31, 0, 0, 0, 0], None, rf"part\[1\] is {2**31} for a graph of 6 vertices; pass k"),
    ([0] * 6, 0, "k is 0"),
])
def test_bad_parts_are_refused(part: Any, k: int | None, message: str) -> None:
    with pytest.raises(InputError, match=message):
        metrics.evaluate(drawn_graphs()["path"], part, k)


def test_large_weights_do_not_overflow() -> None:
    graph = drawn_graphs()["all_weights"]
    assert metrics.cut(graph, [0, 1, 0, 0, 1]) == 2**40 + 12
    assert metrics.block_weights(graph, [0, 1, 0, 0, 1]).tolist() == [2, 2**41 + 5]


def test_empty_graph_and_no_blocks() -> None:
    result = metrics.evaluate(drawn_graphs()["empty"], [])
    assert (result.k, result.cut, result.imbalance) == (0, 0, 0.0)
    assert result.is_balanced()
    assert metrics.evaluate(drawn_graphs()["empty"], [], 4).block_weights.tolist() == [0] * 4


def test_any_graph_and_any_part_type_work() -> None:
    square = [(0, 1), (1, 2), (2, 3), (3, 0)]
    for part in ([0, 0, 1, 1], (0, 0, 1, 1), np.array([0, 0, 1, 1], np.uint8),
                 np.array([False, False, True, True])):
        assert metrics.cut(square, part) == 2


def test_results_stand_for_their_blocks() -> None:
    graph = drawn_graphs()["path"]
    result = portpart.partition(graph, 9, imbalance=2)
    assert metrics.evaluate(graph, result).as_dict() == metrics.evaluate(
        graph, result.part, 9).as_dict()
    nets = portpart.as_hypergraph([[0, 1, 2], [2, 3]])
    result = portpart.partition(nets, 2)
    assert metrics.km1(nets, result) == result.km1 == metrics.km1(nets, result.part)
    mapped = portpart.map_processes(graph, "2:2", "1:10")
    assert metrics.mapping_cost(graph, mapped, mapped.topology) == mapped.cost


def test_blocks_by_name_are_not_taken_in_their_order() -> None:
    pandas = pytest.importorskip("pandas")
    some = nx.path_graph(list("abcd"))
    nets = portpart.as_hypergraph([["a", "b"], ["b", "c", "d"]])
    blocks = {"d": 1, "a": 0, "c": 1, "b": 0}
    for held in (blocks, pandas.Series(blocks)):
        assert (metrics.cut(some, held), metrics.cut(nets, held)) == (1, 1)
        assert metrics.boundary_vertices(some, held).tolist() == [1, 2]


def test_columns_of_a_frame_are_blocks_whatever_their_names_are() -> None:
    pandas = pytest.importorskip("pandas")
    part = pandas.Series([0, 1, 1], index=["part", "k", "x"])
    assert metrics.cut([(0, 1), (1, 2)], part) == 1


@pytest.mark.gpu
def test_device_arrays_are_copied_to_the_host() -> None:
    cupy = require_cupy()
    host = random_graph(100, 400, 1, weighted=True, vertex_weighted=True)
    part = np.random.default_rng(2).integers(0, 5, 100)
    on_device = metrics.evaluate(host.to(backends.space("cuda")), cupy.asarray(part))
    assert on_device.as_dict() == metrics.evaluate(host, part).as_dict()


def test_parallel_edges_all_count() -> None:
    graph = drawn_graphs()["parallel"]
    assert Counter(oracles.arcs(graph))[0, 1, 1] == 1
    assert metrics.cut(graph, [0, 1, 1]) == 6
    assert metrics.communication_volume(graph, [0, 1, 1]) == (3, 2)


@given(st.integers(0, 2**62), st.integers(1, 2000),
       st.sampled_from([0, 0.03, "1/3", 0.1]))
def test_equal_targets_give_the_common_limit(total: int, k: int, imbalance: Any) -> None:
    limit = metrics.block_weight_limit(total, k, imbalance)
    for target in (None, [0.1] * k, [7] * k):
        assert metrics.block_weight_limits(total, k, imbalance, target) == [limit] * k


@given(st.integers(0, 2**62), st.lists(st.integers(1, 2**40), min_size=1, max_size=9))
def test_targets_are_exact(total: int, shares: list[int]) -> None:
    wanted = metrics.target_weights(total, len(shares), shares)
    for share, weight in zip(shares, wanted):
        assert (weight - 1) * sum(shares) < total * share <= weight * sum(shares)
    assert wanted == metrics.target_weights(total, len(shares), [f"{s}/3" for s in shares])
    assert sum(wanted) >= total


@given(partitioned_graphs(), st.sampled_from([0, "3%", 0.25, "1/3"]), st.data())
def test_targets_are_judged_as_by_plain_fractions(case: Case, imbalance: Any,
                                                  data: st.DataObject) -> None:
    graph, part, k = case
    share = st.sampled_from([1, 3, 0.1, "2/7", "5%", Decimal("2.5")])
    target = data.draw(st.none() | st.lists(share, min_size=k, max_size=k))
    weights = oracles.block_weights(graph, part, k)
    wanted = oracles.block_weight_limits(sum(weights), k, imbalance, target)
    assert metrics.block_weight_limits(sum(weights), k, imbalance, target) == wanted
    exact = oracles.imbalance_of(weights, target)
    assert metrics.imbalance(graph, part, k, target) == float(exact)
    assert metrics.is_balanced(graph, part, k, imbalance, target) == oracles.is_balanced(
        weights, imbalance, target)


def test_balance_against_a_target() -> None:
    path = [(0, 1), (1, 2), (2, 3)]
    part = [0, 1, 1, 1]
    assert metrics.imbalance(path, part, 2) == 0.5
    assert metrics.imbalance(path, part, 2, [1, 3]) == 0
    assert metrics.imbalance(path, part, 2, [3, 1]) == 2
    assert metrics.is_balanced(path, part, 2, 0, [1, 3])
    assert not metrics.is_balanced(path, part, 2, 0.5, [3, 1])
    evaluation = metrics.evaluate(path, part, 2, [1, 3])
    assert evaluation.imbalance == 0
    assert evaluation.is_balanced(0)


def test_weight_where_the_target_is_zero_is_no_balance_at_all() -> None:
    graph = portpart.generators.grid_2d(2, 3)
    assert metrics.imbalance(graph, [0, 0, 2, 2, 2, 2], 3, [1, 0, 2]) == 0
    assert metrics.imbalance(graph, [0, 1, 2, 2, 2, 2], 3, [1, 0, 2]) == float("inf")
    assert not metrics.is_balanced(graph, [0, 1, 2, 2, 2, 2], 3, 100, [1, 0, 2])
    with pytest.raises(InputError, match="target holds 3 zeros"):
        metrics.block_weight_limits(6, 3, target=[0, 0, 0])

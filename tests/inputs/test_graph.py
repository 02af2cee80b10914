"""as_graph: every kind of input, and what it does to loops, parallel arcs, weights and memory."""

from __future__ import annotations

import array
import copy
import dataclasses
import pickle
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given

import portpart
from portpart import backends
from portpart.errors import DeviceUnavailable, InputError
from portpart.graphs.graph import Graph
from portpart.inputs.convert import as_graph
from tests import oracles
from tests.helpers.gpu import require_cupy
from tests.helpers.graphs import RawGraph, drawn_graphs, random_graph, raw_graph, raw_graphs

TRIANGLE = (np.array([0, 2, 4, 6], np.int32), np.array([1, 2, 0, 2, 0, 1], np.int32))


@given(raw_graphs(large_weights=True))
def test_csr_arrays_become_the_graph_without_its_loops(raw: RawGraph) -> None:
    graph = as_graph((raw.offsets, raw.targets, raw.weights), vertex_weights=raw.vertex_weights)
    oracles.assert_same_graph(graph, raw.graph())
    oracles.assert_valid_graph(graph)
    weights = oracles.vertex_weights(graph)
    assert graph.total_vertex_weight == sum(weights)
    assert graph.total_arc_weight == sum(weight for _, _, weight in oracles.arcs(graph))


@given(raw_graphs(loops=False))
def test_order_within_rows_is_kept(raw: RawGraph) -> None:
    graph = as_graph((raw.offsets, raw.targets))
    assert graph.targets.tolist() == raw.targets.tolist()


@pytest.mark.parametrize("name", drawn_graphs())
def test_drawn_graphs_pass_through(name: str) -> None:
    graph = drawn_graphs()[name]
    again = as_graph((graph.offsets, graph.targets, graph.weights),
                     vertex_weights=graph.vertex_weights)
    oracles.assert_same_graph(again, graph)


def test_sizes_of_a_graph() -> None:
    graph = as_graph(TRIANGLE)
    assert (graph.num_vertices, graph.num_arcs, graph.num_edges) == (3, 6, 3)
    assert (graph.mean_degree, graph.total_vertex_weight, graph.total_arc_weight) == (2.0, 3, 6)
    assert graph.space.kind == "cpu"
    assert repr(graph) == "<Graph: 3 vertices, 3 edges, on cpu>"


def test_graph_is_immutable() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        as_graph(TRIANGLE).targets = None  # type: ignore[misc]


def test_empty_graph_has_mean_degree_zero() -> None:
    graph = as_graph(([0], []))
    assert (graph.num_vertices, graph.num_edges, graph.mean_degree) == (0, 0, 0.0)
    assert as_graph([]).num_vertices == 0
    assert as_graph(np.empty((0, 2), int)).num_vertices == 0


def test_csr_arrays_of_the_right_type_are_shared() -> None:
    weights = np.arange(6) + 5
    weights[[0, 2]] = weights[[1, 4]] = weights[[3, 5]] = 7
    graph = as_graph((*TRIANGLE, weights), copy=False)
    assert np.shares_memory(graph.offsets, TRIANGLE[0])
    assert np.shares_memory(graph.targets, TRIANGLE[1])
    assert graph.weights is not None
    assert np.shares_memory(graph.weights, weights)


def test_scipy_matrix_is_shared_on_demand() -> None:
    matrix = random_graph(50, 200, 1, weighted=True).to_scipy()
    assert np.shares_memory(as_graph(matrix, copy=False).targets, matrix.indices)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.uint32, np.int64,
                                   np.uint64, ">i4", ">i8"])
def test_any_integer_type_works(dtype: Any) -> None:
    graph = as_graph(tuple(a.astype(dtype) for a in TRIANGLE))
    oracles.assert_same_graph(graph, as_graph(TRIANGLE))
    oracles.assert_valid_graph(graph)


@pytest.mark.parametrize("convert", [
    list, tuple, memoryview, lambda a: array.array("i", a.tolist()),
    lambda a: np.repeat(a, 2)[::2], lambda a: _read_only(a), lambda a: _OnlyDlpack(a),
], ids=["list", "tuple", "buffer", "array", "strided", "read_only", "dlpack"])
def test_any_container_works(convert: Any) -> None:
    graph = as_graph((convert(TRIANGLE[0]), convert(TRIANGLE[1])))
    oracles.assert_same_graph(graph, as_graph(TRIANGLE))


def _read_only(values: np.ndarray) -> np.ndarray:
    copy = values.copy()
    copy.flags.writeable = False
    return copy


class _OnlyDlpack:
    """What a foreign array library offers at least."""

    def __init__(self, values: np.ndarray) -> None:
        self._values = values

    def __dlpack__(self, **options: Any) -> Any:
        return self._values.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._values.__dlpack_device__()


def test_torch_tensors_work() -> None:
    torch = pytest.importorskip("torch")
    graph = as_graph(tuple(torch.from_numpy(a.copy()) for a in TRIANGLE))
    oracles.assert_same_graph(graph, as_graph(TRIANGLE))


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
@pytest.mark.parametrize("module", [sp.csr_array, sp.csr_matrix])
def test_every_scipy_format_works(kind: str, module: Any) -> None:
    expected = random_graph(20, 60, 3, weighted=True)
    matrix = expected.to_scipy()
    matrix.data += 2
    graph = as_graph(module(matrix).asformat(kind))
    assert (graph.to_scipy() != matrix).nnz == 0


def test_values_of_a_matrix_are_weights_and_stored_zeros_are_edges() -> None:
    matrix = sp.csr_array((np.array([0.0, 0.0]), np.array([1, 0]), np.array([0, 1, 2])))
    graph = as_graph(matrix)
    assert graph.num_edges == 1
    assert graph.weights is not None
    assert graph.weights.tolist() == [0, 0]


@pytest.mark.parametrize("dtype", [bool, np.int8, np.float32, np.float64])
def test_weights_that_are_all_one_are_dropped(dtype: Any) -> None:
    graph = as_graph((*TRIANGLE, np.ones(6, dtype)))
    assert graph.weights is None


@pytest.mark.parametrize(("dtype", "expected"), [
    (np.int32, np.int32), (np.int64, np.int64), (np.uint8, np.int32), (np.uint32, np.int64),
    (np.float32, np.int64), (np.float64, np.int64), (np.uint64, np.int64)])
def test_weight_types(dtype: Any, expected: Any) -> None:
    graph = as_graph((*TRIANGLE, np.full(6, 3, dtype)), vertex_weights=np.array([2, 0, 5], dtype))
    assert graph.weights is not None
    assert graph.vertex_weights is not None
    assert graph.weights.dtype == expected
    assert graph.vertex_weights.dtype == np.int64
    assert graph.vertex_weights.tolist() == [2, 0, 5]


def test_one_column_of_vertex_weights_is_one_constraint() -> None:
    assert as_graph(TRIANGLE, vertex_weights=[[1], [2], [3]]).total_vertex_weight == 6


@given(raw_graphs(parallel=True))
def test_edge_list_equals_the_oracle(raw: RawGraph) -> None:
    edges = list(zip(raw.sources.tolist(), raw.targets.tolist()))
    weights = None if raw.weights is None else raw.weights.tolist()
    graph = as_graph(np.array(edges).reshape(-1, 2), edge_weights=weights,
                     vertex_weights=np.ones(raw.n, int))
    oracles.assert_valid_graph(graph)
    expected = oracles.merged_undirected(raw.n, edges, weights)
    assert {(u, v): w for u, v, w in oracles.arcs(graph) if u < v} == expected
    assert graph.num_vertices == raw.n


def test_edge_list_weights_add_up_per_direction() -> None:
    rows = [(0, 1, 2), (0, 1, 3), (1, 0, 5), (2, 2, 9), (3, 1, 0)]
    graph = as_graph(rows)
    assert sorted(oracles.arcs(graph)) == [(0, 1, 5), (1, 0, 5), (1, 3, 0), (3, 1, 0)]
    assert as_graph(np.array(rows, float)).total_arc_weight == 10
    unweighted = as_graph([row[:2] for row in rows])
    assert unweighted.weights is None
    assert unweighted.num_edges == 2


@pytest.mark.parametrize("dtype", [np.int32, np.uint8, np.float32])
def test_edge_weights_of_any_type_add_up(dtype: Any) -> None:
    weights = np.array([2, 3, 4], dtype)
    graph = as_graph([(0, 1), (0, 1), (1, 2)], edge_weights=weights)
    assert sorted(oracles.arcs(graph)) == [(0, 1, 5), (1, 0, 5), (1, 2, 4), (2, 1, 4)]


def test_symmetrize_takes_arcs_without_direction() -> None:
    directed = sp.csr_array(np.array([[0, 4, 0], [4, 7, 0], [0, 2, 0]]))
    graph = as_graph(directed, symmetrize=True)
    assert sorted(oracles.arcs(graph)) == [(0, 1, 4), (1, 0, 4), (1, 2, 2), (2, 1, 2)]


def test_symmetrize_leaves_a_symmetric_graph_alone() -> None:
    graph = as_graph(TRIANGLE, symmetrize=True, copy=False)
    assert np.shares_memory(graph.targets, TRIANGLE[1])


def test_path_is_read(tmp_path: Path) -> None:
    path = tmp_path / "g.graph"
    path.write_text("3 2\n2\n1 3\n2\n")
    for name in (path, str(path)):
        assert as_graph(name).num_edges == 2


def test_graph_gets_other_weights() -> None:
    graph = as_graph(TRIANGLE)
    assert as_graph(graph) is graph
    heavier = as_graph(graph, vertex_weights=[1, 2, 3], edge_weights=np.full(6, 4))
    assert (heavier.total_vertex_weight, heavier.total_arc_weight) == (6, 24)
    assert as_graph(heavier, edge_weights=np.full(6, 5)).total_vertex_weight == 6
    assert np.shares_memory(heavier.targets, graph.targets)


def test_networkx_graph_keeps_the_order_of_its_nodes() -> None:
    source = nx.Graph()
    source.add_nodes_from("dcba")
    source.add_edge("a", "d", weight=3)
    source.add_edge("a", "c")
    source.add_edge("b", "b")
    graph = as_graph(source)
    assert Counter(oracles.arcs(graph)) == Counter([(3, 0, 3), (0, 3, 3), (3, 1, 1), (1, 3, 1)])


def test_networkx_attributes_are_named() -> None:
    source = nx.path_graph(3)
    nx.set_edge_attributes(source, 5, "length")
    nx.set_node_attributes(source, {0: 2, 2: 7}, "mass")
    graph = as_graph(source, edge_weights="length", vertex_weights="mass")
    assert oracles.vertex_weights(graph) == [2, 1, 7]
    assert graph.total_arc_weight == 20
    assert as_graph(source).weights is None


def test_networkx_multigraph_edges_add_up() -> None:
    source = nx.MultiGraph([(0, 1), (0, 1), (1, 2)])
    assert as_graph(source).total_arc_weight == 6


def test_networkx_digraph_must_be_symmetric_or_symmetrized() -> None:
    one_way = nx.DiGraph([(0, 1), (1, 0), (1, 2)])
    with pytest.raises(ValueError, match=r"arc \(1, 2\) has no reverse arc"):
        as_graph(one_way)
    assert as_graph(one_way, symmetrize=True).num_edges == 2
    assert as_graph(nx.DiGraph([(0, 1), (1, 0)])).num_edges == 1


@pytest.mark.parametrize("nodes", [0, 30])
def test_networkx_random_graphs_agree(nodes: int) -> None:
    source = nx.gnp_random_graph(nodes, 0.2, seed=4)
    expected = nx.to_scipy_sparse_array(source) if nodes else sp.csr_array((0, 0))
    assert (as_graph(source).to_scipy() != expected).nnz == 0


def test_result_does_not_depend_on_the_number_of_threads() -> None:
    edges = np.random.default_rng(5).integers(0, 30_000, (200_000, 3))
    one, two = (as_graph(edges, symmetrize="max", space=backends.space("cpu", threads=t))
                for t in (1, 2))
    for name in ("offsets", "targets", "weights"):
        assert (getattr(one, name) == getattr(two, name)).all()


def test_large_random_edges_equal_scipy() -> None:
    edges = np.random.default_rng(6).integers(0, 5_000, (60_000, 2))
    matrix = sp.coo_array((np.ones(60_000, bool), edges.T), shape=(5_000, 5_000)).tocsr()
    matrix = (matrix + matrix.T).astype(int).tolil()
    matrix.setdiag(0)
    assert (as_graph(edges).to_scipy() != matrix.tocsr()).nnz == 0


def test_offsets_become_64_bit_only_for_many_arcs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("portpart.graphs.from_arrays.MAX_INT32_ARCS", 5)
    monkeypatch.setattr("portpart.graphs.csr.MAX_INT32_ARCS", 5)
    assert as_graph(TRIANGLE).offsets.dtype == np.int64
    assert as_graph([(0, 1), (1, 2), (2, 0)]).offsets.dtype == np.int64
    assert as_graph([(0, 1), (1, 2)]).offsets.dtype == np.int32


def test_to_moves_nothing_within_a_space() -> None:
    graph = as_graph(TRIANGLE)
    other = graph.to(backends.space("cpu", threads=1))
    assert other.space is backends.space("cpu", threads=1)
    assert np.shares_memory(other.targets, graph.targets)
    assert graph.to(graph.space) is graph


@pytest.mark.parametrize("make", [lambda: as_graph(TRIANGLE),
                                  lambda: portpart.as_hypergraph([[0, 1, 2], [2, 3]])])
def test_to_takes_the_name_of_a_device(make: Callable[[], Any]) -> None:
    graph = make()
    assert graph.to("cpu") is graph
    assert graph.to(backends.space("cpu", threads=1)).to("cpu").space is backends.space("cpu")
    for wrong in ("gpu", "cuda:x", 3, None):
        with pytest.raises(InputError, match="device must be 'cpu', 'cuda' or 'cuda:N'"):
            graph.to(wrong)
    with pytest.raises(DeviceUnavailable):
        graph.to("cuda:1000000")


@pytest.mark.gpu
def test_to_takes_the_name_of_a_gpu_and_back() -> None:
    require_cupy()
    graph = as_graph(TRIANGLE, vertex_weights=[1, 2, 3])
    there = graph.to("cuda")
    assert there.space.kind == "cuda"
    oracles.assert_same_graph(there.to("cpu"), graph)


def test_copies_and_pickles_stay_in_their_space() -> None:
    graph = as_graph(TRIANGLE, vertex_weights=[1, 2, 3])
    expected = portpart.partition(graph, 2).part  # fills the space with what cannot be pickled
    for made in (copy.copy(graph), copy.deepcopy(graph), pickle.loads(pickle.dumps(graph))):
        assert made.space is graph.space
        oracles.assert_same_graph(made, graph)
        assert np.array_equal(portpart.partition(made, 2).part, expected)
    one_thread = graph.to(backends.space("cpu", threads=1))
    assert copy.deepcopy(one_thread).space is one_thread.space
    assert pickle.loads(pickle.dumps(one_thread)).space is backends.space("cpu")


def test_importing_the_graph_module_needs_no_compiler() -> None:
    code = ("import sys, portpart.graphs.graph; "
            "assert not {'numba', 'cupy', 'scipy', 'networkx'} & set(sys.modules)")
    subprocess.run([sys.executable, "-c", code], check=True)


def test_constructor_accepts_absent_weights() -> None:
    graph = Graph(*TRIANGLE, None, None, backends.space("cpu"))
    assert (graph.to_scipy() != raw_graph(3, [(0, 1), (1, 2), (2, 0)]).graph().to_scipy()).nnz == 0

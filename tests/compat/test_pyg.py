"""Graphs of PyTorch and PyTorch Geometric: what is taken, what is shared, what comes back."""

from __future__ import annotations

import json
import pickle
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import portpart
from bench import gnn
from portpart.compat import pyg
from portpart.errors import InputError
from portpart.graphs import from_rows
from tests import oracles
from tests.helpers.graphs import random_graph

EDGE_INDEX = np.array([[0, 1, 0, 3, 4, 3, 2], [1, 2, 2, 4, 5, 5, 3]])
"""Two triangles, and an edge between them; each edge in one direction."""


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch", reason="PyTorch is not installed")


@pytest.fixture
def geometric(torch: Any) -> Any:
    return pytest.importorskip("torch_geometric", reason="PyTorch Geometric is not installed")


def both_directions(seed: int = 0) -> tuple[Any, np.ndarray]:
    """A random graph, and all of its arcs as an edge_index."""
    graph = random_graph(300, 900, seed)
    matrix = graph.to_scipy().tocoo()
    return graph, np.stack([matrix.row, matrix.col]).astype(np.int64)


def test_an_edge_index_needs_no_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    whole, edge_index = both_directions()
    oracles.assert_same_graph(pyg.as_graph(edge_index, num_nodes=300), whole)
    assert pyg.as_graph(EDGE_INDEX).num_edges == 7
    assert pyg.as_graph(EDGE_INDEX, num_nodes=9).num_vertices == 9
    assert pyg.as_graph(EDGE_INDEX[:, :2]).num_edges == 2  # said to be one, of any shape
    assert pyg.as_graph(EDGE_INDEX[:, :3]).num_edges == 3
    assert pyg.as_graph(EDGE_INDEX[:, :0], num_nodes=4).num_edges == 0
    assert portpart.compat.pyg is pyg
    with pytest.raises(ImportError):
        pyg.partition(EDGE_INDEX, 2)


def seen(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The ends of edges that a graph is then made of."""
    arrays: list[Any] = []
    made = from_rows.edges_graph

    def edges_graph(n: int, sources: Any, targets: Any, *rest: Any, **options: Any) -> Any:
        arrays.extend((sources, targets))
        return made(n, sources, targets, *rest, **options)

    monkeypatch.setattr(from_rows, "edges_graph", edges_graph)
    return arrays


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_rows_of_an_edge_index_are_not_copied(dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = seen(monkeypatch)
    edge_index = EDGE_INDEX.astype(dtype)
    for call in (pyg.as_graph, lambda given: portpart.from_edges(given.T)):
        call(edge_index)
        assert all(np.shares_memory(array, edge_index) for array in arrays[-2:])
    assert len(arrays) == 4


def test_rows_of_a_tensor_are_not_copied(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = seen(monkeypatch)
    edge_index = torch.tensor(EDGE_INDEX)
    assert pyg.as_graph(edge_index).num_edges == 7
    assert [array.ctypes.data for array in arrays] == [row.data_ptr() for row in edge_index]
    pairs = torch.tensor(EDGE_INDEX.T.copy())
    oracles.assert_same_graph(pyg.as_graph(pairs.T), pyg.as_graph(edge_index))
    rows = (torch.tensor([0, 1, 2], dtype=torch.int32), torch.tensor([1, 0], dtype=torch.int32))
    graph = portpart.as_graph(rows, copy=False)
    assert (graph.offsets.ctypes.data, graph.targets.ctypes.data) == tuple(
        row.data_ptr() for row in rows)


def test_blocks_come_back_as_a_tensor(torch: Any) -> None:
    edge_index = torch.tensor(EDGE_INDEX)
    blocks = pyg.partition(edge_index, 2, num_nodes=6, seed=3)
    assert blocks.dtype == torch.int64
    assert blocks.device == edge_index.device
    assert blocks[:3].unique().numel() == blocks[3:].unique().numel() == 1
    weights = torch.tensor([1, 1, 1, 1, 1, 1, 9])
    apart = pyg.partition(edge_index, 2, edge_weights=weights, imbalance=1 / 3)
    assert apart[2] == apart[3]
    same = portpart.partition(pyg.as_graph(edge_index), 2, seed=3)
    assert blocks.tolist() == same.part.tolist()


def test_data_tells_its_nodes_and_options_are_passed(geometric: Any, torch: Any) -> None:
    data = geometric.data.Data(edge_index=torch.tensor(EDGE_INDEX), x=torch.rand(8, 2))
    assert pyg.as_graph(data).num_vertices == len(pyg.partition(data, 2)) == 8
    heavy = pyg.as_graph(data, vertex_weights=torch.arange(8), edge_weights=torch.arange(7))
    assert heavy.vertex_weights.tolist() == list(range(8))
    assert heavy.total_arc_weight == 2 * 21
    index = geometric.EdgeIndex(data.edge_index, sparse_size=(6, 6))
    oracles.assert_same_graph(pyg.as_graph(index), pyg.as_graph(data.edge_index))


@pytest.mark.parametrize("sparse_format", ["csr", "csc"])
@pytest.mark.parametrize("keep", [False, True])
def test_clusters_have_the_nodes_and_edges_of_their_blocks(geometric: Any, torch: Any, keep: bool,
                                                           sparse_format: str) -> None:
    whole, edge_index = both_directions()
    data = geometric.data.Data(edge_index=torch.tensor(edge_index), x=torch.arange(300))
    blocks = pyg.partition(data, 5, seed=1).numpy()
    clusters = pyg.cluster_data(data, 5, keep_inter_cluster_edges=keep,
                                sparse_format=sparse_format, seed=1)
    assert isinstance(clusters, geometric.loader.ClusterData)
    assert len(clusters) == 5
    for block, cluster in enumerate(pickle.loads(pickle.dumps(clusters))):
        assert sorted(cluster.x.tolist()) == np.flatnonzero(blocks == block).tolist()
    inside = sum(cluster.edge_index.shape[1] for cluster in clusters)
    cut = oracles.cut(whole, blocks)
    assert inside == whole.num_arcs if keep else inside == whole.num_arcs - 2 * cut
    batches = geometric.loader.ClusterLoader(clusters, batch_size=5)
    assert next(iter(batches)).edge_index.shape == (2, whole.num_arcs)


def test_matrices_of_torch_are_graphs(torch: Any) -> None:
    whole, edge_index = both_directions()
    ends = torch.tensor(edge_index)
    coo = torch.sparse_coo_tensor(ends, torch.ones(ends.shape[1]), (300, 300))
    csr = torch.sparse_csr_tensor(*map(torch.tensor, (whole.offsets, whole.targets)),
                                  torch.ones(ends.shape[1]), (300, 300))
    for matrix in (coo, coo.coalesce(), csr, coo.to_sparse_csc()):
        oracles.assert_same_graph(portpart.as_graph(matrix), whole)
    assert portpart.partition(coo, 3).k == 3
    for data in (SimpleNamespace(adj_t=csr, edge_index=None), coo, SimpleNamespace(
            adj_t=SimpleNamespace(csr=lambda: (whole.offsets, whole.targets, None)))):
        oracles.assert_same_graph(pyg.as_graph(data), whole)
    weighted = torch.sparse_coo_tensor([[0, 1], [1, 0]], torch.tensor([0.5, 0.5]), (3, 3))
    assert pyg.as_graph(weighted).num_vertices == 3
    with pytest.raises(InputError, match=r"edge_weights\[0\] is 0.5"):
        portpart.as_graph(weighted)


BAD_ARRAYS = {
    "floats": (EDGE_INDEX.astype(float), r"type float64; .*edge_index\.long\(\)"),
    "flags": (EDGE_INDEX > 2, r"type bool"),
    "turned": (EDGE_INDEX.T, r"shape \(7, 2\); shape \(2, m\) is needed: edge_index\.T"),
    "flat": (EDGE_INDEX[0], r"shape \(7,\); shape \(2, m\) is needed$"),
    "three rows": (np.zeros((3, 4), int), r"shape \(3, 4\)"),
    "negative": (EDGE_INDEX - 1, "edge 0 has an end -1, which is not a vertex"),
    "nothing": (SimpleNamespace(), "an object with edge_index or adj_t, is needed"),
    "types": (SimpleNamespace(node_types=[], edge_types=[]), r"data\.to_homogeneous\(\)"),
    "a list": (EDGE_INDEX.tolist(), "an edge_index, or an object"),
}


@pytest.mark.parametrize("bad", BAD_ARRAYS)
def test_what_is_no_edge_index_is_refused(bad: str) -> None:
    with pytest.raises(InputError, match=BAD_ARRAYS[bad][1]):
        pyg.as_graph(BAD_ARRAYS[bad][0])


def test_nodes_that_are_not_counted_are_named() -> None:
    with pytest.raises(InputError, match=r"edge 4 has an end 5, which is not .* 0 \.\.\. 4"):
        pyg.as_graph(EDGE_INDEX, num_nodes=5)


BAD_TENSORS = {
    "another device": (lambda ends: (ends.to("meta"), {}), r"edge_index: .* meta .*\.cpu\(\)"),
    "two devices": (lambda ends: (ends, {"edge_weights": ends[0].to("meta")}),
                    r"edges on cpu, edge_weights on meta: tensor\.to\('cpu'\)"),
    "a gradient": (lambda ends: (ends, {"edge_weights": ends[0].double().requires_grad_()}),
                   r"edge_weights: .* requires grad.*detach"),
    "bfloat16": (lambda ends: (ends, {"edge_weights": ends[0].bfloat16()}),
                 r"edge_weights: .*bfloat16: tensor\.float\(\)"),
    "sparse weights": (lambda ends: (ends, {"edge_weights": ends[0].to_sparse()}),
                       r"edge_weights: the tensor is sparse.*to_dense"),
    "halves": (lambda ends: (ends, {"edge_weights": ends[0] + 0.5}), 'weights="round" scales'),
    "sizes": (lambda ends: (ends, {"edge_weights": ends[0, :3]}), r"shape \(3,\) for 7 edges"),
}


@pytest.mark.parametrize("bad", BAD_TENSORS)
def test_tensors_that_cannot_be_read_are_refused(torch: Any, bad: str) -> None:
    made, message = BAD_TENSORS[bad]
    edge_index, options = made(torch.tensor(EDGE_INDEX))
    with pytest.raises(InputError, match=message):
        pyg.as_graph(edge_index, **options)


def test_other_functions_refuse_them_too(torch: Any) -> None:
    ends = torch.tensor(EDGE_INDEX)
    offsets = torch.tensor([0, 1, 2])
    for given, message in (
            ((offsets.to("meta"), ends[0, :2]), "indptr on meta, indices on cpu"),
            ((offsets, torch.tensor([1.0, 0.0])), r"indices are .*float32.*tensor\.long\(\)"),
            (ends, r"compat\.pyg\.as_graph takes an edge_index"),
            (ends[:, :3], r"from_edges\(rows\.T\)"),
            (torch.tensor([[0, 1], [2, 3]]), r"shape \(2, 2\) can be read as"),
            (torch.eye(4).to_sparse_bsr((2, 2)), r"layout torch\.sparse_bsr is not supported"),
            (torch.zeros(2, 3).to_sparse(), r"\(2, 3\); an adjacency matrix is square")):
        with pytest.raises(InputError, match=message):
            portpart.as_graph(given)
    assert portpart.as_graph(torch.tensor([[0, 1], [1, 2]])).num_edges == 2
    with pytest.raises(InputError, match="detach"):
        portpart.partition(pyg.as_graph(ends), 2, vertex_weights=torch.ones(6, requires_grad=True))
    with pytest.raises(InputError, match="requires grad"):
        portpart.partition(pyg.as_graph(ends), 2, initial=torch.ones(6, requires_grad=True))


def test_clusters_need_data_with_edges(torch: Any) -> None:
    with pytest.raises(InputError, match="needs a Data object with edge_index"):
        pyg.cluster_data(torch.tensor(EDGE_INDEX), 2)
    data = SimpleNamespace(edge_index=torch.tensor(EDGE_INDEX), num_nodes=6)
    with pytest.raises(InputError, match="sparse_format is 'coo'"):
        pyg.cluster_data(data, 2, sparse_format="coo")


@pytest.mark.gpu
def test_tensors_of_a_gpu_stay_there(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    if not torch.cuda.is_available():
        pytest.skip("PyTorch has no CUDA device")
    arrays = seen(monkeypatch)
    whole, edge_index = both_directions()
    host, device = torch.tensor(edge_index), torch.tensor(edge_index, device="cuda")
    graph = pyg.as_graph(device, num_nodes=300)
    assert graph.space.kind == "cuda"
    assert [array.data.ptr for array in arrays] == [row.data_ptr() for row in device]
    oracles.assert_same_graph(graph.to(portpart.space("cpu")), whole)
    blocks = pyg.partition(device, 4, num_nodes=300)
    assert blocks.device == device.device
    assert blocks.tolist() == pyg.partition(host, 4, num_nodes=300).tolist()
    assert pyg.partition(device, 4, num_nodes=300, device="cpu").device == device.device
    with pytest.raises(InputError, match="edges on cuda:0, edge_weights on cpu"):
        pyg.as_graph(device, edge_weights=host[0])
    weights = torch.ones(device.shape[1], device="cuda", requires_grad=True)
    with pytest.raises(InputError, match="requires grad"):
        pyg.as_graph(device, edge_weights=weights)


@pytest.mark.gpu
def test_clusters_of_tensors_of_a_gpu(torch: Any, geometric: Any) -> None:
    if not torch.cuda.is_available():
        pytest.skip("PyTorch has no CUDA device")
    _, edge_index = both_directions()
    data = geometric.data.Data(edge_index=torch.tensor(edge_index), x=torch.arange(300))
    on_host, on_device = (pyg.cluster_data(each, 5) for each in (data, data.to("cuda")))
    assert on_device[0].x.is_cuda
    for one, other in zip(on_host, on_device):
        assert sorted(one.x.tolist()) == sorted(other.x.tolist())


def test_the_benchmark_times_both_partitioners(torch: Any) -> None:
    outcome = CliRunner().invoke(gnn.main, ["--edges", "3000", "--device", "cpu", "--k", "3",
                                            "--calls", "1"], catch_exceptions=False)
    facts, ours, theirs = map(json.loads, outcome.output.splitlines())
    assert facts["vertices"] == 300
    for line in (ours, theirs):
        assert 0 < line["cut"] < facts["columns"] // 2
        assert line["imbalance"] <= 0.031
        assert line["seconds"] > 0

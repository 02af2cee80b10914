"""Files of partitions for DGL: what they hold, and that DGL reads them where it is installed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import portpart
from portpart.compat import dgl as files
from portpart.errors import InputError

PART = [1, 0, 2, 0, 2, 2]
EDGES = np.array([[0, 1, 2, 3, 4, 5, 0], [1, 2, 3, 4, 5, 0, 5]])

WRITTEN_BY_DGL = {  # by dgl.distributed.partition_graph of DGL 1.1.3, for these blocks
    "graph_name": "six", "num_nodes": 6, "num_edges": 7, "part_method": "random", "num_parts": 3,
    "halo_hops": 1, "node_map": {"_N": [[0, 2], [2, 3], [3, 6]]},
    "edge_map": {"_N:_E:_N": [[0, 2], [2, 3], [3, 7]]}, "ntypes": {"_N": 0},
    "etypes": {"_N:_E:_N": 0},
    "part-0": {"node_feats": "part0/node_feat.dgl", "edge_feats": "part0/edge_feat.dgl",
               "part_graph": "part0/graph.dgl"},
    "part-1": {"node_feats": "part1/node_feat.dgl", "edge_feats": "part1/edge_feat.dgl",
               "part_graph": "part1/graph.dgl"},
    "part-2": {"node_feats": "part2/node_feat.dgl", "edge_feats": "part2/edge_feat.dgl",
               "part_graph": "part2/graph.dgl"},
}  # fmt: skip


@pytest.mark.parametrize("edges", [EDGES, tuple(EDGES), EDGES.tolist(), EDGES.astype(np.int32)],
                         ids=["array", "pair", "lists", "int32"])
def test_the_files_are_those_of_dgl(tmp_path: Path, edges: Any) -> None:
    path = files.save_partition_book(tmp_path / "new" / "six.json", PART, edges)
    assert path == tmp_path / "new" / "six.json"
    book = json.loads(path.read_text())
    assert list(book) == list(WRITTEN_BY_DGL)
    assert book == {**WRITTEN_BY_DGL, "part_method": "portpart"}
    nodes, blocks = (np.load(path.with_name(f"{name}_map.npy")) for name in ("node", "edge"))
    assert (nodes.dtype, blocks.dtype) == (np.int64, np.int64)
    assert nodes.tolist() == PART
    assert blocks.tolist() == [PART[target] for target in EDGES[1]]


def test_results_and_empty_blocks_are_written(tmp_path: Path) -> None:
    grid = portpart.generators.grid_2d(6, 6)
    matrix = grid.to_scipy().tocoo()
    result = portpart.partition(grid, 4)
    path = files.save_partition_book(tmp_path / "grid.json", result, (matrix.row, matrix.col),
                                     halo_hops=2)
    book = json.loads(path.read_text())
    assert (book["num_parts"], book["num_edges"], book["halo_hops"]) == (4, grid.num_arcs, 2)
    assert [end - start for start, end in book["node_map"]["_N"]] == result.block_weights.tolist()
    path = files.save_partition_book(tmp_path / "empty.json", [2, 2], ([], []), k=4)
    book = json.loads(path.read_text())
    assert book["node_map"] == {"_N": [[0, 0], [0, 0], [0, 2], [2, 2]]}
    assert book["edge_map"] == {"_N:_E:_N": [[0, 0]] * 4}


def test_tensors_are_taken(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    path = files.save_partition_book(tmp_path / "six.json", torch.tensor(PART),
                                     tuple(map(torch.tensor, EDGES)))
    assert json.loads(path.read_text()) == {**WRITTEN_BY_DGL, "part_method": "portpart"}


@pytest.mark.parametrize(("path", "part", "edges", "options", "message"), [
    ("six", PART, EDGES, {}, r"must end in \.json"),
    ("six.json", PART, EDGES.T, {}, r"shape \(2, m\)"),
    ("six.json", PART, 7, {}, r"shape \(2, m\)"),
    ("six.json", PART, ([0], [1, 2]), {}, r"shape \(2, m\)"),
    ("six.json", PART, EDGES + 0.5, {}, "edges are of type float64"),
    ("six.json", PART, EDGES - 1, {}, "edge 0 has an end -1"),
    ("six.json", PART[:5], EDGES, {}, r"edge 5 has an end 5, .* nodes are 0 \.\.\. 4"),
    ("six.json", [PART], EDGES, {}, "part has shape"),
    ("six.json", 5, EDGES, {}, "part has shape"),
    ("six.json", PART, EDGES, {"k": 2}, "2"),
    ("six.json", PART, EDGES, {"halo_hops": -1}, "halo_hops is -1"),
])
def test_what_cannot_be_written_is_refused(tmp_path: Path, path: str, part: Any, edges: Any,
                                           options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        files.save_partition_book(tmp_path / path, part, edges, **options)
    assert not list(tmp_path.iterdir())


def test_dgl_reads_the_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DGLBACKEND", "pytorch")
    dgl = pytest.importorskip("dgl", reason="DGL is not installed")
    path = files.save_partition_book(tmp_path / "six.json", PART, EDGES)
    book, name, _, _ = dgl.distributed.load_partition_book(str(path), 1)
    assert name == "six"
    assert [each["num_nodes"] for each in book.metadata()] == [2, 1, 3]
    assert [each["num_edges"] for each in book.metadata()] == [2, 1, 4]

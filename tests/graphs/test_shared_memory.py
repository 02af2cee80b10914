"""Nobody changes a graph unnoticed: arrays are copied, read-only or checked again."""

from __future__ import annotations

import array
import copy
import multiprocessing
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import portpart
from portpart import backends
from portpart.backends.programs.interface import ExecutionSpace
from portpart.errors import InputError
from portpart.graphs.arrays import has_writable_base
from portpart.graphs.from_arrays import checked_again, csr_graph
from portpart.graphs.graph import Graph
from portpart.inputs.convert import as_graph
from tests import oracles

GRID = "sp.csr_array(portpart.generators.grid_2d(30, 30).to_scipy() * 2)"


def grid_matrix() -> sp.csr_array:
    """The matrix of a grid, with weights of two."""
    return sp.csr_array(portpart.generators.grid_2d(30, 30).to_scipy() * 2)


def arrays_of(graph: Graph) -> list[np.ndarray]:
    """The arrays that a host graph has."""
    return [a for a in graph.arrays.values() if a is not None]


def test_a_matrix_may_go_on_to_change() -> None:
    matrix = grid_matrix()
    graph = as_graph(matrix)
    before = portpart.partition(graph, 4)
    matrix.data[:50] = 0
    matrix.eliminate_zeros()
    matrix.indices[:] = 10**9
    after = portpart.partition(graph, 4)
    assert (before.cut, before.part.tolist()) == (after.cut, after.part.tolist())


def test_a_graph_does_not_follow_its_scipy_matrix() -> None:
    graph = as_graph(([0, 2, 4], [1, 1, 0, 0]))
    graph.to_scipy().max()  # SciPy merges parallel entries in place
    assert portpart.partition(graph, 2).cut == 2
    matrix = graph.to_scipy()
    matrix.data[:] = 0
    matrix.eliminate_zeros()
    assert graph.offsets.tolist() == [0, 2, 4]


@pytest.mark.parametrize("make", [
    lambda: as_graph(grid_matrix()),
    lambda: as_graph(grid_matrix().tocoo()),
    lambda: as_graph([(0, 1), (1, 2)], vertex_weights=np.array([1, 2, 3])),
    lambda: as_graph(grid_matrix(), edge_weights=np.full(3480, 5)),
    lambda: as_graph(as_graph(grid_matrix(), copy=False)),
    lambda: as_graph(grid_matrix(), weights="round"),
    lambda: portpart.generators.grid_2d(4, 5),
    lambda: portpart.generators.rmat(8, seed=1),
    lambda: portpart.metrics.quotient_graph(grid_matrix(), np.arange(900) % 7),
    lambda: pickle.loads(pickle.dumps(as_graph(grid_matrix()))),
    lambda: copy.deepcopy(as_graph(grid_matrix(), copy=False)),
], ids=["csr", "coo", "edges", "weights", "graph", "rounded", "grid", "rmat", "quotient", "pickle",
        "deepcopy"])
def test_own_arrays_are_read_only(make: Any) -> None:
    graph = make()
    for held in arrays_of(graph):
        assert not has_writable_base(held)
        with pytest.raises(ValueError, match="read-only"):
            held[:1] = 0
    assert checked_again(graph, True) is graph


def test_arrays_of_a_file_are_read_only(tmp_path: Any) -> None:
    for name in ("g.graph", "g.npz", "g.mtx", "g.txt"):
        portpart.io.write(grid_matrix(), tmp_path / name)
        graph = portpart.io.read(tmp_path / name)
        assert not any(map(has_writable_base, arrays_of(graph)))


def test_flags_of_the_callers_arrays_stay() -> None:
    offsets, targets = np.array([0, 1, 2], np.int32), np.array([1, 0], np.int32)
    weights = np.array([3, 3])
    for how in (True, False):
        as_graph((offsets, targets, weights), vertex_weights=weights, copy=how)
        portpart.partition((offsets, targets, weights), 2, vertex_weights=weights)
        csr_graph(offsets, targets, weights, weights, copy=how)
    assert all(a.flags.writeable for a in (offsets, targets, weights))


def test_read_only_arrays_are_shared_only_if_nobody_can_write() -> None:
    offsets = np.array([0, 1, 2], np.int32)
    held = np.array([1, 0], np.int32)
    view = held[:]
    view.flags.writeable = False
    graph = as_graph((offsets, view))
    held[:] = 10**9
    assert graph.targets.tolist() == [1, 0]
    constant = np.array([1, 0], np.int32)
    constant.flags.writeable = False
    assert np.shares_memory(as_graph((offsets, constant)).targets, constant)
    assert np.shares_memory(as_graph((offsets, constant[:])).targets, constant)


def test_buffers_that_can_be_written_are_copied() -> None:
    held = array.array("i", [1, 0])
    for buffer in (held, memoryview(held), memoryview(held).toreadonly()):
        graph = as_graph((array.array("i", [0, 1, 2]), buffer))
        held[0] = 7
        assert graph.targets.tolist() == [1, 0]
        held[0] = 1
    assert not has_writable_base(np.frombuffer(b"\0\0\0\0", np.int32))
    assert has_writable_base(np.frombuffer(bytearray(4), np.int32))


CHANGES = {
    "target": ("A.indices[:] = 10**9", r"have changed since: indices\[0\] = 1000000000"),
    "negative": ("A.indices[3] = -5", r"indices\[3\] = -5"),
    "offsets": ("A.indptr[5] = 10**6", "offsets must never decrease|is smaller than"),
    "end": ("A.indptr[-1] -= 1", "the last offset"),
    "loop": ("A.indices[0] = 0; A.indices[2] = 1", "have changed since"),
    "weight": ("A.data[0] = -1", "has weight -1"),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("call", [
    "portpart.partition(g, 4)", "portpart.map_processes(g, '2:2', '1:10')",
    "portpart.metrics.cut(g, [0] * 900)", "portpart.io.write(g, 'never.graph')",
    "portpart.as_graph(g)"], ids=["partition", "map", "cut", "write", "as_graph"])
def test_shared_arrays_are_checked_again(change: str, call: str, tmp_path: Any,
                                         monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, message = CHANGES[change]
    A = grid_matrix()
    g = as_graph(A, copy=False)
    eval(call, {"portpart": portpart, "g": g})
    exec(code, {"A": A})
    with pytest.raises(InputError, match=message):
        eval(call, {"portpart": portpart, "g": g})


def test_no_fault_in_a_process_that_changes_what_it_shares() -> None:
    """The one change that is sure to fault where arrays are trusted, in a process of its own."""
    code = (f"import portpart, scipy.sparse as sp; A = {GRID}\n"
            "g = portpart.as_graph(A, copy=False); h = portpart.as_graph(A)\n"
            "A.indices[:] = 10**9\n"
            "print(portpart.partition(h, 4).cut > 0)\n"
            "portpart.partition(g, 4)")
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 1, run.stderr
    assert run.stdout.strip() == "True"
    assert "InputError: the arrays of this graph have changed" in run.stderr


def test_changes_that_keep_a_graph_are_followed() -> None:
    matrix = grid_matrix().astype(np.int64)
    graph = as_graph(matrix, copy=False)
    matrix.data[:] = 2**40
    assert portpart.partition(graph, 2).cut == 2**40 * 30
    assert as_graph(graph).total_arc_weight == 3480 * 2**40


def test_arrays_of_a_device_are_checked_again(space: ExecutionSpace) -> None:
    """Device memory cannot be made read-only."""
    graph = as_graph(grid_matrix()).to(space)
    if space.kind == "cpu":
        return
    assert checked_again(graph, True).num_arcs == graph.num_arcs
    graph.targets[7] = 10**6
    with pytest.raises(InputError, match="have changed since"):
        checked_again(graph, True)


@pytest.mark.parametrize("duplicate", [
    copy.copy, copy.deepcopy, lambda pair: pickle.loads(pickle.dumps(pair))],
    ids=["copy", "deepcopy", "pickle"])
def test_copies_of_a_sharing_graph_share_nothing(duplicate: Any) -> None:
    matrix = grid_matrix()
    graph = as_graph(matrix, copy=False)
    again = duplicate(graph)
    held, copied = duplicate([matrix, graph])
    for made in (again, copied) if duplicate is not copy.copy else (again,):
        assert not any(np.shares_memory(made.targets, other.indices) for other in (matrix, held))
        assert not any(map(has_writable_base, arrays_of(made)))
    assert all(each.flags.writeable for each in (matrix.indices, held.indices, held.data))


def _cut_of(graph: Graph) -> int:
    return portpart.partition(graph, 4).cut


def test_graphs_travel_between_processes() -> None:
    graph = as_graph(grid_matrix(), vertex_weights=np.arange(900), symmetrize=True)
    again = pickle.loads(pickle.dumps(graph, protocol=5))
    oracles.assert_same_graph(again, graph)
    assert (again.space, again.weight_scale) == (graph.space, graph.weight_scale)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(_cut_of, [graph]) == [_cut_of(graph)]
    one = backends.space("cpu", threads=1)
    assert copy.deepcopy(graph.to(one)).space is one

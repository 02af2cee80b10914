"""Edited graphs keep what they have: when memory runs out, over many batches, in files."""

from __future__ import annotations

import random
import signal
import weakref
from collections.abc import Callable
from math import ceil
from typing import Any

import numpy as np
import pytest

from portpart import backends, generators
from portpart.algorithms.edits.editable import EditableGraph, EditableHypergraph
from portpart.algorithms.edits.saved import Saved, arrays_of, edited_of, existing_graph
from portpart.backends.cpu.space import CpuSpace
from portpart.backends.programs.interface import Array, ExecutionSpace
from portpart.errors import InputError, OutOfMemory
from portpart.graphs.arrays import has_writable_base
from portpart.graphs.graph import Graph
from portpart.graphs.row_store import HALF_MORE, bucket_list, capacity_for
from tests import oracles
from tests.helpers.edit_models import GraphModel, packed
from tests.helpers.net_edit_models import HypergraphModel, packed_nets
from tests.helpers.nets import circuit, hypergraph_of

CPU = backends.space("cpu")


class Short(CpuSpace):
    """A space that has memory for so many more arrays."""

    left = 10**9

    def empty(self, n: int, dtype: Any) -> Array:
        self.left -= 1
        if self.left < 0:
            raise OutOfMemory("no more arrays")
        return super().empty(n, dtype)


def edit_graph(edited: Any) -> Any:
    """A batch with something of everything."""
    batch = edited.batch()
    new = batch.insert_vertices([3, 4])
    batch.insert_edges(new.repeat(6), np.arange(12), 2)
    batch.insert_edges([5, 6], [6, 5])
    batch.set_vertex_weights([1, 2], 9)
    batch.delete_edges(0, 1)
    batch.delete_vertices(11)
    return batch


def edit_nets(edited: Any) -> Any:
    """The same of a hypergraph."""
    batch = edited.batch()
    new = batch.insert_vertices([3, 4])
    nets = batch.insert_nets([0, 2, 5], [1, 2, 3, 4, 5], [5, 2**40])
    batch.insert_pins(nets.repeat(2), new.repeat(2))
    batch.set_net_weights(0, 7)
    batch.delete_vertices(3)
    batch.delete_nets(1)
    return batch


@pytest.mark.parametrize("kind", ["graph", "hypergraph"])
def test_nothing_changes_where_memory_runs_out(kind: str) -> None:
    space = Short()
    edited: Any = (EditableGraph(generators.grid_2d(4, 4).to(space)) if kind == "graph" else
                   EditableHypergraph(circuit(16, 5, large=9).to(space)))
    look, edit = (packed, edit_graph) if kind == "graph" else (packed_nets, edit_nets)
    mark, before = edited.mark(), look(edited)
    batch = edit(edited)
    fail_everywhere(space, lambda: edited.apply(batch), lambda: look(edited))
    fail_everywhere(space, lambda: edited.undo(mark), lambda: look(edited))
    assert look(edited) == before


def fail_everywhere(space: Short, change: Callable[[], Any], look: Callable[[], Any]) -> None:
    """Try a change with one more allocation each time, until it comes to an end."""
    state = look()
    for allocations in range(1000):
        space.left = allocations
        try:
            change()
        except OutOfMemory:
            space.left = 10**9
            assert look() == state
        else:
            break
    space.left = 10**9
    assert 3 < allocations < 999
    assert look() != state


class Interrupted(CpuSpace):
    """A space in which Ctrl-C comes at one of the launches."""

    left = 10**9

    def parallel_for(self, n: int, kernel: Any, *args: Any, team: int = 1) -> None:
        self.left -= 1
        if self.left == 0:
            signal.raise_signal(signal.SIGINT)
        super().parallel_for(n, kernel, *args, team=team)


def test_what_is_interrupted_is_done_first() -> None:
    space = Interrupted()
    graph = generators.grid_2d(4, 4).to(space)
    edited = EditableGraph(graph)
    edited.apply(edit_graph(edited))
    after = packed(edited)
    for launches in range(1, 1000):
        again = EditableGraph(graph)
        mark, before = again.mark(), packed(again)
        batch = edit_graph(again)
        space.left = launches
        try:
            again.apply(batch)
            again.undo(mark)
            done = space.left > 0
        except KeyboardInterrupt:
            done = False
            assert packed(again) in (after, before)
        space.left = 10**9
        again.undo(mark)
        assert packed(again) == before
        if done:
            break
    assert 8 < launches < 999


def test_memory_stays_bounded_over_many_batches() -> None:
    rng = random.Random(3)
    graph = generators.grid_2d(12, 12)
    edited, model = EditableGraph(graph), GraphModel(graph)
    for turn in range(600):
        batch, calls = edited.batch(), []
        ends = [[rng.randrange(144) for _ in range(6)] for _ in range(2)]
        batch.insert_edges(*ends)
        calls.append(("insert_edges", *ends, None))
        edges = rng.sample([(u, v) for u in rng.sample(range(144), 20) for v in model.rows[u]], 6)
        gone = [u for u, _ in edges], [v for _, v in edges]
        batch.delete_edges(*gone, missing="ignore")
        calls.append(("delete_edges", *gone, "ignore"))
        edited.apply(batch)
        model.apply(calls)
        if turn % 150 == 149:
            assert packed(edited) == model.packed()
    assert edited.arcs.pool_length <= 4 * (8 * 144 + edited.num_pairs * 3 // 2)
    assert not edited._log  # nobody can undo


def test_edits_are_kept_for_marks_that_are_alive_alone() -> None:
    edited = EditableGraph(generators.grid_2d(5, 5))
    kept = []
    for turn in range(4):
        mark = edited.mark()  # as a session has one in each round
        batch = edited.batch()
        batch.insert_edges(0, turn + 6)
        kept.append(weakref.ref(edited.apply(batch)))
        before = packed(edited)
        del mark
    assert [update() is None for update in kept] == [True, True, True, False]
    mark = edited.mark()
    assert kept[-1]() is None
    batch = edited.batch()
    batch.delete_vertices(3)
    edited.apply(batch)
    edited.undo(mark)
    assert packed(edited) == before


def test_marks_of_states_that_are_gone_are_refused() -> None:
    edited = EditableGraph(generators.grid_2d(3, 3))
    first = edited.mark()
    edited.apply(edit_small(edited))
    second = edited.mark()
    edited.undo(first)
    edited.undo(first)
    for stale in (second, EditableGraph(generators.grid_2d(3, 3)).mark()):
        with pytest.raises(InputError, match="the mark belongs to"):
            edited.undo(stale)
    edited.compact()
    with pytest.raises(InputError, match="the mark belongs to"):
        edited.undo(first)


def edit_small(edited: EditableGraph) -> Any:
    batch = edited.batch()
    batch.delete_vertices(4)
    batch.insert_vertices()
    return batch


def test_compaction_gives_the_living_new_ids() -> None:
    edited = EditableGraph(generators.grid_2d(3, 3))
    edited.apply(edit_small(edited))
    before = packed(edited)
    assert edited.compact().tolist() == [0, 1, 2, 3, -1, 4, 5, 6, 7, 8]
    assert packed(edited)[1:] == before[1:]
    assert edited.ids.tolist() == list(range(9))


def test_rows_may_come_in_any_order_and_with_parallel_edges() -> None:
    offsets, targets = np.array([0, 3, 5, 6], np.int32), np.array([2, 1, 1, 0, 0, 0], np.int32)
    edited = EditableGraph(Graph(offsets, targets, None, None, CPU))
    assert packed(edited) == [[0, 1, 2], [0, 2, 3, 4], [1, 2, 0, 0], [2, 1, 2, 1], [1, 1, 1]]


def test_large_batches_give_the_graph_of_all_edges(space: ExecutionSpace) -> None:
    rng = np.random.default_rng(5)
    n, m = 600, 40_000
    u, v, w = rng.integers(0, n, m), rng.integers(0, n, m), rng.integers(1, 9, m)
    empty = Graph(np.zeros(n + 1, np.int32), np.empty(0, np.int32), None, None, CPU)
    edited = EditableGraph(empty.to(space))
    for half in (slice(0, m // 2), slice(m // 2, m)):
        batch = edited.batch()
        batch.insert_edges(u[half], v[half], w[half])
        edited.apply(batch)
    matrix = np.zeros((n, n), np.int64)
    np.add.at(matrix, (u, v), w)
    matrix += matrix.T
    np.fill_diagonal(matrix, 0)
    assert (edited.graph().to_scipy() != matrix).sum() == 0


def test_kernels_read_the_rows_of_all_ids() -> None:
    graph, nets = generators.grid_2d(4, 4), circuit(16, 5, large=9)
    edited, others = EditableGraph(graph), EditableHypergraph(nets)
    model, model_of_nets = GraphModel(graph), HypergraphModel(nets)
    batch = edited.batch()
    batch.delete_vertices([3, 5])
    batch.insert_edges(6, [8, 9, 11], 7)
    edited.apply(batch)
    model.apply([("delete_vertices", [3, 5], "raise"),
                 ("insert_edges", [6] * 3, [8, 9, 11], [7] * 3)])
    csr = edited.csr
    for v in range(16):
        row = slice(csr.begin[v], csr.end[v])
        assert dict(zip(csr.targets[row].tolist(), csr.weights[row].tolist())) == model.rows.get(
            v, {})
    net_batch = others.batch()
    net_batch.insert_pins(2, range(10, 16))
    others.apply(net_batch)
    model_of_nets.apply([("insert_pins", [2] * 6, list(range(10, 16)))])
    rows, of_vertices = others.net_rows, others.csr
    for e, pins in model_of_nets.nets.items():
        assert rows.pins[rows.begin[e] : rows.end[e]].tolist() == sorted(pins)
    for v in range(16):
        found = of_vertices.targets[of_vertices.begin[v] : of_vertices.end[v]].tolist()
        assert found == [e for e, pins in sorted(model_of_nets.nets.items()) if v in pins]


def test_graphs_are_not_checked_again_when_they_are_partitioned() -> None:
    graph, nets = EditableGraph(generators.grid_2d(4, 4)), EditableHypergraph(circuit(16, 5))
    graph.apply(edit_graph(graph))
    nets.apply(edit_nets(nets))
    for arrays in (graph.graph().arrays, nets.hypergraph().arrays):
        assert not any(array is not None and has_writable_base(array) for array in arrays.values())


def test_rows_that_move_get_the_room_that_was_asked_for() -> None:
    for needed in range(1, 200):
        assert capacity_for(needed, bucket_list(2)) == 32 * (ceil(needed / 32) + 2)
        assert capacity_for(needed, HALF_MORE) == max(8, 4 * ceil(ceil(1.5 * needed) / 4))
    edited = EditableGraph(generators.grid_2d(4, 4), bucket_list())
    batch = edited.batch()
    batch.insert_edges(0, np.arange(2, 16))
    edited.apply(batch)
    degrees = np.diff(edited.graph().offsets)
    capacity = edited.arcs.rows.capacity[: len(degrees)]
    moved = capacity != np.diff(generators.grid_2d(4, 4).offsets)
    assert capacity[moved].tolist() == [64] * int(moved.sum())
    assert moved[0]
    assert (capacity >= degrees).all()


def test_changes_tell_what_becomes_of_the_cut() -> None:
    rng = np.random.default_rng(8)
    edited = EditableGraph(generators.grid_2d(8, 8))
    part = rng.integers(0, 3, 64)
    for size in (10, 3000):  # written at once, and in steps
        before = cut_of(edited, part)
        batch = edited.batch()
        batch.delete_edges(*rng.integers(0, 64, (2, size)), missing="ignore")
        batch.insert_edges(*rng.integers(0, 64, (2, size)), rng.integers(0, 5, size))
        changes = edited.apply(batch).changes[0]
        u, v = changes.keys >> 32, changes.keys & 0xFFFFFFFF
        gained = np.maximum(changes.will, 0) - np.maximum(changes.was, 0)
        assert before + gained[(u < v) & (part[u] != part[v])].sum() == cut_of(edited, part)


def cut_of(edited: EditableGraph, part: np.ndarray) -> int:
    return oracles.cut(edited.graph(), part)


@pytest.mark.parametrize("given", [
    ("insert_edges", ([0], [9]), "ids must lie in 0 ... 8"),
    ("insert_edges", ([0], [-1]), r"insert_edges\[0\] is -1"),
    ("insert_edges", ([0, 1], [1, 2, 3]), "do not make pairs"),
    ("insert_edges", ([0.5], [1]), "ids"),
    ("insert_edges", ([0], [1], [-2]), r"weights\[0\] is -2"),
    ("insert_edges", ([0], [1], [2**62]), "2\\*\\*62"),
    ("delete_edges", ([0], [1], "maybe"), "it must be"),
    ("insert_vertices", ([1, 2], 3), "2 weights for 3 ids"),
], ids=str)
def test_what_makes_no_sense_is_refused_at_once(given: tuple[str, tuple[Any, ...], str]) -> None:
    batch = EditableGraph(generators.grid_2d(3, 3)).batch()
    name, arguments, message = given
    with pytest.raises(InputError, match=message):
        getattr(batch, name)(*arguments)
    assert batch.length == 0


def test_weights_stay_below_their_limit() -> None:
    edited = EditableGraph(generators.grid_2d(3, 3))
    before = packed(edited)
    batch = edited.batch()
    batch.insert_edges(0, 1, 2**61)
    with pytest.raises(InputError, match=r"counted at both ends, add up to \d+, above"):
        edited.apply(batch)
    assert packed(edited) == before


def test_a_batch_is_applied_once_and_where_it_was_made() -> None:
    edited = EditableGraph(generators.grid_2d(3, 3))
    batch = edit_small(edited)
    with pytest.raises(InputError, match="another graph or session"):
        EditableGraph(generators.grid_2d(3, 3)).apply(batch)
    edited.apply(batch)
    with pytest.raises(InputError, match="already"):
        edited.apply(batch)


def test_arrays_of_a_file_hold_what_is_edited(space: ExecutionSpace) -> None:
    graph = EditableGraph(generators.grid_2d(4, 4).to(space))
    nets = EditableHypergraph(circuit(16, 5, large=9).to(space))
    for edited, edit, look in ((graph, edit_graph, packed), (nets, edit_nets, packed_nets)):
        edited.apply(edit(edited))
        saved = Saved(arrays_of(edited))
        again: Any = edited_of(existing_graph(saved, space), saved, HALF_MORE)
        assert look(again) == look(edited)
        assert (again.num_pairs, again.pair_weight) == (edited.num_pairs, edited.pair_weight)
        for table, other in zip(again.tables, edited.tables):
            assert (table.total_weight, table.num_alive) == (other.total_weight, other.num_alive)
        assert again.batch().insert_vertices() == edited.batch().insert_vertices()


def test_weights_that_were_lent_stay_as_they_were() -> None:
    """The dead weigh nothing, but not in the arrays of the hypergraph that was given."""
    hypergraph = hypergraph_of([[0, 1], [1, 2], [0, 2]], 3, [4, 5, 6], [7, 8, 9])
    edited = EditableHypergraph(hypergraph)
    batch = edited.batch()
    batch.delete_vertices(1)
    batch.delete_nets([0, 2])
    edited.apply(batch)
    weights = [hypergraph.net_weights, hypergraph.vertex_weights]
    assert [each.tolist() for each in weights if each is not None] == [[4, 5, 6], [7, 8, 9]]

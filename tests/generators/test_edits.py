"""Generated edits, each against what it says it does, on rows that they are applied to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import portpart
from portpart import generators
from portpart.algorithms.edits import EditableGraph, EditableHypergraph
from portpart.errors import InputError
from tests import graphs as _profile  # noqa: F401  (loads the Hypothesis profile)


def edges(edited: EditableGraph) -> dict[tuple[int, int], int]:
    """Weights of the edges by ids."""
    matrix, ids = edited.graph().to_scipy().tocoo(), edited.ids
    return {(int(ids[u]), int(ids[v])): int(w)
            for u, v, w in zip(matrix.row, matrix.col, matrix.data) if u < v}


def rows(edited: EditableHypergraph) -> dict[int, set[int]]:
    """Pins of the nets by ids."""
    nets, ids = edited.hypergraph(), edited.ids
    pins = np.split(nets.net_pins, nets.net_offsets[1:-1])
    return {int(net): set(ids[row].tolist()) for net, row in zip(edited.nets.ids(), pins)}


def applied(edited: Any, play: Callable[[Any], Any]) -> Any:
    """Let a batch be filled, and apply it."""
    batch = edited.batch()
    result = play(batch)
    edited.apply(batch)
    return result


def boxes(step: generators.MeshStep) -> np.ndarray:
    """Left, lower, right and upper end of each cell, in cells of level 4."""
    half = 0.5 ** (step.levels + 1.0)[:, None]
    return (16 * np.hstack([step.centres - half, step.centres + half])).astype(int)


@pytest.fixture(scope="module")
def mesh() -> list[generators.MeshStep]:
    return list(generators.moving_front(9, min_level=1, max_level=4))


def test_cells_tile_the_square(mesh: list[generators.MeshStep]) -> None:
    for step in mesh:
        covered = np.zeros((16, 16), int)
        for left, low, right, high in boxes(step):
            covered[left:right, low:high] += 1
        assert (covered == 1).all()
        assert set(step.levels) <= {1, 2, 3, 4}


def test_cells_with_a_common_side_are_joined_and_differ_by_a_level(
    mesh: list[generators.MeshStep]
) -> None:
    for step in mesh[::4]:
        wanted = set()
        for u, v in combinations(range(len(step.levels)), 2):
            (a, b, c, d), (e, f, g, h) = boxes(step)[[u, v]]
            across, up = min(c, g) - max(a, e), min(d, h) - max(b, f)
            if min(across, up) == 0 and max(across, up) > 0:
                wanted.add((u, v))
                assert abs(step.levels[u] - step.levels[v]) <= 1
        assert set(edges(EditableGraph(step.graph))) == wanted


def test_cells_come_from_those_of_the_step_before(mesh: list[generators.MeshStep]) -> None:
    """The same cell, the one around it, or the first one in it."""
    assert mesh[0].kept.all()
    divided = joined = 0
    for before, step in pairwise(mesh):
        old, new = boxes(before)[step.origins], boxes(step)
        same = (old == new).all(axis=1)
        assert (same == step.kept).all()
        around = (old[:, :2] <= new[:, :2]).all(axis=1) & (old[:, 2:] >= new[:, 2:]).all(axis=1)
        first = (old[:, :2] == new[:, :2]).all(axis=1) & (old[:, 2:] <= new[:, 2:]).all(axis=1)
        assert (same | around | first).all()
        divided += int((around & ~same).sum())
        joined += int((first & ~same).sum())
    assert min(divided, joined) > 10


def test_steps_as_edits_make_the_meshes(mesh: list[generators.MeshStep]) -> None:
    edited = EditableGraph(mesh[0].graph)
    ids = np.arange(len(mesh[0].levels))
    for step in mesh[1:]:
        ids = applied(edited, lambda batch: step.play(ids, batch))  # noqa: B023
        expected = {tuple(sorted((int(ids[u]), int(ids[v])))): 1
                    for u, v in edges(EditableGraph(step.graph))}
        assert edges(edited) == expected
        assert sorted(ids.tolist()) == edited.ids.tolist()


def test_a_fifth_of_the_cells_is_new_in_each_step() -> None:
    shares = [1 - step.kept.mean() for step in generators.moving_front(60)][1:]
    assert 0.1 < min(shares) < max(shares) < 0.4
    for levels in ((-1, 3), (4, 3), (0, 16)):
        with pytest.raises(InputError, match="min_level"):
            next(generators.moving_front(1, *levels))


def test_buffers_lead_from_drivers_to_their_nets() -> None:
    """Without swaps each net keeps its sinks, and a chain of buffers begins at its driver."""
    netlist = generators.netlist(400, seed=3)
    edited = EditableHypergraph(netlist)
    before, edits = rows(edited), generators.EcoEdits(netlist, 2, shares=(3, 1, 0))
    for count in (1, 30, 200):
        applied(edited, lambda batch: edits.play(batch, count))  # noqa: B023
        after = rows(edited)
        buffers = set(edited.ids.tolist()) - set(range(400))
        assert buffers == after.keys() - before.keys()  # each is numbered as the net that it gets
        for net, row in before.items():
            if len(row) > generators.eco.MAX_PINS:
                assert after[net] == row
                continue
            assert row - {net} <= after[net]
            (driver,) = after[net] - (row - {net})
            for _ in range(len(buffers)):
                if driver in buffers:
                    (driver,) = after[driver] - {driver}
            assert driver == net


def test_swaps_keep_sizes_and_degrees() -> None:
    netlist = generators.netlist(300, seed=4)
    edited = EditableHypergraph(netlist)
    before, edits = rows(edited), generators.EcoEdits(netlist, 5, shares=(0, 0, 1))
    for _ in range(3):
        applied(edited, lambda batch: edits.play(batch, 40))
        after = rows(edited)
        assert {net: len(row) for net, row in after.items()} == {
            net: len(row) for net, row in before.items()}
        assert Counter(v for row in after.values() for v in row) == Counter(
            v for row in before.values() for v in row)
    assert sum(after[net] != before[net] for net in after) > 80


def test_when_all_buffers_are_taken_out_the_netlist_is_the_old_one() -> None:
    netlist = generators.netlist(300, seed=4)
    edited = EditableHypergraph(netlist)
    before, counts = rows(edited), []
    edits = generators.EcoEdits(netlist, 5, shares=(1, 1, 0))
    while len(counts) < 40 or counts[-1] > 300:
        applied(edited, lambda batch: edits.play(batch, 9 if len(counts) < 40 else 1))
        counts.append(len(edited.ids))
    assert max(counts) > 310
    assert rows(edited) == before


streams = st.lists(st.tuples(st.integers(0, 20), st.lists(st.integers(0, 9), min_size=2,
                                                          max_size=2)), max_size=25)


@given(stream=streams, width=st.integers(1, 12), steps=st.lists(st.integers(0, 8), max_size=5))
@settings(max_examples=60)
def test_windows_of_edges_hold_what_is_recent(
    stream: list[tuple[int, list[int]]], width: int, steps: list[int]
) -> None:
    ends = np.array([pair for _, pair in stream]).reshape(-1, 2)
    window = generators.SlidingWindow([time for time, _ in stream], (ends[:, 0], ends[:, 1]), width)
    edited = EditableGraph(portpart.from_edges([], num_vertices=0))
    end = 0
    for step in steps:
        end += step
        applied(edited, lambda batch: window.play(batch, end))  # noqa: B023
        recent = [sorted(pair) for time, pair in stream if end - width <= time < end]
        assert set(window.ids) == {vertex for pair in recent for vertex in pair}
        assert sorted(window.ids.values()) == edited.ids.tolist()
        name = {own: vertex for vertex, own in window.ids.items()}
        assert {tuple(sorted((name[u], name[v]))): w for (u, v), w in edges(edited).items()} == (
            Counter((u, v) for u, v in recent if u != v))


@given(stream=st.lists(st.tuples(st.integers(0, 20), st.lists(st.integers(0, 9), max_size=5)),
                       max_size=25),
       width=st.none() | st.integers(1, 12), steps=st.lists(st.integers(0, 8), max_size=5))
@settings(max_examples=60)
def test_windows_of_nets_hold_what_is_recent(
    stream: list[tuple[int, list[int]]], width: int | None, steps: list[int]
) -> None:
    offsets = np.cumsum([0, *(len(net) for _, net in stream)])
    pins = np.array([vertex for _, net in stream for vertex in net], np.int64)
    window = generators.SlidingWindow([time for time, _ in stream], (offsets, pins), width,
                                      nets=True)
    edited = EditableHypergraph(portpart.as_hypergraph([], num_vertices=0))
    end = 0
    for step in steps:
        end += step
        applied(edited, lambda batch: window.play(batch, end))  # noqa: B023
        begin = 0 if width is None else end - width
        name = {own: vertex for vertex, own in window.ids.items()}
        found = Counter(tuple(sorted(name[v] for v in row)) for row in rows(edited).values())
        assert found == Counter(tuple(sorted(set(net))) for time, net in stream
                                if begin <= time < end)


def test_windows_refuse_what_does_not_go_together() -> None:
    for arguments in (([0, 1], ([0], [1])), ([0], ([0], [1, 2])), ([0], ([0], [1]), 0)):
        with pytest.raises(InputError, match=r"different lengths|width is 0"):
            generators.SlidingWindow(*arguments)  # type: ignore[arg-type]
    window = generators.SlidingWindow([0, 1], ([0, 1], [1, 2]))
    edited = EditableGraph(portpart.from_edges([], num_vertices=0))
    applied(edited, lambda batch: window.play(batch, 2))
    with pytest.raises(InputError, match="beyond 1 before"):
        window.play(edited.batch(), 1)


@pytest.mark.parametrize("ends", ["uniform", "near"])
def test_random_edits_of_graphs_come_in_their_proportions(ends: str) -> None:
    """One at a time: what is new was not there, and near ends have a neighbour in common."""
    edited = EditableGraph(generators.grid_2d(9))
    edits = generators.RandomEdits(generators.grid_2d(9), 3, ends)
    kinds = []
    for _ in range(120):
        before, old = edges(edited), edited.ids.tolist()
        applied(edited, lambda batch: edits.play(batch, 1))
        after, now = edges(edited), edited.ids.tolist()
        kinds.append((len(now) > len(old)) - (len(now) < len(old)) or (
            2 * ((len(after) > len(before)) - (len(after) < len(before)))))
        if kinds[-1] == 2:
            ((u, v),) = after.keys() - before.keys()
            near = {frozenset(pair) for pair in before}
            if ends == "near":
                assert any({frozenset((u, w)), frozenset((w, v))} <= near for w in old)
    assert Counter(kinds) == {1: 20, -1: 20, 2: 40, -2: 40}


@pytest.mark.parametrize("ends", ["uniform", "near"])
@pytest.mark.parametrize("kind", ["graph", "hypergraph"])
def test_many_random_edits_are_the_same_in_any_batches(ends: str, kind: str) -> None:
    """Nothing that is not there is deleted, or the batch would be refused."""
    graph: Any = generators.grid_2d(12) if kind == "graph" else generators.netlist(150)
    found = []
    for sizes in ([150], [30] * 5, [1] * 150):
        edited = (EditableGraph if kind == "graph" else EditableHypergraph)(graph)
        edits = generators.RandomEdits(graph, 7, ends)
        for size in sizes:
            applied(edited, lambda batch: edits.play(batch, size))  # noqa: B023
        found.append(edges(edited) if kind == "graph" else rows(edited))
    assert found[0] == found[1] == found[2]
    with pytest.raises(InputError, match="ends are 'far'; they are uniform or near"):
        generators.RandomEdits(graph, ends="far")


def test_edits_of_a_netlist_never_name_a_pin_that_is_gone() -> None:
    """Also where a gate drives a net and is on it a second time, as bypasses leave it."""
    netlist = generators.netlist(120, seed=2)
    edited, edits = EditableHypergraph(netlist), generators.EcoEdits(netlist, 0)
    for _ in range(400):
        batch = edited.batch()
        edits.play(batch, 6)
        edited.apply(batch)


@pytest.mark.parametrize("ends", ["uniform", "near"])
@pytest.mark.parametrize("make", [lambda: generators.grid_2d(20),
                                  lambda: generators.rmat(8, seed=1),
                                  lambda: generators.netlist(300, seed=1)],
                         ids=["grid", "rmat", "netlist"])
def test_random_edits_keep_the_number_of_edges(make: Any, ends: str) -> None:
    """Counted in the edited graph itself; without it they drain the graph."""
    graph: Any = make()
    of_graphs = hasattr(graph, "num_edges")
    before = graph.num_edges if of_graphs else graph.num_pins
    left = {}
    for keep in (True, False):
        edited = (EditableGraph if of_graphs else EditableHypergraph)(graph)
        edits = generators.RandomEdits(graph, 3, ends, keep_size=keep)
        counts = []
        for _ in range(60):
            applied(edited, lambda batch: edits.play(batch, 25))  # noqa: B023
            made = edited.graph() if of_graphs else edited.hypergraph()
            counts.append(made.num_edges if of_graphs else made.num_pins)
        left[keep] = counts
    assert all(0.7 * before < count < 1.1 * before for count in left[True])
    assert left[True][-1] > 0.9 * before
    assert left[False][-1] < 0.5 * before


def test_edges_of_new_vertices_lie_near_each_other() -> None:
    """A new vertex is joined to one and to neighbours of that, where it is asked for."""
    edited = EditableGraph(generators.grid_2d(15))
    edits = generators.RandomEdits(generators.grid_2d(15), 5, "near")
    for _ in range(200):
        before, old = edges(edited), set(edited.ids.tolist())
        applied(edited, lambda batch: edits.play(batch, 1))
        for new in set(edited.ids.tolist()) - old:
            own = {v for u, v in edges(edited) if u == new} | {
                u for u, v in edges(edited) if v == new}
            near = {frozenset(pair) for pair in before}
            reached = [v for v in own if any(frozenset((v, other)) in near for other in own)]
            assert len(own) < 2 or len(reached) == len(own)

"""Random edits of benchmarks, each against what it says it does, on rows that it is applied to."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from bench.eco_edits import MAX_PINS, EcoEdits
from bench.random_edits import RandomEdits
from portpart import generators
from portpart.algorithms.edits.editable import EditableGraph, EditableHypergraph
from portpart.errors import InputError
from tests.generators.test_quadtree import applied, edges


def rows(edited: EditableHypergraph) -> dict[int, set[int]]:
    """Pins of the nets by ids."""
    nets, ids = edited.hypergraph(), edited.ids
    pins = np.split(nets.net_pins, nets.net_offsets[1:-1])
    return {int(net): set(ids[row].tolist()) for net, row in zip(edited.nets.ids(), pins)}


def test_buffers_lead_from_drivers_to_their_nets() -> None:
    """Without swaps each net keeps its sinks, and a chain of buffers begins at its driver."""
    netlist = generators.netlist(400, seed=3)
    edited = EditableHypergraph(netlist)
    before, edits = rows(edited), EcoEdits(netlist, 2, shares=(3, 1, 0))
    for count in (1, 30, 200):
        applied(edited, lambda batch: edits.play(batch, count))  # noqa: B023
        after = rows(edited)
        buffers = set(edited.ids.tolist()) - set(range(400))
        assert buffers == after.keys() - before.keys()  # each is numbered as the net that it gets
        for net, row in before.items():
            if len(row) > MAX_PINS:
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
    before, edits = rows(edited), EcoEdits(netlist, 5, shares=(0, 0, 1))
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
    edits = EcoEdits(netlist, 5, shares=(1, 1, 0))
    while len(counts) < 40 or counts[-1] > 300:
        applied(edited, lambda batch: edits.play(batch, 9 if len(counts) < 40 else 1))
        counts.append(len(edited.ids))
    assert max(counts) > 310
    assert rows(edited) == before


@pytest.mark.parametrize("ends", ["uniform", "near"])
def test_random_edits_of_graphs_come_in_their_proportions(ends: str) -> None:
    """One at a time: what is new was not there, and near ends have a neighbour in common."""
    edited = EditableGraph(generators.grid_2d(9))
    edits = RandomEdits(generators.grid_2d(9), 3, ends)
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
        edits = RandomEdits(graph, 7, ends)
        for size in sizes:
            applied(edited, lambda batch: edits.play(batch, size))  # noqa: B023
        found.append(edges(edited) if kind == "graph" else rows(edited))
    assert found[0] == found[1] == found[2]
    with pytest.raises(InputError, match="ends are 'far'; they are uniform or near"):
        RandomEdits(graph, ends="far")


def test_edits_of_a_netlist_never_name_a_pin_that_is_gone() -> None:
    """Also where a gate drives a net and is on it a second time, as bypasses leave it."""
    netlist = generators.netlist(120, seed=2)
    edited, edits = EditableHypergraph(netlist), EcoEdits(netlist, 0)
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
        edits = RandomEdits(graph, 3, ends, keep_size=keep)
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
    edits = RandomEdits(generators.grid_2d(15), 5, "near")
    for _ in range(200):
        before, old = edges(edited), set(edited.ids.tolist())
        applied(edited, lambda batch: edits.play(batch, 1))
        for new in set(edited.ids.tolist()) - old:
            own = {v for u, v in edges(edited) if u == new} | {
                u for u, v in edges(edited) if v == new}
            near = {frozenset(pair) for pair in before}
            reached = [v for v in own if any(frozenset((v, other)) in near for other in own)]
            assert len(own) < 2 or len(reached) == len(own)

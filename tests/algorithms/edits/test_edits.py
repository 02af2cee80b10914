"""Graphs are what they would be if edits were made one by one; what fails changes nothing."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from portpart import backends, generators
from portpart.algorithms.edits import fused
from portpart.algorithms.edits.editable import EditableGraph, EditableHypergraph
from portpart.backends.programs.interface import ExecutionSpace
from portpart.errors import InputError
from portpart.graphs.hypergraph import Hypergraph
from portpart.graphs.row_store import HALF_MORE, RowGrowth, bucket_list
from portpart.inputs.convert import as_graph
from tests.helpers.edit_models import GraphModel, packed, random_call, random_calls
from tests.helpers.emulation.lanes import LanesSpace
from tests.helpers.net_edit_models import HypergraphModel, packed_nets, random_net_call
from tests.helpers.nets import hypergraph_of

CPU = backends.space("cpu")
GROWTHS = {"half more": HALF_MORE, "buckets": bucket_list(), "no slack": RowGrowth(100, 0, 1, 0),
           "all wide": RowGrowth(150, 8, 4, 0, 0)}


def start(rng: random.Random, space: ExecutionSpace = CPU) -> Any:
    """A small graph of some kind."""
    kind = rng.randrange(4)
    if kind == 0:
        graph = as_graph(([0, 0], []))
    elif kind == 1:
        graph = generators.grid_2d(3, 4)
    else:
        n = rng.randrange(2, 12)
        edges = [(rng.randrange(n), rng.randrange(n)) for _ in range(2 * n)]
        graph = as_graph(np.array(edges), edge_weights=[rng.randrange(1, 4) for _ in edges],
                         symmetrize="sum", vertex_weights=None)
    return graph.to(space)


def start_of_nets(rng: random.Random, space: ExecutionSpace = CPU) -> Hypergraph:
    """A small hypergraph."""
    n = rng.randrange(1, 12)
    rows = [rng.sample(range(n), rng.randrange(min(n, 4) + 1)) for _ in range(rng.randrange(8))]
    weights = [rng.randrange(4) for _ in rows] if rng.random() < 0.5 else None
    return hypergraph_of(rows, n, weights).to(space)


@dataclass(frozen=True)
class Kind:
    """How graphs or hypergraphs are made, edited and compared."""

    start: Callable[..., Any]
    edited: Callable[..., Any]
    model: Callable[[Any], Any]
    packed: Callable[[Any], list[list[int]]]
    call: Callable[..., Any]


KINDS = {"graphs": Kind(start, EditableGraph, GraphModel, packed, random_call),
         "hypergraphs": Kind(start_of_nets, EditableHypergraph, HypergraphModel, packed_nets,
                             random_net_call)}


def check_random_batches(kind: Kind, seed: int, growth: RowGrowth, space: ExecutionSpace,
                         rounds: int) -> None:
    """Compare with the model after each batch, and undo all at the end."""
    rng = random.Random(seed)
    graph = kind.start(rng, space)
    edited, model = kind.edited(graph, growth), kind.model(graph)
    states = []
    for _ in range(rounds):
        states.append((edited.mark(), kind.packed(edited)))
        batch = edited.batch()
        calls = random_calls(rng, model, batch, rng.random() < 0.4, kind.call)
        refused = model.refusal(calls)
        if refused is None:
            found = edited.apply(batch)
            assert {name: getattr(found, name) for name in model.counts} == model.counts
        else:
            with pytest.raises(InputError, match=refused):
                edited.apply(batch)
        assert kind.packed(edited) == model.packed(), calls
        check_sums(edited, model)
        if rng.random() < 0.2:
            for side in edited.sides:
                side.store.compact()
    while states:
        mark, state = states.pop(rng.randrange(len(states)))
        states = [other for other in states if other[0].position < mark.position]
        edited.undo(mark)
        assert kind.packed(edited) == state


def check_sums(edited: Any, model: Any) -> None:
    """Counters follow the edits."""
    rows = model.nets if hasattr(model, "nets") else model.rows
    assert edited.num_pairs == sum(map(len, rows.values()))
    weights = [sum(row.values()) if isinstance(row, dict) else len(row) for row in rows.values()]
    assert edited.pair_weight == sum(weights)
    assert edited.vertices.num_alive == len(model.weights)
    assert edited.vertices.total_weight == sum(model.weights.values())
    if hasattr(model, "nets"):
        assert edited.nets.total_weight == sum(model.net_weights.values())


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=120, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(sorted(GROWTHS)))
def test_random_batches_do_what_plain_dicts_and_sets_do(kind: str, seed: int, growth: str) -> None:
    check_random_batches(KINDS[kind], seed, GROWTHS[growth], CPU, 6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("comparisons", [fused.COMPARISONS, 0], ids=["fused", "in steps"])
def test_every_space_does_the_same(space: ExecutionSpace, kind: str, comparisons: int,
                                   monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fused, "COMPARISONS", comparisons)
    for seed in range(8):
        check_random_batches(KINDS[kind], seed, HALF_MORE, space, 5)


def test_what_a_batch_takes_away_makes_room_for_what_it_adds() -> None:
    """Though the sum of all weights is the largest of 32 bits, one launch does."""
    ends = [(v, v + 1) for v in range(20)]
    weights = [2**30 - 20, *[1] * 19]
    edited = EditableGraph(as_graph(np.array(ends), edge_weights=weights))
    assert 2**31 - 4 < edited.pair_weight < 2**31
    for turn in range(3):
        batch = edited.batch()
        batch.delete_edges([turn + 3, turn + 9], [turn + 4, turn + 10])
        batch.insert_edges([turn, turn], [turn + 7, turn + 9])
        begun = edited.space.counters.launches
        edited.apply(batch)
    assert edited.space.counters.launches == begun + 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("growth", ["half more", "no slack"])
def test_lanes_do_not_race_for_the_row_that_they_rewrite(kind: str, growth: str) -> None:
    """They all have read a stretch of it before one of them closes a gap."""
    space = LanesSpace(3, seed=5, watching={"rewrite_row"})
    check_random_batches(KINDS[kind], 0, GROWTHS[growth], space, 4)


@pytest.mark.parametrize("missing", [1, 40], ids=["alive", "refused"])
@pytest.mark.parametrize("hub", [False, True], ids=["as many as expected", "more than expected"])
def test_pairs_that_end_with_vertices_need_not_fit(space: ExecutionSpace, hub: bool,
                                                   missing: int) -> None:
    """A vertex that dies may have more edges than a run has room for; it is done in steps then."""
    ends = [(0, v) for v in range(1, 40)] if hub else [(v, v + 1) for v in range(39)]
    graph = as_graph(np.array(ends)).to(space)
    edited, model = EditableGraph(graph), GraphModel(graph)
    calls: list[Any] = [("insert_edges", [3], [20], [2]), ("delete_vertices", [0], "raise"),
                        ("insert_edges", [5, missing], [30, 9], [1, 1])]
    first = edited.batch()  # rows are copied at the first edit
    first.insert_edges(7, 22)
    edited.apply(first)
    model.apply([("insert_edges", [7], [22], [1])])
    batch, before = edited.batch(), packed(edited)
    if missing == 40:
        batch.insert_vertices()
        batch.delete_vertices(40, "ignore")
    for name, *values in calls:
        getattr(batch, name)(*values)
    if missing == 40:
        with pytest.raises(InputError, match="id 40 does not exist"):
            edited.apply(batch)
        assert packed(edited) == before
    else:
        edited.apply(batch)
        model.apply(calls)
        assert packed(edited) == model.packed()
        check_sums(edited, model)


@pytest.mark.parametrize("kind", KINDS)
def test_a_small_batch_takes_one_launch_with_deaths_or_without(kind: str) -> None:
    graph = generators.grid_2d(6, 6) if kind == "graphs" else hypergraph_of(
        [[v, v + 1, v + 7] for v in range(28)], 36)
    edited = KINDS[kind].edited(graph)
    for dies in (False, False, True, True):
        batch = edited.batch()
        getattr(batch, "insert_edges" if kind == "graphs" else "insert_pins")([9, 11], [20, 24])
        if dies:
            batch.delete_vertices(edited.ids[-2:])
        begun = edited.space.counters.launches
        edited.apply(batch)
    assert edited.space.counters.launches == begun + 1

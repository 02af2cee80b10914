"""Graphs are what they would be if edits were made one by one; what fails changes nothing."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portpart import backends, generators
from portpart.algorithms.edits.editable import EditableGraph
from portpart.backends.interface import ExecutionSpace
from portpart.errors import InputError
from portpart.graphs.convert import as_graph
from portpart.graphs.row_store import HALF_MORE, Growth, bucket_list
from tests.algorithms.edit_models import GraphModel, packed, random_calls

CPU = backends.space("cpu")
GROWTHS = {"half more": HALF_MORE, "buckets": bucket_list(), "no slack": Growth(100, 0, 1, 0)}


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


def check_random_batches(seed: int, growth: Growth, space: ExecutionSpace, rounds: int) -> None:
    """Compare with the model after each batch, and undo all at the end."""
    rng = random.Random(seed)
    graph = start(rng, space)
    edited, model = EditableGraph(graph, growth), GraphModel(graph)
    states = []
    for _ in range(rounds):
        states.append((edited.mark(), packed(edited)))
        batch = edited.batch()
        calls = random_calls(rng, model, batch, errors=rng.random() < 0.4)
        refused = model.refusal(calls)
        if refused is None:
            found = edited.apply(batch)
            assert {name: getattr(found, name) for name in model.counts} == model.counts
        else:
            with pytest.raises(InputError, match=refused):
                edited.apply(batch)
        assert packed(edited) == model.packed(), calls
        check_sums(edited, model)
        if rng.random() < 0.2:
            edited.arcs.compact()
    while states:
        mark, state = states.pop(rng.randrange(len(states)))
        states = [other for other in states if other[0].position < mark.position]
        edited.undo(mark)
        assert packed(edited) == state


def check_sums(edited: EditableGraph, model: GraphModel) -> None:
    """Counters follow the edits."""
    assert edited.num_pairs == sum(map(len, model.rows.values()))
    assert edited.pair_weight == sum(sum(row.values()) for row in model.rows.values())
    assert edited.vertices.num_alive == len(model.rows)
    assert edited.vertices.total_weight == sum(model.weights.values())


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(sorted(GROWTHS)))
def test_random_batches_do_what_a_dict_of_dicts_does(seed: int, growth: str) -> None:
    check_random_batches(seed, GROWTHS[growth], CPU, 6)


def test_every_space_does_the_same(space: ExecutionSpace) -> None:
    for seed in range(8):
        check_random_batches(seed, HALF_MORE, space, 5)

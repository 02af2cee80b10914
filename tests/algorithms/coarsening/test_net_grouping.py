"""HyperG's groups: selections, words and runs are those of the text, on every space."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from portpart.algorithms.coarsening import broken_groups
from portpart.algorithms.coarsening.broken_groups import MAX_ROUNDS, NetGroups, group_by_nets
from portpart.algorithms.coarsening.net_proposals import NetProposals
from portpart.algorithms.coarsening.options import NetOptions
from portpart.backends.cuda.requirements import check_program, check_width
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.hypergraph import Hypergraph
from tests import oracles
from tests.algorithms.coarsening.test_net_clustering import pins_seen
from tests.helpers.emulation.lanes import LanesSpace
from tests.helpers.nets import circuit, hypergraph_of, hypergraphs, nets_of, weights_of
from tests.helpers.spaces import NO_LIMIT, number_of, reference

MAX_RATED = 40
SEED = 3


def grouped(space: ExecutionSpace, hypergraph: Hypergraph, limit: int = NO_LIMIT, size: int = 4,
            label: np.ndarray | None = None) -> np.ndarray:
    """What each vertex becomes a part of; checks their numbers."""
    here = None if label is None else space.asarray(label.astype(np.int32))
    found = group_by_nets(hypergraph.to(space), limit, size, SEED, MAX_RATED, here)
    result = oracles.host(found.cluster)
    assert np.array_equal(np.unique(result), np.arange(number_of(found)))
    return result


def selected(hypergraph: Hypergraph, limit: int, label: np.ndarray) -> dict[int, int]:
    """Whom each vertex selects: the best sum of w / |e|, then the largest hash."""
    rows, n = nets_of(hypergraph), hypergraph.num_vertices
    weights, masses = (weights_of(array, count) for array, count in (
        (hypergraph.net_weights, len(rows)), (hypergraph.vertex_weights, n)))
    looks_near = np.ones(n, np.bool_)
    looks_near[[v for row in rows if 2 <= len(row) <= MAX_RATED for v in row]] = False
    scores: list[dict[int, int]] = [{} for _ in range(n)]
    for row, weight in zip(rows, weights, strict=True):
        for v in row:
            for u in pins_seen(v, row, looks_near[v], MAX_RATED) - {v}:
                if masses[u] + masses[v] <= limit and label[u] == label[v]:
                    scores[v][u] = scores[v].get(u, 0) + 2**20 * weight // len(row)
    return {v: max(around, key=lambda u: (around[u], oracles.hash_of_pair(u, v, SEED)))
            for v, around in enumerate(scores) if around}


def runs_of(n: int, selections: dict[int, int], size: int,
            leads: Callable[[int], int] = int) -> np.ndarray:
    """Algorithms 6 and 7 as the text has them, in rounds that see the words of the last one.

    Of those that meet the vertex with the most of `leads` leads.
    """
    words = [(leads(v), 0) for v in range(n)]
    for turn in range(1, MAX_ROUNDS + 1):
        new = words.copy()
        for v, u in selections.items():
            larger = max(words[v][0], words[u][0])
            for end in (v, u):
                if words[end][0] < larger:
                    new[end] = max(new[end], (larger, turn))
        words = new
    first: dict[tuple[int, int], int] = {}
    place: dict[int, int] = {}
    leader = np.zeros(n, np.int64)
    for v in sorted(range(n), key=lambda v: (words[v], v)):
        group = words[v][0]
        place[group] = place.get(group, -1) + 1
        leader[v] = first.setdefault((group, place[group] // size), v)
    return np.unique(leader, return_inverse=True)[1].reshape(-1)


def assert_groups_are_right(space: ExecutionSpace, hypergraph: Hypergraph, limit: int = NO_LIMIT,
                            size: int = 4, label: Any = None) -> np.ndarray:
    n = hypergraph.num_vertices
    selections = selected(hypergraph, limit, np.zeros(n) if label is None else label)
    found = grouped(space, hypergraph, limit, size, label)
    assert np.array_equal(found, runs_of(n, selections, size))
    assert np.bincount(found).max() <= size
    return found


def test_groups_are_those_of_the_text(space: ExecutionSpace) -> None:
    """With nets that count and a large one that does not; with a limit, with labels."""
    hypergraph = circuit(1300, 3, large=700, weighted=True)
    found = assert_groups_are_right(space, hypergraph)
    assert found.max() + 1 < 0.45 * 1300
    assert_groups_are_right(space, hypergraph, limit=9)
    label = np.arange(1300) % 7
    found = assert_groups_are_right(space, hypergraph, size=2, label=label)
    assert np.unique(np.stack([found, label]), axis=1).shape[1] == found.max() + 1


def test_who_has_not_joined_after_many_rounds_stays(space: ExecutionSpace) -> None:
    """A path on which every vertex selects the next: the largest id goes one step a round."""
    n = 3 * MAX_ROUNDS
    path = hypergraph_of([[v, v + 1] for v in range(n - 1)], n, np.arange(1, n))
    assert_groups_are_right(space, path)


@pytest.mark.parametrize("lanes", [2, 3])
def test_lanes_and_the_order_of_items_decide_nothing(lanes: int) -> None:
    hypergraph = circuit(150, 3, large=100)
    assert_groups_are_right(LanesSpace(lanes), hypergraph)


@given(hypergraph=hypergraphs(), limit=st.integers(0, 2**41), size=st.integers(2, 5),
       parts=st.integers(1, 3))
@settings(max_examples=60)
def test_sizes_and_labels_hold_on_any_hypergraph(hypergraph: Hypergraph, limit: int, size: int,
                                                 parts: int) -> None:
    """Equal scores, huge weights and weights of zero among them; heavy vertices stay alone."""
    n = hypergraph.num_vertices
    label, masses = np.arange(n) % parts, np.array(weights_of(hypergraph.vertex_weights, n))
    found = grouped(reference(), hypergraph, limit, size, label)
    counts = np.bincount(found)
    assert counts.max() <= size
    assert np.unique(np.stack([found, label]), axis=1).shape[1] == len(counts)
    assert (counts[found[masses > limit]] == 1).all()


def test_scratch_rows_of_a_program_fit_a_block() -> None:
    """Of every width, in one program."""
    around = NetProposals(NetOptions()).around(circuit(50, 1), 1)
    groups = NetGroups(seed=1, max_weight=9, label=None, cluster=np.zeros(50, np.int32))
    records = broken_groups._records(reference(), around, groups)
    program = broken_groups._record(records, around.sizes, one_lane=False)
    check_program(program)
    for step in program.launches():
        check_width(step.kernel, step.team)

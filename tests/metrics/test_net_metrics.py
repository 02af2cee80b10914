"""Metrics of hypergraphs against sets and plain loops."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, strategies as st

import portpart
from portpart import metrics
from portpart.errors import InputError
from tests import oracles
from tests.helpers.graphs import random_graph

N = 7
ROWS = st.lists(st.lists(st.integers(0, N - 1), max_size=6), max_size=8)
PART = st.lists(st.integers(0, 3), min_size=N, max_size=N)


@given(ROWS, PART, st.booleans())
def test_all_metrics_equal_plain_loops(rows: list[list[int]], part: list[int], big: bool) -> None:
    """Also with weights whose multiples pass 64 bits."""
    weights = [(2**58 if big else 1) * (net % 3) for net in range(len(rows))]
    masses = [vertex % 4 for vertex in range(N)]
    h = portpart.as_hypergraph(rows, num_vertices=N, net_weights=weights, vertex_weights=masses)
    reached = [len({part[pin] for pin in row}) for row in rows]
    pairs = list(zip(weights, reached))
    cut = sum(weight for weight, blocks in pairs if blocks > 1)
    km1 = sum(weight * max(0, blocks - 1) for weight, blocks in pairs)
    assert (metrics.cut(h, part), metrics.km1(h, part)) == (cut, km1)
    assert metrics.soed(h, part) == cut + km1
    histogram = metrics.connectivity_histogram(h, part, 4).tolist()
    assert histogram == [reached.count(blocks) for blocks in range(5)]
    boundary = {pin for row, blocks in zip(rows, reached) for pin in row if blocks > 1}
    assert metrics.boundary_vertices(h, part).tolist() == sorted(boundary)
    inside = [sum(Fraction(weight * (len([v for v in set(row) if part[v] == b]) - 1),
                           len(set(row)) - 1) for b in {part[v] for v in row})
              for weight, row in zip(weights, rows) if len(set(row)) > 1]
    assert metrics.absorption(h, part) == pytest.approx(float(sum(inside)), rel=1e-14)
    block_weights = [sum(masses[v] for v in range(N) if part[v] == b) for b in range(4)]
    assert metrics.block_weights(h, part, 4).tolist() == block_weights
    assert metrics.max_block_weight(h, part, 4) == max(block_weights)
    told = metrics.evaluate(h, part, 4)
    assert (told.cut, told.km1, told.soed, told.boundary) == (cut, km1, cut + km1, len(boundary))
    assert (told.block_weights.tolist(), told.connectivity.tolist()) == (block_weights, histogram)
    assert told.imbalance == metrics.imbalance(h, part, 4) == float(
        Fraction(max(block_weights), 3) - 1)
    assert told.empty_blocks == 4 - len(set(part))
    assert told.is_balanced(2) == metrics.is_balanced(h, part, 4, 2) == (max(block_weights) <= 9)


def test_nets_of_two_pins_are_edges() -> None:
    graph = random_graph(40, 150, 5, weighted=True)
    part = np.random.default_rng(2).integers(0, 5, 40)
    edges = [(u, v, weight) for u, v, weight in oracles.arcs(graph) if u < v]
    h = portpart.as_hypergraph([edge[:2] for edge in edges], num_vertices=40,
                               net_weights=[weight for _, _, weight in edges])
    cut = oracles.cut(graph, part)
    assert (metrics.cut(h, part), metrics.km1(h, part), metrics.soed(h, part)) == (
        cut, cut, 2 * cut)
    assert metrics.boundary_vertices(h, part).tolist() == oracles.boundary(graph, part)


def words_sent(matrix: np.ndarray, part: np.ndarray) -> int:
    """Words between blocks in y = A x, where the block of j holds column j, x_j and y_j.

    Every block adds up what it has of y_i, and all but the holder of y_i send it.
    """
    return sum(len({int(part[j]) for j in np.flatnonzero(row)} - {int(part[i])})
               for i, row in enumerate(matrix))


def test_km1_of_a_matrix_is_its_communication_volume() -> None:
    random = np.random.default_rng(5)
    matrix = sp.csr_array(sp.random(50, 50, density=0.06, random_state=random))
    part = random.integers(0, 6, 50)
    volume = words_sent(matrix.toarray(), part)
    assert metrics.km1(portpart.as_hypergraph(matrix, diagonal=True), part) == volume
    by_rows = portpart.as_hypergraph(matrix.T, model="column-net", diagonal=True)
    assert metrics.km1(by_rows, part) == volume
    symmetric = matrix + matrix.T
    nets = portpart.as_hypergraph(symmetric, diagonal=True)
    sent = metrics.communication_volume(portpart.as_graph(symmetric, weights="ignore"), part).total
    assert metrics.km1(nets, part) == sent == words_sent(symmetric.toarray(), part)


def test_evaluation_prints_and_becomes_json() -> None:
    told = metrics.evaluate(portpart.as_hypergraph([[0, 1, 2], [2, 3], [0, 3]]), [0, 1, 2, 2])
    printed = dict(line.rsplit(None, 1) for line in str(told).splitlines())
    assert (printed["km1"], printed["soed"]) == ("3", "5")
    assert json.loads(json.dumps(told.as_dict()))["connectivity"] == [0, 1, 1, 1]
    assert metrics.evaluate(portpart.as_hypergraph([]), []).km1 == 0


@pytest.mark.parametrize("part", [[0, 1], [0, 0, -1], [0.5, 0, 0]])
def test_parts_that_do_not_fit_are_refused(part: list[float]) -> None:
    for judge in (metrics.km1, metrics.cut, metrics.block_weights, metrics.evaluate):
        with pytest.raises(InputError, match="part"):
            judge(portpart.as_hypergraph([[0, 1, 2]]), part)

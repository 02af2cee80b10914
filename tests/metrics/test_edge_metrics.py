"""Metrics of partitions of edges, against sets of blocks."""

from __future__ import annotations

import re

import numpy as np
import pytest

import portpart
from portpart import metrics
from portpart.errors import InputError

EDGES = [(0, 1), (0, 2), (0, 4), (1, 2), (2, 4), (4, 5)]
GRAPH = portpart.from_edges(EDGES, num_vertices=7, edge_weights=[1, 2, 3, 4, 5, 6],
                            vertex_weights=[10, 20, 30, 40, 50, 60, 70])


@pytest.mark.parametrize("seed", range(5))
def test_every_number_follows_from_the_blocks_of_each_vertex(seed: int) -> None:
    part = np.random.default_rng(seed).integers(0, 3, len(EDGES))
    blocks = [{int(b) for b, edge in zip(part, EDGES) if v in edge} for v in range(7)]
    counts = [len(each) for each in blocks]
    copied = [v for v in range(7) if counts[v] > 1]
    found = metrics.evaluate_edges(GRAPH, part, 4)
    assert metrics.vertex_copies(GRAPH, part).tolist() == counts
    assert found.copies == sum(counts)
    assert found.max_copies == max(counts)
    assert found.replication_factor == metrics.replication_factor(GRAPH, part) == sum(counts) / 5
    assert found.cut == sum(10 * (v + 1) for v in copied)
    assert found.km1 == sum(10 * (v + 1) * (counts[v] - 1) for v in copied)
    assert found.boundary == len(copied)
    assert found.block_vertices.tolist() == [sum(b in each for each in blocks) for b in range(4)]
    assert found.block_weights.tolist() == [
        sum(e + 1 for e in range(6) if part[e] == b) for b in range(4)]
    assert found.empty_blocks == sum(b not in part for b in range(4))
    assert found.as_dict()["num_edges"] == 6


def test_the_partitioner_says_the_same() -> None:
    graph = portpart.generators.rmat(8)
    result = portpart.partition_edges(graph, 5)
    found = metrics.evaluate_edges(graph, result)
    assert (found.k, found.cut, found.km1) == (5, result.cut, result.km1)
    assert found.replication_factor == result.replication_factor
    assert np.array_equal(metrics.vertex_copies(graph, result), result.copies)
    assert np.array_equal(found.block_weights, result.block_weights)


def test_a_graph_without_edges_has_no_copies() -> None:
    found = metrics.evaluate_edges(portpart.from_edges([], num_vertices=3), [], 2)
    assert (found.copies, found.max_copies, found.replication_factor) == (0, 0, 1.0)
    assert found.block_vertices.tolist() == [0, 0]


def test_weights_beyond_64_bits_add_up() -> None:
    graph = portpart.from_edges([(0, 1), (0, 2)], vertex_weights=[2**61, 1, 1])
    assert metrics.evaluate_edges(graph, [0, 1]).km1 == 2**61


@pytest.mark.parametrize(("graph", "part", "k", "message"), [
    (GRAPH, [0] * 7, None, "part has shape (7,) for a graph of 6 edges; shape (6,) is needed"),
    (GRAPH, [0, 0, 0, 0, 0, 3], 3, "part[5] is 3"),
    (GRAPH, None, None, "part is None; the blocks of 6 edges are needed"),
    (GRAPH, {(0, 1): 0}, None, "part is a mapping; the blocks of edges are an array"),
    (GRAPH, [0, 0, 0, 0, 0, 2**40], None, "for a graph of 6 edges; pass k"),
    (GRAPH, [0] * 6, 2**30, "k is 1073741824 for a graph of 6 edges"),
    (portpart.as_hypergraph([[0, 1]]), [0], None, "of the edges of a graph"),
])
def test_parts_that_do_not_fit_are_refused(graph: object, part: object, k: int | None,
                                           message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        metrics.evaluate_edges(graph, part, k)

"""Rows of ranges put together again, and ranges to cut a graph into."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

import portpart
from portpart.graphs.graph import Graph
from portpart.graphs.row_range import Rows
from tests.oracles.graphs import host

Arrays = tuple[np.ndarray, np.ndarray, np.ndarray | None, np.ndarray | None]


def borders_of(n: int) -> list[list[int]]:
    """Return borders of equal ranges of 1, 2, 3, 5 and 8 owners, and random ones, some empty."""
    random = np.random.default_rng(n)
    equal = [[n * rank // p for rank in range(p + 1)] for p in (1, 2, 3, 5, 8)]
    drawn = [sorted(random.integers(0, n + 1, count).tolist()) for count in (1, 3, 7)]
    return equal + [[0, 0, *inner, n, n] for inner in drawn]


def glued(pieces: Sequence[Rows]) -> Arrays:
    """Return offsets, targets, weights and vertex weights of a graph from all of its ranges."""
    assert pieces[0].first == 0
    assert pieces[-1].last == pieces[0].num_vertices
    offsets, total = [np.zeros(1, np.int64)], 0
    for rows in pieces:
        own = host(rows.offsets)
        assert own.dtype == np.int64
        assert own[0] == 0
        assert own[-1] == rows.num_arcs == len(host(rows.targets))
        offsets.append(own[1:] + total)
        total += rows.num_arcs
    assert all(rows.last == after.first for rows, after in pairwise(pieces))
    assert all(rows.num_vertices == pieces[0].num_vertices for rows in pieces)
    columns = [[getattr(rows, name) for rows in pieces]
               for name in ("targets", "weights", "vertex_weights")]
    targets, weights, vertex_weights = (
        None if column[0] is None else np.concatenate([host(array) for array in column])
        for column in columns)
    assert targets is not None
    return np.concatenate(offsets), targets, weights, vertex_weights


def assert_same_arrays(actual: Arrays, expected: Arrays) -> None:
    """Assert that all arrays and their types are equal."""
    for one, other in zip(actual, expected):
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            np.testing.assert_array_equal(one, other)
            assert one.dtype == other.dtype


def graph_of(arrays: Arrays) -> Graph:
    """Return the graph of arrays, which `as_graph` checks, with every edge once and no loop."""
    offsets, targets, weights, vertex_weights = arrays
    graph = portpart.as_graph((offsets, targets), edge_weights=weights,
                              vertex_weights=vertex_weights)
    sources = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    assert (sources != targets).all()
    assert len(np.unique(sources * len(offsets) + targets)) == len(targets)
    assert graph.num_arcs == len(targets)
    return graph

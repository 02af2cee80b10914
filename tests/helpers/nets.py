"""Hypergraphs for tests of algorithms, and what is plainly true of them."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import strategies as st

from portpart import backends
from portpart.graphs.from_nets import nets_hypergraph
from portpart.graphs.graph import Graph
from portpart.graphs.hypergraph import Hypergraph
from tests import oracles

Rows = list[list[int]]


def hypergraph_of(rows: Rows, n: int, net_weights: Any = None,
                  vertex_weights: Any = None) -> Hypergraph:
    """The hypergraph of rows of pins."""
    offsets = np.cumsum([0, *map(len, rows)])
    pins = np.array([pin for row in rows for pin in row], np.int64)
    return nets_hypergraph(offsets, pins, n, net_weights, vertex_weights,
                           space=backends.space("cpu"))


def rows_of(offsets: Any, members: Any) -> Rows:
    """Rows as lists."""
    begin, flat = oracles.host(offsets).tolist(), oracles.host(members).tolist()
    return [flat[a:b] for a, b in pairwise(begin)]


@lru_cache(maxsize=16)
def nets_of(hypergraph: Hypergraph) -> Rows:
    """The pins of each net."""
    return rows_of(hypergraph.net_offsets, hypergraph.net_pins)


def weights_of(weights: Any, count: int) -> list[int]:
    """Weights, ones where there are none."""
    return [1] * count if weights is None else [int(w) for w in oracles.host(weights)]


def circuit(n: int, seed: int, large: int = 0, weighted: bool = False) -> Hypergraph:
    """Nets of a few close vertices, some of them twice, and a large one of `large` pins."""
    random = np.random.default_rng(seed)
    rows = [np.clip(random.integers(0, n) + random.integers(-9, 10, random.integers(1, 6)), 0,
                    n - 1).tolist() for _ in range(n)]
    rows += rows[: n // 8]
    if large:
        rows.append(random.permutation(n)[:large].tolist())
    weights = random.integers(0, 9, len(rows)) if weighted else None
    heavy = random.integers(0, 9, n) if weighted else None
    return hypergraph_of(rows, n, weights, heavy)


def with_weights(hypergraph: Hypergraph, vertex_weights: Any) -> Hypergraph:
    """The same nets between vertices of other weights."""
    return hypergraph_of(nets_of(hypergraph), hypergraph.num_vertices, hypergraph.net_weights,
                         vertex_weights)


@st.composite
def hypergraphs(draw: st.DrawFn, max_vertices: int = 9) -> Hypergraph:
    """Any small hypergraph: empty nets, nets of one pin, identical nets, weights of zero."""
    n = draw(st.integers(1, max_vertices))
    rows = draw(st.lists(st.lists(st.integers(0, n - 1), max_size=6), max_size=10))
    weight = st.integers(0, 2**40)
    net_weights = draw(st.none() | st.lists(weight, min_size=len(rows), max_size=len(rows)))
    vertex_weights = draw(st.none() | st.lists(weight, min_size=n, max_size=n))
    return hypergraph_of(rows, n, net_weights, vertex_weights)


def neighbourhoods(graph: Graph) -> Hypergraph:
    """Each vertex and its neighbours as a net: large nets that overlap."""
    rows = rows_of(graph.offsets, graph.targets)
    return hypergraph_of([[v, *row] for v, row in enumerate(rows)], graph.num_vertices)

"""as_graph refuses what is not a graph, names the first place and says what would be right."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, strategies as st

from portpart.errors import InputError
from portpart.inputs.constructors import from_edges
from portpart.inputs.convert import as_graph, as_mesh
from portpart.inputs.convert_nets import as_hypergraph
from tests.helpers.each import looped
from tests.helpers.graphs import RawGraph, raw_graphs

OFFSETS, TARGETS = np.array([0, 2, 4, 6]), np.array([1, 2, 0, 2, 0, 1])
W = np.array([1, 2, 1, 3, 2, 3])

# what is given, keywords, pieces that the message must hold
BAD_INPUTS: dict[str, tuple[Any, dict[str, Any], list[str]]] = {
    "missing reverse": (([0, 1, 1, 1], [2]), {},
                        ["arc (0, 2) has no reverse arc (2, 0)", "symmetrize=True"]),
    "unequal weights": ((OFFSETS, TARGETS, [1, 2, 1, 3, 2, 4]), {},
                        ["arc (1, 2) has weight 3", "(2, 1) has weight 4",
                         'symmetrize="sum"', '"max"']),
    "target too large": ((OFFSETS, [1, 2, 0, 3, 0, 1]), {},
                         ["indices[3] = 3", "vertex 1", "0 ... 2", "1-based"]),
    "target negative": ((OFFSETS, [1, -7, 0, 2, 0, 1]), {}, ["indices[1] = -7", "vertex 0"]),
    "target beyond 32 bits": ((OFFSETS, [1, 2, 0, 2, 2**40, 1]), {}, ["indices[4]", "vertex 2"]),
    "offsets decrease": (([0, 4, 2, 6], TARGETS), {}, ["indptr[2] = 2", "indptr[1] = 4"]),
    "offsets start late": (([1, 2, 4, 6], TARGETS), {}, ["indptr[0] is 1"]),
    "offsets end early": (([0, 2, 4, 5], TARGETS), {}, ["indptr[3] is 5", "6 indices"]),
    "no offsets": (([], []), {}, ["indptr is empty", "[0]"]),
    "float indices": ((OFFSETS, TARGETS + 0.5), {}, ["indices", "float64", "integers"]),
    "matrix of indices": ((OFFSETS, TARGETS.reshape(2, 3)), {}, ["indices", "(2, 3)"]),
    "short weights": ((OFFSETS, TARGETS, W[:-1]), {}, ["(5,)", "6 arcs", "(6,)"]),
    "negative weight": ((OFFSETS, TARGETS, [1, 2, 1, -3, 2, -3]), {},
                        ["arc (1, 2) has weight -3", ">= 0", 'weights="abs"', 'weights="ignore"']),
    "fractional weight": ((OFFSETS, TARGETS, W * 0.5), {},
                          ["edge_weights[0] is 0.5", 'weights="round" scales and rounds']),
    "NaN weight": ((OFFSETS, TARGETS, [1, 2, 1, np.nan, 2, 3]), {},
                   ["edge_weights[3] is nan", "finite"]),
    "infinite weight": ((OFFSETS, TARGETS, [1, 2, 1, 3, -np.inf, 3]), {}, ["[4] is -inf"]),
    "text weights": ((OFFSETS, TARGETS, list("abcdef")), {}, ["edge_weights", "integers"]),
    "ragged": ((OFFSETS, [[1], [2, 3]]), {}, ["indices"]),
    "huge total": ((OFFSETS, TARGETS, np.full(6, 2**60)), {}, ["2**62", str(6 * 2**60)]),
    "total beyond 64 bits": ((OFFSETS, TARGETS, np.full(6, 2**62)), {}, [str(6 * 2**62)]),
    "huge unsigned": ((OFFSETS, TARGETS, np.full(6, 2**64 - 1, np.uint64)), {}, ["2**62"]),
    "huge vertex total": ((OFFSETS, TARGETS), {"vertex_weights": [2**62, 1, 0]},
                          ["vertex weights", "2**62"]),
    "negative vertex weight": ((OFFSETS, TARGETS), {"vertex_weights": [1, 0, -2]},
                               ["vertex 2 has weight -2"]),
    "fractional vertex weight": ((OFFSETS, TARGETS), {"vertex_weights": [1, 0.25, 2]},
                                 ["vertex_weights[1] is 0.25"]),
    "short vertex weights": ((OFFSETS, TARGETS), {"vertex_weights": [1, 2]},
                             ["2 values for 3 vertices"]),
    "several constraints": ((OFFSETS, TARGETS), {"vertex_weights": np.ones((3, 2))},
                            ["several constraints", "not supported yet"]),
    "rectangular matrix": (sp.csr_array((3, 4)), {}, ["(3, 4)", "square"]),
    "complex matrix": (sp.csr_array(np.array([[0, 1j], [1j, 0]])), {},
                       ["complex", 'weights="abs"', 'weights="ignore"']),
    "dense matrix": (np.zeros((5, 5)), {}, ["(5, 5)", "csr_array"]),
    "lists of neighbours": ([[1, 2], [0], [0]], {}, ["rows of 1 to 2 entries",
                                                     "portpart.from_adjacency",
                                                     "portpart.as_hypergraph"]),
    "a scalar among rows": ([[0, 1], np.array(3)], {}, ["cannot be read as an array"]),
    "more weights than edges": (nx.path_graph(2), {"edge_weights": [1, 2, object()]},
                                ["edge_weights have shape (3,) for 1 edges"]),
    "ends of edges": (([3, 1, 2], [0, 2, 4]), {}, ["indptr[0] is 3", "numpy.stack([one, other]"]),
    "ends from 0 on": (([0, 2, 1], [1, 0, 2]), {}, ["never decrease", "numpy.stack([one, other]"]),
    "rising ends": (([0, 1, 2], [1, 2, 0]), {}, ["indptr[2] is 2", "numpy.stack([one, other]"]),
    "tuple of a number": ((3, [0, 2]), {}, ["indptr"]),
    "large names": ([(0, 10**9), (1, 2)], {}, ["vertex 1000000000 in 2 edges makes 1000000001",
                                               "numpy.unique", "num_vertices=1000000001"]),
    "hypergraph": (as_hypergraph([[0, 1, 2]]), {}, ["a Hypergraph is not a graph", "repartition"]),
    "mesh": (as_mesh([[0, 1, 2]]), {}, ["a Mesh is not a graph", "mesh.dual_graph()"]),
    "data of a network": (SimpleNamespace(edge_index=TARGETS), {},
                          ["portpart.compat.pyg.as_graph(data)"]),
    "edges as columns": (np.zeros((2, 7), int), {}, ["ndarray of shape (2, 7)", "transpose"]),
    "dict": ({0: [1], 1: [0]}, {}, ["dict is not a graph", "portpart.from_adjacency"]),
    "vertex weights without a length": ([(0, 1)], {"vertex_weights": iter([1, 2])},
                                        ["vertex_weights", "a list is needed"]),
    "one number": (7, {}, ["int is not a graph", "accepted are"]),
    "None": (None, {}, ["NoneType", "accepted are"]),
    "long tuple": ((OFFSETS, TARGETS, W, W), {}, ["4 items"]),
    "edge out of range": ([(0, 1), (1, -2)], {}, ["edge 1", "-2"]),
    "edge weight negative": ([(0, 1, 3), (1, 2, -4)], {}, ["edge 1 (1, 2) has weight -4"]),
    "edges of fractions": (np.array([[0, 1.5]]), {},
                           ["vertices[0] is 1.5; vertices must be integers"]),
    "attribute of an array": ((OFFSETS, TARGETS), {"vertex_weights": "mass"},
                              ["'mass'", "NetworkX"]),
}


def test_large_numbers_of_vertices_may_be_asked_for() -> None:
    assert from_edges([(0, 5_000_000)], num_vertices=5_000_001).num_vertices == 5_000_001
    assert as_graph([(0, 4_000_000)]).num_vertices == 4_000_001
    with pytest.raises(InputError, match="1 edges makes 5000001 vertices"):
        from_edges([(0, 5_000_000)])


@looped("name", BAD_INPUTS)
def test_message_names_the_place_and_the_remedy(name: str) -> None:
    given_input, options, pieces = BAD_INPUTS[name]
    with pytest.raises(InputError) as caught:
        as_graph(given_input, **options)
    for piece in pieces:
        assert piece in str(caught.value), str(caught.value)


@given(raw_graphs(loops=False, parallel=False), st.data())
def test_any_missing_arc_is_found(raw: RawGraph, data: st.DataObject) -> None:
    if len(raw.targets) == 0:
        return
    arc = data.draw(st.integers(0, len(raw.targets) - 1))
    u, v = raw.sources[arc], raw.targets[arc]
    offsets = raw.offsets - (np.arange(raw.n + 1) > u)
    with pytest.raises(InputError, match=rf"arc \({v}, {u}\) has no reverse arc \({u}, {v}\)"):
        as_graph((offsets, np.delete(raw.targets, arc)))


@given(raw_graphs(loops=False, parallel=False), st.data())
def test_any_changed_weight_is_found(raw: RawGraph, data: st.DataObject) -> None:
    if len(raw.targets) == 0:
        return
    weights = np.full(len(raw.targets), 3)
    arc = data.draw(st.integers(0, len(weights) - 1))
    weights[arc] += 1 + data.draw(st.integers(0, 2**40))
    u, v = sorted((int(raw.sources[arc]), int(raw.targets[arc])))
    with pytest.raises(InputError, match=rf"arc \({u}, {v}\) has weight"):
        as_graph((raw.offsets, raw.targets, weights))


def test_weights_swapped_between_arcs_are_found() -> None:
    """Sums of weights alone would not notice."""
    with pytest.raises(InputError, match="reverse arc"):
        as_graph((OFFSETS, TARGETS, [1, 2, 2, 3, 1, 3]))


def test_arc_to_the_wrong_vertex_is_found_in_a_large_graph() -> None:
    n = 100_000
    ring = np.stack([np.roll(np.arange(n), 1), np.roll(np.arange(n), -1)], axis=1)
    ring[70_001, 1] = 5
    with pytest.raises(InputError, match=r"arc \(70001, 5\) has no reverse arc \(5, 70001\)"):
        as_graph((2 * np.arange(n + 1), ring.reshape(-1)))

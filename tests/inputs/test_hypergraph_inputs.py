"""as_hypergraph: every kind of input gives the hypergraph that a plain reading of it gives."""

from __future__ import annotations

import os
import subprocess
import sys
from decimal import Decimal
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import networkx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st

import portpart
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.from_matrices import MODELS, nets_of_matrix
from portpart.graphs.from_nets import nets_checked_again
from portpart.graphs.hypergraph import Hypergraph
from tests.helpers.each import looped

LETTERS = [["a", "b"], ["b", "c", "d"], ["d", "a"]]
"""Nets over a, b, c, d and z, where networks have a node without nets."""

PLACES = [[0, 1], [1, 2, 3], [0, 3]]


def nets_of(hypergraph: Hypergraph) -> list[list[int]]:
    to_host = hypergraph.space.to_host
    offsets, pins = to_host(hypergraph.net_offsets), to_host(hypergraph.net_pins)
    return [pins[a:b].tolist() for a, b in pairwise(offsets)]


@pytest.mark.parametrize("data", [
    PLACES, ([0, 2, 5, 7], [1, 0, 1, 2, 3, 3, 0]), [(1, 0), range(1, 4), np.array([0, 3])],
    {"x": [0, 1], "y": [3, 2, 1], "z": (0, 3)}, np.array([*PLACES, None], object)[:3],
], ids=["lists", "offsets and pins", "sequences", "mapping", "array of lists"])
def test_nets_of_numbers(data: Any) -> None:
    made = portpart.as_hypergraph(data, num_vertices=5)
    assert (nets_of(made), made.num_vertices, made.names) == (PLACES, 5, None)


def test_arrays_of_equal_nets_are_rows() -> None:
    made = portpart.as_hypergraph(np.array([[3, 1], [0, 2], [2, 2]], np.uint8))
    assert (nets_of(made), made.repeated_pins) == ([[1, 3], [0, 2], [2]], 1)


def test_names_are_numbered_as_they_occur() -> None:
    made = portpart.as_hypergraph([["u", ("v", 1)], [], [7, "u"]])
    assert (nets_of(made), made.names) == ([[0, 1], [], [0, 2]], ["u", ("v", 1), 7])


def test_sets_of_names_are_numbered_alike_in_every_process() -> None:
    """The order of a set of strings depends on a seed that Python draws at its start."""
    made = "portpart.as_hypergraph([{'b', 'c', 'a'}, {'d', 3, 'c'}]).names"
    for seed in "123":
        names = subprocess.run([sys.executable, "-c", f"import portpart; print({made})"],
                               check=True, capture_output=True, text=True,
                               env=os.environ | {"PYTHONHASHSEED": seed}).stdout
        assert names == "['a', 'b', 'c', 3, 'd']\n"


def test_nothing_at_all() -> None:
    for data in ([], ([0], []), np.zeros((0, 4), int), sp.csr_array((0, 0))):
        made = portpart.as_hypergraph(data)
        assert (made.num_vertices, made.num_nets, made.num_pins) == (0, 0, 0)
    assert portpart.as_hypergraph([[], []], num_vertices=3).num_nets == 2


def plain_nets(matrix: np.ndarray, model: str, diagonal: bool) -> list[list[int]]:
    """The nets of a dense matrix by loops."""
    rows, columns = matrix.shape
    if model == "fine-grain":
        entries = [(i, j) for i in range(rows) for j in range(columns) if matrix[i, j]]
        return [[e for e, (i, _) in enumerate(entries) if i == row] for row in range(rows)] + [
            [e for e, (_, j) in enumerate(entries) if j == column] for column in range(columns)]
    table = matrix if model == "row-net" else matrix.T
    return [[j for j in range(table.shape[1]) if table[i, j] or (diagonal and i == j)]
            for i in range(table.shape[0])]


@pytest.mark.parametrize("diagonal", [False, True])
@pytest.mark.parametrize("model", MODELS)
def test_models_of_matrices(model: str, diagonal: bool) -> None:
    random = np.random.default_rng(2)
    for shape in ((7, 7), (4, 9), (9, 4), (3, 3)):
        matrix = random.integers(0, 2, shape) * random.integers(1, 9, shape)
        if diagonal and (model == "fine-grain" or shape[0] != shape[1]):
            with pytest.raises(portpart.InputError, match="diagonal"):
                portpart.as_hypergraph(sp.csr_array(matrix), model=model, diagonal=True)
            continue
        for kind in (sp.csr_array, sp.coo_matrix, sp.csc_array):
            made = portpart.as_hypergraph(kind(matrix), model=model, diagonal=diagonal)
            assert nets_of(made) == plain_nets(matrix, model, diagonal)
            n = {"row-net": shape[1], "column-net": shape[0]}.get(model, np.count_nonzero(matrix))
            assert (made.num_vertices, made.repeated_pins) == (n, 0)


def test_matrices_of_every_space(space: ExecutionSpace) -> None:
    """Fine grain and diagonals are put together where the matrix is."""
    matrix = sp.csr_array(sp.random(9, 9, density=0.3, random_state=1))
    for model, diagonal in (("fine-grain", False), ("column-net", True)):
        rows = nets_of_matrix(matrix, model, diagonal)
        made = portpart.as_hypergraph((rows.offsets, rows.pins), num_vertices=rows.num_vertices,
                                      space=space)
        assert nets_of(made) == plain_nets(matrix.toarray(), model, diagonal)


class Xgi:
    """What an XGI hypergraph answers: attributes by edge, members as sets."""

    nodes = ("a", "b", "c", "d", "z")

    class edges:  # noqa: N801  (the library's name)
        def __iter__(self) -> Any:
            return iter(range(3))

        def members(self) -> list[set[str]]:
            return [set(net) for net in LETTERS]

        def attrs(self, name: str) -> Any:
            return SimpleNamespace(asdict=lambda: {0: None, 1: 5 if name == "weight" else 9, 2: 3})

    def __init__(self) -> None:
        self.edges = type(self).edges()  # type: ignore[assignment, misc]


def hypernetx() -> Any:
    weights = {"x": SimpleNamespace(weight=1.0), "y": SimpleNamespace(weight=5),
               "z": SimpleNamespace(weight=3)}
    return SimpleNamespace(nodes=Xgi.nodes, edges=weights, incidence_dict=dict(zip("xyz", LETTERS)))


def hypergraphx(weighted: bool) -> Any:
    """Such objects also have what HyperNetX's have."""
    return SimpleNamespace(nodes=None, incidence_dict=None, get_nodes=lambda: list(Xgi.nodes),
                           get_edges=lambda: [tuple(net) for net in LETTERS],
                           is_weighted=lambda: weighted, get_weights=lambda: [1, 5, 3])


@pytest.mark.parametrize("data", [Xgi(), hypernetx(), hypergraphx(True)],
                         ids=["XGI", "HyperNetX", "hypergraphx"])
def test_objects_of_other_libraries(data: Any) -> None:
    made = portpart.as_hypergraph(data)
    assert (nets_of(made), made.names) == (PLACES, list(Xgi.nodes))
    assert made.net_weights is not None
    assert made.net_weights.tolist() == [1, 5, 3]
    assert portpart.as_hypergraph(data, net_weights=[1, 1, 2]).total_net_weight == 4
    assert portpart.as_hypergraph(hypergraphx(False)).net_weights is None


@pytest.mark.parametrize("data", [Xgi(), hypernetx(), hypergraphx(True)],
                         ids=["XGI", "HyperNetX", "hypergraphx"])
def test_what_takes_graphs_says_who_takes_these(data: Any) -> None:
    with pytest.raises(portpart.InputError, match=r"is not a graph; portpart\.as_hypergraph makes"):
        portpart.partition(data, 2)


def test_a_netlist_names_its_gates() -> None:
    pins: dict[str, Any] = {"pin_gates": np.array([0, 0, 1], np.int32),
            "pin_nets": np.array([1, 0, 1], np.int32),
            "pin_drives": np.array([True, False, False]), "pin_labels": np.array([1, 0, 0]),
            "label_names": ["A", "Z"]}
    netlist = portpart.io.Netlist.from_pins(
        name="m", gate_names=["u", "v", "w"], cell_names=["C"], gate_cells=np.zeros(3, np.int32),
        net_names=["p", "q"], port_names=[], port_directions=[], port_nets=np.zeros(0, np.int32),
        **pins)
    made = portpart.as_hypergraph(netlist)
    assert (nets_of(made), made.names, made.num_vertices) == ([[0], [0, 1]], ["u", "v", "w"], 3)


def spread(values: list[int]) -> np.ndarray:
    """Every other element of an array."""
    return np.repeat(np.array(values), 2)[::2]


def frozen(values: list[int]) -> np.ndarray:
    array = np.array(values)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize("kind", [
    list, spread, frozen, lambda v: np.array(v, np.int64), lambda v: np.array(v, np.uint16),
    lambda v: np.array(v, ">i4"), lambda v: memoryview(np.array(v)),
], ids=["list", "not contiguous", "read-only", "int64", "uint16", "big-endian", "memoryview"])
def test_arrays_of_any_kind(kind: Any) -> None:
    nets = (kind([0, 2, 5]), kind([1, 0, 3, 2, 1]))
    made = portpart.as_hypergraph(nets, net_weights=kind([2, 3]), vertex_weights=kind([1, 0, 7, 2]))
    assert nets_of(made) == [[0, 1], [1, 2, 3]]
    assert (made.total_net_weight, made.total_vertex_weight) == (5, 10)
    assert made.net_pins.dtype == np.int32


def test_weights_may_be_floats_in_type_and_huge() -> None:
    made = portpart.as_hypergraph(PLACES, net_weights=[2.0, 2.0**61, 0],
                                  vertex_weights=np.array([2.0**60, 0, 1, 1]))
    assert made.total_net_weight == 2**61 + 2
    assert made.weight_sum_dtype == np.int64
    assert made.total_vertex_weight == 2**60 + 2
    with pytest.raises(portpart.InputError, match=r"net weights add up to .* 2\*\*62"):
        portpart.as_hypergraph(PLACES, net_weights=[2**61, 2**61, 1])
    with pytest.raises(portpart.InputError, match=r"net_weights\[1\] is 0.5; .* integers"):
        portpart.as_hypergraph(PLACES, net_weights=[1, 0.5, 1])


def test_weights_of_a_hypergraph_are_replaced() -> None:
    first = portpart.as_hypergraph(LETTERS, net_weights=[1, 2, 3], vertex_weights=[4, 5, 6, 7])
    again = portpart.as_hypergraph(first, net_weights=[9, 9, 9])
    assert (again.total_net_weight, again.total_vertex_weight, again.names) == (27, 22, first.names)
    assert first.total_net_weight == 6
    assert portpart.as_hypergraph(first) is first


def are_no_incidences(rows: list[list[int]]) -> bool:
    """Whether rows are none of 0 and 1 and of one length, which are refused."""
    return len(set(map(len, rows))) != 1 or set().union(*rows) != {0, 1}


ROWS = st.lists(st.lists(st.integers(0, 6), max_size=5), max_size=6).filter(are_no_incidences)


@settings(max_examples=40, deadline=None)
@given(ROWS, st.randoms())
def test_the_order_of_pins_and_where_nets_are_from_do_not_matter(rows: list[list[int]],
                                                                  random: Any) -> None:
    expected = portpart.as_hypergraph(rows, num_vertices=7)
    mixed = [random.sample(row, len(row)) for row in rows]
    made = portpart.as_hypergraph((np.cumsum([0, *map(len, rows)]),
                                   np.array([pin for row in mixed for pin in row], np.int64)),
                                  num_vertices=7)
    for name, array in expected.arrays.items():
        assert np.array_equal(array, made.arrays[name])


@looped(("data", "options", "message"), [
    (([], []), {}, "net_offsets is empty; a hypergraph of n nets needs"),
    (([1, 2], [0, 1]), {}, r"net_offsets\[0\] is 1"),
    (([0, 2, 1], [0, 1]), {}, r"net_offsets\[2\] = 1 is smaller"),
    (([0, 1], [0, 1]), {}, "is 1 but there are 2 pins; .* number of pins"),
    (([0, 1], [0.5]), {}, "net_pins are of type float64"),
    (([[0, 1]], [0]), {}, r"net_offsets have shape \(1, 2\)"),
    ([[0, 1], 5], {}, "net 1 is 5; a sequence"),
    ([[0, 1], "ab"], {}, "net 1 is 'ab'"),
    ([[0, 1.5]], {}, "a net has a pin 1.5"),
    ([[0, 10**30]], {}, "not a vertex"),
    ([[0, 9]], {"num_vertices": 4}, "net 0 has a pin 9"),
    ([[0, 1]], {"num_vertices": -4}, "num_vertices is -4"),
    ([[0, 1]], {"num_vertices": "many"}, "num_vertices is 'many'"),
    ([[0, 2**31]], {}, "32-bit"),
    ([[0, 10**9]], {}, "vertex 1000000000 in 2 pins makes .*nets, num_vertices=1000000001"),
    (SimpleNamespace(columns=["net", "pin"], shape=(2, 2), __getitem__=None), {},
     "a SimpleNamespace is not a hypergraph; .*groupby"),
    ([["a", "b"]], {"num_vertices": 7}, "there are 2 vertices"),
    (7, {}, "7 is not a hypergraph; accepted are"),
    (np.zeros(3, int), {}, r"shape \(3,\) is not a hypergraph"),
    (memoryview(b"abc"), {}, r"shape \(3,\) is not a hypergraph"),
    ([[0, 1]], {"model": "row-net"}, "model goes with a sparse matrix"),
    ([[0, 1]], {"diagonal": True}, "diagonal goes with a sparse matrix"),
    (sp.csr_array(np.eye(3)), {"model": "rows"}, "unknown model 'rows'"),
    (sp.csr_array(np.eye(3)), {"model": np.zeros(2)}, "unknown model"),
    (sp.csr_array(np.eye(3)), {"diagonal": np.zeros(2)}, "diagonal is array"),
    (sp.csr_array(np.eye(3)), {"num_vertices": 3.5}, "num_vertices is 3.5"),
    ([[0, 1], np.array(3)], {}, "net 1 is array"),
    ([[0, 1]], {"net_weights": np.ones((1, 1))}, r"net_weights have shape \(1, 1\)"),
    ([[0, 1]], {"vertex_weights": [1]}, "net 0 has a pin 1, .* 0, as many as vertex_weights"),
    (np.eye(3), {}, "type float64 are not nets of vertices .*csr_array"),
    (np.eye(3, dtype=bool), {}, "type bool are not nets of vertices"),
    (np.eye(3, dtype=int), {}, "rows of 0 and 1 are not nets of vertices"),
    ([[1, 1, 0], [0, 1, 1]], {}, "rows of 0 and 1 are not nets of vertices"),
    ([[np.True_, "a"]], {}, "a net has a pin np.True_"),
    ([["a", None]], {}, "a net has a pin None"),
    ([["a", Decimal(1)]], {}, "a net has a pin Decimal"),
    ([["a", np.zeros(1, "i4,f8")[0]]], {}, "a net has a pin np.void|a net has a pin .0, 0.0"),
    (networkx.grid_2d_graph(2, 2), {}, "a Graph is a graph, not a hypergraph; of one"),
    (portpart.generators.grid_2d(2), {}, "a Graph is not a hypergraph; .*to_scipy"),
    (sp.csr_array(np.eye(3)), {"num_vertices": 4}, "there are 3 vertices"),
])
def test_what_cannot_be_is_refused(data: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(portpart.InputError, match=message):
        portpart.as_hypergraph(data, **options)


@pytest.mark.parametrize(("indptr", "indices", "message"), [
    ([0, 1, 2, 3], [0, 110, 1], "net 1 has a pin 110"),
    ([0, 1, 2, 3], [0, -4, 1], "net 1 has a pin -4"),
    ([0, 9, 2, 3], [0, 1, 2], r"net_offsets\[2\] = 2 is smaller"),
    ([0, 1, 2, 99], [0, 1, 2], "is 99 but there are 3 pins"),
])
@pytest.mark.parametrize("options", [{}, {"diagonal": True}, {"model": "fine-grain"}])
def test_damaged_matrices_are_refused_before_they_are_used(
        indptr: list[int], indices: list[int], message: str, options: dict[str, Any]) -> None:
    """SciPy does not look at arrays that are put into a matrix that exists."""
    matrix = sp.csr_array(np.eye(3))
    matrix.indptr, matrix.indices = np.array(indptr, np.int32), np.array(indices, np.int32)
    with pytest.raises(portpart.InputError, match=message):
        portpart.as_hypergraph(matrix, **options)


def test_arrays_that_others_change_are_checked_again(space: ExecutionSpace) -> None:
    """A hypergraph of arrays that somebody can write to is what it says, or is refused."""
    made = portpart.as_hypergraph(PLACES, net_weights=[1, 2, 3])
    assert nets_checked_again(made) is made
    arrays: dict[str, Any] = {name: None if a is None else space.asarray(np.array(a))
              for name, a in made.arrays.items()}
    loose = Hypergraph(**arrays, space=space)
    arrays["net_weights"][0] = 7
    assert nets_checked_again(loose).total_net_weight == 12
    for name, place, value, message in (
            ("net_pins", 0, 9, "row 0 of net rows"), ("net_pins", 0, 1, "not ascending"),
            ("vertex_nets", 0, -1, "row 0 of vertex rows"), ("net_pins", 6, 2, "differ"),
            ("net_weights", 1, -2, "net 1 has weight -2")):
        before = int(arrays[name][place])
        arrays[name][place] = value
        with pytest.raises(portpart.InputError, match=f"have changed since: .*{message}"):
            portpart.as_hypergraph(loose)
        arrays[name][place] = before
    assert nets_checked_again(loose).total_net_weight == 12


def test_a_wrong_pin_far_inside_of_a_long_net_is_found(space: ExecutionSpace) -> None:
    """Whatever share of the pins one net has."""
    made = portpart.as_hypergraph([range(9000), [0, 1]])
    arrays: dict[str, Any] = {name: None if a is None else space.asarray(np.array(a))
              for name, a in made.arrays.items()}
    loose = Hypergraph(**arrays, space=space)
    assert nets_checked_again(loose).num_pins == 9002
    arrays["net_pins"][8500] = 3
    with pytest.raises(portpart.InputError, match="row 0 of net rows is not ascending"):
        portpart.as_hypergraph(loose)

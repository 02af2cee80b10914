"""Values by names of vertices: a dict or a Series goes by its keys, not by their order."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest

import portpart
from portpart.errors import InputError

pd = pytest.importorskip("pandas")

BLOCKS = {"d": 1, "b": 0, "e": 1, "a": 0, "c": 0, "f": 1}
WEIGHTS = {"f": 6, "e": 5, "d": 4, "c": 3, "b": 2, "a": 1}
NETS = [["a", "b", "c"], ["c", "d"], ["d", "e", "f"]]


def hypergraph() -> Any:
    return portpart.as_hypergraph(NETS)


def graph() -> Any:
    return portpart.as_graph(networkx.path_graph(list("abcdef")))


by_each_kind = pytest.mark.parametrize("made", [graph, hypergraph])
by_each_holder = pytest.mark.parametrize("held", [dict, pd.Series], ids=["dict", "Series"])


@by_each_kind
@by_each_holder
def test_blocks_go_by_name(made: Callable[[], Any], held: Any) -> None:
    for option in ("fixed", "initial"):
        result = portpart.partition(made(), 2, **{option: held(BLOCKS)})
        assert dict(zip(result.labels, result.part.tolist())) == BLOCKS


@by_each_holder
def test_weights_and_sizes_go_by_name(held: Any) -> None:
    some = networkx.path_graph(list("abcdef"))
    for weights in (portpart.as_graph(some, vertex_weights=held(WEIGHTS)).vertex_weights,
                    portpart.as_graph(graph(), vertex_weights=held(WEIGHTS)).vertex_weights,
                    portpart.as_hypergraph(NETS, vertex_weights=held(WEIGHTS)).vertex_weights,
                    portpart.as_hypergraph(hypergraph(), vertex_weights=held(WEIGHTS))
                    .vertex_weights):
        assert weights.tolist() == [1, 2, 3, 4, 5, 6]
    result = portpart.partition(graph(), 2, objective="volume", vertex_sizes=held(WEIGHTS),
                                fixed=held(BLOCKS))
    assert result.volume == 3 + 4


def test_an_index_of_numbers_is_an_order_of_vertices() -> None:
    """As after sorting; one that only counts, or has other numbers, says nothing."""
    nets = portpart.as_hypergraph([[0, 1], [1, 2], [2, 3]])
    blocks = pd.Series([1, 1, 0, 0], index=[3, 2, 0, 1])
    assert portpart.partition(nets, 2, fixed=blocks).part.tolist() == [0, 0, 1, 1]
    for index in ([0, 1, 2, 3], [9, 8, 7, 6]):
        fixed = pd.Series([1, 1, 0, 0], index=index)
        assert portpart.partition(nets, 2, fixed=fixed).part.tolist() == [1, 1, 0, 0]
    by_place = pd.Series(list(WEIGHTS.values()), index=range(10, 16))
    made = portpart.as_hypergraph(NETS, vertex_weights=by_place)
    assert made.vertex_weights is not None
    assert made.vertex_weights.tolist() == list(WEIGHTS.values())


@pytest.mark.parametrize(("values", "message"), [
    ({"a": 1}, "vertex_weights has nothing for vertex 'b': all 6 vertices"),
    (WEIGHTS | {"z": 1}, "vertex_weights names 'z', which is not a vertex"),
    (pd.Series([1, 2, 3], index=["a", "b", "a"]), "'a' twice in its index"),
    ("w", "vertex_weights is 'w'"),
], ids=["missing", "unknown", "twice", "text"])
def test_bad_names_are_refused(values: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        portpart.as_hypergraph(NETS, vertex_weights=values)


@pytest.mark.parametrize("target", [{1: 1, 2: 3}, {1, 2}], ids=["dict", "set"])
def test_shares_of_blocks_need_an_order(target: Any) -> None:
    with pytest.raises(InputError, match=r"target is .* 2 numbers are needed"):
        portpart.partition(hypergraph(), 2, target=target)


def test_partial_blocks_of_a_series_leave_the_others_free() -> None:
    fixed = pd.Series({"f": 0, "a": 1})
    result = portpart.partition(hypergraph(), 2, fixed=fixed)
    assert (result.part[5], result.part[0]) == (0, 1)
    with pytest.raises(InputError, match="initial has no block for vertex 'b'"):
        portpart.partition(hypergraph(), 2, initial=fixed)
    assert np.bincount(result.part).tolist() == [3, 3]


OF_NETS = {"y": 5, "x": 3, "z": 7}


@by_each_holder
def test_weights_of_nets_go_by_their_names(held: Any) -> None:
    named = dict(zip("xyz", NETS))
    for made in (portpart.as_hypergraph(named, net_weights=held(OF_NETS)),
                 portpart.as_hypergraph(portpart.as_hypergraph(named), net_weights=held(OF_NETS))):
        assert made.net_weights.tolist() == [3, 5, 7]
        assert made.total_net_weight == 15


def test_weights_of_a_netlist_go_by_the_names_of_its_nets(tmp_path: Path) -> None:
    (tmp_path / "n.blif").write_text(".model n\n.inputs a b\n.outputs z\n.names a b u\n11 1\n"
                                     ".names u b z\n11 1\n.end\n")
    netlist = portpart.io.read_netlist(tmp_path / "n.blif")
    weights = {name: 10 + place for place, name in enumerate(reversed(netlist.net_names))}
    made = portpart.as_hypergraph(netlist, net_weights=weights)
    assert made.net_weights.tolist() == [weights[name] for name in made.net_names]


@pytest.mark.parametrize(("weights", "message"), [
    ({"x": 1, "y": 2}, "net_weights has nothing for net 'z': all 3 nets need a value, and 2 have"),
    ({"x": 1, "y": 2, "q": 3}, "net_weights names 'q', which is not a net"),
])
def test_names_that_are_no_nets_are_refused(weights: dict[str, int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        portpart.as_hypergraph(dict(zip("xyz", NETS)), net_weights=weights)


@pytest.mark.parametrize("make", [
    lambda **weights: portpart.as_graph([(0, 1), (1, 2)], **weights),
    lambda **weights: portpart.as_graph(([0, 1, 3, 4], [1, 0, 2, 1]), **weights),
    lambda **weights: portpart.as_graph(portpart.as_graph([(0, 1), (1, 2)]), **weights),
    lambda **weights: portpart.from_adjacency([[1], [0, 2], [1]], **weights),
    lambda **weights: portpart.as_graph(pd.DataFrame({"u": [0, 1], "v": [1, 2]}), **weights),
    lambda **weights: portpart.as_hypergraph([[0, 1], [1, 2]], **weights),
    lambda **weights: portpart.as_hypergraph(portpart.as_hypergraph([[0, 1], [1, 2]]), **weights)])
def test_without_names_weights_go_by_numbers(make: Callable[..., Any]) -> None:
    assert make(vertex_weights={2: 30, 0: 10, 1: 20}).vertex_weights.tolist() == [10, 20, 30]
    with pytest.raises(InputError, match="names 3, which is not a vertex: vertices are numbered"):
        make(vertex_weights={0: 1, 1: 2, 3: 3})
    with pytest.raises(InputError):
        make(vertex_weights={0: 1})


def test_neighbours_by_name_have_weights_by_name() -> None:
    rows = {"b": ["a"], "a": ["b", "c"], "c": ["a"]}
    made = portpart.from_adjacency(rows, vertex_weights={"a": 1, "b": 2, "c": 3})
    assert (made.names, made.vertex_weights.tolist()) == (["b", "a", "c"], [2, 1, 3])


def test_nets_without_names_have_weights_by_numbers() -> None:
    made = portpart.as_hypergraph([[0, 1], [1, 2]], net_weights={1: 4, 0: 9})
    assert made.net_weights.tolist() == [9, 4]

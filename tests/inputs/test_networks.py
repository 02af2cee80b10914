"""Graphs of NetworkX and igraph: attributes, names, and what is refused."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest

import portpart
from portpart.errors import InputError
from portpart.inputs.convert import as_graph
from tests import oracles


def karate() -> nx.Graph:
    """A weighted graph whose nodes are words."""
    return nx.relabel_nodes(nx.karate_club_graph(), lambda node: f"m{node}")


def test_misspelt_attributes_are_refused_naming_those_there_are() -> None:
    with pytest.raises(InputError, match=r"edge_weights='cost': no edge .*there are 'weight'"):
        as_graph(karate(), edge_weights="cost")
    with pytest.raises(InputError, match=r"vertex_weights='size': no node .*there are 'club'"):
        as_graph(karate(), vertex_weights="size")
    with pytest.raises(InputError, match="there are no attributes"):
        as_graph(nx.path_graph(3), edge_weights="cost")


def test_missing_attributes_count_one() -> None:
    source = nx.path_graph(3)
    source.edges[0, 1]["cost"] = 5
    source.nodes[2]["size"] = 7
    graph = as_graph(source, edge_weights="cost", vertex_weights="size")
    assert sorted(oracles.arcs(graph)) == [(0, 1, 5), (1, 0, 5), (1, 2, 1), (2, 1, 1)]
    assert oracles.vertex_weights(graph) == [1, 1, 7]
    empty = nx.empty_graph(2)
    assert as_graph(empty, edge_weights="cost").num_edges == 0
    assert as_graph(nx.Graph(), vertex_weights="size").num_vertices == 0


def test_nodes_are_names_in_and_out() -> None:
    source = karate()
    result = portpart.partition(source, 3, fixed={"m33": 2, "m5": 0})
    assert list(result.labels or ()) == list(source.nodes)
    block = dict(zip(result.labels or (), result.part.tolist()))
    assert (block["m33"], block["m5"]) == (2, 0)
    assert [sorted(each) for each in result.blocks()] == [
        sorted(node for node in source if block[node] == b) for b in range(3)]
    cut = sum(data["weight"] for u, v, data in source.edges(data=True) if block[u] != block[v])
    assert result.cut == cut


def test_a_partition_by_name_is_improved() -> None:
    source = karate()
    start = {node: int(node[1:]) % 2 for node in reversed(list(source))}
    improved = portpart.partition(source, 2, initial=start)
    by_number = [start[node] for node in source]
    assert improved.part.tolist() == portpart.partition(source, 2, initial=by_number).part.tolist()
    reordered = nx.Graph()
    reordered.add_nodes_from(sorted(source))
    reordered.add_edges_from(source.edges(data=True))
    again = portpart.partition(reordered, 2, initial=improved)
    assert again.cut <= improved.cut
    assert portpart.partition(reordered, 2, initial=dict(zip(
        improved.labels or (), improved.part.tolist()))).part.tolist() == again.part.tolist()


def test_results_are_partitions_to_improve() -> None:
    grid = portpart.generators.grid_2d(8, 8)
    first = portpart.partition(grid, 4, preset="fast")
    second = portpart.partition(grid, 4, initial=first)
    assert second.cut <= first.cut
    assert second.part.tolist() == portpart.partition(grid, 4, initial=first.part).part.tolist()
    with pytest.raises(InputError, match=r"initial\[\d+\] is \d: "):
        portpart.partition(grid, 2, initial=first)


def test_vertex_numbers_are_keys_where_there_are_no_names() -> None:
    grid = portpart.generators.grid_2d(4, 4)
    result = portpart.partition(grid, 2, fixed={0: 1, np.int64(15): 0})
    assert (result.part[0], result.part[15], result.labels) == (1, 0, None)
    blocks = result.blocks()
    assert np.array_equal(np.sort(np.concatenate(blocks)), np.arange(16))
    assert all((result.part[members] == b).all() for b, members in enumerate(blocks))
    assert portpart.partition(grid, 2, fixed={}).cut == 4


@pytest.mark.parametrize(("options", "message"), [
    ({"fixed": {"nobody": 1}}, r"fixed names 'nobody', which is not a vertex: .*'m0', 'm1'"),
    ({"initial": {"m0": 1}}, r"initial has no block for vertex 'm1': all 34 .* and 1 have"),
    ({"initial": {}}, "no block for vertex 'm0'"),
    ({"fixed": {"m3": 9}}, r"fixed\[3\] is 9"),
    ({"fixed": {"m3": "left"}}, "maps vertices to 'left'; blocks must be integers"),
    ({"fixed": {"m3": 0.5}}, "blocks must be integers"),
    ({"fixed": {3: 1}}, "fixed names 3, which is not a vertex"),
])
def test_bad_blocks_by_name_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        portpart.partition(karate(), 2, **options)


def test_mappings_have_names_too() -> None:
    found = portpart.map_processes(karate(), "2:2", "1:10")
    assert list(found.labels or ()) == list(karate())
    assert sum(map(len, found.blocks())) == 34
    assert all(found.part[found.labels.index(node)] == element  # type: ignore[union-attr]
               for element, nodes in enumerate(found.blocks()) for node in nodes)


def test_names_stay_with_the_graph() -> None:
    graph = as_graph(karate())
    heavier = as_graph(graph, vertex_weights=range(34), edge_weights=np.full(graph.num_arcs, 2))
    assert heavier.names == graph.names == list(karate())
    assert graph.to(portpart.space("cpu", threads=1)).names == graph.names
    assert portpart.generators.grid_2d(2, 2).names is None


def test_disagreeing_directions_are_named() -> None:
    source = nx.DiGraph()
    source.add_weighted_edges_from([("a", "b", 1), ("b", "a", 2)])
    with pytest.raises(InputError, match="the vertices are 'a' and 'b'"):
        as_graph(source, symmetrize=True)


class _Sequence:
    """Vertices or edges of igraph: a table of attributes."""

    def __init__(self, count: int, table: dict[str, list[Any]]) -> None:
        self.count, self.table = count, table

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, name: str) -> list[Any]:
        return self.table[name]

    def attributes(self) -> list[str]:
        return list(self.table)


class _Igraph:
    """The part of igraph.Graph that is used."""

    def __init__(self, edges: list[tuple[int, int]], vertices: dict[str, list[Any]],
                 weights: list[Any] | None, directed: bool = False) -> None:
        self.edges = edges
        self.vs = _Sequence(3, vertices)
        self.es = _Sequence(len(edges), {} if weights is None else {"weight": weights})
        self.directed = directed

    def vcount(self) -> int:
        return 3

    def get_edgelist(self) -> list[tuple[int, int]]:
        return self.edges

    def is_directed(self) -> bool:
        return self.directed


def igraphs(edges: list[tuple[int, int]], vertices: dict[str, list[Any]],
            weights: list[Any] | None, directed: bool = False) -> list[Any]:
    """The stand-in, and igraph's own graph where igraph is there."""
    made: list[Any] = [_Igraph(edges, vertices, weights, directed)]
    try:
        import igraph
    except ImportError:
        return made
    attributes = {} if weights is None else {"weight": weights}
    return [*made, igraph.Graph(n=3, edges=edges, directed=directed, vertex_attrs=vertices,
                                edge_attrs=attributes)]


def test_igraph_graphs_are_taken() -> None:
    for source in igraphs([(0, 1), (1, 2)], {"name": ["x", "y", "z"], "mass": [1, 2, 3]}, [4, 5]):
        graph = as_graph(source, vertex_weights="mass")
        assert sorted(oracles.arcs(graph)) == [(0, 1, 4), (1, 0, 4), (1, 2, 5), (2, 1, 5)]
        assert (graph.names, graph.total_vertex_weight) == (["x", "y", "z"], 6)
        with pytest.raises(InputError, match=r"no vertex has an attribute .*'name', 'mass'"):
            as_graph(source, vertex_weights="size")
    for source in igraphs([(0, 1)], {}, None, directed=True):
        with pytest.raises(InputError, match=r"\(0, 1\) has no reverse"):
            as_graph(source)
        assert as_graph(source, symmetrize=True).names is None


def test_networkit_graphs_are_told_the_way() -> None:
    class Networkit:
        def numberOfNodes(self) -> int:
            return 1

        def iterEdges(self) -> None: ...

    with pytest.raises(InputError, match="nk2nx"):
        as_graph(Networkit())


def test_attributes_need_something_that_has_them() -> None:
    grid = portpart.generators.grid_2d(3, 3)
    for obj in (grid, grid.to_scipy(), [(0, 1)]):
        with pytest.raises(InputError, match="vertex_weights='w' names an attribute, but a "):
            portpart.partition(obj, 2, vertex_weights="w")

"""Partitions of edges: against copies that are counted edge by edge."""

from __future__ import annotations

import re
from itertools import chain, pairwise
from typing import Any

import networkx
import numpy as np
import pytest
import scipy.sparse

import portpart
from portpart.backends.programs.interface import ExecutionSpace
from portpart.errors import InputError
from portpart.graphs.graph_models import copies_of_vertices, edge_hypergraph
from tests.helpers.each import looped
from tests.oracles import block_weight_limits

Edges = list[tuple[int, int]]


def plain_copies(edges: Edges, part: np.ndarray, n: int) -> list[set[int]]:
    """The blocks of each vertex: those of its edges."""
    found: list[set[int]] = [set() for _ in range(n)]
    for (u, v), block in zip(edges, part.tolist()):
        found[u].add(block)
        found[v].add(block)
    return found


def drawn_graph(n: int, m: int, seed: int = 0) -> Edges:
    """Different edges, the smaller end first, ascending; some vertices have none."""
    rng = np.random.default_rng(seed)
    pairs = {tuple(sorted(rng.choice(n, 2, replace=False).tolist())) for _ in range(m)}
    return sorted(pairs)


EDGES = drawn_graph(60, 200)
GRAPH = portpart.from_edges(EDGES, num_vertices=64)


def test_the_hypergraph_has_an_edge_as_vertex_and_a_vertex_as_net(space: ExecutionSpace) -> None:
    """Rows in any order, parallel edges and isolated vertices included."""
    rows = [[3, 1, 1], [0, 0, 4], [], [4, 0], [3, 1]]
    offsets = np.cumsum([0, *map(len, rows)])
    weights, owns = [7, 5, 6, 5, 6, 1, 2, 7, 2, 1], [9, 0, 3, 1, 4]
    graph = portpart.as_graph((offsets, np.concatenate(rows).astype(int), weights),
                              vertex_weights=owns, space=space)
    made = edge_hypergraph(graph)
    edges = [(0, 3), (0, 1), (0, 1), (1, 4), (3, 4)]
    host = space.to_host
    assert host(made.vertex_nets).reshape(-1, 2).tolist() == [list(edge) for edge in edges]
    assert host(made.vertex_offsets).tolist() == [0, 2, 4, 6, 8, 10]
    assert host(made.vertex_weights).tolist() == [7, 5, 6, 1, 2]
    assert host(made.net_weights).tolist() == owns
    pins = [host(made.net_pins)[a:b].tolist() for a, b in pairwise(host(made.net_offsets))]
    assert pins == [[e for e, edge in enumerate(edges) if v in edge] for v in range(5)]


@pytest.mark.parametrize("seed", range(3))
def test_the_hypergraph_of_random_edges(space: ExecutionSpace, seed: int) -> None:
    edges = drawn_graph(500, 4000, seed)
    made = edge_hypergraph(portpart.from_edges(edges, num_vertices=520, space=space))
    pins: list[list[int]] = [[] for _ in range(520)]
    for e, (u, v) in enumerate(edges):
        pins[u].append(e)
        pins[v].append(e)
    assert space.to_host(made.net_pins).tolist() == list(chain.from_iterable(pins))
    assert made.max_net_size == max(map(len, pins))
    assert made.max_degree == 2


@pytest.mark.parametrize("k", [1, 3, 200])
def test_copies_are_the_blocks_around_a_vertex(space: ExecutionSpace, k: int) -> None:
    part = np.random.default_rng(k).integers(0, k, len(EDGES)).astype(np.int32)
    made = edge_hypergraph(portpart.from_edges(EDGES, num_vertices=64, space=space))
    offsets, blocks = map(space.to_host, copies_of_vertices(made, space.asarray(part)))
    assert [blocks[a:b].tolist() for a, b in pairwise(offsets)] == [
        sorted(each) for each in plain_copies(EDGES, part, 64)]


def test_a_hub_whose_net_is_left_out_of_the_search_counts_in_the_result() -> None:
    """A star of more edges than a net may have pins, of which every block has some."""
    hub = np.zeros(60_000, int)
    result = portpart.partition_edges(np.stack([hub, hub + np.arange(1, 60_001)], axis=1), 8)
    assert result.stats["left_out"]["pins"] == 2 * 60_000
    assert result.feasible
    assert (result.copies[0], result.km1, result.cut) == (8, 7, 1)
    assert result.replication_factor == 60_008 / 60_001


@pytest.mark.parametrize("k", [1, 2, 5, 64])
def test_what_a_result_says_of_copies(k: int) -> None:
    """Against sets of blocks."""
    rng = np.random.default_rng(k)
    owns, loads = rng.integers(0, 5, 64), rng.integers(0, 4, len(EDGES))
    graph = portpart.from_edges(EDGES, edge_weights=loads, num_vertices=64, vertex_weights=owns)
    result = portpart.partition_edges(graph, k)
    part = result.part
    copies = plain_copies(EDGES, part, 64)
    assert result.edges.tolist() == [list(edge) for edge in EDGES]
    assert result.copies.tolist() == list(map(len, copies))
    assert [result.copy_blocks[a:b].tolist() for a, b in pairwise(result.copy_offsets)] == [
        sorted(blocks) for blocks in copies]
    touched = [blocks for blocks in copies if blocks]
    assert len(touched) < 64
    assert result.replication_factor == sum(map(len, touched)) / len(touched)
    assert result.km1 == sum(int(own) * max(0, len(blocks) - 1)
                             for own, blocks in zip(owns, copies))
    assert result.cut == sum(int(own) for own, blocks in zip(owns, copies) if len(blocks) > 1)
    assert result.block_weights.tolist() == np.bincount(part, loads, k).astype(int).tolist()
    assert result.feasible
    for v, master in enumerate(result.masters.tolist()):
        counts = np.bincount([part[e] for e, edge in enumerate(EDGES) if v in edge], minlength=k)
        assert master == (int(counts.argmax()) if counts.any() else -1)
    assert result.to_dict() == dict(zip(EDGES, part.tolist()))
    assert np.array_equal(np.sort(np.concatenate(result.blocks())), np.arange(len(EDGES)))
    matrix = GRAPH.to_scipy()
    arcs = zip(np.repeat(np.arange(64), np.diff(matrix.indptr)), matrix.indices, strict=True)
    assert result.arc_part.tolist() == [part[EDGES.index((min(arc), max(arc)))] for arc in arcs]


def test_a_grid_is_cut_well() -> None:
    """Two halves of a grid share a column or little more."""
    result = portpart.partition_edges(portpart.generators.grid_2d(20), 2)
    assert result.km1 <= 24
    assert result.imbalance <= 0.03


def test_any_number_of_threads_gives_the_same() -> None:
    graph = portpart.generators.rmat(10)
    first, *others = (portpart.partition_edges(graph, 8, device="cpu", threads=threads)
                      for threads in (1, 2, 3))
    for other in others:
        assert np.array_equal(first.part, other.part)
        assert np.array_equal(first.copy_blocks, other.copy_blocks)


def test_kinds_of_input_give_the_same() -> None:
    matrix = GRAPH.to_scipy()
    network = networkx.Graph()
    network.add_nodes_from(range(64))
    network.add_edges_from(EDGES)
    wanted = portpart.partition_edges(GRAPH, 4).part
    for graph in (matrix, scipy.sparse.coo_array(matrix), (matrix.indptr, matrix.indices), network):
        assert np.array_equal(portpart.partition_edges(graph, 4).part, wanted)


def test_named_vertices() -> None:
    """Edges have pairs of names as keys, in both directions."""
    network = networkx.Graph([("b", "a"), ("a", "c"), ("c", "d"), ("d", "b")])
    result = portpart.partition_edges(network, 2, fixed={("a", "b"): 1, ("d", "c"): 0})
    blocks = result.to_dict()
    assert blocks["b", "a"] == 1
    assert blocks["c", "d"] == 0
    assert result.labels == ["b", "a", "c", "d"]
    again = portpart.partition_edges(network, 2, initial=blocks)
    assert again.replication_factor <= result.replication_factor
    with pytest.raises(InputError, match=r"\('b', 'c'\), which no edge joins"):
        portpart.partition_edges(network, 2, fixed={("c", "b"): 1})
    with pytest.raises(InputError, match=r"no block for the edge of the vertices \('a', 'c'\)"):
        portpart.partition_edges(network, 2, initial={("a", "b"): 1, ("b", "d"): 1})


def test_constraints() -> None:
    """Shares, fixed edges, a start that is kept or improved, and a least weight."""
    fixed = np.full(len(EDGES), -1)
    fixed[::7] = np.arange(len(fixed[::7])) % 3
    result = portpart.partition_edges(GRAPH, 3, target=[2, 1, 1], fixed=fixed, imbalance="5%")
    assert np.array_equal(result.part[::7], fixed[::7])
    assert result.block_weight_limits.tolist() == block_weight_limits(
        len(EDGES), 3, 0.05, [2, 1, 1])
    assert result.feasible
    pairs = {EDGES[e]: int(fixed[e]) for e in range(0, len(EDGES), 7)}
    same = portpart.partition_edges(GRAPH, 3, target=[2, 1, 1], fixed=pairs, imbalance="5%")
    assert np.array_equal(same.part, result.part)
    better = portpart.partition_edges(GRAPH, 3, initial=portpart.partition_edges(
        GRAPH, 3, preset="fast"), min_block_weight=40)
    assert better.block_weights.min() >= 40


@pytest.mark.parametrize("k", [1, 3])
def test_odd_graphs(k: int) -> None:
    """No vertices, no edges, one edge, and only two-edge vertices."""
    for n in (0, 4):
        result = portpart.partition_edges(portpart.from_edges([], num_vertices=n), k)
        assert result.part.shape == (0,)
        assert result.edges.shape == (0, 2)
        assert result.copies.tolist() == [0] * n
        assert result.masters.tolist() == [-1] * n
        assert (result.replication_factor, result.cut, result.km1) == (1.0, 0, 0)
        assert result.arc_part.shape == (0,)
    result = portpart.partition_edges([(0, 2)], k)
    assert result.copies.tolist() == [1, 0, 1]
    assert result.replication_factor == 1.0
    ring = portpart.partition_edges([(v, (v + 1) % 12) for v in range(12)], k)
    assert ring.km1 == (0 if k == 1 else k)
    assert ring.replication_factor == (12 + ring.km1) / 12


@looped(("graph", "options", "message"), [
    (portpart.as_hypergraph([[0, 1]]), {}, "a hypergraph has no edges to divide"),
    ("nets.hgr", {}, "a hypergraph has no edges to divide"),
    (scipy.sparse.csr_array(np.triu(np.ones((3, 3)), 1)), {}, "symmetrize"),
    (GRAPH, {"k": 0}, "k is 0"),
    (GRAPH, {"k": 2**30}, f"k is 1073741824 for a graph of {len(EDGES)} edges"),
    (GRAPH, {"fixed": [0, 1]}, f"fixed has shape (2,) for {len(EDGES)} edges; one block for each"),
    (GRAPH, {"fixed": np.full(len(EDGES), 9)}, "fixed[0] is 9: edge 0 is in no block of 0 ... 1"),
    (GRAPH, {"fixed": {(0, 0): 1}}, "fixed names the vertices (0, 0), which no edge joins"),
    (GRAPH, {"fixed": {7: 1}}, "fixed names 7, which is no pair of vertices"),
    (GRAPH, {"fixed": {EDGES[0]: 1, EDGES[1]: "left"}},
     f"fixed maps the edge {EDGES[1]} to 'left'; blocks must be integers"),
    (GRAPH, {"fixed": {EDGES[0]: 10**30}}, f"fixed maps the edge {EDGES[0]} to 1000"),
    (GRAPH, {"fixed": {EDGES[0]: 1, EDGES[0][::-1]: 0}},
     f"fixed has the edge {EDGES[0][::-1]} in both directions, in blocks 1 and 0"),
    (GRAPH, {"initial": {EDGES[0]: 1}},
     f"initial has no block for the edge of the vertices {EDGES[1]}"),
    (GRAPH, {"preset": "turbo"}, "preset is 'turbo'"),
    (GRAPH, {"algorithm": "jet"}, "algorithm is 'jet'"),
    (GRAPH, {"preset": portpart.JetConfig()}, "JetConfig"),
    (GRAPH, {"imbalance": -1}, "imbalance is -1"),
    (GRAPH, {"target": [1]}, "target holds 1 numbers for 2 blocks"),
    (GRAPH, {"vertex_weights": [1]}, "vertex_weights"),
    (GRAPH, {"k": 64, "vertex_weights": np.full(64, 2**55)},
     "the vertex weights, each times the number"),
])
def test_bad_input_is_refused(graph: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        portpart.partition_edges(graph, **{"k": 2, **options})


def test_a_limit_that_is_missed_names_the_edge() -> None:
    with pytest.warns(UserWarning, match="edge 1 weighs 90"):
        result = portpart.partition_edges(portpart.from_edges(
            [(0, 1), (0, 2), (1, 2)], edge_weights=[1, 90, 1]), 2)
    assert not result.feasible


def test_unknown_keywords_are_told_the_one_that_is_meant() -> None:
    with pytest.raises(TypeError, match="did you mean target"):
        portpart.partition_edges(GRAPH, 2, tpwgts=[1, 1])  # type: ignore[call-arg]


def test_a_result_is_shown_and_saved(tmp_path: Any) -> None:
    result = portpart.partition_edges(GRAPH, 3)
    factor, part = result
    assert (factor, part) == (result.replication_factor, result.part)
    assert repr(result).startswith(f"<EdgePartitionResult: {len(EDGES)} edges in 3 blocks, ")
    assert "replication factor" in result._repr_html_()
    result.save(tmp_path / "edges.part")
    assert np.array_equal(portpart.io.read_partition(tmp_path / "edges.part"), part)

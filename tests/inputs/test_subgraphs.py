"""What each block works on, beside plain searches: own vertices, ghosts, and who sends what."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

import portpart
from portpart.errors import InputError
from tests.helpers import data_folder
from tests.helpers.each import looped
from tests.helpers.graphs import random_graph
from tests.oracles import host, nets as net_oracles

SEEDS = range(8)


def drawn(rng: np.random.Generator, *, weighted: bool = False) -> portpart.Graph:
    n = int(rng.integers(1, 60))
    return random_graph(n, int(rng.integers(0, 4 * n)), int(rng.integers(1000)),
                        weighted=weighted, vertex_weighted=weighted)


def beside(rows: csr_array, own: set[int], steps: int) -> set[int]:
    """The vertices that are at most so many edges away from own ones."""
    found = set(own)
    for _ in range(steps):
        found |= {int(head) for v in found for head in rows.indices[
            rows.indptr[v] : rows.indptr[v + 1]]}
    return found


def check_exchange(parts: list[Any], numbers: str, owner: np.ndarray) -> None:
    """Each block gets each of its ghosts once, from its owner, in the order that it has."""
    for each in parts:
        local = host(getattr(each, numbers))
        own, ghosts = local[: each.num_own], local[each.num_own :]
        assert own.tolist() == np.flatnonzero(owner == each.block).tolist()
        assert host(each.owners).tolist() == owner[ghosts].tolist()
        assert ghosts.tolist() == sorted(ghosts.tolist(), key=lambda v: (owner[v], v))
        covered = np.zeros(len(local), int)
        for other, places in each.recv.items():
            covered[places] += 1
            sender = parts[other]
            sent = host(sender.send[each.block])
            assert host(getattr(sender, numbers))[sent].tolist() == local[places].tolist()
        assert covered.tolist() == [0] * each.num_own + [1] * len(ghosts)
        assert sorted({*each.send, *each.recv}) == each.neighbours


@looped("seed", SEEDS)
@looped("halo", [0, 1, 2, 4])
def test_blocks_of_a_graph_have_what_is_near_them(space, seed, halo):
    rng = np.random.default_rng(seed)
    graph = drawn(rng, weighted=True)
    part = rng.integers(0, k := int(rng.integers(1, 6)), graph.num_vertices)
    whole = graph.to_scipy()
    parts = portpart.subgraphs(graph.to(space), part, halo, k=k)
    check_exchange(parts, "vertices", part)
    for each in parts:
        local = host(each.vertices)
        own = set(np.flatnonzero(part == each.block).tolist())
        assert set(local.tolist()) == beside(whole, own, halo)
        assert (each.graph.to_scipy() != whole[local][:, local]).nnz == 0
        if graph.vertex_weights is not None:
            assert host(each.graph.vertex_weights).tolist() == graph.vertex_weights[local].tolist()


@looped("seed", SEEDS)
def test_blocks_of_a_hypergraph_have_the_nets_beside_them(space, seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(1, 40)), int(rng.integers(1, 5))
    nets = [sorted({*rng.integers(0, n, rng.integers(0, 6)).tolist()})
            for _ in range(rng.integers(0, 30))]
    whole = portpart.as_hypergraph(
        (np.cumsum([0, *map(len, nets)]), np.array([pin for net in nets for pin in net], int)),
        num_vertices=n, net_weights=rng.integers(0, 9, len(nets)),
        vertex_weights=rng.integers(0, 9, n), space=space)
    part = rng.integers(0, k, n)
    for halo in (0, 1, 2):
        parts = portpart.subgraphs(whole, part, halo, k=k)
        check_exchange(parts, "vertices", part)
        for each in parts:
            had = set(np.flatnonzero(part == each.block).tolist())
            inner = set(had)
            for _ in range(halo):
                inner = set(had)
                had |= {pin for net in nets if inner & {*net} for pin in net}
            wanted = [net for net, pins in enumerate(nets) if inner & {*pins}]
            local, numbers = host(each.vertices), host(each.nets)
            assert set(local.tolist()) == had
            assert numbers.tolist() == wanted
            offsets, pins = host(each.graph.net_offsets), host(each.graph.net_pins)
            found = [sorted(local[pins[a:b]].tolist()) for a, b in pairwise(offsets)]
            assert found == [[pin for pin in nets[net] if pin in had] for net in wanted]
            assert host(each.graph.net_weights).tolist() == host(
                whole.net_weights)[numbers].tolist()


@looped("seed", range(200))
def test_rows_of_blocks_send_what_km1_counts(seed):
    rng = np.random.default_rng(seed)
    m, k = int(rng.integers(0, 40)), int(rng.integers(1, 7))
    is_square = seed % 2 == 0
    n = m if is_square else int(rng.integers(1, 40))
    matrix = (random_array((m, n), density=0.3 * rng.random(), rng=rng,
                           format=["csr", "coo", "csc"][seed % 3]) if m else csr_array((0, n)))
    part = rng.integers(0, k, m)
    of_columns = part if is_square else rng.integers(0, k, n)
    blocks = portpart.row_blocks(matrix, part, None if is_square else of_columns, k=k)
    check_exchange(blocks, "columns", of_columns)
    dense = matrix.toarray()
    total = 0
    for each in blocks:
        rows = np.flatnonzero(part == each.block)
        assert each.rows.tolist() == rows.tolist()
        assert (each.matrix.toarray() == dense[rows][:, each.columns]).all()
        needed = np.flatnonzero((dense[rows] != 0).any(axis=0))
        assert set(each.ghosts.tolist()) == {j for j in needed.tolist()
                                             if of_columns[j] != each.block}
        total += len(each.ghosts)
    assert sum(len(sent) for each in blocks for sent in each.send.values()) == total
    if is_square and m:
        nets = portpart.as_hypergraph(matrix, model="column-net", diagonal=True)
        assert net_oracles.values(nets, part)["km1"] == total


def test_blocks_of_a_real_graph_are_those_of_plain_slices(space):
    graph = portpart.io.read(data_folder.graph_path("3elt"))
    part = portpart.partition(graph, 7).part
    whole = graph.to_scipy()
    parts = portpart.subgraphs(graph.to(space), part)
    check_exchange(parts, "vertices", part)
    for each in parts:
        local = host(each.vertices)
        assert (each.graph.to_scipy() != whole[local][:, local]).nnz == 0
    assert sum(each.num_own for each in parts) == graph.num_vertices


def test_names_and_scales_go_along():
    networkx = pytest.importorskip("networkx")
    graph = portpart.as_graph(networkx.path_graph(["a", "b", "c", "d"]), weights="round",
                              edge_weights=[0.5, 0.25, 1.0])
    first, second = portpart.subgraphs(graph, {"a": 0, "b": 0, "c": 1, "d": 1})
    assert first.graph.names == ["a", "b", "c"]
    assert second.graph.names == ["c", "d", "b"]
    assert second.graph.weight_scale == graph.weight_scale != 1
    nets = portpart.as_hypergraph({"n": ["a", "b"], "m": ["b", "c"]})
    assert portpart.subgraphs(nets, [0, 0, 1])[1].graph.net_names == ["m"]


def test_empty_blocks_have_nothing():
    parts = portpart.subgraphs(portpart.generators.grid_2d(3), [0] * 9, k=3)
    assert [len(each.vertices) for each in parts] == [9, 0, 0]
    assert repr(parts[2]) == "<Subgraph: block 2 with 0 own vertices and 0 ghosts>"
    assert portpart.subgraphs(portpart.as_graph(([0], [])), []) == []
    empty = portpart.row_blocks(csr_array((2, 2)), [1, 1], k=3)
    assert [each.matrix.shape for each in empty] == [(0, 0), (2, 2), (0, 0)]


def test_what_is_no_partition_is_refused():
    grid = portpart.generators.grid_2d(2)
    with pytest.raises(InputError, match=r"part has shape \(3,\)"):
        portpart.subgraphs(grid, [0, 0, 1])
    with pytest.raises(InputError, match="halo"):
        portpart.subgraphs(grid, [0, 0, 1, 1], -1)
    with pytest.raises(InputError, match="column_part"):
        portpart.row_blocks(csr_array((2, 3)), [0, 1])
    with pytest.raises(InputError, match="sparse matrix"):
        portpart.row_blocks([[1, 2]], [0])


@looped("seed", SEEDS)
def test_a_subgraph_is_a_slice_of_the_matrix(space, seed):
    rng = np.random.default_rng(seed)
    graph = drawn(rng, weighted=True)
    n, whole, here = graph.num_vertices, graph.to_scipy(), graph.to(space)
    chosen = rng.permutation(n)[: rng.integers(0, n + 1)]
    assert (here.subgraph(chosen).to_scipy() != whole[chosen][:, chosen]).nnz == 0
    flags = np.isin(np.arange(n), chosen)
    assert (here.subgraph(flags).to_scipy() != whole[flags][:, flags]).nnz == 0
    order = rng.permutation(n)
    assert (here.permute(order).to_scipy() != whole[order][:, order]).nnz == 0


def test_vertices_that_cannot_be_chosen_are_named(space):
    grid = portpart.generators.grid_2d(3).to(space)
    for vertices, message in (([0, 9], r"vertices\[1\] is 9, which is no vertex"),
                              ([-1], r"vertices\[0\] is -1"),
                              ([2, 5, 2], r"vertices\[0\] is 2, which is repeated"),
                              ([True, False], "2 flags"), ([0.5], "float"),
                              ([[0, 1]], "one dimension")):
        with pytest.raises(InputError, match=message):
            grid.subgraph(vertices)
    with pytest.raises(InputError, match="all 9"):
        grid.permute([0, 1])


@pytest.mark.parametrize("seed", SEEDS)
def test_cut_edges_are_those_between_blocks(seed):
    rng = np.random.default_rng(seed)
    graph = drawn(rng)
    part = rng.integers(0, 3, graph.num_vertices)
    edges = portpart.as_graph(graph).to_scipy().tocoo()
    wanted = sorted([int(u), int(v)] for u, v in zip(*edges.coords)
                    if u < v and part[u] != part[v])
    assert graph.cut_edges(part).tolist() == wanted


def test_results_tell_order_and_blocks_by_name():
    graph = portpart.generators.grid_2d(6)
    result = portpart.partition(graph, 4)
    blocks = result.part[result.order]
    assert (np.diff(blocks) >= 0).all()
    assert result.order.tolist() == np.concatenate(result.blocks()).tolist()
    assert result.to_dict() == dict(enumerate(result.part.tolist()))
    permuted = graph.permute(result.order)
    assert len(permuted.cut_edges(blocks)) == result.cut
    networkx = pytest.importorskip("networkx")
    named = portpart.partition(networkx.path_graph(["a", "b"]), 2)
    assert sorted(named.to_dict()) == ["a", "b"]

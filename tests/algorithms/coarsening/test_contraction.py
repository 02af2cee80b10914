"""Contraction equals the sparse triple product without its diagonal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st

from bench.scale import cube
from portpart.algorithms.coarsening import clustering, contraction, row_pieces
from portpart.algorithms.coarsening.clustering import HEAVY_ARCS
from portpart.algorithms.coarsening.clusters import Clusters, Members
from portpart.algorithms.coarsening.contract_by_hashing import CoarseRows
from portpart.algorithms.coarsening.contraction import contract, record_contraction
from portpart.algorithms.coarsening.options import ClusteringOptions, FineSizes, sizes_of
from portpart.api.partition_call import partition
from portpart.backends.cuda.requirements import check_program, check_width
from portpart.backends.programs.interface import ExecutionSpace
from portpart.generators import delaunay
from portpart.graphs.graph import Graph
from portpart.primitives.scan import SCAN_TILE, tiles_of
from tests import oracles
from tests.helpers.each import looped
from tests.helpers.emulation.lanes import LanesSpace
from tests.helpers.graphs import graphs, random_graph, raw_graph
from tests.helpers.spaces import (
    GRAPHS,
    clusters_of,
    reference,
    with_int64_offsets,
)


def contracted(space: ExecutionSpace, graph: Graph, cluster: np.ndarray, count: int) -> Graph:
    return contract(graph.to(space), clusters_of(space, cluster, count))


def random_clusters(graph: Graph, seed: int) -> tuple[np.ndarray, int]:
    """A map onto all of 0 ... count - 1."""
    n = graph.num_vertices
    drawn = np.random.default_rng(seed).integers(0, max(1, n // 2), n)
    return np.unique(drawn, return_inverse=True)[1], len(np.unique(drawn))


def arrays_of(graph: Graph) -> tuple[list[int], ...]:
    """All that is stored, arcs and weights included."""
    return tuple([] if a is None else oracles.host(a).tolist() for a in graph.arrays.values())


def with_sorted_rows(graph: Graph) -> Graph:
    matrix = graph.to_scipy()
    matrix.sort_indices()
    return Graph(matrix.indptr, matrix.indices, matrix.data, graph.vertex_weights, graph.space)


@pytest.mark.parametrize("name", GRAPHS)
def test_quotient_of_graphs(space: ExecutionSpace, name: str) -> None:
    graph = GRAPHS[name]
    cluster, count = random_clusters(graph, 7)
    coarse = contracted(space, graph, cluster, count)
    oracles.assert_same_graph(coarse, oracles.quotient(graph, cluster, count))
    oracles.assert_valid_graph(coarse)
    assert coarse.total_vertex_weight == graph.total_vertex_weight


@given(graph=graphs(12, large_weights=True), data=st.data())
@settings(max_examples=60)
def test_quotient_of_random_graphs(
    space: ExecutionSpace, graph: Graph, data: st.DataObject
) -> None:
    n = graph.num_vertices
    cluster = np.array(data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)), np.int32)
    coarse = contracted(space, graph, cluster, 5)
    oracles.assert_same_graph(coarse, oracles.quotient(graph, cluster, 5))


@looped("name", ["medium", "dense", "skewed"])
def test_quotient_equals_the_sparse_triple_product(space: ExecutionSpace, name: str) -> None:
    graph = GRAPHS[name]
    cluster, count = random_clusters(graph, 3)
    n = graph.num_vertices
    map_matrix = sp.csr_array((np.ones(n, np.int64), (np.arange(n), cluster)), shape=(n, count))
    product = (map_matrix.T @ graph.to_scipy() @ map_matrix).toarray()
    np.fill_diagonal(product, 0)
    coarse = contracted(space, graph, cluster, count).to_scipy()
    assert np.array_equal(coarse.toarray(), product)


def test_wide_offsets_change_nothing(space: ExecutionSpace) -> None:
    graph = GRAPHS["medium"]
    cluster, count = random_clusters(graph, 1)
    oracles.assert_same_graph(
        contracted(space, with_int64_offsets(graph), cluster, count),
        contracted(space, graph, cluster, count),
    )


def test_sums_beyond_32_bits(space: ExecutionSpace) -> None:
    graph = raw_graph(4, [(0, 2), (1, 3), (0, 1)], np.array([2**31 - 1] * 3, np.int32)).graph()
    coarse = contracted(space, graph, np.array([0, 0, 1, 1]), 2)
    assert oracles.arcs(coarse) == ((0, 1, 2**32 - 2), (1, 0, 2**32 - 2))


RING = [(i, (i + 1) % 180) for i in range(180)]
LANES_GRAPHS = {
    "narrow rows": random_graph(40, 60, 5, weighted=True, vertex_weighted=True),
    "wide rows": random_graph(40, 1100, 5, weighted=True, skewed=True),
    "rows beyond scratch": raw_graph(180, [*RING, *((0, i) for i in range(2, 150))]).graph(),
}


@pytest.mark.parametrize("lanes", [2, 5])
@pytest.mark.parametrize("name", LANES_GRAPHS)
def test_lanes_share_a_row(lanes: int, name: str) -> None:
    graph = LANES_GRAPHS[name]
    cluster, count = np.arange(graph.num_vertices) // 2, graph.num_vertices // 2
    coarse = contracted(LanesSpace(lanes), graph, cluster, count)
    oracles.assert_same_graph(coarse, oracles.quotient(graph, cluster, count))


@pytest.mark.parametrize("limit", [30_000, row_pieces.MAX_SCRATCH])
@pytest.mark.parametrize("name", [*LANES_GRAPHS, "medium"])
def test_a_lane_fills_a_short_row(space: ExecutionSpace, name: str, limit: int,
                                  monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of many arcs are left to wide teams."""
    monkeypatch.setattr(contraction, "MANY_ROWS", 0)
    monkeypatch.setattr(contraction, "MEAN_OF_SHORT_ROWS", 1000)
    monkeypatch.setattr(row_pieces, "MAX_SCRATCH", limit)
    graph = LANES_GRAPHS.get(name) or GRAPHS[name]
    cluster, count = random_clusters(graph, 3)
    wanted = oracles.quotient(graph, cluster, count)
    for each in (space, LanesSpace(5)):
        oracles.assert_same_graph(contracted(each, graph, cluster, count), wanted)


@looped("name", GRAPHS)
def test_a_coarse_graph_knows_its_degrees_and_weights(space: ExecutionSpace, name: str) -> None:
    graph = GRAPHS[name]
    coarse = contracted(space, graph, *random_clusters(graph, 4))
    space.counters.synchronizations = 0
    known = (coarse.max_degree, coarse.total_arc_weight, coarse.total_vertex_weight)
    assert space.counters.synchronizations == 0
    host = coarse.to(reference())
    fresh = Graph(*host.arrays.values(), host.space)
    assert known == (fresh.max_degree, fresh.total_arc_weight, fresh.total_vertex_weight)


@pytest.mark.parametrize("sum_type", [np.int32, np.int64])
@pytest.mark.parametrize("team", [1, 8, 32])
def test_scratch_rows_of_a_program_fit_a_block(sum_type: type, team: int) -> None:
    graph, dtype = GRAPHS["medium"], np.dtype(sum_type)
    clusters = clusters_of(reference(), *random_clusters(graph, 4))
    sizes = sizes_of(graph, sum_type=dtype)
    contracting = {"graph": graph.csr, "members": Members(clusters.cluster), "rows": CoarseRows()}
    around = HEAVY_ARCS.around(graph, 1)._replace(sizes=sizes, team=team)
    clustering_ = clustering._records(around, clusters.cluster, 1, 1, None)
    for program in (
        record_contraction(contracting, sizes, team, one_lane=False),
        clustering._record(clustering_, around, ClusteringOptions(), HEAVY_ARCS, one_lane=False),
    ):
        check_program(program)
        for step in program.launches():
            check_width(step.kernel, step.team)


LARGE_GRAPHS = {
    "sparse": random_graph(9000, 9000, 1, weighted=True),
    "weighted": with_int64_offsets(random_graph(9000, 40_000, 2, weighted=True,
                                                vertex_weighted=True)),
    "skewed": random_graph(9000, 60_000, 3, skewed=True),
}


def contracted_in_pieces(monkeypatch: pytest.MonkeyPatch, limit: int, *args: Any,
                         ) -> tuple[Graph, int]:
    """A graph of clusters whose rows take no more scratch than a limit, and how many pieces."""
    made = []
    monkeypatch.setattr(row_pieces, "MAX_SCRATCH", limit)
    monkeypatch.setattr(contraction, "cut", lambda *of: (
        made.append(found := row_pieces.cut(*of)), found)[1])
    return contracted(*args), len(made[0])


@pytest.mark.parametrize("limit", [30_000, 160_000])
@pytest.mark.parametrize("name", LARGE_GRAPHS)
def test_rows_made_piece_by_piece_are_the_same(space: ExecutionSpace, name: str,
                                               limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = LARGE_GRAPHS[name]
    cluster, count = random_clusters(graph, 5)
    whole = contracted(space, graph, cluster, count)
    made, pieces = contracted_in_pieces(monkeypatch, limit, space, graph, cluster, count)
    assert pieces > tiles_of(count) if limit == 30_000 else 1 < pieces
    assert made._totals == whole._totals
    assert [a.dtype for a in made.arrays.values()] == [a.dtype for a in whole.arrays.values()]
    made, whole = (with_sorted_rows(each.to(reference())) for each in (made, whole))
    assert arrays_of(made) == arrays_of(whole)


@pytest.mark.parametrize("name", LARGE_GRAPHS)
def test_pieces_keep_the_order_of_arcs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On one thread, where it depends on nothing: what is chosen later may go by it."""
    args = reference(), LARGE_GRAPHS[name], *random_clusters(LARGE_GRAPHS[name], 5)
    whole, (made, _) = contracted(*args), contracted_in_pieces(monkeypatch, 30_000, *args)
    assert arrays_of(made) == arrays_of(whole)


@pytest.mark.parametrize("room", [0, 1000])
def test_rows_are_made_again_where_samples_told_of_too_few_arcs(
    space: ExecutionSpace, room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    args = space, LARGE_GRAPHS["weighted"], *random_clusters(LARGE_GRAPHS["weighted"], 5)
    whole = contracted(*args)
    monkeypatch.setattr(contraction, "expected_arcs", lambda *of: room)
    made, pieces = contracted_in_pieces(monkeypatch, 160_000, *args)
    assert pieces > 1
    assert made.num_arcs > room
    assert made._totals == whole._totals
    made, whole = (with_sorted_rows(each.to(reference())) for each in (made, whole))
    assert arrays_of(made) == arrays_of(whole)


def test_offsets_are_short_where_arcs_turn_out_to_be_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not those of the room that there is for arcs, or programs would be compiled for both."""
    args = reference(), LARGE_GRAPHS["sparse"], *random_clusters(LARGE_GRAPHS["sparse"], 5)
    whole = contracted(*args)
    for limit, width in ((whole.num_arcs, 4), (whole.num_arcs - 1, 8)):
        monkeypatch.setattr(row_pieces, "MAX_INT32_ARCS", limit)
        monkeypatch.setattr(contraction, "expected_arcs", lambda *of: whole.num_arcs + 10)
        made, _ = contracted_in_pieces(monkeypatch, 160_000, *args)
        assert made.offsets.dtype.itemsize == width
        assert made.offsets.tolist() == whole.offsets.tolist()
        assert made.targets.tolist() == whole.targets.tolist()


def test_samples_count_as_the_arcs_around_them() -> None:
    """A mean over all arcs, each of which asks its tile: exact if few tiles have all of them."""
    sizes = FineSizes(9 * SCAN_TILE, 12_000, 3 * SCAN_TILE + 5)
    arcs = np.array([2000, 0, 9000, 1000])
    chosen = row_pieces.samples(sizes, arcs)
    assert [(each.weight, each.first, each.sizes.arcs, each.sizes.clusters) for each in chosen] == [
        (2, 0, 2000, SCAN_TILE), (9, 2 * SCAN_TILE, 9000, SCAN_TILE), (1, 3 * SCAN_TILE, 1000, 5)]
    coarse = [1500, 6300, 100]
    connectivity = np.repeat([0.75, 0.7, 0.1], [2, 9, 1])
    spare = min(3 * float(connectivity.std()) / 12**0.5, sum(coarse) / 12_000 / 32)
    expected = sum(coarse) + spare * 12_000
    assert abs(row_pieces.expected_arcs(sizes, chosen, coarse) - expected) <= 1


def test_there_is_no_room_for_more_arcs_than_the_fine_graph_has() -> None:
    sizes = FineSizes(9 * SCAN_TILE, 1000, SCAN_TILE)
    chosen = row_pieces.samples(sizes, np.array([1000]))
    assert row_pieces.expected_arcs(sizes, chosen, [1000]) == 1000
    assert row_pieces.expected_arcs(sizes, chosen, [0]) == 0


def test_samples_take_no_more_scratch_than_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_pieces, "MAX_SCRATCH", 150_000)
    sizes = FineSizes(30_000, 81_000, 3 * SCAN_TILE)
    tiles = np.array([9000, 71_900, 100])
    assert [each.first for each in row_pieces.samples(sizes, tiles)] == [0]
    assert row_pieces.samples(sizes, 0 * tiles) == []


@pytest.mark.parametrize("name", ["mesh", "cube"])
def test_samples_tell_how_many_arcs_meshes_keep(name: str) -> None:
    """Real clusters, tiles as the contraction of a large graph has them."""
    graph = delaunay(100_000) if name == "mesh" else cube(reference(), 70)
    clusters = clustering.cluster(reference(), graph, 1000, 1, ClusteringOptions())
    coarse = contract(graph, clusters)
    degrees = np.bincount(clusters.cluster, np.diff(graph.offsets), coarse.num_vertices)
    starts = np.arange(0, coarse.num_vertices, SCAN_TILE)
    arcs, kept = (np.add.reduceat(each, starts).astype(int)
                  for each in (degrees, np.diff(coarse.offsets)))
    sizes = FineSizes(graph.num_vertices, graph.num_arcs, coarse.num_vertices)
    chosen = row_pieces.samples(sizes, arcs)
    room = row_pieces.expected_arcs(
        sizes, chosen, [int(kept[each.first // SCAN_TILE]) for each in chosen])
    assert coarse.num_arcs <= room <= 1.02 * coarse.num_arcs


@pytest.mark.parametrize("preset", ["fast", "default"])
def test_partitions_do_not_depend_on_pieces(preset: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mesh = delaunay(20_000)
    before = partition(mesh, 8, preset=preset).part
    monkeypatch.setattr(row_pieces, "MAX_SCRATCH", 2**16)
    assert np.array_equal(partition(mesh, 8, preset=preset).part, before)


def test_pieces_are_as_large_as_scratch_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tile that takes more is cut between clusters; a cluster that does is a piece of its own."""
    monkeypatch.setattr(row_pieces, "MAX_SCRATCH", 150_000)
    sizes = FineSizes(30_000, 81_130, 3 * SCAN_TILE + 5)
    inside = np.array([10] * 500 + [55_000] + [10] * 523)
    found = row_pieces.cut(sizes, np.array([900, inside.sum(), 2000, 8000]),
                           lambda first, end: (
                               inside if (first, end) == (SCAN_TILE, 2 * SCAN_TILE)
                               else inside[:0]))
    assert [(first, piece.clusters, piece.arcs) for first, piece in found] == [
        (0, SCAN_TILE + 500, 5900), (SCAN_TILE + 500, 1, 55_000),
        (SCAN_TILE + 501, 523 + SCAN_TILE, 7230),
        (3 * SCAN_TILE, 5, 8000)]
    assert [CoarseRows.num_bytes(piece) > 150_000 for _, piece in found] == [
        False, True, False, False]
    assert row_pieces.cut(sizes._replace(clusters=0), np.array([0]), lambda *_: inside) == [
        (0, sizes._replace(clusters=0, arcs=0))]


def test_everything_in_one_cluster(space: ExecutionSpace) -> None:
    graph = GRAPHS["skewed"]
    coarse = contracted(space, graph, np.zeros(graph.num_vertices), 1)
    assert (coarse.num_vertices, coarse.num_arcs) == (1, 0)
    assert oracles.vertex_weights(coarse) == [graph.total_vertex_weight]


@pytest.mark.parametrize("name", ["skewed", "medium"])
@pytest.mark.parametrize("limit", [30_000, row_pieces.MAX_SCRATCH])
def test_rows_of_the_first_clusters_may_lead_to_others(
    space: ExecutionSpace, name: str, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rank makes rows of some clusters again, without those that their arcs lead to."""
    monkeypatch.setattr(row_pieces, "MAX_SCRATCH", limit)
    cluster, count = random_clusters(GRAPHS[name], 5)
    order, first = np.argsort(cluster, kind="stable"), count // 3
    cluster, matrix = cluster[order], GRAPHS[name].to_scipy()[order][:, order]
    n = int(np.searchsorted(cluster, first))
    ends = matrix.indptr[n]
    some = Graph(matrix.indptr[: n + 1], matrix.indices[:ends], matrix.data[:ends], None,
                 reference())
    counts = (space.asarray(np.array([each])) for each in (first, count))
    made = contraction.rows_of_clusters(
        some.to(space), Clusters(first, space.asarray(cluster, np.int32), *counts))
    offsets, targets, weights, masses = (oracles.host(each) for each in made.arrays())
    members = sp.csr_array((np.ones(len(cluster), np.int64), (cluster, np.arange(len(cluster)))))
    wanted = (members @ matrix @ members.T)[:first].toarray()
    np.fill_diagonal(wanted, 0)
    assert np.array_equal(sp.csr_array((weights, targets, offsets), (first, count)).toarray(),
                          wanted)
    assert masses.tolist() == np.bincount(cluster[:n]).tolist()


def test_a_guess_is_near_what_clusters_of_a_mesh_come_to() -> None:
    """Kernels for graphs of such degrees are compiled ahead where none has run yet."""
    mesh = delaunay(3000)
    clusters = clustering.cluster(reference(), mesh.to(reference()), 8, 0, ClusteringOptions())
    coarse = contract(mesh.to(reference()), clusters)
    found = [coarse.num_vertices, coarse.num_arcs, coarse.max_degree, coarse.total_arc_weight]
    for guess, truth in zip(contraction.guess_of_clusters(mesh), found, strict=True):
        assert truth / 3 <= guess <= 3 * truth

"""Graphs that belong to several ranks, against the whole graph."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from portpart import backends
from portpart.algorithms.coarsening.cluster_rules import is_skewed
from portpart.algorithms.coarsening.hierarchy import end_for
from portpart.algorithms.refinement.blocks.state import max_light
from portpart.backends.communication import Local, One
from portpart.backends.cpu.space import CpuSpace
from portpart.backends.programs.interface import ExecutionSpace
from portpart.errors import InputError, OutOfMemory
from portpart.generators import shares
from portpart.graphs.graph import Graph
from portpart.graphs.ranks.distribution import distributed
from portpart.graphs.ranks.rank_rows import DistributedGraph
from portpart.graphs.row_range import Rows
from portpart.graphs.structure import GraphTotals
from tests.helpers.each import looped
from tests.helpers.emulation.lanes import LanesSpace
from tests.helpers.graphs import drawn_graphs, graphs, random_graph
from tests.helpers.ranks.cut_rows import borders, rows_of
from tests.helpers.ranks.rank_rows import SIZES, cut_graphs, with_sizes

GRAPHS = {
    **drawn_graphs(),
    "random": random_graph(60, 150, 1, weighted=True, vertex_weighted=True),
    "skewed": random_graph(60, 200, 2, skewed=True),
    "vertex weights": random_graph(60, 90, 3, vertex_weighted=True),
}


def names_of(graph: DistributedGraph) -> np.ndarray:
    """The global ids of own vertices and ghosts."""
    own = np.arange(graph.first[graph.comm.rank], graph.first[graph.comm.rank + 1])
    return np.concatenate([own, graph.ghost_names])


def assert_is_part_of(graph: DistributedGraph, whole: Graph, first: list[int]) -> None:
    """A rank has the rows of its vertices, ghosts with weights, and the totals of all."""
    rank, local, names = graph.comm.rank, graph.local, names_of(graph)
    low, high = first[rank], first[rank + 1]
    begin, end = int(whole.offsets[low]), int(whole.offsets[high])
    targets = whole.targets[begin:end]
    assert graph.first.tolist() == first
    assert local.offsets.tolist() == (whole.offsets[low : high + 1] - begin).tolist()
    assert local.targets.dtype == np.int32
    assert names[local.targets].tolist() == targets.tolist()
    assert local.global_ids.tolist() == names.tolist()
    assert graph.ghost_names.tolist() == sorted({v for v in targets.tolist()
                                                 if not low <= v < high})
    if whole.weights is not None:
        assert local.weights.tolist() == whole.weights[begin:end].tolist()
    if whole.vertex_weights is not None:
        assert local.vertex_weights.tolist() == whole.vertex_weights[names].tolist()
    n, degrees = whole.num_vertices, np.diff(whole.offsets)
    masses, weights = whole.vertex_weights, whole.weights
    assert graph.totals == GraphTotals(n, whole.num_arcs, degrees.max(initial=0),
                                       (degrees.astype(np.int64) ** 2).sum(),
                                       n if masses is None else masses.sum(),
                                       whole.num_arcs if weights is None else weights.sum())


def assert_halos_fit(ranks: list[DistributedGraph]) -> None:
    """Each rank knows which ranks have its vertices as ghosts, and at which places."""
    for here in ranks:
        rank, halo = here.comm.rank, here.halo
        found = {}
        border = halo.border.names
        assert border[-1] == here.local.num_vertices
        assert (np.diff(border) > 0).all()
        for i, v in enumerate(border[:-1].tolist()):
            assert halo.begin[i] < halo.begin[i + 1]
            for entry in range(halo.begin[i], halo.begin[i + 1]):
                there = ranks[halo.ranks[entry]]
                place = there.halo.ghost_first[rank] + halo.places[entry]
                found[halo.ranks[entry], place] = here.first[rank] + v
        assert len(found) == len(halo.ranks)
        wanted = {(q, place): name for q, there in enumerate(ranks)
                  for place, name in enumerate(names_of(there).tolist())
                  if q != rank and here.first[rank] <= name < here.first[rank + 1]}
        assert found == wanted


def assert_same_arrays(graph: Graph, wanted: Graph) -> None:
    """Graphs have the same rows, in the same order, and the same weights."""
    for name, array in wanted.arrays.items():
        other = graph.arrays[name]
        assert (array is None) == (other is None), name
        assert array is None or array.tolist() == other.tolist(), name


def check(whole: Graph, first: list[int], space: ExecutionSpace, kind: Any = None) -> None:
    """All that holds of a graph of these borders."""
    def main(comm):
        graph = distributed(comm, rows_of(whole, first[comm.rank], first[comm.rank + 1], space,
                                          kind))
        assert_is_part_of(graph, whole, first)
        assert_same_arrays(graph.gather(), whole)
        return graph

    assert_halos_fit(Local(len(first) - 1).run(main))


def test_ranks_in_the_same_memory_gather_once():
    spaces = [CpuSpace(1), CpuSpace(1)]

    def main(comm):
        space = spaces[comm.rank // 2]
        graph = distributed(comm, rows_of(
            GRAPHS["random"], *[(0, 20), (20, 30), (30, 60)][comm.rank], space))
        return graph.gather()

    one, two, three = Local(3).run(main)
    assert one is two
    assert three is not one
    for each in (one, three):
        assert each.offsets.tolist() == GRAPHS["random"].offsets.tolist()
        assert each.targets.tolist() == GRAPHS["random"].targets.tolist()


@looped(("name", "size"), with_sizes(GRAPHS))
def test_ranks_have_their_rows_and_what_they_need_of_others(name, size):
    whole = GRAPHS[name]
    for seed in range(2):
        first = borders(whole.num_vertices, size, seed)
        check(whole, first, backends.space("cpu", threads=1 + seed))


@settings(max_examples=150)
@given(cut_graphs(graphs(25, loops=False)))
def test_any_graph_and_borders(drawn):
    check(*drawn, backends.space("cpu", threads=1))


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_lanes_of_teams_and_types_of_ids_make_no_difference(kind):
    whole = GRAPHS["random"]
    check(whole, borders(whole.num_vertices, 3, 5), LanesSpace(4), kind)


@pytest.mark.parametrize("size", SIZES)
def test_rows_that_are_drawn_by_range_are_gathered_to_the_whole(size):
    large = shares.weighted(shares.jittered_mesh(20, 30), 9, 100)
    whole = large.rows(0, large.num_vertices)
    first = borders(large.num_vertices, size, 1)

    def main(comm):
        graph = distributed(comm, large.rows(first[comm.rank], first[comm.rank + 1])).gather()
        for name in ("offsets", "targets", "weights", "vertex_weights"):
            assert getattr(graph, name).tolist() == getattr(whole, name).tolist()

    Local(size).run(main)


def test_one_rank_alone_has_no_ghosts():
    whole = GRAPHS["random"]
    graph = distributed(One(), rows_of(whole, 0, 60))
    assert graph.num_ghosts == 0
    assert_same_arrays(graph.gather(), whole)
    assert repr(graph) == ("<DistributedGraph: rank 0 of 1 with 60 of 60 vertices, 0 ghosts, "
                           f"{whole.num_arcs:,} of {whole.num_arcs:,} arcs, on cpu>")


@pytest.mark.parametrize("size", [1, 2])
def test_kernels_read_ids_unless_these_are_places(size):
    """A single rank reads none, as on one device; whether rows have ids decides which code runs."""
    whole = GRAPHS["random"]
    first = [60 * rank // size for rank in range(size + 1)]
    for each in Local(size).run(
            lambda comm: distributed(comm, rows_of(whole, *first[comm.rank : comm.rank + 2]))):
        assert (each.rows.global_ids is None) == (size == 1)
        assert each.rows.targets is each.local.targets
        assert each.local.global_ids is not None


def test_weights_that_are_wide_on_one_rank_are_wide_on_all():
    whole = GRAPHS["all_weights"]

    def main(comm):
        first, last = [(0, 3), (3, 5)][comm.rank]
        rows = rows_of(whole, first, last)
        kind = np.int32 if comm.rank else np.int64
        graph = distributed(comm, replace(rows, weights=rows.weights.astype(kind)))
        assert graph.local.weights.dtype == np.int64

    Local(2).run(main)


def changed(graph: Graph, rank: int, **values: Any) -> Any:
    """What makes the rows of a graph on three ranks, with other arrays on one of them."""
    first = [0, 2, 4, graph.num_vertices]

    def rows_for(comm) -> Rows:
        low, high = list(pairwise(first))[comm.rank]
        rows = rows_of(graph, low, high)
        return replace(rows, **values) if comm.rank == rank else rows

    return rows_for


PATH, WEIGHTED = GRAPHS["path"], GRAPHS["all_weights"]
ROWS = rows_of(PATH, 2, 4)


@pytest.mark.parametrize(("rows_for", "message"), [
    (changed(PATH, 1, first=3),
     "rank 1: rows begin with vertex 3, and the ranks before have rows up to vertex 2"),
    (changed(PATH, 2, num_vertices=7),
     "rank 2: rows are of a graph of 7 vertices, and all ranks have 6 rows"),
    (changed(PATH, 1, weights=np.ones(4, np.int32)),
     "rank 1: there are some edge weights, and none on rank 0"),
    (changed(WEIGHTED, 2, vertex_weights=None),
     "rank 2: there are no vertex weights, and some on rank 0"),
    (changed(PATH, 1, targets=np.array([1, 3, 2, 6], np.int32)),
     "rank 1: target 6 is no vertex; vertices are 0 ... 5"),
    (changed(PATH, 1, targets=np.array([1, 3, 2, -1], np.int32)),
     "rank 1: target -1 is no vertex; vertices are 0 ... 5"),
    (changed(PATH, 1, targets=np.array([1, 3, 2, 4], np.float64)),
     "rank 1: targets are of type float64 with 1 dimensions; one dimension of int32 or int64 is "
     "needed"),
    (changed(PATH, 1, offsets=np.array([0, 2, 3])),
     "rank 1: offsets begin and end with [0, 3]; 0 and 4, the number of arcs, are needed"),
    (changed(PATH, 1, offsets=np.array([0, 5, 4])), "rank 1: offsets descend"),
    (changed(WEIGHTED, 0, weights=np.ones(1, np.int64)),
     "rank 0: there are 1 weights; 3 are needed"),
    (changed(WEIGHTED, 0, vertex_weights=np.ones(3, np.int64)),
     "rank 0: there are 3 vertex weights; 2 are needed"),
    (changed(PATH, 1, targets=np.array([3, 3, 2, 4], np.int32)),
     "rank 0: 1 vertices have arcs to rank 1, which has arcs to 0: rows are not symmetric"),
    (changed(PATH, 1, targets=np.array([0, 3, 2, 4], np.int32)),
     "rank 1: vertex 0 has no arc to a vertex of rank 1, which has an arc to it: rows are not "
     "symmetric"),
    (changed(PATH, 2, targets=np.array([2, 5, 4], np.int32)),
     "rank 2: vertex 2 has no arc to a vertex of rank 2, which has an arc to it: rows are not "
     "symmetric"),
    (changed(WEIGHTED, 1, weights=np.array([2**40, 2**62], np.int64)),
     f"rank 0: edge weights of all ranks add up to {2**62 + 2 * 2**40 + 2 * 3 + 9}; {2**62} is "
     "the most"),
])
def test_rows_that_do_not_fit_are_refused_on_all_ranks(rows_for, message):
    told = []

    def main(comm):
        try:
            distributed(comm, rows_for(comm))
        except InputError as error:
            told.append(str(error))
            raise

    with pytest.raises(InputError):
        Local(3).run(main)
    assert told == 3 * [message]


def test_no_memory_on_one_rank_ends_all(monkeypatch):
    told = []

    def main(comm):
        space = CpuSpace(1)  # each rank has memory of its own
        graph = distributed(comm, rows_of(GRAPHS["random"], *[(0, 20), (20, 60)][comm.rank], space))

        def empty(n, dtype):
            if comm.rank == 1 and n > 200:
                raise OutOfMemory("no MiB")
            return np.empty(n, dtype)

        monkeypatch.setattr(space, "empty", empty)
        try:
            graph.gather()
        except OutOfMemory as error:
            told.append(str(error))
            raise

    with pytest.raises(OutOfMemory):
        Local(2).run(main)
    assert told == 2 * ["rank 1: no MiB"]


@looped(("name", "size"), with_sizes(GRAPHS))
def test_what_decides_is_the_same_on_all_ranks_as_on_one_device(name, size):
    whole = GRAPHS[name]
    first = borders(whole.num_vertices, size, 7)

    def main(comm):
        return distributed(comm, rows_of(whole, first[comm.rank], first[comm.rank + 1])).local

    for local in Local(size).run(main):
        for member in ("num_vertices", "num_entries", "mean_degree", "max_degree",
                       "squared_degrees", "total_vertex_weight", "total_arc_weight",
                       "weight_sum_dtype"):
            assert getattr(local.whole, member) == getattr(whole, member), member
        assert local.whole.mean_joint_weight(7) == whole.mean_joint_weight(7)
        assert is_skewed(local) == is_skewed(whole)
        assert max_light(local, 3) == max_light(whole, 3)
        for mean in (1, 1000):
            assert end_for(local, mean, mean // 2) == end_for(whole, mean, mean // 2)

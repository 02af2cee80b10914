"""Calls that several ranks make: the partition of one device, refusals, files."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import portpart
from bench.communication import Counted
from portpart import generators, metrics
from portpart.algorithms.coarsening.ranks.hierarchy import Fold
from portpart.algorithms.recipes.portpart import PortpartConfig
from portpart.algorithms.refinement.options import RefinementOptions
from portpart.backends.communication import Local
from portpart.errors import InputError
from portpart.graphs.graph import Graph
from portpart.graphs.ranks.from_ranks import graph_of_ranks, rows_of_arrays
from portpart.graphs.ranks.rank_graph import RankGraph
from portpart.io import read_partition
from portpart.options import changed
from tests.helpers.each import looped
from tests.helpers.graphs import drawn_graphs, graphs, random_graph
from tests.helpers.ranks.cut_rows import borders
from tests.helpers.ranks.rank_calls import LocalCalls, on_ranks, rank_graph

GRAPHS = {
    **drawn_graphs(),
    "weighted": random_graph(300, 900, 1, weighted=True, vertex_weighted=True),
    "skewed": generators.rmat(9, 5),
    "mesh": generators.delaunay(1200),
}
SIZES = (1, 2, 3, 5)

NEVER = Fold(0, 0)
"""No level is folded: small graphs, too, belong to ranks."""

COMPARED = ("cut", "imbalance", "feasible", "max_block_weight_allowed", "k")


def assert_same(results: list[Any], whole: Any) -> None:
    """The ranks have found what one device has found."""
    assert np.concatenate([each.part for each in results]).tolist() == whole.part.tolist()
    for each in results:
        assert {name: getattr(each, name) for name in COMPARED} == {
            name: getattr(whole, name) for name in COMPARED}
        assert each.block_weights.tolist() == whole.block_weights.tolist()
        assert each.block_weight_limits.tolist() == whole.block_weight_limits.tolist()
        assert each.part.dtype == whole.part.dtype
        assert each.stats == results[0].stats


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", GRAPHS)
def test_ranks_find_the_partition_of_one_device(
    name: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = GRAPHS[name]
    monkeypatch.setattr("portpart.algorithms.recipes.portpart_ranks.fold_for", lambda space: NEVER)
    first = borders(graph.num_vertices, size, size)
    for options in ({"preset": "fast"}, {"seed": 3, "target": [1, 2, 1], "imbalance": "5%"}):
        results = on_ranks(graph, first, lambda rows, given=options: portpart.partition(
            rows, 3, **given))
        assert_same(results, portpart.partition(graph, 3, **options))


@pytest.mark.filterwarnings("ignore::UserWarning")
@settings(max_examples=40, deadline=None)
@given(graphs(), st.sampled_from(SIZES), st.integers(0, 999), st.integers(1, 6))
def test_ranks_find_the_partition_of_one_device_for_any_graph(
    graph: Graph, size: int, seed: int, k: int
) -> None:
    first = borders(graph.num_vertices, size, seed)
    results = on_ranks(graph, first, lambda rows: portpart.partition(rows, k, preset="fast"))
    assert_same(results, portpart.partition(graph, k, preset="fast"))


def test_rank_0_warns_where_bounds_cannot_be_kept_and_names_the_vertex() -> None:
    graph = portpart.as_graph(generators.grid_2d(4), vertex_weights=[1] * 9 + [50, 50] + [1] * 5)
    with pytest.warns(UserWarning, match="vertex 9 weighs 50, more than") as found:
        results = on_ranks(graph, [0, 4, 10, 16], lambda rows: portpart.partition(rows, 4))
    assert len(found) == 1
    assert found[0].filename == __file__
    assert not any(each.feasible for each in results)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_blocks_that_stay_empty_for_want_of_vertices_break_no_bound() -> None:
    graph = portpart.as_graph(generators.grid_2d(3), vertex_weights=[0] * 5 + [1, 2, 1, 1])
    whole = portpart.partition(graph, 6)
    results = on_ranks(graph, [0, 6, 9], lambda rows: portpart.partition(rows, 6))
    assert_same(results, whole)


REFUSED = [
    ({"preset": changed(PortpartConfig(), {"refinement.coarse": RefinementOptions(
        until_balanced=True)})}, "until_balanced=True and leave_by='weight' is not possible"),
    ({"algorithm": "jet"}, "algorithm 'jet' is not for graphs of several ranks"),
    ({"preset": portpart.JetConfig()}, "algorithm 'jet' is not"),
    ({"objective": "volume"}, "objective is 'volume'"),
    ({"min_block_weight": 1}, "min_block_weight is not for"),
    ({"time_limit": 3}, "time_limit is not for"),
    ({"rounds": 3, "preset": "best"}, "rounds is not for graphs of several ranks; gather()"),
    ({"vertex_sizes": [1]}, "vertex_sizes is not for"),
    ({"device": "cuda"}, "the rows of this rank are on cpu"),
    ({"vertex_weights": [1]}, "what portpart.distributed_graph was given"),
    ({"symmetrize": True}, "what portpart.distributed_graph was given"),
    ({"k": 0}, "k is 0"),
    ({"k": 2**30}, "k is 1073741824 for a graph of 64 vertices"),
    ({"imbalance": -1}, "imbalance is -1"),
    ({"target": [1]}, "target"),
    ({"seed": -1}, "seed is -1"),
    ({"threads": 0}, "threads is 0"),
    ({"progress": 3}, "progress is 3"),
]


@looped(("options", "message"), REFUSED)
def test_what_ranks_cannot_do_is_refused_on_all_of_them(
    options: dict[str, Any], message: str
) -> None:
    def main(rows: RankGraph) -> str:
        with pytest.raises(InputError) as problem:
            portpart.partition(rows, **{"k": 4, **options})
        assert portpart.partition(rows, 4).feasible
        return str(problem.value)

    told = on_ranks(generators.grid_2d(8), [0, 20, 20, 64], main)
    assert len(set(told)) == 1
    assert told[0].startswith("rank 0: ")
    assert message in told[0]


DIFFERENT = [
    ({"k": 5}, "k is 5, and 4 on rank 0"),
    ({"seed": 5}, "seed is 5, and 0 on rank 0"),
    ({"imbalance": 0.04}, "imbalance is 1/25, and 3/100 on rank 0"),
    ({"target": [1, 1, 1, 2]}, "target is 1, 1, 1, 2, and None on rank 0"),
    ({"preset": "fast"}, "preset is PortpartConfig(coars"),
    ({"starts": 3}, "preset is PortpartConfig(coars"),
]


@pytest.mark.parametrize(("options", "message"), DIFFERENT, ids=lambda value: str(value)[:40])
def test_ranks_that_differ_in_options_are_told_which(
    options: dict[str, Any], message: str
) -> None:
    def main(rows: RankGraph) -> str:
        with pytest.raises(InputError) as problem:
            portpart.partition(rows, **{"k": 4, **(options if rows.rank > 0 else {})})
        return str(problem.value)

    told = on_ranks(generators.grid_2d(8), [0, 20, 40, 64], main)
    assert len(set(told)) == 1
    assert told[0].startswith(f"rank 1: {message}")


def test_numbers_may_be_written_differently_and_threads_and_progress_may_differ() -> None:
    phases: list[str] = []
    ways = ({"imbalance": "3%", "threads": 1}, {"imbalance": 0.03, "threads": 2})

    def main(rows: RankGraph) -> Any:
        return portpart.partition(rows, 4, progress=lambda phase, *_: phases.append(phase),
                                  **ways[rows.rank])

    results = on_ranks(generators.grid_2d(20), [0, 150, 400], main)
    assert_same(results, portpart.partition(generators.grid_2d(20), 4))
    assert phases.count("done") == 1  # rank 0 alone is told


class VersionOfRank:
    """A version that is another one on each rank, whose thread has its name."""

    def __str__(self) -> str:
        return threading.current_thread().name


def test_a_version_that_differs_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("portpart.api.rank_call.__version__", VersionOfRank())

    def main(rows: RankGraph) -> str:
        with pytest.raises(InputError) as problem:
            portpart.partition(rows, 4)
        return str(problem.value)

    told = on_ranks(generators.grid_2d(8), [0, 20, 64], main)
    assert told[0] == told[1]
    assert "the version of portpart is rank 1, and rank 0 on rank 0" in told[0]


BAD_ARRAYS = {
    "begin": ([1, 2], [0, 1], None, None, "offsets begin with 1"),
    "end": ([0, 1], [0, 1], None, None, "offsets begin with 0 and end with 1"),
    "empty": ([], [], None, None, "a rank without vertices has the offsets [0]"),
    "fall": ([0, 2, 1, 2], [0, 1], None, None, "offsets[1] is 2 and offsets[2] is 1"),
    "weights": ([0, 2], [0, 1], [1], None, "shape (1,) for 2 arcs"),
    "masses": ([0, 2], [0, 1], None, [1, 1], "there are 2 vertex weights for 1 vertices"),
    "range": ([0, 1], [77], None, None, "77, a neighbour of vertex 2, is not a vertex"),
    "negative": ([0, 1], [0], [-3], None, "has weight -3"),
    "below": ([0, 1], [0], None, [-3], "vertex 2 has weight -3"),
    "fraction": ([0, 1], [0], [0.5], None, "edge_weights[0] is 0.5"),
    "flat": ([[0, 1]], [0], None, None, "one-dimensional"),
    "text": ("ab", [0], None, None, "offsets"),
}


@pytest.mark.parametrize("name", BAD_ARRAYS)
def test_bad_arrays_of_one_rank_are_refused_on_all(name: str) -> None:
    *arrays, message = BAD_ARRAYS[name]
    good = [[0, 1, 2], [1, 0], *(None if each is None else [1, 1] for each in arrays[2:])]

    def main(comm: Any) -> str:
        with pytest.raises(InputError) as problem:
            graph_of_ranks(LocalCalls(comm), rows_of_arrays(*(arrays if comm.rank else good)))
        return str(problem.value)

    told = Local(2).run(main)
    assert told[0] == told[1]
    assert told[0].startswith("rank 1: ")
    assert message in told[0]


@settings(max_examples=60, deadline=None)
@given(graphs(), st.sampled_from(SIZES), st.integers(0, 999), st.data())
def test_an_arc_without_its_reverse_is_found_wherever_it_is(
    graph: Graph, size: int, seed: int, data: st.DataObject
) -> None:
    if graph.num_arcs == 0:
        return
    arc = data.draw(st.integers(0, graph.num_arcs - 1))
    tail = int(np.searchsorted(graph.offsets, arc, side="right")) - 1
    targets = np.array(graph.targets)
    weights = np.ones(graph.num_arcs, np.int64) if graph.weights is None else graph.weights.copy()
    if data.draw(st.booleans()):
        weights[arc] += 1
    else:
        others = [v for v in range(graph.num_vertices) if v not in (tail, targets[arc])]
        if not others:
            return
        targets[arc] = data.draw(st.sampled_from(others))
    wrong = Graph(graph.offsets, targets, weights, None, graph.space)
    with pytest.raises(InputError, match=r"rows are not symmetric"):
        on_ranks(wrong, borders(graph.num_vertices, size, seed), lambda rows: None)


def test_weights_of_two_directions_that_differ_are_named() -> None:
    graph = portpart.as_graph(generators.grid_2d(3), edge_weights=np.ones(24, np.int64))
    weights = np.full(graph.num_arcs, 5)
    weights[graph.offsets[4]] = 6  # of the arc from 4 to 1
    wrong = Graph(graph.offsets, graph.targets, weights, None, graph.space)
    with pytest.raises(InputError, match=r"vertex 1 has an arc of weight 5 to vertex 4, which has "
                                         "none of weight 5 to it"):
        on_ranks(wrong, [0, 3, 9], lambda rows: None)


def test_results_are_gathered_and_saved(tmp_path: Path) -> None:
    graph, path = generators.delaunay(500), tmp_path / "mesh.part"
    path.write_text("old")
    path.chmod(0o640)

    def main(rows: RankGraph) -> Any:
        result = portpart.partition(rows, 12)
        result.save(path)
        return result.gather(1), result.gather(None), result

    ranks = on_ranks(graph, [0, 0, 130, 500], main)
    whole = portpart.partition(graph, 12).part.tolist()
    assert [root is None for root, _, _ in ranks] == [True, False, True]
    assert ranks[1][0].tolist() == whole
    assert all(every.tolist() == whole for _, every, _ in ranks)
    assert read_partition(path, 500).tolist() == whole
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]
    members = [result.blocks() for *_, result in ranks]
    assert [np.concatenate(each).tolist() for each in zip(*members)] == [
        each.tolist() for each in portpart.partition(graph, 12).blocks()]
    assert "500" in repr(ranks[2][2])
    assert "<RankPartitionResult: 370 of 500 vertices in 12 blocks" in repr(ranks[2][2])
    assert "first vertex here" in ranks[2][2]._repr_html_()


class CountedCalls(LocalCalls):
    """Calls that count what ranks send."""

    def run(self, main: Any) -> Any:
        counted = Counted(self._comm)
        return main(counted), counted.steps, counted.votes, counted.bytes


def test_a_result_is_gathered_by_one_message_of_each_rank() -> None:
    def main(comm: Any) -> Any:
        result = portpart.partition(rank_graph(comm, GRAPHS["mesh"], [0, 0, 300, 1200]), 5)
        counted = replace(result, calls=CountedCalls(comm))
        return counted.gather(1), counted.gather(None)

    ranks = Local(3).run(main)
    assert [to_one[1:] for to_one, _ in ranks] == [(1, 1, 0), (1, 1, 0), (1, 1, 900 * 4)]
    assert [to_all[1:] for _, to_all in ranks] == [(1, 1, 0), (1, 1, 2400), (1, 1, 7200)]


@pytest.mark.parametrize(("roots", "message"), [
    ((0, 1, 0), "rank 1: root is 1, and 0 on rank 0"),
    ((None, 1, 1), "rank 1: root is 1, and None on rank 0"),
    ((2, 2, 3), "rank 2: root is 3; it must be between 0 and 2"),
    ((0, "x", 0), "rank 1: root is 'x'; it must be an integer")])
def test_ranks_that_gather_differently_are_all_told(roots: tuple[Any, ...], message: str) -> None:
    def main(rows: RankGraph) -> Any:
        result = portpart.partition(rows, 2)
        with pytest.raises(InputError, match=message):
            result.gather(roots[rows.rank])
        return result.gather(None)

    found = on_ranks(generators.grid_2d(6), [0, 10, 10, 36], main)
    assert len({tuple(each) for each in found}) == 1


@pytest.mark.parametrize(("name", "message"), [
    ("-", "standard output is none"), ("part.gz", "packed"), ("none/part", "No such file"),
    (".", "no regular file")])
def test_files_that_ranks_cannot_write_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)

    def main(rows: RankGraph) -> None:
        with pytest.raises(InputError, match=f"rank 0: .*{message}"):
            portpart.partition(rows, 2).save(name)

    on_ranks(generators.grid_2d(4), [0, 8, 16], main)
    assert not list(tmp_path.iterdir())


def test_nothing_is_left_where_one_rank_cannot_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def main(rows: RankGraph) -> None:
        result = portpart.partition(rows, 2)
        write = "portpart.io.rank_partition_file._write"
        if rows.rank == 1:
            monkeypatch.setattr(write, lambda *_: (_ for _ in ()).throw(InputError("disk full")))
        with pytest.raises(InputError, match=r"rank [01]: disk full"):
            result.save(tmp_path / "x.part")

    on_ranks(generators.grid_2d(4), [0, 8, 16], main)
    assert not list(tmp_path.iterdir())


def test_a_graph_of_ranks_says_what_it_is() -> None:
    texts = on_ranks(generators.grid_2d(8), [0, 20, 64], lambda rows: (
        repr(rows), rows.first, rows.last, rows.num_vertices, rows.num_edges, rows.num_ghosts,
        rows.borders.tolist(), rows.rank, rows.size, "ghosts" in rows._repr_html_()))
    assert texts[1] == ("<RankGraph: rank 1 of 2 with 44 of 64 vertices, 157 of 224 arcs>",
                        20, 64, 64, 112, 8, [0, 20, 64], 1, 2, True)


def test_a_graph_of_ranks_is_gathered_and_freed() -> None:
    graph = generators.delaunay(200)

    def main(rows: RankGraph) -> Any:
        with rows:
            whole = rows.gather()
        with pytest.raises(InputError, match="has been freed"):
            portpart.partition(rows, 2)
        rows.free()  # once more does no harm
        return whole.targets.tolist()

    assert on_ranks(graph, [0, 70, 200], main) == [graph.targets.tolist()] * 2


@pytest.mark.parametrize("call", [
    lambda rows, part: metrics.evaluate(rows, part),
    lambda rows, part: metrics.components_per_block(rows, part),
    lambda rows, part: metrics.quotient_graph(rows, part),
    lambda rows, part: metrics.km1(rows, part),
    lambda rows, part: portpart.repartition(rows, part, 2),
    lambda rows, part: portpart.Session(rows, 2),
    lambda rows, part: portpart.map_processes(rows, "2:2", "1:10"),
    lambda rows, part: portpart.as_graph(rows),
    lambda rows, part: portpart.as_hypergraph(rows),
])
def test_what_takes_no_graph_of_ranks_says_what_to_do(call: Any) -> None:
    def main(rows: RankGraph) -> None:
        with pytest.raises(InputError, match=r"gather\(\) makes a graph on every rank"):
            call(rows, [0] * 8)

    on_ranks(generators.grid_2d(4), [0, 8, 16], main)

"""Searches, fixed vertices and initial partitions of several ranks are those of one device."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import portpart
from portpart import generators
from portpart.algorithms.coarsening.ranks.hierarchy import CPU_FOLD, Fold
from portpart.algorithms.multilevel.problem import Constraints
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.recipes.nearby_owners import MoveRule
from portpart.algorithms.recipes.portpart import PRESETS
from portpart.algorithms.recipes.portpart_ranks import partition_ranks
from portpart.algorithms.refinement.flows.flow_refiner import FlowRefiner
from portpart.api.bounds import bounds_for
from portpart.backends.communication import Communicator, Local
from portpart.errors import InputError
from portpart.graphs.graph import Graph
from portpart.graphs.ranks.distribution import distributed
from portpart.graphs.ranks.rank_graph import RankGraph
from portpart.options import changed
from tests.helpers.data_folder import graph_path
from tests.helpers.graphs import graphs, random_graph
from tests.helpers.ranks.cut_rows import borders, rows_of
from tests.helpers.ranks.rank_calls import on_ranks
from tests.helpers.ranks.rank_rows import DEVICES, cut_graphs, space_of
from tests.oracles import host

NEVER, SOME = Fold(0, 0), Fold(1000, 2**62)

OWN = ("fixed", "initial")
"""Options of which each rank gives its part."""

SMALL = {"coarsening.min_coarsest": 8, "coarsening.coarsest_per_block": 2,
         "coarsening.max_coarsest": 16}
"""Coarsens small graphs, too."""

WHOLE = {
    "mesh": generators.delaunay(1500),
    "skewed": generators.rmat(10),
    "weighted": random_graph(1200, 4000, 4, weighted=True, vertex_weighted=True),
    "isolated": random_graph(1500, 700, 5),
}

SEARCHES = {
    "strong": PRESETS["strong"],
    "on bands": changed(PRESETS["strong"], {"flows.max_vertices": 1000}),
    "best": changed(PRESETS["best"], {"coarsening.min_coarsest": 96}),
    "small": changed(PRESETS["best"], {**SMALL, "search.runs": 2, "search.cycles": 1}),
}


def few_fixed(n: int, k: int, seed: int = 1) -> np.ndarray:
    """A tenth of the vertices is fixed."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random(n) < 0.1, rng.integers(0, k, n), -1)


def anywhere(n: int, k: int, seed: int = 2) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, k, n)


def of_rank(rows: RankGraph, options: dict[str, Any]) -> dict[str, Any]:
    """The options of a rank."""
    return {name: value[rows.first : rows.last] if name in OWN else value
            for name, value in options.items()}


def check(graph: Graph, first: list[int], k: int, **options: Any) -> None:
    """Ranks come to what one device comes to."""
    whole = portpart.partition(graph, k, **options)
    found = on_ranks(graph, first, lambda rows: portpart.partition(rows, k,
                                                                   **of_rank(rows, options)))
    assert np.concatenate([each.part for each in found]).tolist() == whole.part.tolist()
    for each in found:
        assert (each.cut, each.feasible, each.imbalance) == (
            whole.cut, whole.feasible, whole.imbalance)
        assert each.block_weights.tolist() == whole.block_weights.tolist()
        assert each.stats["cuts"] == whole.stats["cuts"]
        assert each.stats["repaired"] == whole.stats["repaired"]


@pytest.fixture(params=[NEVER], ids=["never"])
def fold(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Fold:
    """No level is folded, unless a test says so."""
    monkeypatch.setattr("portpart.algorithms.recipes.portpart_ranks.fold_for",
                        lambda space: request.param)
    return request.param  # type: ignore[no-any-return]


@pytest.mark.usefixtures("fold")
@pytest.mark.parametrize(("name", "search", "size"), [
    ("mesh", "strong", 3), ("mesh", "best", 2), ("skewed", "strong", 1), ("skewed", "small", 2),
    ("weighted", "strong", 8), ("weighted", "small", 3), ("isolated", "small", 5),
    ("mesh", "on bands", 4), ("weighted", "on bands", 3)])
def test_searches_come_to_the_partition_of_one_device(name, search, size):
    graph = WHOLE[name]
    check(graph, borders(graph.num_vertices, size, size), 5, preset=SEARCHES[search], seed=size)


@pytest.mark.usefixtures("fold")
def test_divided_levels_are_refined_by_flows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each rank gathers them; the gains are those of one device."""
    gains: list[tuple[int, int]] = []
    refine = FlowRefiner.refine

    def noted(self: FlowRefiner, graph: Graph, *rest: Any) -> int:
        gains.append((graph.num_vertices, refine(self, graph, *rest)))
        return gains[-1][1]

    monkeypatch.setattr(FlowRefiner, "refine", noted)
    graph = generators.delaunay(3000)
    check(graph, borders(graph.num_vertices, 3, 1), 8, preset=PRESETS["strong"], seed=5)
    of_finest = [gain for size, gain in gains if size == graph.num_vertices]
    assert len(of_finest) >= 4
    assert max(of_finest) > 0
    assert gains[: len(gains) // 2] == gains[len(gains) // 2 :]


WISHES: dict[str, Any] = {
    "initial": lambda n: {"initial": anywhere(n, 6)},
    "fixed": lambda n: {"fixed": few_fixed(n, 6)},
    "all": lambda n: {"fixed": few_fixed(n, 6), "initial": anywhere(n, 6),
                      "target": [1, 2, 3, 3, 2, 1], "imbalance": 0.01, "preset": "strong"},
    "heavy": lambda n: {"fixed": np.where(np.arange(n) < n // 2, 0, -1)},
    "every": lambda n: {"fixed": anywhere(n, 6), "preset": "fast"},
}
"""What is wanted of so many vertices, in six blocks."""


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.usefixtures("fold")
@pytest.mark.parametrize("proposal", WISHES)
@pytest.mark.parametrize(("name", "size"), [("mesh", 2), ("weighted", 3)])
def test_blocks_that_are_given_move_with_their_vertices(name, proposal, size, monkeypatch):
    monkeypatch.setattr("portpart.algorithms.recipes.portpart_ranks.rule_for",
                        lambda space: MoveRule(0, 10.0, spacing=20))
    graph = WHOLE[name]
    check(graph, borders(graph.num_vertices, size, size), 6, **WISHES[proposal](graph.num_vertices))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.usefixtures("fold")
@pytest.mark.parametrize("proposal", WISHES)
@pytest.mark.parametrize(("name", "size"), [("mesh", 2), ("skewed", 5), ("weighted", 3)])
def test_blocks_that_are_given_lead_to_the_partition_of_one_device(name, proposal, size):
    graph = WHOLE[name]
    n = graph.num_vertices
    check(graph, borders(n, size, size), 6, **WISHES[proposal](n))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("fold", [SOME, CPU_FOLD], indirect=True, ids=["some", "default"])
def test_where_levels_fold_does_not_matter(fold):
    graph = WHOLE["weighted"]
    n = graph.num_vertices
    for proposal in ("initial", "all"):
        check(graph, borders(n, 3, 1), 6, **WISHES[proposal](n))
    check(graph, borders(n, 3, 1), 6, preset=SEARCHES["best"])


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.slow
@pytest.mark.parametrize("name", DEVICES)
def test_what_is_wanted_does_not_depend_on_the_device(name):
    there = space_of(name)
    graph = random_graph(500, 1600, 4, weighted=True, vertex_weighted=True)
    n, first = graph.num_vertices, borders(graph.num_vertices, 3, 1)
    fixed, initial = few_fixed(n, 6).astype(np.int32), anywhere(n, 6).astype(np.int32)
    start = np.where(fixed < 0, initial, fixed)
    preset = changed(PRESETS["fast"], {"search.runs": 2, "search.cycles": 1, **SMALL})
    for given_start in (None, start):
        whole = portpart.partition(graph, 6, preset=preset, fixed=fixed, initial=given_start)

        def main(comm: Communicator, given_start: Any = given_start) -> list[int]:
            own = slice(*first[comm.rank : comm.rank + 2])
            part = distributed(comm, rows_of(graph, own.start, own.stop, there))
            wanted = Constraints(there.asarray(fixed[own]),
                                 None if given_start is None else there.asarray(given_start[own]))
            balance = bounds_for(graph, 6, 0.03, None, fixed, 0).balance
            found, _ = partition_ranks(part, balance, preset, 0, Trace(part.space, part, None),
                                       NEVER, wanted)
            return host(found).tolist()

        assert [block for part in Local(3).run(main) for block in part] == whole.part.tolist()


@pytest.mark.usefixtures("fold")
@pytest.mark.parametrize("name", ["3elt", "add20", "commanche_dual"])
def test_searches_and_fixed_vertices_of_real_graphs(name):
    graph = portpart.as_graph(graph_path(name))
    n = graph.num_vertices
    check(graph, borders(n, 2, 2), 16, preset="strong")
    check(graph, borders(n, 3, 3), 16, fixed=few_fixed(n, 16), imbalance=0.05)


@pytest.mark.usefixtures("fold")
def test_a_walk_that_does_not_coarsen_is_that_of_one_device():
    preset = changed(PRESETS["best"], {"coarsening.max_kept": 0.01, "search.runs": 2,
                                       "search.cycles": 1, "coarsening.min_coarsest": 10,
                                       "coarsening.coarsest_per_block": 2})
    graph = generators.delaunay(400)
    check(graph, [0, 100, 100, 400], 4, preset=preset)
    check(graph, [0, 100, 100, 400], 4, preset=preset, fixed=few_fixed(400, 4),
          initial=anywhere(400, 4))


@pytest.mark.usefixtures("fold")
def test_a_good_initial_partition_is_kept():
    """Where the search finds nothing as good, which one walk by few passes does not."""
    graph = WHOLE["mesh"]
    best = portpart.partition(graph, 6, preset="best", seed=5)
    worse = changed(PRESETS["fast"], {"refinement.finest_temperatures": (1.0,)})
    check(graph, borders(1500, 3, 1), 6, preset=worse, initial=best.part, seed=1)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.usefixtures("fold")
@pytest.mark.parametrize("proposal", ["initial", "fixed", "all"])
def test_vertices_too_heavy_for_any_block_have_their_own_beside_those_that_are_fixed(proposal):
    weights = np.ones(1500, int)
    weights[[7, 900]] = 1000
    graph = portpart.as_graph(WHOLE["mesh"], vertex_weights=weights)
    check(graph, borders(1500, 3, 1), 6, **WISHES[proposal](1500))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.usefixtures("fold")
def test_blocks_that_fixed_vertices_leave_empty():
    weights = [0] * 5 + [1, 2, 1, 1] + [0] * 7
    graph = portpart.as_graph(generators.grid_2d(4), vertex_weights=weights)
    check(graph, [0, 6, 16], 4, fixed=np.array([-1] * 5 + [0, 0, 1, -1] + [-1] * 7))


@settings(max_examples=30, deadline=None)
@given(cut_graphs(graphs(60, loops=False).filter(lambda graph: graph.num_vertices > 5)),
       st.integers(2, 5), st.sampled_from([0.0, 0.03, 0.5]), st.integers(0, 2**30),
       st.sampled_from(["search", "initial", "fixed", "both"]))
def test_any_graph_is_divided_as_by_one_device(drawn, k, imbalance, seed, proposal):
    graph, first = drawn
    n = graph.num_vertices
    runs = 2 if proposal in ("search", "fixed") else 1
    preset = changed(PRESETS["default"], {**SMALL, "search.runs": runs, "search.cycles": 1})
    given_blocks = {} if proposal in ("search", "initial") else {"fixed": few_fixed(n, k, seed)}
    if proposal in ("initial", "both"):
        given_blocks["initial"] = anywhere(n, k, seed)
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # limits that no partition keeps
        patch.setattr("portpart.algorithms.recipes.portpart_ranks.fold_for", lambda space: NEVER)
        check(graph, first, k, preset=preset, seed=seed, imbalance=imbalance, **given_blocks)


def test_blocks_are_those_of_a_result_or_by_numbers_in_the_whole_graph():
    graph = generators.delaunay(500)

    def main(rows: RankGraph) -> Any:
        first = portpart.partition(rows, 3, preset="fast")
        fixed = {rows.first: 1, rows.last - 1: 2} if rows.rank else {}
        second = portpart.partition(rows, 3, initial=first, seed=1)
        third = portpart.partition(rows, 3, fixed=fixed)
        return first.cut >= second.cut, third.part

    found = on_ranks(graph, [0, 130, 500], main)
    assert all(is_no_worse for is_no_worse, _ in found)
    places = np.full(500, -1)
    places[[130, 499]] = 1, 2
    assert np.concatenate([part for _, part in found]).tolist() == portpart.partition(
        graph, 3, fixed=places).part.tolist()


REFUSED = [
    ({"fixed": [0] * 8}, "rank 1: fixed has shape (8,) for 5 vertices; each rank gives the blocks "
                         "of its vertices, 3 ... 7 here"),
    ({"initial": [0] * 4}, "rank 1: initial has shape (4,) for 5 vertices"),
    ({"fixed": [[0] * 5]}, "rank 1: fixed has shape (1, 5)"),
    ({"fixed": 3}, "rank 1: fixed has shape (1,)"),
    ({"fixed": [0, 0, 0, 9, 0]}, "rank 1: fixed[3] is 9: vertex 6 is in no block of 0 ... 2 and "
                                 "not free (-1)"),
    ({"initial": [0, -1, 0, 0, 0]}, "rank 1: initial[1] is -1: vertex 4 is in no block of 0 ... 2"),
    ({"initial": [0.5] * 5}, "rank 1: initial[0] is 0.5"),
    ({"fixed": ["a"] * 5}, "rank 1: fixed"),
    ({"initial": [[0], [0, 1]]}, "rank 1: "),
    ({"fixed": {0: 1}}, "rank 1: fixed names 0, which is not a vertex of this rank: it has 5 from "
                        "3 on"),
    ({"fixed": {3: "a"}}, "rank 1: fixed maps vertices to 'a'; blocks must be integers"),
    ({"initial": {3: 1, 4: 1}}, "rank 1: initial has no block for vertex 5"),
    ({"fixed": None}, "rank 1: fixed is not given, and given on rank 0"),
    ({"initial": None}, "rank 1: initial is not given, and given on rank 0"),
]


@pytest.mark.parametrize(("wrong", "message"), REFUSED, ids=lambda value: str(value)[:30])
def test_blocks_that_do_not_fit_are_refused_on_all_ranks(wrong, message):
    def main(rows: RankGraph) -> str:
        own = rows.last - rows.first
        good: dict[str, Any] = {"fixed": [-1] * own, "initial": [0] * own}
        with pytest.raises(InputError) as problem:
            portpart.partition(rows, 3, **(good if rows.rank == 0 else {**good, **wrong}))
        assert portpart.partition(rows, 3, **good).feasible  # ranks go on together
        return str(problem.value)

    told = on_ranks(generators.grid_2d(8, 1), [0, 3, 8], main)
    assert told[0] == told[1]
    assert message in told[0]


def test_a_result_of_a_rank_with_other_vertices_is_refused():
    graph = generators.grid_2d(8, 1)
    kept = on_ranks(graph, [0, 4, 8], lambda rows: portpart.partition(rows, 2))

    def main(rows: RankGraph) -> None:
        with pytest.raises(InputError, match="a rank whose first vertex is 0, and here it is 4"):
            portpart.partition(rows, 2, initial=kept[0])

    on_ranks(graph, [0, 4, 8], main)


def test_fixed_vertices_that_are_too_heavy_are_told_of_by_rank_0():
    graph = generators.grid_2d(8)
    fixed = np.where(np.arange(64) < 40, 1, -1)
    with pytest.warns(UserWarning, match="the vertices fixed to block 1 weigh 40, more than the 32"
                      ) as found:
        results = on_ranks(graph, [0, 20, 64], lambda rows: portpart.partition(
            rows, 2, **of_rank(rows, {"fixed": fixed}), imbalance=0))
    assert len(found) == 1
    assert not any(each.feasible for each in results)

"""Rounds of a population: what is drawn, what is kept, and how alike partitions are."""

from __future__ import annotations

from functools import partial
from itertools import count
from typing import Any

import numpy as np
import pytest

import portpart
from portpart import generators
from portpart.algorithms.multilevel.population import (
    Clock,
    Draws,
    Partition,
    Population,
    TimeIsUp,
)
from portpart.algorithms.multilevel.problem import Constraints, Problem
from portpart.algorithms.multilevel.search import SearchOptions, search
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.objectives.limits import Balance
from portpart.algorithms.refinement.options import FlowOptions
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.hypergraph import EitherGraph, Hypergraph
from tests.helpers.spaces import reference


def problem_of(graph: EitherGraph, space: ExecutionSpace, k: int = 3, **wanted: Any) -> Problem:
    there = graph.to(space)
    return Problem(there, Balance(k, there.num_vertices, 1), 1,
                   Trace(space, there, None, has_rounds=True), Constraints(**wanted))


def cut_items(graph: EitherGraph, part: np.ndarray) -> set[Any]:
    """The arcs or nets that are cut, one by one."""
    if isinstance(graph, Hypergraph):
        ends = list(graph.net_offsets)
        return {net for net in range(graph.num_nets)
                if len(set(part[graph.net_pins[ends[net]:ends[net + 1]]])) > 1}
    return {(v, u) for v in range(graph.num_vertices)
            for u in graph.targets[graph.offsets[v]:graph.offsets[v + 1]] if part[v] != part[u]}


def hypergraph_with_a_large_net() -> Hypergraph:
    nets = [list(range(v, v + 4)) for v in range(0, 90, 3)] + [list(range(70)), [3], [1, 99]]
    offsets = np.cumsum([0, *map(len, nets)])
    return portpart.as_hypergraph((offsets, np.concatenate(nets)))


@pytest.mark.parametrize("graph", [generators.rmat(7), generators.grid_2d(9, 7),
                                   hypergraph_with_a_large_net()], ids=["rmat", "grid", "nets"])
def test_partitions_differ_by_what_one_of_them_cuts_alone(graph: EitherGraph,
                                                          space: ExecutionSpace) -> None:
    random, n = np.random.default_rng(1), graph.num_vertices
    parts = [random.integers(0, 3, n).astype(np.int32), np.zeros(n, np.int32),
             (np.arange(n) // 20 % 3).astype(np.int32)]
    population = Population(problem_of(graph, space), 4)
    for value, part in enumerate(parts):
        population.add(Partition(space.asarray(part), 1, value))
    found = population.differing(space.asarray(parts[2]))
    cuts = [cut_items(graph, part) for part in parts]
    assert found[:3] == [len(cut ^ cuts[2]) for cut in cuts]
    assert found[2] == 0


def test_a_child_takes_the_place_of_the_worse_one_that_is_most_like_it() -> None:
    path = generators.grid_2d(1, 12)
    population = Population(problem_of(path, reference()), 3)

    def cut_at(*places: int, value: int, balanced: int = 1) -> Partition:
        steps = np.zeros(12, np.int32)
        steps[list(places)] = 1
        return Partition(np.cumsum(steps, dtype=np.int32), balanced, value)

    def values() -> list[int]:
        return [each.value for each in population.members]

    for each in (cut_at(2, value=5), cut_at(4, 6, value=9), cut_at(8, value=7)):
        population.add(each)
    assert values() == [5, 7, 9]
    population.add(cut_at(3, value=7))  # its rank is there already
    population.add(cut_at(3, value=10))  # it is worse than all
    population.add(cut_at(3, value=1, balanced=0))  # balance counts first
    assert values() == [5, 7, 9]
    population.add(cut_at(6, value=6))  # {6} is more like {4, 6} than {8}
    assert values() == [5, 6, 7]
    population.add(cut_at(9, 2, value=4))  # {2, 9} is most like {2}, which was the best
    assert values() == [4, 6, 7]
    assert [sorted(np.flatnonzero(np.diff(each.part)) + 1) for each in population.members] == [
        [2, 9], [6], [8]]


@pytest.mark.parametrize("spare", [1, 4])
def test_a_replaced_partition_is_kept_until_as_many_others_are_added(spare: int) -> None:
    """The children of several rounds have parents of the same population."""
    path = generators.grid_2d(1, 20)
    population = Population(problem_of(path, reference()), 2, spare)
    added = 0

    def add_better() -> None:
        nonlocal added
        added += 1
        population.add(Partition(np.full(20, added, np.int32), 1, 100 - added))

    add_better()
    add_better()
    for _ in range(3 * spare):
        parents = list(population.members)
        before = [each.part.copy() for each in parents]
        for _ in range(spare):
            add_better()
            assert [list(each.part) for each in parents] == [list(part) for part in before]
        assert population.members[0].value == 100 - added


def test_what_is_drawn_depends_on_the_seed_and_the_round_alone() -> None:
    assert [Draws(3, 7).below(10**6) for _ in range(2)] == [Draws(3, 7).below(10**6)] * 2
    firsts = {Draws(seed, number).below(10**9) for seed in range(20) for number in range(20)}
    assert len(firsts) == 400
    winners = [Draws(1, number).winner(5) for number in range(4000)]
    shares = np.bincount(winners, minlength=5) / 4000
    assert np.allclose(shares, [0.4, 0.3, 0.2, 0.1, 0.0], atol=0.04)
    others = [Draws(1, number).winner(5, without=0) for number in range(4000)]
    assert set(others) == {1, 2, 3}
    assert {Draws(1, number).winner(2, without=0) for number in range(9)} == {1}


def searched(cuts: Any, rounds: float, late: Any = lambda: False, size: int = 3) -> Problem:
    """The problem of a search whose walks have these cuts."""
    space, clock = reference(), Clock(late)
    problem = problem_of(generators.grid_2d(1, 3), space, out_of_time=clock, rounds=rounds)
    number = count()

    def walk(seed: int, part: Any = None, label: Any = None) -> Partition:
        problem.constraints.out_of_time()
        value = next(cuts)
        if value is None:
            raise KeyboardInterrupt
        return Partition(np.full(3, next(number), np.int32), 1, value)

    search(problem, [walk], SearchOptions(2, 1, size),
           lambda each: problem.trace.walked(each.value))
    return problem


def test_the_best_of_all_rounds_is_kept() -> None:
    trace = searched(iter([9, 8, 9, 9, *range(20, 3, -1)]), 15).trace
    assert trace.rounds is not None
    assert len(trace.rounds) == 15
    assert trace.ended == "rounds"
    assert trace.cuts == sorted(trace.cuts, reverse=True)
    assert [each["best"] for each in trace.rounds] == trace.cuts[4:]
    assert {each["kind"] for each in trace.rounds} <= {"start", "combination", "cycle"}


@pytest.mark.parametrize(("cuts", "ended", "rounds"), [
    ([5, 4, 4, 4, 3, None], "interrupt", 1), ([5, None], "interrupt", 0),
    ([5, 4, 4, 4, 3, 0], "optimum", 2), ([0, 0, 0, 0], "optimum", 0)])
def test_rounds_end_early(cuts: list[int | None], ended: str, rounds: int) -> None:
    trace = searched(iter(cuts), 9).trace
    assert (trace.ended, len(trace.rounds or [])) == (ended, rounds)


def test_an_interrupt_before_the_first_partition_comes_through() -> None:
    with pytest.raises(KeyboardInterrupt):
        searched(iter([None]), 9)


def test_the_clock_leaves_walks_only_when_there_is_a_partition() -> None:
    asked = count()
    trace = searched(iter([5] * 99), float("inf"), late=lambda: next(asked) > 20).trace
    assert trace.ended == "time"
    assert trace.rounds
    trace = searched(iter([5] * 99), float("inf"), late=lambda: True).trace
    assert (trace.ended, trace.rounds, trace.cuts) == ("time", [], [5])
    clock = Clock(lambda: True)
    assert clock()
    clock.leaves = True
    with pytest.raises(TimeIsUp):
        clock()


def test_a_population_of_one_starts_again_and_again() -> None:
    trace = searched(iter([9, 9, 9, 9, 7, 8, 6]), 3, size=1).trace
    assert [each["kind"] for each in trace.rounds or []] == ["start"] * 3
    assert trace.cuts[-1] == 6


def named_walk(taken: list[str], name: str) -> Any:
    """A walk that notes its name, and finds a better partition each time."""
    def walked(seed: int, part: Any = None, label: Any = None) -> Partition:
        taken.append(name)
        return Partition(np.zeros(3, np.int32), 1, 99 - len(taken))

    return walked


def test_rounds_have_walks_of_their_own_with_larger_corridors() -> None:
    taken: list[str] = []
    walk = partial(named_walk, taken)
    problem = problem_of(generators.grid_2d(1, 3), reference(), rounds=30)
    search(problem, [walk("first")], SearchOptions(2, 1, 3), in_rounds=[walk("a"), walk("b")])
    assert taken[:4] == ["first"] * 4
    assert set(taken[4:]) == {"a", "b"}
    assert len(taken) == 34
    flows = FlowOptions(alpha=2, depth=3, alpha_in_rounds=5, depth_in_rounds=6)
    assert (flows.in_rounds().alpha, flows.in_rounds().depth) == (5, 6)


def test_only_the_last_cycle_has_a_walk_of_its_own() -> None:
    taken: list[str] = []
    walk = partial(named_walk, taken)
    problem = problem_of(generators.grid_2d(1, 3), reference(), rounds=0)
    search(problem, [walk("usual")], SearchOptions(1, 3), last_cycle=walk("last"))
    assert taken == ["usual"] * 3 + ["last"]
    taken.clear()
    search(problem, [walk("usual")], SearchOptions(1, 2))
    assert taken == ["usual"] * 3

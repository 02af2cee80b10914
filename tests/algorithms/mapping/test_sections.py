"""All blocks of a level of multisection at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from portpart.algorithms.initial.bisection_state import BisectionWords, Candidates, StartSizes
from portpart.algorithms.initial.project_bisection import (
    SectionOrder,
    orders_by_section,
    take_section_order,
)
from portpart.algorithms.mapping.anchors import Sections, best_of_each
from portpart.algorithms.mapping.sections import (
    partition_sections,
    partition_subgraphs,
    section_balance,
    splits_of_ranges,
)
from portpart.algorithms.multilevel.problem import Constraints, MappingProblem, Problem
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.objectives.distances import distances_on
from portpart.algorithms.objectives.limits import Balance
from portpart.algorithms.recipes.portpart import PortpartConfig
from portpart.backends.programs.interface import ExecutionSpace
from portpart.generators import grid_2d
from portpart.graphs.topology import Topology
from tests import oracles
from tests.helpers.spaces import GRAPHS, reference
from tests.oracles import mappings as plain


def test_ranges_are_bisected_side_by_side() -> None:
    rows, begins = splits_of_ranges(2, 3)
    assert rows.tolist() == [[0, 1, 3, 1], [3, 4, 6, 1], [1, 2, 3, 1], [4, 5, 6, 1]]
    assert begins.tolist() == [0, 2, 4]
    assert splits_of_ranges(5, 1)[0].shape == (0, 4)


@pytest.mark.parametrize("sizes", [(50,), (50, 20, 6), (4, 3)])
def test_vertices_are_ordered_by_label_and_by_chance(space: ExecutionSpace,
                                                     sizes: tuple[int, ...]) -> None:
    """On each of several graphs; the last ones have fewer vertices than blocks."""
    k, rng = 9, np.random.default_rng(0)
    candidates = [3 + depth for depth in range(len(sizes))]
    labels = [rng.integers(0, 3, n).astype(np.int32) * 3 for n in sizes]
    for label in labels:
        label[label == 3] = 6  # the middle range is empty
    orders = orders_by_section(space, list(map(space.asarray, labels)), candidates, k, 7)
    for label, count, order in zip(labels, candidates, orders):
        n, run = len(label), BisectionWords([0] * len(BisectionWords.indices))
        run.vertices, run.blocks, run.vertices_of_all = n, k, count * n
        found = taken(space, order, run, StartSizes(count, count * n, 0, 0, k))
        orders_found = found["order"].reshape(count, n)
        for row, place, part in zip(orders_found, found["place"].reshape(count, n),
                                    found["part"].reshape(count, n)):
            assert np.array_equal(row[place], np.arange(n))
            assert np.array_equal(label[row], np.sort(label))
            assert np.array_equal(part, label)
        assert n < 10 or not np.array_equal(orders_found[0], orders_found[1])
        zeros = int((label == 0).sum())
        for begins in found["segment"].reshape(count, k + 1):
            assert begins.tolist() == [0, *[zeros] * 6, n, n, n]


def taken(space: ExecutionSpace, order: SectionOrder, run: BisectionWords,
          sizes: StartSizes) -> dict[str, Any]:
    """The candidates of a graph, which begin in this order."""
    partitions = Candidates.allocate(space, sizes, next_order=order.vertices)
    words = BisectionWords(space.asarray(np.array(run.array, np.int64)))
    space.parallel_for(run.vertices_of_all, take_section_order, partitions, order, words)
    return {name: oracles.host(array) for name, array in partitions.named()}


def halves(graph: Any) -> np.ndarray:
    """First block of each vertex of a grid: the left half is section 0."""
    side = int(graph.num_vertices**0.5)
    return np.where(np.arange(graph.num_vertices) % side < side // 2, 0, 3).astype(np.int32)


def problem_on(space: ExecutionSpace, graph: Any, balance: Any, machine: Topology) -> Any:
    return MappingProblem(graph, balance, 5, Trace(space, graph, None), topology=machine,
                          distances=distances_on(space, machine))


def test_sections_are_divided_each_by_itself(space: ExecutionSpace) -> None:
    grid = grid_2d(24)
    first = halves(grid)
    machine = Topology("3:2", "1:50")
    balance = section_balance(np.bincount(first // 3), [103 * 96 // 100] * 6, 1)
    assert balance.limits.tolist() == [98] * 6
    found, expected = (
        oracles.host(partition_sections(
            problem_on(where, grid.to(where), balance, machine),
            Sections(2, 3, where.asarray(first)), PortpartConfig()))
        for where in (space, reference()))
    assert np.array_equal(found, expected)
    assert np.bincount(found, minlength=6).max() <= 98
    # what crosses between sections costs so much that next to nothing moves there
    assert (found // 3 == first // 3).mean() > 0.98
    assert plain.cost(grid, found, plain.distances([3, 2], [1, 50])) < 1.15 * (24 * 50 + 4 * 24)


def test_the_best_of_each_section_is_taken(space: ExecutionSpace) -> None:
    graph = GRAPHS["medium"]
    n = graph.num_vertices
    first = np.where(np.arange(n) < n // 2, 0, 2).astype(np.int32)
    random = np.random.default_rng(1)
    good, bad = (first + flips for flips in (np.zeros(n, np.int32),
                                             random.integers(0, 2, n).astype(np.int32)))
    one, two = (np.where(first == part, good, bad).astype(np.int32) for part in (0, 2))
    machine, table = Topology("2:2", "1:9"), plain.distances([2, 2], [1, 9])
    weight = sum(oracles.vertex_weights(graph))
    balance = section_balance(np.array([weight, weight]), [weight] * 4, 1)
    here = graph.to(space)
    found = best_of_each(here, Sections(2, 2, space.asarray(first)), distances_on(space, machine),
                         balance, [space.asarray(one), space.asarray(two)], 0)
    assert np.array_equal(oracles.host(found.part), good)
    assert found.value == plain.cost(graph, good, table)
    assert found.balanced == 1


@pytest.mark.parametrize("weights", [[100], [100, 40, 0]])
def test_limits_of_sections(weights: list[int]) -> None:
    balance = section_balance(np.array(weights), [28] * 4 * len(weights), 2)
    assert balance.num_blocks == 4 * len(weights)
    for section, weight in enumerate(weights):
        limits = balance.limits[4 * section : 4 * section + 4]
        assert 4 * limits.min() >= weight
        assert limits.max() <= 28


def test_sections_without_vertices_are_left_alone(space: ExecutionSpace) -> None:
    """The middle one of three; the others are told of their limits and of what is fixed there."""
    grid, machine = grid_2d(6).to(space), Topology("2:3", "1:9")
    fixed = np.where(np.arange(36) == 35, 5, -1)
    first = np.where(np.arange(36) < 16, 0, 4)
    asked: list[tuple[int, int, list[int], list[int]]] = []

    def halves(problem: Problem) -> Any:
        n, balance = problem.graph.num_vertices, problem.balance
        asked.append((n, balance.num_blocks, balance.limits.tolist(),
                      np.flatnonzero(oracles.host(problem.constraints.fixed) == 1).tolist()))
        return space.asarray(np.arange(n) % 2, np.int32)

    limits = np.array([9, 9, 1, 1, 12, 11])
    problem = MappingProblem(
        grid, Balance(6, 12, 6, limits, limits), 5, Trace(space, grid, None),
        Constraints(space.asarray(fixed, np.int32)), topology=machine,
        distances=distances_on(space, machine))
    found = partition_subgraphs(problem, Sections(3, 2, space.asarray(first, np.int32)), halves)
    assert asked == [(16, 2, [9, 9], []), (20, 2, [12, 11], [19])]
    assert np.array_equal(oracles.host(found), first + np.arange(36) % 2)

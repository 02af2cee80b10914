"""Multisection as published: equation 2, the subgraphs of algorithm 1, and Jet for each of them."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.sparse import csr_array

import portpart
from portpart.algorithms.mapping import integrated_mapping
from portpart.algorithms.mapping.multisection import MultisectionConfig
from portpart.algorithms.mapping.sections import adaptive_limit
from portpart.algorithms.recipes.jet import JetConfig
from portpart.backends.programs.interface import ExecutionSpace
from portpart.errors import InputError
from portpart.generators import delaunay, grid_2d, rmat
from portpart.graphs.copies import induced
from portpart.graphs.graph import Graph
from tests import oracles
from tests.helpers.graphs import graphs
from tests.helpers.mapped import mapped
from tests.helpers.spaces import GRAPHS, with_int64_offsets

MESH = delaunay(3000)
LEVEL, SECTION = 10**12, 10**16
"""Distances between the seeds of levels and of sections."""


def assert_induced(space: ExecutionSpace, graph: Graph, label: np.ndarray, wanted: int) -> None:
    """Rows and columns of a matrix are what is expected; rows keep the order of their arcs."""
    found, vertices = induced(graph.to(space), space.asarray(label, np.int32), wanted)
    inside = np.flatnonzero(label == wanted)
    assert np.array_equal(oracles.host(vertices), inside)
    number = np.full(len(label), -1)
    number[inside] = np.arange(len(inside))
    masses = np.array(oracles.vertex_weights(graph), np.int64)
    assert list(oracles.arcs(found)) == [
        (number[u], number[v], weight) for u, v, weight in oracles.arcs(graph)
        if label[u] == wanted and label[v] == wanted]
    assert oracles.vertex_weights(found) == masses[inside].tolist()
    assert found.type_key == graph.type_key


@given(graph=graphs(14), data=st.data())
@settings(max_examples=60)
def test_subgraphs_are_those_of_algorithm_1(space: ExecutionSpace, graph: Graph,
                                            data: Any) -> None:
    n = graph.num_vertices
    label = np.array(data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)), np.int32)
    for wanted in range(4):
        assert_induced(space, graph, label, wanted)


@pytest.mark.parametrize("name", ["sparse", "medium", "dense", "skewed"])
def test_subgraphs_of_large_graphs(space: ExecutionSpace, name: str) -> None:
    graph = GRAPHS[name]
    label = np.random.default_rng(1).integers(0, 3, graph.num_vertices) * 4
    assert_induced(space, graph, label, 4)
    assert_induced(space, with_int64_offsets(graph), label, 8)


@given(limit=st.integers(1, 10**6), elements=st.integers(1, 64), arity=st.integers(2, 8),
       levels=st.integers(1, 4), fill=st.floats(0, 1))
def test_limits_of_a_level_are_those_of_equation_2(limit: int, elements: int, arity: int,
                                                   levels: int, fill: float) -> None:
    """(1 + epsilon') c(V') / a with (1 + epsilon) c(V) / k for what an element may weigh."""
    elements *= arity
    weight = max(1, int(fill * limit * elements))
    with localcontext() as context:
        context.prec = 60
        ratio = Decimal(limit * elements) / weight
        epsilon = ratio ** (Decimal(1) / levels) - 1
        expected = (1 + epsilon) * weight / arity
        found = adaptive_limit(limit * elements // arity, weight, limit * elements, levels)
        assert found <= max(expected + Decimal("1e-20"), -(-weight // arity))
        assert found > expected - 1 - Decimal(1) / arity


def inner(graph: Graph, vertices: np.ndarray) -> csr_array:
    """The subgraph of some vertices, as a matrix."""
    offsets, targets = oracles.host(graph.offsets), oracles.host(graph.targets)
    matrix = csr_array((np.ones(len(targets), np.int64), targets, offsets),
                       shape=(graph.num_vertices,) * 2)
    return matrix[vertices][:, vertices]


def within(limit: int, weight: int, k: int) -> Fraction:
    """The imbalance that lets blocks of the mean weight weigh so much."""
    imbalance = Fraction(limit * k, weight) - 1
    assert oracles.block_weight_limit(weight, k, imbalance) == limit
    return imbalance


def test_integrated_mapping_as_published_has_no_step_that_the_paper_lacks() -> None:
    """No swaps; algorithm 5 evicts by the loss, from limits that all levels share."""
    result = mapped(MESH, [3, 2], [1, 10], algorithm="im", preset="paper")
    assert "swaps" not in result.stats["phases"]
    assert "search" not in result.stats["phases"]
    refinement = integrated_mapping.PRESETS["paper"].refinement
    assert refinement.passes(0, MESH) == refinement.passes(1, MESH) == (0.0,)
    for options in (refinement.coarse, refinement.of_finest(MESH, 2)):
        assert (options.leave_by, options.slack) == ("loss", 0)
        assert (options.stall_limit, options.tolerance, options.weak_limit) == (12, 0.999, 2)
        assert options.weak_again


@pytest.mark.parametrize(("algorithm", "preset"), [("hm", "code"), ("hm-ultra", "code-ultra")])
@pytest.mark.parametrize("graph", [MESH, rmat(11, 8)], ids=["mesh", "rmat"])
def test_every_section_is_what_jet_makes_of_its_subgraph(graph: Graph, algorithm: str,
                                                         preset: str) -> None:
    """Algorithm 2, with one partition for the outermost level and one for each block of it."""
    n, arities, seed = graph.num_vertices, [3, 2], 11
    result = mapped(graph, arities, [1, 10], algorithm=algorithm, preset="paper", seed=seed)
    assert result.stats["repaired"] == 0
    assert "swaps" not in result.stats["phases"]
    limit = oracles.block_weight_limit(n, 6)
    outer = portpart.partition(
        graph, 2, imbalance=within(adaptive_limit(3 * limit, n, 6 * limit, 2), n, 2),
        algorithm="jet", preset=preset, seed=seed + 2 * LEVEL).part
    assert np.array_equal(oracles.host(result.part) // 3, outer)
    for section in range(2):
        vertices = np.flatnonzero(outer == section)
        count = len(vertices)
        blocks = portpart.partition(
            inner(graph, vertices), 3,
            imbalance=within(adaptive_limit(limit, count, 3 * limit, 1), count, 3), algorithm="jet",
            preset=preset, seed=seed + LEVEL + section * SECTION).part
        assert np.array_equal(oracles.host(result.part)[vertices] % 3, blocks)


@pytest.mark.parametrize(("algorithm", "preset", "partitioner"), [
    ("hm", "default", "portpart"), ("hm", "paper", "jet"), ("hm-ultra", "paper", "jet"),
    ("hm", MultisectionConfig(partitioner="gkway", slack_shares=(0.0,)), "gkway")])
def test_results_name_the_partitioner_of_the_sections(algorithm: str, preset: Any,
                                                      partitioner: str) -> None:
    result = mapped(MESH, [3, 1, 2], [1, 5, 10], algorithm=algorithm, preset=preset)
    published = "code-ultra" if algorithm == "hm-ultra" else "code"
    named = published if preset == "paper" else "default"
    assert result.stats["sections"] == [
        {"level": level, "sections": sections, "blocks": blocks, "partitioner": partitioner,
         "preset": named} for level, sections, blocks in ((3, 1, 2), (1, 2, 3))]


def test_any_partitioner_divides_sections() -> None:
    costs = [mapped(grid_2d(40), [4, 3], [1, 10], preset=MultisectionConfig(
        preset, partitioner=name, slack_shares=(0.0,))).cost for name, preset in (
            ("jet", JetConfig()), ("portpart", "fast"), ("gpmetis", "default"))]
    assert max(costs) < 1.5 * min(costs)


@pytest.mark.parametrize("arguments", [{"partitioner": "x"}, {"partitioner": 3},
                                       {"partitioner": "jet", "preset": "strong"},
                                       {"partitioner": "jet", "runs": (2,)}])
def test_what_no_section_can_be_divided_by_is_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        MultisectionConfig(**arguments)


@pytest.mark.parametrize("algorithm", ["hm", "hm-ultra"])
@pytest.mark.parametrize("proposal", ["fixed", "target", "weights", "exact", "initial"])
def test_the_bounds_are_kept_whatever_is_wanted(algorithm: str, proposal: str) -> None:
    random = np.random.default_rng(5)
    fixed = np.where(random.random(3000) < 0.05, random.integers(0, 12, 3000), -1)
    graph, options = MESH, {
        "fixed": {"fixed": fixed}, "target": {"target": [3, 1, 2] * 4}, "weights": {},
        "exact": {"imbalance": 0}, "initial": {"initial": random.integers(0, 12, 3000)}}[proposal]
    if proposal == "weights":
        graph = portpart.as_graph(MESH, vertex_weights=random.integers(1, 60, 3000))
    result = mapped(graph, [3, 2, 2], [1, 4, 20], algorithm=algorithm, preset="paper", **options)
    assert result.feasible
    if proposal == "fixed":
        assert (oracles.host(result.part) == fixed)[fixed >= 0].all()


def test_progress_names_the_sections() -> None:
    calls: list[str] = []
    portpart.map_processes(MESH, "3:2", "1:9", preset="paper",
                           progress=lambda phase, level, total: calls.append(phase))
    assert {"level 2, section 1, coarsening", "level 1, section 1, coarsening",
            "level 1, section 2, refinement"} <= set(calls)


@pytest.mark.parametrize("threads", [1, 2])
def test_no_time_is_enough(threads: int) -> None:
    assert mapped(MESH, [3, 2], [1, 9], preset="paper", time_limit=0, threads=threads).feasible

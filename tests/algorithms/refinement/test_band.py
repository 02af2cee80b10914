"""Band graphs: their vertices, rows and anchors are those of plain searches, and flows on them are
flows on the whole graph.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import networkx
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import reverse_cuthill_mckee

import portpart
from portpart import generators
from portpart.algorithms.objectives.limits import Balance
from portpart.algorithms.refinement.flows import band
from portpart.algorithms.refinement.flows.flow_refiner import FlowRefiner
from portpart.algorithms.refinement.options import FlowOptions
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.graph import Graph
from tests.algorithms.refinement.test_flows import NAMES, SPACES, cut_of, weights_of
from tests.helpers.graphs import graphs, random_graph
from tests.helpers.refining import balance_of
from tests.helpers.spaces import reference
from tests.oracles import host

ON_BAND = FlowOptions(on_band=True)


def halves(graph: Graph, k: int, seed: int = 0) -> np.ndarray:
    """Blocks of consecutive vertices, some of which have moved to another one."""
    rng, n = np.random.default_rng(seed), graph.num_vertices
    part = np.arange(n) * k // max(1, n)
    moved = rng.random(n) < 0.01
    return np.where(moved, rng.integers(0, k, n), part).astype(np.int32)


def rough(graph: Graph, k: int, seed: int = 0) -> np.ndarray:
    """Blocks of a breadth-first order, where a part of the boundary has moved to a neighbour's."""
    matrix, n = graph.to_scipy(), graph.num_vertices
    part = np.empty(n, np.int32)
    part[reverse_cuthill_mckee(csr_matrix(matrix), symmetric_mode=True)] = np.arange(n) * k // n
    arcs, rng = matrix.tocoo(), np.random.default_rng(seed)
    for v, u in zip(arcs.row, arcs.col):
        if part[v] != part[u] and rng.random() < 0.2:
            part[v] = part[u]
    return part


def found_in(space: ExecutionSpace, graph: Graph, part: np.ndarray, k: int, depth: int,
             fixed: np.ndarray | None = None) -> tuple[band.Band, np.ndarray] | None:
    """The band graph, and its vertices."""
    held = None if fixed is None else space.asarray(fixed.astype(np.int32))
    found = band.band_of(graph.to(space), space.asarray(part), held, k, depth)
    return None if found is None else (found[0], host(found[1]))


def near(graph: Graph, part: np.ndarray, depth: int) -> list[int]:
    """Vertices that a breadth-first search finds, without layers that make too many."""
    matrix = graph.to_scipy().tocoo()
    tree = networkx.from_edgelist(zip(matrix.row.tolist(), matrix.col.tolist()))
    boundary = np.unique(matrix.row[part[matrix.row] != part[matrix.col]])
    degree = np.diff(host(graph.offsets))
    distance = dict(networkx.multi_source_dijkstra_path_length(tree, set(boundary.tolist()))
                    if len(boundary) else {})
    result: list[int] = []
    for layer in range(depth + 1):
        listed = sorted(v for v, far in distance.items() if far <= layer)
        if (2 * len(listed) > graph.num_vertices
                or degree[listed].sum() > graph.num_arcs // band.BAND_SHARE):
            break
        result = listed
    return result


def check(graph: Graph, part: np.ndarray, k: int, depth: int, space: ExecutionSpace,
          fixed: np.ndarray | None = None) -> None:
    """The band graph is what its definition says."""
    found = found_in(space, graph, part, k, depth, fixed)
    wanted = near(graph, part, depth)
    if found is None:
        assert wanted == []
        return
    made, vertices = found
    assert vertices.tolist() == wanted
    inside = np.zeros(graph.num_vertices, bool)
    inside[vertices] = True
    blocks = np.unique(part[~inside])
    count, there, size = len(vertices), made.graph, len(vertices) + len(blocks)
    masses = (np.ones(graph.num_vertices, np.int64) if graph.vertex_weights is None
              else host(graph.vertex_weights))
    assert host(made.part).tolist() == [*part[vertices], *blocks]
    assert host(made.fixed).tolist() == [
        *(np.full(count, -1) if fixed is None else fixed[vertices]), *blocks]
    assert host(there.vertex_weights).tolist() == [
        *masses[vertices], *(masses[~inside & (part == block)].sum() for block in blocks)]
    assert host(made.rest).tolist() == [max(0, (~inside & (part == block)).sum() - 1)
                                        for block in range(k)]
    names = np.full(graph.num_vertices, -1)
    names[vertices] = np.arange(count)
    anchor = dict(zip(blocks.tolist(), range(count, size)))
    offsets, targets = host(graph.offsets), host(graph.targets)
    assert host(there.offsets)[count:].tolist() == [there.num_arcs] * (len(blocks) + 1)
    for place, v in enumerate(vertices):
        row, old = (slice(*each[at : at + 2]) for each, at in ((host(there.offsets), place),
                                                               (offsets, v)))
        assert host(there.targets)[row].tolist() == [
            names[u] if inside[u] else anchor[part[u]] for u in targets[old]]
        if graph.weights is not None:
            assert np.array_equal(host(there.weights)[row], host(graph.weights)[old])


@pytest.mark.parametrize("name", NAMES)
def test_bands_on_all_spaces(name: str) -> None:
    space = SPACES[name]()
    for graph in (generators.grid_2d(20, 30), random_graph(200, 260, 3, weighted=True,
                                                           vertex_weighted=True)):
        for k, depth in ((2, 3), (3, 0)):
            check(graph, halves(graph, k, depth), k, depth, space)


@settings(max_examples=150, deadline=None)
@given(graphs(40, loops=False), st.integers(1, 4), st.integers(0, 5), st.integers(0, 99))
def test_bands_of_any_graph(graph: Graph, k: int, depth: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    part = rng.integers(0, k, graph.num_vertices).astype(np.int32)
    fixed = np.where(rng.random(graph.num_vertices) < 0.2, part, -1)
    check(graph, part, k, depth, reference(), fixed)


def on_band(space: ExecutionSpace, graph: Graph, part: np.ndarray, balance: Balance,
            options: FlowOptions = ON_BAND, fixed: Any = None) -> tuple[np.ndarray, int]:
    """The partition after refinement on the band graph, and the gain that is reported."""
    found = found_in(space, graph, part, balance.num_blocks, options.depth, fixed)
    assert found is not None
    made, vertices = found
    gain = FlowRefiner(space, made.graph, balance, options, 1).refine(
        made.graph, made.part, made.fixed, 0, made.rest)
    result = part.copy()
    result[vertices] = host(made.part)[: len(vertices)]
    return result, gain


@pytest.mark.parametrize("k", [2, 3])
def test_refinement_of_a_band_reduces_the_cut_of_the_graph(k: int) -> None:
    """By the gain, within the limits; fixed vertices stay."""
    for graph in (generators.delaunay(8000), generators.random_geometric(8000)):
        part, balance = rough(graph, k), balance_of(graph, k, 0.1)
        fixed = np.where(np.random.default_rng(1).random(graph.num_vertices) < 0.1, part, -1)
        found, gain = on_band(reference(), graph, part, balance, fixed=fixed)
        assert gain == cut_of(graph, part) - cut_of(graph, found) > 0
        assert (weights_of(graph, found, k) <= balance.limits).all()
        assert np.array_equal(found[fixed >= 0], part[fixed >= 0])


def test_two_blocks_are_refined_as_on_the_whole_graph() -> None:
    """If nothing is pierced, which goes by numbers of vertices."""
    graph = generators.delaunay(4000)
    part, balance = rough(graph, 2, 5), balance_of(graph, 2, 0.2)
    options = FlowOptions(alpha=1.0, depth=3)
    space = reference()
    whole = space.copy(space.asarray(part))
    gain = FlowRefiner(space, graph, balance, options, 1).refine(graph, whole, None, 0)
    found, on_the_band = on_band(space, graph, part, balance, replace(options, on_band=True))
    assert on_the_band == gain > 0
    assert np.array_equal(found, host(whole))


@pytest.mark.parametrize("name", NAMES)
def test_refinement_of_bands_is_the_same_on_all_spaces(name: str) -> None:
    graph, space = generators.delaunay(2000), SPACES[name]()
    part, balance = rough(graph, 3), balance_of(graph, 3, 0.1)
    wanted = on_band(reference(), graph, part, balance)
    found = on_band(space, graph, part, balance)
    assert found[1] == wanted[1] > 0
    assert np.array_equal(found[0], wanted[0])


def test_corridors_of_bands_fit_into_memory_of_a_team() -> None:
    """A pair with a longer boundary is left out."""
    from portpart.algorithms.refinement.flows import flow_refiner

    graph = generators.grid_2d(4, 40)
    sizes = flow_refiner.flow_sizes(graph, 2, ON_BAND)
    assert sizes.max_corridor == 43_008 // 8
    wide = portpart.as_graph(graph, edge_weights=np.full(graph.num_arcs, 2**40))
    assert flow_refiner.flow_sizes(wide, 2, ON_BAND).max_corridor == 43_008 // 12

"""Flow refinement: cuts are those of SciPy's maximum flows, limits hold, and all spaces agree.

Networks are checked against `scipy.sparse.csgraph.maximum_flow` and searches in its residual
network; whole refinements against plain sums over edges and vertices.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

import portpart
from portpart import generators
from portpart.algorithms.objectives.limits import Balance
from portpart.algorithms.refinement.flows import state
from portpart.algorithms.refinement.flows.flow_refiner import FlowRefiner
from portpart.algorithms.refinement.options import FlowOptions
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.graph import Graph
from tests import oracles
from tests.conftest import cuda_space, host_cuda_space
from tests.golden.cases import weighted
from tests.helpers.emulation.lanes import LanesSpace
from tests.helpers.graphs import raw_graph
from tests.helpers.refining import balance_of
from tests.helpers.spaces import check_rooms, reference

USUAL = FlowOptions(round_limit=10)

ROOMY = FlowOptions(alpha=100.0, depth=100, round_limit=10, max_degree=10_000)
"""All vertices but fixed ones may be in a corridor, if they have a way to the boundary."""

SPACES = {
    "two threads": lambda: portpart.backends.space("cpu", threads=2),
    "generated C++": host_cuda_space,
    "two lanes": lambda: LanesSpace(2, seed=3),
    "three lanes": lambda: LanesSpace(3, seed=5),
    "cuda": cuda_space,
}
NAMES = [*list(SPACES)[:-1], pytest.param("cuda", marks=pytest.mark.gpu)]


def refined(space: ExecutionSpace, host: Graph, part: Any, balance: Balance,
            options: FlowOptions = USUAL, fixed: Any = None, slack: int = 0,
            ) -> tuple[np.ndarray, int]:
    """The partition after refinement, and the gain that is reported."""
    graph = host.to(space)
    here = space.copy(space.asarray(np.asarray(part, np.int32)))
    held = None if fixed is None else space.asarray(np.asarray(fixed, np.int32))
    gain = FlowRefiner(space, graph, balance, options, 1).refine(graph, here, held, slack)
    return oracles.host(here).copy(), gain


def cut_of(graph: Graph, part: np.ndarray) -> int:
    """Weight of the edges between blocks."""
    sources = np.repeat(np.arange(graph.num_vertices), np.diff(oracles.host(graph.offsets)))
    weights = np.ones(graph.num_arcs) if graph.weights is None else oracles.host(graph.weights)
    return int(weights[part[sources] != part[oracles.host(graph.targets)]].sum()) // 2


def weights_of(graph: Graph, part: np.ndarray, k: int) -> np.ndarray:
    """What the blocks weigh."""
    weights = graph.vertex_weights
    return np.bincount(part, None if weights is None else oracles.host(weights),
                       k).astype(np.int64)


# One pair: the cut is a minimum one ------------------------------------------------------------


def between_cores(seed: int, free: int = 24, heaviest: int = 9) -> tuple[Graph, np.ndarray,
                                                                         np.ndarray]:
    """A graph of free vertices between two dense cores of fixed ones; its partition and these.

    The cores are large enough for a corridor to have room for all free vertices.
    """
    rng = np.random.default_rng(seed)
    core = 2 * free
    a, b = np.arange(free, free + core), np.arange(free + core, free + 2 * core)
    edges = [(u, v) for u in range(free) for v in range(u) if rng.random() < 5 / free]
    edges += [(u, rng.choice(a)) for u in range(free) if rng.random() < 0.3]
    edges += [(u, rng.choice(b)) for u in range(free) if rng.random() < 0.3]
    for block in (a, b):
        edges += [(int(u), int(v)) for u in block for v in block if u < v]
    part = np.concatenate([rng.integers(0, 2, free), np.zeros(core), np.ones(core)]).astype(int)
    fixed = np.where(np.arange(free + 2 * core) < free, -1, part)
    graph = raw_graph(len(part), edges, rng.integers(1, heaviest, len(edges))).graph()
    return graph, part, fixed


def free_ones(graph: Graph, part: np.ndarray, fixed: np.ndarray) -> np.ndarray:
    """The vertices that layers inside their blocks reach from the boundary, without fixed ones."""
    matrix = graph.to_scipy().tocoo()
    inside = fixed < 0
    cut = (part[matrix.row] != part[matrix.col]) & inside[matrix.row]
    found = np.zeros(graph.num_vertices, bool)
    found[matrix.row[cut]] = True
    same = ((part[matrix.row] == part[matrix.col]) & inside[matrix.row] & inside[matrix.col])
    while True:
        more = found.copy()
        more[matrix.col[same & found[matrix.row]]] = True
        if (more == found).all():
            return found
        found = more


def smallest_cut(graph: Graph, part: np.ndarray, fixed: np.ndarray) -> int:
    """The smallest cut of two blocks that keeps all but the free vertices in their block."""
    free = free_ones(graph, part, fixed)
    name = np.where(free, np.cumsum(free) + 1, part)
    matrix = graph.to_scipy().tocoo()
    network = sparse.coo_array(
        (matrix.data.astype(np.int32), (name[matrix.row], name[matrix.col])),
        shape=(2 + free.sum(),) * 2).tocsr().astype(np.int32)
    network.setdiag(0)
    network.eliminate_zeros()
    return int(maximum_flow(network, 0, 1).flow_value)


@pytest.mark.parametrize("seed", range(30))
def test_the_cut_is_a_minimum_cut(seed: int) -> None:
    graph, part, fixed = between_cores(seed, free=[6, 24, 60][seed % 3], heaviest=2 + seed % 9)
    balance = Balance(2, 10**6, graph.num_vertices // 2)
    found, gain = refined(reference(), graph, part, balance, ROOMY, fixed)
    best = smallest_cut(graph, part, fixed)
    assert cut_of(graph, found) == best
    assert gain == cut_of(graph, part) - best
    assert np.array_equal(found[fixed >= 0], part[fixed >= 0])


def test_huge_weights_do_not_overflow() -> None:
    """Sums of capacities beyond 2^31 are int64."""
    graph, part, fixed = between_cores(1)
    heavy = Graph(graph.offsets, graph.targets, oracles.host(graph.weights).astype(np.int64) << 40,
                  None, graph.space)
    balance = Balance(2, 10**6, graph.num_vertices // 2)
    found, gain = refined(reference(), heavy, part, balance, ROOMY, fixed)
    plain, less = refined(reference(), graph, part, balance, ROOMY, fixed)
    assert np.array_equal(found, plain)
    assert gain == less << 40


@pytest.mark.parametrize("seed", range(12))
def test_of_two_minimum_cuts_the_better_balanced_one_is_taken(seed: int) -> None:
    """Around all that the source reaches, or around all that reaches the sink (unit weights)."""
    graph, part, fixed = between_cores(seed, heaviest=2)
    balance = Balance(2, 10**6, graph.num_vertices // 2)
    found, gain = refined(reference(), graph, part, balance, ROOMY, fixed)
    if gain == 0:
        assert np.array_equal(found, part)
        return
    free = free_ones(graph, part, fixed)
    name = np.where(free, np.cumsum(free) + 1, part)
    matrix = graph.to_scipy().tocoo()
    network = sparse.coo_array((matrix.data.astype(np.int32), (name[matrix.row], name[matrix.col])),
                               shape=(2 + free.sum(),) * 2).tocsr().astype(np.int32)
    network.setdiag(0)
    network.eliminate_zeros()
    residual = network - maximum_flow(network, 0, 1).flow
    residual.data = np.maximum(residual.data, 0)
    residual.eliminate_zeros()
    with_source = np.zeros(network.shape[0], bool)
    with_source[breadth_first_order(residual, 0, return_predecessors=False)] = True
    with_sink = np.zeros(network.shape[0], bool)
    with_sink[breadth_first_order(residual.T.tocsr(), 1, return_predecessors=False)] = True
    sides = [np.where(with_source, 0, 1)[name], np.where(with_sink, 1, 0)[name]]
    largest = [np.bincount(side, minlength=2).max() for side in sides]
    assert np.array_equal(found, sides[int(largest[1] < largest[0])])


# Whole refinements -----------------------------------------------------------------------------

GRAPHS = {
    "mesh": (generators.delaunay(900), 8), "two": (generators.delaunay(900), 2),
    "weighted": (weighted(generators.random_geometric(700), 2, vertices=20, edges=9), 6),
    "skewed": (generators.rmat(9, 6), 12), "cube": (generators.grid_3d(9), 5),
    "path": (raw_graph(60, [(v, v + 1) for v in range(59)]).graph(), 3),
    "few": (generators.grid_2d(4), 8),
    "edgeless": (raw_graph(20, []).graph(), 4),
}


def start_of(graph: Graph, k: int) -> np.ndarray:
    """A partition with room for improvement."""
    return np.asarray(portpart.partition(graph, k, preset="fast", seed=3).part)


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("options", [USUAL, FlowOptions(9, 16.0, 10, 3), FlowOptions(9, 1.0, 0)],
                         ids=["usual", "wide", "narrow"])
def test_the_gain_is_true_and_limits_hold(name: str, options: FlowOptions) -> None:
    graph, k = GRAPHS[name]
    part, balance = start_of(graph, k), balance_of(graph, k)
    rng = np.random.default_rng(2)
    fixed = np.where(rng.random(graph.num_vertices) < 0.1, part, -1)
    found, gain = refined(reference(), graph, part, balance, options, fixed)
    assert gain == cut_of(graph, part) - cut_of(graph, found) >= 0
    assert (weights_of(graph, found, k) <= np.maximum(balance.limits,
                                                     weights_of(graph, part, k))).all()
    assert np.array_equal(found[fixed >= 0], part[fixed >= 0])
    assert len(np.unique(found)) == len(np.unique(part))


def test_it_finds_what_single_moves_do_not() -> None:
    """On a mesh it improves what is refined already; else these tests could not fail."""
    graph = generators.delaunay(4000)
    part = np.asarray(portpart.partition(graph, 8, seed=1).part)
    _, gain = refined(reference(), graph, part, balance_of(graph, 8))
    assert gain > 0


def test_limits_of_blocks_that_differ_hold() -> None:
    graph = generators.delaunay(2000)
    target = [1, 2, 3, 4]
    part = np.asarray(portpart.partition(graph, 4, target=target, preset="fast", seed=3).part)
    limits = np.array([oracles.block_weight_limit(200 * each, 1, "0.03") for each in target])
    balance = Balance(4, int(limits.max()), 500, limits, np.array([200, 400, 600, 800]))
    found, gain = refined(reference(), graph, part, balance)
    assert gain == cut_of(graph, part) - cut_of(graph, found) > 0
    assert (np.bincount(found) <= np.maximum(limits, np.bincount(part))).all()


def test_slack_is_room() -> None:
    """A coarse level may have blocks above their limits, which no cut makes heavier than that."""
    graph = generators.delaunay(2000)
    part = start_of(graph, 4)
    tight = Balance(4, int(np.bincount(part).max()), 500)
    found, gain = refined(reference(), graph, part, tight, ROOMY, slack=30)
    assert gain == cut_of(graph, part) - cut_of(graph, found) > 0
    assert np.bincount(found).max() <= tight.max_block_weight + 30


def test_vertices_of_high_degree_stay() -> None:
    graph, k = GRAPHS["skewed"]
    part = start_of(graph, k)
    found, gain = refined(reference(), graph, part, balance_of(graph, k),
                          FlowOptions(round_limit=10, max_degree=10))
    assert gain > 0
    degrees = np.diff(oracles.host(graph.offsets))
    assert (degrees[found != part] <= 10).all()


def test_a_round_of_one_matching_pairs_each_block_once() -> None:
    """Unless there are more matchings, which pair some block with several others."""
    graph, k = generators.delaunay(6000), 8
    start = start_of(graph, k)
    partners = {}
    for most in (1, None):
        found, gain = refined(reference(), graph, start, balance_of(graph, k),
                              FlowOptions(round_limit=1, max_matchings=most))
        assert gain == cut_of(graph, start) - cut_of(graph, found) > 0
        pairs = {frozenset(pair) for pair in zip(start[start != found], found[start != found])}
        partners[most] = np.bincount([a for pair in pairs for a in pair], minlength=k)
    assert partners[1].max() == 1
    assert partners[None].max() > 1


def test_boundaries_of_most_vertices_are_left_alone() -> None:
    """A corridor has half of the vertices of its blocks at most; a larger boundary is skipped."""
    edges = [(u, v) for u in range(20) for v in range(20, 40)]
    graph = raw_graph(40, edges).graph()
    part = np.arange(40) // 20
    found, gain = refined(reference(), graph, part, Balance(2, 30, 20))
    assert gain == 0
    assert np.array_equal(found, part)


@pytest.mark.parametrize("space", NAMES)
@pytest.mark.parametrize("name", ["mesh", "two", "weighted", "skewed", "few"])
def test_all_spaces_find_the_same(space: str, name: str) -> None:
    graph, k = GRAPHS[name]
    if space.endswith("lanes"):
        graph = generators.delaunay(120) if name == "mesh" else graph
        if graph.num_vertices > 200:
            pytest.skip("it would take minutes on emulated lanes")
    part, balance = start_of(graph, k), balance_of(graph, k)
    expected = refined(reference(), graph, part, balance)
    here = SPACES[space]()
    found = refined(here, graph, part, balance)
    assert np.array_equal(found[0], expected[0])
    assert found[1] == expected[1]
    check_rooms(here)


@pytest.mark.parametrize("name", ["mesh", "two", "weighted", "skewed"])
def test_large_networks_come_to_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Networks that do not fit into memory of a team are worked on in main memory."""
    graph, k = GRAPHS[name]
    part, balance = start_of(graph, k), balance_of(graph, k)
    expected = refined(reference(), graph, part, balance)
    monkeypatch.setattr(state, "TEAM_BYTES", 64)
    found = refined(portpart.backends.space("cpu", threads=2), graph, part, balance)
    assert np.array_equal(found[0], expected[0])


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_arcs_decides_nothing(seed: int) -> None:
    graph, k = GRAPHS["weighted"]
    part, balance = start_of(graph, k), balance_of(graph, k)
    matrix = graph.to_scipy().tocoo()
    upper = matrix.row < matrix.col
    shuffled = raw_graph(graph.num_vertices, np.stack([matrix.row, matrix.col], 1)[upper],
                         matrix.data[upper], oracles.host(graph.vertex_weights), seed).graph()
    expected = refined(reference(), graph, part, balance)
    found = refined(reference(), shuffled, part, balance)
    assert np.array_equal(found[0], expected[0])


@pytest.mark.parametrize("space", NAMES)
def test_parallel_edges_count_as_one_of_their_weight(space: str) -> None:
    """Edges that stand several times, with weights that differ, in another order in either row."""
    n, here = 120, SPACES[space]()
    for seed in range(6):
        random = np.random.default_rng(seed)
        tails = random.integers(0, n, 500)
        pairs = np.stack([tails, (tails + random.integers(1, 5, 500)) % n], axis=1)
        ends, weights = np.concatenate([pairs, pairs[:, ::-1]]), random.integers(1, 9, 500)
        both = np.tile(weights, 2)
        order = np.lexsort((random.permutation(1000), ends[:, 0]))
        offsets = np.concatenate([[0], np.cumsum(np.bincount(ends[:, 0], minlength=n))])
        many = portpart.as_graph((offsets, ends[order, 1], both[order]))
        once = portpart.as_graph(sparse.csr_matrix((both, (ends[:, 0], ends[:, 1])), (n, n)))
        assert many.num_arcs == 1000 > once.num_arcs
        part = (np.arange(n) + random.integers(0, 12, n)) // 30 % 4
        balance = balance_of(many, 4, "0.3")
        found, gain = refined(here, many, part, balance, ROOMY)
        assert gain == cut_of(once, part) - cut_of(once, found) > 0
        assert np.array_equal(found, refined(reference(), once, part, balance, ROOMY)[0])


def test_a_refiner_takes_levels_of_any_size() -> None:
    """Work arrays are those of the largest level, and nothing is left of other levels."""
    space = reference()
    levels = [generators.delaunay(n).to(space) for n in (300, 1200, 600)]
    refiner = FlowRefiner(space, levels[1], balance_of(levels[1], 4), USUAL, 1)
    for graph in levels:
        part = start_of(graph, 4)
        here = space.copy(space.asarray(part))
        refiner.refine(graph, here, None, 10**6)
        alone = space.copy(space.asarray(part))
        FlowRefiner(space, graph, balance_of(levels[1], 4), USUAL, 1).refine(
            graph, alone, None, 10**6)
        assert np.array_equal(oracles.host(here), oracles.host(alone))

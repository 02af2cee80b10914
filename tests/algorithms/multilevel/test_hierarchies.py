"""Starts on one or several hierarchies: their limits, and which of them are refined."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from portpart import backends, generators
from portpart.algorithms.initial.options import GrowingOptions
from portpart.algorithms.multilevel import greedy_start
from portpart.algorithms.multilevel.greedy_start import grown_parts
from portpart.algorithms.multilevel.problem import Problem
from portpart.algorithms.multilevel.starting import best_starts
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.objectives.candidates import stacked
from portpart.algorithms.objectives.limits import Balance
from portpart.algorithms.objectives.net_cost import net_objective
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.copies import copies_of
from portpart.graphs.graph import Graph
from portpart.graphs.hypergraph import Hypergraph
from tests import oracles
from tests.helpers.graphs import random_graph
from tests.helpers.nets import circuit, hypergraph_of
from tests.helpers.spaces import reference
from tests.oracles import nets as net_oracles

OPTIONS = GrowingOptions(refined=2, candidates=6, hierarchies=3, min_vertices=20, trials=3,
                         refined_trials=2)
BALANCE = Balance(4, 90, 75)


def host_parts(hypergraph: Hypergraph, options: GrowingOptions = OPTIONS,
               seed: int = 3) -> np.ndarray:
    return np.array([oracles.host(part)
                     for part in grown_parts(hypergraph, BALANCE, options, seed)])


def test_copies_of_a_graph_are_blocks_of_its_matrix(space: ExecutionSpace) -> None:
    graph = random_graph(30, 90, 5, weighted=True, vertex_weighted=True).to(space)
    three = copies_of(graph, 3)
    wanted = sparse.block_diag([graph.to_scipy()] * 3).tocsr()
    assert (three.to_scipy() != wanted).nnz == 0
    assert np.array_equal(oracles.host(three.vertex_weights),
                          np.tile(oracles.host(graph.vertex_weights), 3))
    assert copies_of(graph, 1) is graph


def test_copies_of_a_hypergraph_have_its_nets(space: ExecutionSpace) -> None:
    hypergraph = circuit(25, 6, weighted=True)
    two = copies_of(hypergraph.to(space), 2).to(reference())
    nets, n = net_oracles.rows(hypergraph), hypergraph.num_vertices
    assert net_oracles.rows(two) == nets + [[v + n for v in net] for net in nets]
    assert net_oracles.weights(two) == 2 * net_oracles.weights(hypergraph)
    for v in range(two.num_vertices):
        begin, end = two.vertex_offsets[v], two.vertex_offsets[v + 1]
        assert two.vertex_nets[begin:end].tolist() == [
            e for e, net in enumerate(net_oracles.rows(two)) if v in net]


def test_what_was_counted_of_one_is_not_counted_again_of_copies(space: ExecutionSpace) -> None:
    graph = random_graph(30, 90, 5, weighted=True, vertex_weighted=True).to(space)
    totals = (graph.total_vertex_weight, graph.total_arc_weight, graph.max_degree)
    squares = graph.squared_degrees
    three = copies_of(graph, 3)
    nets = circuit(25, 6, weighted=True).to(space)
    large, degree, size = nets.num_nets_above(3), nets.max_degree, nets.max_net_size
    weights = nets.total_vertex_weight, nets.total_net_weight
    two = copies_of(nets, 2)
    assert set(three._totals) == {"vertex", "arc", "degree", "degree squares"}
    assert set(two._totals) == {"vertex", "net", "nets above 3", "degree", "degree squares", "size",
                                "size squares"}
    assert (three.total_vertex_weight, three.total_arc_weight, three.max_degree) == (
        3 * totals[0], 3 * totals[1], totals[2])
    assert three.squared_degrees == 3 * squares == sum(
        int(each) ** 2 for each in np.diff(oracles.host(three.offsets)))
    assert (two.num_nets_above(3), two.max_degree, two.max_net_size) == (2 * large, degree, size)
    assert (two.total_vertex_weight, two.total_net_weight) == (2 * weights[0], 2 * weights[1])
    assert large == sum(len(net) > 3 for net in net_oracles.rows(circuit(25, 6, weighted=True)))


def test_each_hierarchy_gives_its_share_of_candidates(space: ExecutionSpace) -> None:
    """All are partitions within the limits, no two the same, and the same in every space."""
    hypergraph = circuit(300, 9)
    parts = host_parts(hypergraph.to(space))
    assert parts.shape == (6, 300)
    assert len({part.tobytes() for part in parts}) == 6
    for part in parts:
        weights = np.bincount(part, minlength=4)
        assert len(weights) == 4
        assert weights.min() > 0
        assert weights.max() <= 90
    assert np.array_equal(parts, host_parts(hypergraph.to(reference())))


def test_hierarchies_that_do_not_fit_together_follow_each_other(
        monkeypatch: pytest.MonkeyPatch) -> None:
    """Two at once and then one, each a partition of its own."""
    hypergraph = circuit(300, 9)
    whole = host_parts(hypergraph)
    arcs = greedy_start.plain_graph(hypergraph).num_arcs
    monkeypatch.setattr(greedy_start, "MAX_COPIED", 2 * arcs)
    parts = host_parts(hypergraph)
    assert parts.shape == whole.shape
    assert len({part.tobytes() for part in parts}) == 6
    assert set(np.unique(parts)) == {0, 1, 2, 3}


@pytest.mark.parametrize(("k", "hierarchies"), [(2, 16), (64, 8), (512, 1), (4096, 1)])
def test_the_more_blocks_the_fewer_hierarchies(k: int, hierarchies: int) -> None:
    options = GrowingOptions(hierarchies=16, candidates=32, max_blocks=512)
    assert options.num_hierarchies(k) == hierarchies
    share = options.share(k)
    assert share.candidates == (2 if hierarchies > 1 else 32)


@pytest.mark.parametrize(("k", "hierarchies", "net_levels", "refined"), [
    (32, 16, 1, 2), (33, 4, 3, 1), (128, 4, 3, 1), (256, 2, 3, 1), (512, 1, 3, 1)])
def test_many_blocks_have_options_of_their_own(k: int, hierarchies: int, net_levels: int,
                                               refined: int) -> None:
    options = GrowingOptions(
        hierarchies=16, hierarchies_for_many=4, candidates=16, net_levels=1, net_levels_for_many=3,
        refined=2, refined_for_many=1)
    own = options.for_blocks(k)
    assert (options.num_hierarchies(k), own.net_levels, own.refined) == (
        hierarchies, net_levels, refined)
    assert options.share(k).net_levels == net_levels
    given = replace(options, hierarchies_for_many=None, net_levels_for_many=None,
                    refined_for_many=None)
    assert given.num_hierarchies(k) == min(16, 512 // k)
    assert (given.for_blocks(k).net_levels, given.for_blocks(k).refined) == (1, 2)


def grown_with_slack(space: ExecutionSpace, slack: int) -> tuple[list[np.ndarray], int]:
    """Partitions of a grid of vertices of weights 4 to 12, and the most weight above a limit."""
    grid, k = generators.grid_2d(30), 40
    weights = 4 + np.arange(grid.num_vertices) * 7 % 9
    graph = Graph(grid.offsets, grid.targets, None, weights, grid.space).to(space)
    mean = int(weights.sum()) // k
    parts = [oracles.host(part) for part in grown_parts(
        graph, Balance(k, mean + 3, mean), GrowingOptions(), 1, slack=slack)]
    heaviest = max(int(np.bincount(part, weights, k).max()) for part in parts)
    return parts, heaviest - (mean + 3)


def test_blocks_exceed_their_limits_by_the_slack_at_most(space: ExecutionSpace) -> None:
    exact, above = grown_with_slack(space, 0)
    assert above <= 0
    wider, above = grown_with_slack(space, 6)
    assert 0 < above <= 6
    for slack, parts in ((0, exact), (6, wider)):
        assert np.array_equal(parts, grown_with_slack(reference(), slack)[0])


def test_one_hierarchy_is_what_there_was_without() -> None:
    hypergraph = circuit(300, 9)
    one = replace(OPTIONS, hierarchies=1)
    assert np.array_equal(host_parts(hypergraph, one),
                          host_parts(hypergraph, replace(one, max_blocks=0)))
    assert len(host_parts(hypergraph, one)) == OPTIONS.refined


@pytest.mark.parametrize("name", ["km1", "cut", "soed"])
def test_those_of_least_cost_are_refined(space: ExecutionSpace, name: str) -> None:
    """Nets of all sizes count, the large ones each time anew; overload costs, too."""
    hypergraph = circuit(200, 4, large=150, weighted=True).to(space)
    random = np.random.default_rng(2)
    parts = [np.arange(200, dtype=np.int32) * 4 // 200]
    for share in (0.02, 0.2, 0.05, 0.5):
        part = parts[0].copy()
        chosen = random.random(200) < share
        part[chosen] = random.permutation(part[chosen])
        parts.append(part)
    parts.append(np.zeros(200, np.int32))
    problem = Problem(hypergraph, Balance(4, 60, 50), 1, Trace(space, hypergraph, None),
                      objective=net_objective(name))
    given = stacked(space, [space.asarray(part) for part in parts])
    found = best_starts(problem, hypergraph, given, 3)
    values = [net_oracles.values(hypergraph.to(reference()), part)[name] for part in parts[:-1]]
    wanted = np.argsort(values, kind="stable")[:3]
    assert [oracles.host(part).tolist() for part in found] == [parts[i].tolist() for i in wanted]
    everything = best_starts(problem, hypergraph, given, 6)
    assert [oracles.host(part).tolist() for part in everything] == [p.tolist() for p in parts]


def test_overload_costs_with_huge_weights_too() -> None:
    """Its price, beyond 64 bits here, keeps its sign: all in one block is not the best."""
    space, n = reference(), 64
    nets = [[(v + i) % n for i in range(32)] for v in range(n)]
    hypergraph = hypergraph_of(nets, n, net_weights=[2**54] * n).to(space)
    problem = Problem(hypergraph, Balance(2, 33, 32), 1, Trace(space, hypergraph, None),
                      objective=net_objective("km1"))
    halves = (np.arange(n) * 2 // n).astype(np.int32)
    parts = [np.zeros(n, np.int32), halves, (np.arange(n) % 2).astype(np.int32)]
    best, = best_starts(problem, hypergraph, stacked(space, parts), 1)
    assert np.array_equal(best, halves)


def test_a_copy_is_in_the_space_of_the_graph() -> None:
    space = backends.space("cpu", threads=2)
    assert copies_of(circuit(30, 4).to(space), 2).space is space

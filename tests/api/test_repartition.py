"""Partitions in place of old ones: the costs are true, and little moves that need not."""

from __future__ import annotations

import functools
import warnings
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import portpart
from portpart import generators
from portpart.algorithms.recipes.portpart import PortpartConfig
from portpart.api.migration import FactorSchedule, scaled
from portpart.backends.programs.interface import ExecutionSpace
from portpart.errors import InputError
from portpart.graphs.graph import Graph
from portpart.options import changed
from tests import oracles
from tests.helpers.graphs import graphs
from tests.helpers.nets import circuit, hypergraphs
from tests.helpers.spaces import reference
from tests.oracles import nets as net_oracles

NET_COSTS = ["0", "1/3", 1, "2.5", 40]


@functools.cache
def mesh() -> Graph:
    return generators.delaunay(3000, seed=2)


@functools.cache
def drifted() -> tuple[np.ndarray, np.ndarray]:
    """Blocks for an even load, and a load that is heavier around a place."""
    old = portpart.partition(mesh(), 6).part
    near = np.zeros(3000, bool)
    near[[7]] = True
    sources = np.repeat(np.arange(3000), np.diff(mesh().offsets))
    for _ in range(12):
        near[mesh().targets[near[sources]]] = True
    return old, np.where(near, 4, 1)


def value(graph: Any, part: Any, objective: str) -> int:
    if isinstance(graph, Graph):
        return oracles.cut(graph, part)
    return net_oracles.values(graph, part)[objective]


def away(old: np.ndarray, part: np.ndarray, k: int) -> np.ndarray:
    """Who is not in the block of before, which is still there."""
    return (old >= 0) & (old < k) & (old != part)


def repartitioned(graph: Any, old: Any, k: int, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return portpart.repartition(graph, old, k, **options)


def assert_result_is_true(graph: Any, result: Any, old: np.ndarray, k: int, price: Any,
                          sizes: np.ndarray) -> int:
    """Returns what is minimised, times the denominator of the price."""
    part = oracles.host(result.part)
    assert part.min(initial=0) >= 0
    assert part.max(initial=0) < k
    gone = away(old, part, k)
    assert (result.moved, result.migration) == (gone.sum(), sizes[gone].sum())
    assert result.price == Fraction(price)
    assert result.migration_cost == Fraction(price) * int(sizes[gone].sum())
    objective = "cut" if isinstance(graph, Graph) else "km1"
    assert getattr(result, objective) == value(graph, part, objective)
    return total(graph, part, old, k, price, sizes)


def total(graph: Any, part: np.ndarray, old: np.ndarray, k: int, price: Any,
          sizes: np.ndarray) -> int:
    exact = Fraction(price)
    objective = "cut" if isinstance(graph, Graph) else "km1"
    return (exact.denominator * value(graph, part, objective)
            + exact.numerator * int(sizes[away(old, part, k)].sum()))


def check_small(graph: Any, old: np.ndarray, k: int, price: Any, sizes: np.ndarray) -> None:
    n = graph.num_vertices
    result = repartitioned(graph, old, k, migration=price, vertex_sizes=sizes, imbalance="0.5")
    found = assert_result_is_true(graph, result, old, k, price, sizes)
    limit = result.max_block_weight_allowed
    weights = np.array(oracles.vertex_weights(graph))
    kept = [np.array(part) for part in product(range(k), repeat=n)
            if np.bincount(part, weights, k).max() <= limit]
    assert not result.feasible or found >= min(
        total(graph, part, old, k, price, sizes) for part in kept)
    if result.feasible and price != "0" and ((old >= 0) & (old < k)).all() and any(
            np.array_equal(old, part) for part in kept):
        filled = np.bincount(old, weights, k).min() > 0
        assert not filled or found <= total(graph, old, old, k, price, sizes)


@given(graph=graphs(6), data=st.data(), k=st.integers(1, 3), price=st.sampled_from(NET_COSTS))
@settings(max_examples=40)
def test_costs_of_small_graphs_are_true_and_no_worse_than_to_stay(
        graph: Graph, data: st.DataObject, k: int, price: Any) -> None:
    n = graph.num_vertices
    if n < k:
        return
    old = np.array(data.draw(st.lists(st.integers(-1, 3), min_size=n, max_size=n)))
    sizes = np.array(data.draw(st.lists(st.integers(0, 5), min_size=n, max_size=n)))
    check_small(graph, old, k, price, sizes)


@given(hypergraph=hypergraphs(6), data=st.data(), price=st.sampled_from(NET_COSTS))
@settings(max_examples=25)
def test_costs_of_small_hypergraphs_are_true_and_no_worse_than_to_stay(
        hypergraph: Any, data: st.DataObject, price: Any) -> None:
    n = hypergraph.num_vertices
    if n < 2:
        return
    old = np.array(data.draw(st.lists(st.integers(-1, 2), min_size=n, max_size=n)))
    sizes = np.array(data.draw(st.lists(st.integers(0, 5), min_size=n, max_size=n)))
    check_small(hypergraph, old, 2, price, sizes)


def test_nobody_moves_at_a_high_price_unless_balance_demands_it() -> None:
    old, load = drifted()
    stays = portpart.repartition(mesh(), old, 6, migration=10**6)
    assert np.array_equal(stays.part, old)
    moves = portpart.repartition(mesh(), old, 6, migration=10**6, vertex_weights=load)
    over = np.maximum(np.bincount(old, load, 6) - moves.max_block_weight_allowed, 0).sum()
    assert moves.feasible
    assert over / 4 <= moves.moved <= over


def test_a_price_of_nothing_gives_a_new_partition_with_the_best_numbers() -> None:
    old, load = drifted()
    result = portpart.repartition(mesh(), old, 4, migration=0, vertex_weights=load)
    fresh = portpart.partition(mesh(), 4, vertex_weights=load).part
    moved = [away(old, np.array(names)[fresh], 4).sum() for names in permutations(range(4))]
    assert result.moved == min(moved)
    assert len(np.unique(np.stack([result.part, fresh]), axis=1).T) == 4


@pytest.mark.parametrize("nets", [False, True])
def test_the_dearer_moves_are_the_fewer_there_are(nets: bool) -> None:
    old, load = drifted()
    graph = portpart.as_hypergraph(mesh().to_scipy(), model="row-net") if nets else mesh()
    low = Fraction(2 if nets else 1, 10)
    scratch, cheap, dear = (portpart.repartition(graph, old, 6, migration=price,
                                                 vertex_weights=load) for price in (0, low, 5))
    assert scratch.moved > cheap.moved > dear.moved > 0
    assert all(each.feasible for each in (scratch, cheap, dear))
    costs = [(each.km1 if nets else each.cut) + each.moved * low for each in (scratch, cheap, dear)]
    assert costs[1] <= min(costs)


def test_a_drifting_load_is_followed_with_half_the_migration_of_new_partitions() -> None:
    """Eight steps of a bump over a mesh, each from the blocks of the step before.

    Both without flows, which a repartition with a price does not have.
    """
    no_flows = changed(PortpartConfig(), {"flows.levels": 0})
    graph = generators.delaunay(6000, seed=5)
    hops = hops_from(graph, 0)
    part = again = portpart.partition(graph, 8).part
    cuts, moved = np.zeros((2, 8)), np.zeros((2, 8))
    for step in range(8):
        load = 1 + (6 * np.exp(-((hops - 4 - step) / 12.0) ** 2)).astype(int)
        ours = portpart.repartition(graph, part, 8, migration="0.05", vertex_weights=load)
        new = portpart.repartition(graph, again, 8, migration=0, vertex_weights=load,
                                   preset=no_flows)
        assert ours.feasible
        assert ours.block_weights.min() > 0
        cuts[:, step], moved[:, step] = (ours.cut, new.cut), (ours.moved, new.moved)
        part, again = ours.part, new.part
    assert cuts[0].sum() <= 1.05 * cuts[1].sum()
    assert moved[0].sum() <= 0.5 * moved[1].sum()


def hops_from(graph: Graph, start: int) -> np.ndarray:
    """Edges to a vertex, by a plain search; those that cannot be reached are far away."""
    hops = np.full(graph.num_vertices, 100)
    front, reached = [start], 0
    hops[start] = 0
    while front:
        reached += 1
        found = set()
        for u in front:
            row = graph.targets[graph.offsets[u] : graph.offsets[u + 1]]
            found.update(v for v in row.tolist() if hops[v] == 100)
        front = sorted(found)
        hops[front] = reached
    return hops


@pytest.mark.parametrize("k", [3, 9])
def test_another_number_of_blocks(k: int) -> None:
    old, _ = drifted()
    result = portpart.repartition(mesh(), old, k)
    assert result.feasible
    assert_result_is_true(mesh(), result, old, k, 1, np.ones(3000, int))
    assert result.block_weights.min() > 0
    new = portpart.repartition(mesh(), old, k, migration=0)
    assert result.cut + result.moved <= new.cut + new.moved
    # blocks that have become too heavy give away what they must, and little else
    assert result.moved <= max(0, 3000 * (k - 6) / k * 1.15)


def test_new_vertices_join_their_neighbours() -> None:
    old = drifted()[0].copy()
    new = np.random.default_rng(4).permutation(3000)[:900]
    old[new] = -1
    result = portpart.repartition(mesh(), old, 6, migration=3)
    assert_result_is_true(mesh(), result, old, 6, 3, np.ones(3000, int))
    assert result.cut <= 1.1 * portpart.partition(mesh(), 6).cut
    assert result.moved <= 60


def test_nobody_has_a_home() -> None:
    result = portpart.repartition(mesh(), np.full(3000, -1), 6)
    assert np.array_equal(result.part, portpart.partition(mesh(), 6).part)
    assert (result.moved, result.migration) == (0, 0)


def test_fixed_vertices_are_where_they_have_to_be_whatever_that_costs() -> None:
    old, load = drifted()
    fixed = np.where(np.arange(3000) % 50 == 0, (old + 1) % 6, -1)
    for price in (0, 100):
        result = portpart.repartition(mesh(), old, 6, migration=price, fixed=fixed,
                                      vertex_weights=load)
        assert (result.part == fixed)[fixed >= 0].all()
        assert_result_is_true(mesh(), result, old, 6, price, np.ones(3000, int))


def test_blocks_with_targets_keep_their_numbers() -> None:
    old = portpart.partition(mesh(), 3, target=[1, 2, 3]).part
    for price in (0, 1):
        result = portpart.repartition(mesh(), old, 3, target=[1, 2, 3], migration=price)
        assert result.feasible
        assert_result_is_true(mesh(), result, old, 3, price, np.ones(3000, int))


@pytest.mark.parametrize("limit", [150, "5%", 0.05, Fraction(1, 20)])
def test_no_more_moves_than_a_limit(limit: Any) -> None:
    old, load = drifted()
    free = portpart.repartition(mesh(), old, 6, migration="0.05", vertex_weights=load)
    result = portpart.repartition(mesh(), old, 6, migration="0.05", vertex_weights=load,
                                  max_migration=limit)
    least = portpart.repartition(mesh(), old, 6, migration=10**6, vertex_weights=load)
    assert result.feasible
    assert free.moved > result.moved
    assert result.moved <= max(150, least.moved)
    assert result.price >= free.price == Fraction(1, 20)


def test_a_limit_that_is_kept_anyway_changes_nothing() -> None:
    old, load = drifted()
    free = portpart.repartition(mesh(), old, 6, migration="0.05", vertex_weights=load)
    result = portpart.repartition(mesh(), old, 6, migration="0.05", vertex_weights=load,
                                  max_migration=free.moved)
    assert free.moved > 0
    assert np.array_equal(result.part, free.part)


def test_a_limit_is_kept_where_the_old_blocks_keep_their_bounds() -> None:
    """No price that is tried keeps everyone at home here, where others are tied more than most."""
    graph = portpart.from_edges(
        [[0, 1, 4], [0, 4, 1], [0, 5, 3], [1, 4, 2], [2, 3, 14], [2, 5, 5], [3, 5, 12]])
    old, options = [2, 2, 1, 1, 2, 0], {
        "migration": "0.1", "vertex_sizes": [3, 10, 3, 1, 3, 0], "imbalance": 1.0,
        "vertex_weights": [2, 1, 1, 1, 1, 1]}
    free, kept = (portpart.repartition(graph, old, 3, max_migration=limit, seed=675, **options)
                  for limit in (None, 0))
    assert free.migration > 0
    assert kept.migration == 0
    assert kept.feasible


def test_a_mesh_held_to_a_limit_follows_its_front() -> None:
    first, *steps = generators.moving_front(9, max_level=8)
    held = fresh = portpart.partition(first.graph, 8).part
    cuts, moves = np.zeros((len(steps), 2)), np.zeros((len(steps), 2))
    for row, step in enumerate(steps):
        options: dict[str, Any] = {"migration": "0.01", "max_migration": "10%"}
        result = portpart.repartition(step.graph, held[step.origins], 8, **options)
        new = portpart.repartition(step.graph, fresh[step.origins], 8, migration=0)
        cuts[row] = result.cut, new.cut
        moves[row] = away(held[step.origins], result.part, 8).sum() / step.graph.num_vertices, 0
        moves[row, 1] = new.migration / step.graph.num_vertices
        held, fresh = result.part, new.part
        assert result.feasible
        assert np.bincount(held, minlength=8).min() > 0
    assert moves[:, 0].max() <= 0.1
    assert moves[:, 0].sum() <= 0.5 * moves[:, 1].sum()
    assert cuts[:, 0].sum() <= 1.05 * cuts[:, 1].sum()


@pytest.mark.parametrize("limit", [3, 50, 900])
def test_prices_find_the_place_where_a_limit_begins_to_hold(limit: int) -> None:
    prices = FactorSchedule(Fraction(1, 1000), Fraction(64))
    asked = [Fraction(1, 1000)]
    for _ in range(10):
        asked.append(prices.after(too_much=1000 / (1 + 100 * asked[-1]) > limit))
    place = (1000 / limit - 1) / 100
    assert max(asked) >= place
    assert place / 2 <= asked[-1] <= 2 * place


def test_prices_reach_the_highest_and_the_lowest() -> None:
    prices = FactorSchedule(Fraction(1, 2**16), Fraction(1))
    assert [prices.after(too_much=True) for _ in range(10)][-1] == 1
    prices = FactorSchedule(Fraction(1, 8), Fraction(1))
    assert {prices.after(too_much=False) for _ in range(10)} == {Fraction(1, 8)}


def test_cycles_and_several_runs_keep_homes_apart() -> None:
    old, load = drifted()
    config = changed(PortpartConfig(), {"search.cycles": 2, "search.runs": 2})
    one, more = (portpart.repartition(mesh(), old, 6, vertex_weights=load, migration="0.3",
                                      preset=preset) for preset in ("default", config))
    ones = np.ones(3000, int)
    assert (assert_result_is_true(mesh(), more, old, 6, "0.3", ones)
            <= assert_result_is_true(mesh(), one, old, 6, "0.3", ones))


@pytest.mark.parametrize("algorithm", ["portpart", "jet"])
def test_every_space_finds_the_same(space: ExecutionSpace, algorithm: str) -> None:
    old, load = drifted()
    graph = portpart.as_graph(mesh(), vertex_weights=load)
    options: dict[str, Any] = {"migration": "0.3", "algorithm": algorithm, "seed": 3}
    found, wanted = (portpart.repartition(graph.to(each), old, 6, **options)
                     for each in (space, reference()))
    assert np.array_equal(oracles.host(found.part), oracles.host(wanted.part))
    assert found.migration == wanted.migration > 0


def test_every_space_finds_the_same_of_nets(space: ExecutionSpace) -> None:
    hypergraph = circuit(900, 4, large=400, weighted=True)
    old = np.arange(900) * 5 // 900
    old[::7] = -1
    found, wanted = (portpart.repartition(hypergraph.to(each), old, 4, migration=2)
                     for each in (space, reference()))
    assert np.array_equal(oracles.host(found.part), oracles.host(wanted.part))
    assert_result_is_true(hypergraph, found, old, 4, 2, np.ones(900, int))


def test_scaled_weights_change_nothing_but_the_scale() -> None:
    for graph in (mesh(), circuit(60, 1, weighted=True)):
        larger = scaled(graph, 7)
        part = np.arange(graph.num_vertices) % 3
        objective = "cut" if graph is mesh() else "km1"
        assert value(larger, part, objective) == 7 * value(graph, part, objective)
        assert scaled(graph, 1) is graph


@pytest.mark.parametrize(("options", "words"), [
    ({"migration": -1}, "migration is -1; it must be at least 0"),
    ({"migration": "much"}, "migration is 'much'; it must be a finite number"),
    ({"migration": 3, "vertex_sizes": [2**60, 1, 1, 1]}, "may exceed"),
    ({"max_migration": -0.5}, "max_migration is -0.5; it must be at least 0"),
    ({"vertex_sizes": [1, 2]}, "vertex_sizes have shape"),
    ({"algorithm": "gkway"}, "without migration costs"),
    ({"part": [0, 1, 0]}, "part has shape"),
    ({"part": [0, 1, 0, -2]}, "part[3] is -2"),
    ({"part": None}, "part is None"),
])
def test_refusals(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=None) as caught:
        portpart.repartition([(0, 1), (1, 2), (2, 3)], **{"part": [0, 0, 1, 1], "k": 2, **options})
    assert words in str(caught.value)


def test_volume_and_soed_have_prices_too() -> None:
    old, load = drifted()
    volume = portpart.repartition(mesh(), old, 6, objective="volume", vertex_weights=load)
    assert volume.feasible
    assert volume.volume == sum(oracles.communication_volumes(mesh(), volume.part, 6))
    pairs = portpart.as_hypergraph([[0, 1], [1, 2], [2, 3], [3, 0]])
    soed = portpart.repartition(pairs, [0, 0, 0, 1], 2, objective="soed", imbalance=0.5,
                                migration=3)
    assert (soed.soed, soed.moved) == (4, 0)

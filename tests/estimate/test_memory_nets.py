"""The estimate of memory of hypergraphs against the bytes of the arrays that a run really makes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import portpart
from bench.counting_space import bytes_of_arrays
from portpart import generators
from portpart.errors import InputError, OutOfMemory
from portpart.graphs.graph_models import num_pairs
from portpart.graphs.hypergraph import Hypergraph
from portpart.options import changed
from tests.golden.hypergraphs import of_matrix, with_macros
from tests.helpers import data_folder

HYPERGRAPHS: dict[str, Callable[[], Hypergraph]] = {
    "netlist": lambda: generators.netlist(12_000), "macros": with_macros, "matrix": of_matrix}

CASES = [("netlist", "default", 2), ("netlist", "default", 64), ("netlist", "best", 2),
         ("macros", "strong", 8), ("macros", "fast", 40), ("matrix", "fast", 200)]

CLOSE = 1.6
"""So many times the bytes in use are at most estimated."""


def peak_of(hypergraph: Hypergraph, k: int, **options: Any) -> int:
    """Bytes that are estimated from the sizes of a hypergraph and what else is told."""
    return portpart.memory_estimate(
        hypergraph.num_vertices, None, k, num_nets=hypergraph.num_nets,
        num_pins=hypergraph.num_pins, vertex_weights=hypergraph.vertex_weights is not None,
        net_weights=hypergraph.net_weights is not None, **options).peak


def assert_close(hypergraph: Hypergraph, preset: str, k: int, like: Hypergraph) -> None:
    used = bytes_of_arrays(hypergraph, k, preset, "portpart")
    assert used <= peak_of(hypergraph, k, like=like, preset=preset) <= CLOSE * used


@pytest.mark.parametrize(("name", "preset", "k"), CASES)
def test_estimates_are_upper_bounds_and_close(name: str, preset: str, k: int) -> None:
    """With weights and without, of few and of many blocks, by each preset."""
    hypergraph = HYPERGRAPHS[name]()
    assert_close(hypergraph, preset, k, hypergraph)


@pytest.mark.parametrize(("name", "k"), [("ibm01", 64), ("greenbea", 2), ("NDC-substances", 8)])
def test_estimates_of_real_hypergraphs_are_close(name: str, k: int) -> None:
    """A circuit, a matrix of large nets, and a network whose levels hardly shrink."""
    hypergraph = portpart.io.read_hypergraph(data_folder.hypergraph_path(name))
    assert_close(hypergraph, "default", k, hypergraph)


def test_flows_are_in_the_estimate() -> None:
    """Where nothing else takes much memory."""
    def refinement(levels: int) -> int:
        preset = changed(portpart.HypergraphConfig(), {
            "flows.levels": levels, "flows.max_entries": 2**20, "communities": None,
            "initial.growing.candidates": 1, "initial.growing.hierarchies": 1})
        return portpart.memory_estimate(10**6, None, 8, num_nets=10**6, num_pins=4 * 10**6,
                                        preset=preset).refinement

    assert refinement(0) + 51 * 4 * 10**6 <= refinement(100) <= 2 * refinement(0)


def test_a_smaller_hypergraph_of_the_kind_tells_how_levels_shrink() -> None:
    assert_close(generators.netlist(24_000), "default", 8, generators.netlist(8000))


def test_sizes_alone_are_enough_for_a_netlist() -> None:
    hypergraph = generators.netlist(12_000)
    used = bytes_of_arrays(hypergraph, 8, "default", "portpart")
    assert used <= peak_of(hypergraph, 8) <= 2.7 * used


def test_edges_of_clique_graphs_are_narrow_where_their_weights_surely_fit() -> None:
    """Beyond so many nets of weight 1 nobody knows, nor if nets have weights."""
    def step(count: int, **told: bool) -> int:
        before, after = (portpart.memory_estimate(
            2 * 10**6, None, 8, num_nets=nets, num_pins=6 * 10**6, **told).refinement
            for nets in (count, count + 1000))
        return after - before

    usual = step(1_277_000)
    assert step(1_278_000) > 10 * usual > 0  # 2 * 840 * 1,278,265 is more than 2^31 - 1
    assert step(1_278_000, net_weights=True) < 2 * usual


def test_weights_of_edges_and_nets_are_told_apart() -> None:
    """As `partition` tells them apart; the volume of a graph goes by its edges."""
    for sizes, wrong in (((100, 400, 2), "net_weights"), ((100, None, 2), "edge_weights")):
        nets: dict[str, Any] = {} if sizes[1] else {"num_nets": 90, "num_pins": 300}
        right = {"net_weights": "edge_weights", "edge_weights": "net_weights"}[wrong]
        with pytest.raises(portpart.InputError, match=f"^{wrong} is for .*pass {right}="):
            portpart.memory_estimate(*sizes, **nets, **{wrong: True})
        light, heavy = (portpart.memory_estimate(*sizes, **nets, **{right: weighted}).graph
                        for weighted in (False, True))
        assert heavy > light
    assert portpart.memory_estimate(100, 400, 2, objective="volume", edge_weights=True).peak > 0


def test_the_input_is_in_the_estimate() -> None:
    """Offsets, pins both ways, and weights."""
    hypergraph = with_macros()
    own = sum(array.nbytes for array in hypergraph.arrays.values() if array is not None)
    assert portpart.memory_estimate(k=4, like=hypergraph).graph == own
    told = portpart.memory_estimate(1000, None, 4, num_nets=500, num_pins=9000,
                                    vertex_weights=True)
    assert told.graph == 4 * 1502 + 2 * 4 * 9000 + 8 * 1000


def test_many_blocks_take_counters_of_large_nets() -> None:
    """Two for each block and each net that may have more than 64 pins; others list few blocks."""
    def refinement(k: int) -> int:
        return portpart.memory_estimate(10**6, None, k, num_nets=10**6,
                                        num_pins=4 * 10**6).refinement

    counters = 8 * 4096 * (4 * 10**5 // 65)
    assert counters <= refinement(8192) - refinement(4096) <= 1.2 * counters


def test_volume_is_of_neighbourhoods() -> None:
    """A net for each vertex, whose pins are itself and its neighbours."""
    grid = generators.grid_2d(40, 40)
    n, pins = 1600, 1600 + grid.num_arcs
    estimate = portpart.memory_estimate(k=4, like=grid, objective="volume")
    assert estimate.graph == 2 * 4 * (n + 1) + 2 * 4 * pins
    alone = portpart.memory_estimate(n, grid.num_arcs, 4, objective="volume")
    assert alone == portpart.memory_estimate(n, None, 4, num_nets=n, num_pins=pins)


@pytest.mark.parametrize(("given", "message"), [
    ({"num_vertices": 5, "num_nets": 3}, "num_pins is missing"),
    ({"num_vertices": 5}, "num_arcs is missing"),
    ({"num_vertices": 5, "num_nets": -3, "num_pins": 1}, "num_nets is -3"),
    ({"like": generators.netlist(50), "k": 0}, "k is 0"),
    ({"like": generators.netlist(50), "k": portpart.Topology("2:2", "1:10")}, "with a machine"),
])
def test_bad_sizes_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        portpart.memory_estimate(**given)


def test_more_blocks_than_there_is_room_for_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before any work: the counters of the nets alone take more."""
    nets = [np.arange(each, 70_000, 170) for each in range(1000)]
    hypergraph = portpart.as_hypergraph((np.cumsum([0, *map(len, nets)]), np.concatenate(nets)))
    monkeypatch.setattr(type(hypergraph.space), "free_bytes", lambda space: 2**29)
    with pytest.raises(OutOfMemory, match=r"65536 blocks take .* for 1,000 nets, .* 512"):
        portpart.partition(hypergraph, 2**16)


def test_arcs_of_the_clique_graph_are_counted() -> None:
    """As plain loops count them: all pairs, or steps of 1, 2, 4 ... both ways."""
    sizes = [0, 1, 2, 5, 256, 257, 512, 513, 700]
    pins = np.concatenate([np.arange(size) for size in sizes])
    hypergraph = portpart.as_hypergraph((np.cumsum([0, *sizes]), pins))
    around = [size - 1 if size <= 256 else 2 * sum(2 ** (i + 1) < size for i in range(32))
              for size in sizes]
    expected = sum(size * max(0, each) for size, each in zip(sizes, around, strict=True))
    assert num_pairs(hypergraph) == expected

"""The space that counts bytes, against arrays that there really are."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import portpart
from bench.counting_space import CountingSpace
from bench.recipes import copied
from portpart import generators
from portpart.algorithms.coarsening import clustering, row_pieces
from portpart.algorithms.coarsening.clustering import cluster, slots_for
from portpart.algorithms.coarsening.communities import communities
from portpart.algorithms.coarsening.contraction import contract
from portpart.algorithms.coarsening.groups import grouping_rule, linked_groups
from portpart.algorithms.coarsening.matching import matched_clusters
from portpart.algorithms.coarsening.net_contraction import contract_nets
from portpart.algorithms.coarsening.options import (
    ClusteringOptions,
    CommunityOptions,
    GroupingOptions,
)
from portpart.backends import language as kl
from portpart.backends.programs.interface import Array
from portpart.backends.programs.program import Program
from portpart.backends.programs.table import LINE
from portpart.estimate.calls import sizes_of
from portpart.estimate.space import Shrinking, SizingSpace
from portpart.graphs.graph import Graph
from portpart.graphs.hypergraph import Hypergraph
from tests.estimate.test_memory import GRAPHS
from tests.helpers.spaces import clusters_of

Rule = Callable[[Graph], Any]

RULES: dict[str, Rule] = {
    "clusters": lambda graph: cluster(graph.space, graph, 9, 1, ClusteringOptions()),
    "groups": lambda graph: grouping_rule(graph.total_vertex_weight, 1, 9, GroupingOptions())(
        graph, 1, None),
    "pairs": lambda graph: matched_clusters(graph, 9, 1),
}


def peaks(space: Any, calls: Iterator[Any]) -> list[int]:
    """Most bytes in use during each of some calls, in addition to those before all."""
    counter = "most" if isinstance(space, SizingSpace) else "peak"
    before, found, kept = space.live, [], []
    while True:
        setattr(space, counter, space.live)
        try:
            kept.append(next(calls))
        except StopIteration:
            return found
        found.append(getattr(space, counter) - before)


def coarsened(graph: Graph, rule: Rule) -> Iterator[Any]:
    clusters = rule(graph)
    yield clusters
    yield contract(graph, clusters)


def in_both(host: Graph, rule: Rule) -> tuple[list[int], list[int]]:
    """What clusters and the contraction take, and what is counted for the same sizes."""
    real = CountingSpace(1)
    graph = copied(host, real)
    assert graph.max_degree > 0
    slots, coarse = slots_for(graph), contract(graph, rule(graph))
    walk = [(each.num_vertices, each.num_arcs) for each in (graph, coarse)]
    known = {} if slots is None else {walk[0]: slots}
    counting = SizingSpace(Shrinking((1, 1), 1, walk, [graph.max_degree, coarse.max_degree], known))
    stand_in = sizes_of(host).made(counting)
    assert isinstance(stand_in, Graph)
    return (peaks(real, coarsened(graph, rule)),
            peaks(counting, coarsened(stand_in, rule)))


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", GRAPHS)
def test_a_level_takes_what_is_counted(name: str, rule: str) -> None:
    real, counted = in_both(GRAPHS[name](), RULES[rule])
    assert counted == pytest.approx(real, abs=50 * LINE)


@pytest.mark.parametrize("name", GRAPHS)
def test_sorting_counts_as_by_a_library_of_a_device(name: str) -> None:
    """Which takes more than on a CPU."""
    (real, _), (counted, _) = in_both(GRAPHS[name](), lambda graph: linked_groups(
        graph, 2**40, 1, 6))
    assert real <= counted <= 1.5 * real


@pytest.mark.parametrize("name", ["mesh", "weighted grid", "cube"])
def test_a_contraction_piece_by_piece_takes_what_is_counted(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But for the room that samples of rows ask for."""
    whole = in_both(GRAPHS[name](), RULES["clusters"])[0][1]
    monkeypatch.setattr(row_pieces, "MAX_SCRATCH", 100_000)
    (_, real), (_, counted) = in_both(GRAPHS[name](), RULES["clusters"])
    assert 0.95 * real <= counted <= 1.05 * real < 0.9 * whole


def test_long_rows_that_were_counted_have_as_many_slots(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = in_both(GRAPHS["rmat"](), RULES["clusters"])[1][0]
    monkeypatch.setattr(clustering, "MAX_UNCOUNTED", 0)
    real, counted = in_both(GRAPHS["rmat"](), RULES["clusters"])
    assert counted[0] == pytest.approx(real[0], abs=50 * LINE)
    assert counted[0] < whole - 10**5


@pytest.mark.parametrize("call", ["communities", "merged nets"])
def test_what_hypergraphs_go_through_takes_what_is_counted(call: str) -> None:
    """Communities but for how much smaller their first level is, here with all nets."""
    host = generators.netlist(12_000)

    def made(hypergraph: Hypergraph) -> Iterator[Any]:
        if call == "communities":
            yield communities(hypergraph, 1, CommunityOptions(max_net_size=12_000))
        else:
            n = hypergraph.num_vertices
            yield contract_nets(hypergraph, clusters_of(hypergraph.space, np.arange(n), n))

    real, counting = CountingSpace(1), SizingSpace(Shrinking((1, 1, 1)))
    stand_in = sizes_of(host).made(counting)
    assert isinstance(stand_in, Hypergraph)
    used, = peaks(real, made(copied(host, real)))
    counted, = peaks(counting, made(stand_in))
    assert used <= counted <= 1.06 * used


class Found(kl.Record):
    """A new piece, which has work arrays and scratch of its own."""

    kept: Array = kl.work(np.int64, lambda sizes: 3 * sizes)
    narrow: Array = kl.work(np.int8, lambda sizes: sizes)


@kl.kernel
def mark_first(i, found: Found):
    """Write into both arrays."""
    found.kept[i] = 1
    found.narrow[i] = 1


def test_work_arrays_and_scratch_are_counted_by_their_declarations() -> None:
    n, space = 10**9, SizingSpace(Shrinking((1, 1)))
    record = Found.allocate(space, n)
    assert space.live == Found.num_bytes(n) == 25 * n
    del record
    assert space.live == 0

    program = Program("new piece", sizes=n)
    program.declare({"found": Found()})
    program.launch(1, mark_first)
    space.most = 0
    space.executable(program).run({}, n, n)
    assert space.live == 0
    assert Found.num_bytes(n) <= space.most <= Found.num_bytes(n) + 3 * LINE


def test_what_the_host_has_is_copied_and_small_arrays_can_be_written() -> None:
    space, host = SizingSpace(Shrinking((1, 1))), np.arange(1000)
    there = space.asarray(host)
    assert space.live == host.nbytes
    assert space.asarray(there) is there
    assert space.asarray(there[10:20]).base is not None
    assert space.live == host.nbytes
    assert np.array_equal(space.copy(there), host)
    large = space.zeros(10**9, np.int64)
    large[:5] = 1
    assert not large[:5].any()


def test_estimates_take_no_memory_and_do_not_depend_on_the_collector() -> None:
    """Of sizes that no machine has, for a partition, a session, a mapping and a hypergraph."""
    n = 2**29
    kinds: list[dict[str, Any]] = [
        {"num_arcs": 6 * n, "k": 64}, {"num_arcs": 6 * n, "k": 64, "session": True},
        {"num_arcs": 6 * n, "k": portpart.Topology("4:8", "1:10")},
        {"num_nets": n, "num_pins": 4 * n, "k": 64}]
    for kind in kinds:
        estimate = portpart.memory_estimate(n, **kind)
        gc.collect()
        gc.disable()
        tracemalloc.start()
        try:
            assert portpart.memory_estimate(n, **kind) == estimate
            assert tracemalloc.get_traced_memory()[1] < 2**28 < estimate.peak / 100
        finally:
            tracemalloc.stop()
            gc.enable()

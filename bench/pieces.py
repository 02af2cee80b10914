"""Timings of the pieces: launches, programs, primitives, phases; reported, never asserted.

    python -m pytest bench/pieces.py                        # every space that works here
    python -m pytest bench/pieces.py -k scan --space cpu --space cpu-1 --size 100000000

Throughput counts the bytes that an ideal implementation moves.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import portpart
from bench.instances import by_name
from bench.primitive_cases import CASES, touch
from portpart import backends, metrics
from portpart.algorithms.coarsening.broken_groups import group_by_nets
from portpart.algorithms.coarsening.clustering import cluster
from portpart.algorithms.coarsening.clusters import Clusters
from portpart.algorithms.coarsening.communities import communities
from portpart.algorithms.coarsening.contraction import contract
from portpart.algorithms.coarsening.matching import matched_clusters
from portpart.algorithms.coarsening.net_contraction import contract_nets, merged_nets
from portpart.algorithms.coarsening.net_proposals import NetProposals
from portpart.algorithms.coarsening.options import (
    ClusteringOptions,
    CommunityOptions,
    MatchingOptions,
    NetOptions,
)
from portpart.algorithms.initial.options import GrowingOptions
from portpart.algorithms.multilevel.greedy_start import grown_parts
from portpart.algorithms.multilevel.problem import Problem
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.objectives.limits import Balance
from portpart.algorithms.objectives.net_cost import net_objective
from portpart.algorithms.objectives.total import cut_of
from portpart.algorithms.recipes.partitioners import OF_NETS, find
from portpart.backends.language import kernel
from portpart.backends.programs.interface import ExecutionSpace
from portpart.backends.programs.program import Program
from portpart.errors import DeviceUnavailable
from portpart.generators import shares
from portpart.graphs.graph import Graph
from portpart.graphs.structure import Structure

TINY_STEPS = 1000

GRAPHS = ("delaunay_2^17", "rmat_2^14")
MESH = GRAPHS[0]


@kernel
def touch_many(i, a, b, c, d, e, f, g, h, x, y):
    """Read many arguments."""
    a[i] += b[i] + c[i] + d[i] + e[i] + f[i] + g[i] + h[i] + x * y


@kernel
def count_down(_, left, values):
    """Decrease left[0] and touch a value."""
    left[0] -= 1
    values[0] += 1


@pytest.fixture
def space(space_name: str) -> ExecutionSpace:
    device, _, threads = space_name.partition("-")
    try:
        return backends.space(device, threads=int(threads) if threads else None)
    except (DeviceUnavailable, ImportError) as error:
        pytest.skip(str(error))


def measure(
    benchmark: Any, space: ExecutionSpace, work: Callable[[], Any], moved: int | None = None
) -> None:
    """Time `work` until its device is idle; `moved` bytes give a throughput."""

    def whole() -> None:
        work()
        space.synchronize()

    whole()
    benchmark.extra_info["space"] = space.name
    benchmark(whole)
    if moved and benchmark.stats:
        benchmark.extra_info["GB/s"] = round(moved / benchmark.stats.stats.min / 1e9, 3)


def test_program_loop(benchmark: Any, space: ExecutionSpace) -> None:
    """A loop of tiny kernels: divide by extra_info.kernels for the cost of one."""
    program = Program("count down")
    left, values = program.array("left", np.int64), program.array("values", np.int64)
    with program.while_loop(left[0]):
        program.parallel_for(1, count_down, left, values)
    executable = space.executable(program)
    arrays = {"left": space.zeros(1, np.int64), "values": space.zeros(1, np.int64)}

    def run() -> None:
        arrays["left"][0] = TINY_STEPS
        executable.run(arrays, size=1)

    benchmark.extra_info["kernels"] = TINY_STEPS
    measure(benchmark, space, run)


def test_launch_with_ten_arguments(benchmark: Any, space: ExecutionSpace) -> None:
    """What a launch costs in Python, mostly."""
    values = [space.zeros(1, np.int32) for _ in range(8)]
    measure(benchmark, space, lambda: space.parallel_for(1, touch_many, *values, 3, 4))


def test_program_start(benchmark: Any, space: ExecutionSpace) -> None:
    """A program of one tiny kernel: what binding and starting cost."""
    program = Program("one kernel")
    program.parallel_for(1, touch, program.array("values", np.int64))
    executable = space.executable(program)
    values = space.zeros(1, np.int64)
    measure(benchmark, space, lambda: executable.run({"values": values}, size=1))


@pytest.mark.parametrize("name", CASES)
def test_primitive(benchmark: Any, space: ExecutionSpace, name: str, size: int) -> None:
    work, moved = CASES[name](space, size)
    measure(benchmark, space, work, moved)


RANGES: dict[str, Callable[[int], shares.LargeGraph]] = {
    "grid_3d": lambda size: shares.grid_3d(round(size ** (1 / 3))),
    "jittered_rgg": lambda size: shares.jittered_rgg(round((size / 4) ** (1 / 2))),
    "jittered_mesh": lambda size: shares.jittered_mesh(round(size ** (1 / 2))),
    "rmat": lambda size: shares.rmat(size.bit_length() - 4),
    "permuted mesh": lambda size: shares.permuted(shares.jittered_mesh(round(size ** (1 / 2)))),
}
"""Graphs of about so many vertices; of R-MAT so many edges."""


@pytest.mark.parametrize("name", RANGES)
def test_rows_of_a_range(benchmark: Any, space: ExecutionSpace, name: str, size: int) -> None:
    """All rows of a graph that is drawn by range."""
    graph = RANGES[name](size)
    rows = graph.rows(0, graph.num_vertices, space)
    benchmark.extra_info["arcs"] = rows.num_arcs
    moved = rows.offsets.nbytes + rows.targets.nbytes
    measure(benchmark, space, lambda: graph.rows(0, graph.num_vertices, space), moved)


@pytest.mark.parametrize("suffix", ["parhip", "npz", "graph"])
def test_rows_of_a_file(benchmark: Any, space: ExecutionSpace, suffix: str, tmp_path: Path) -> None:
    """The second quarter of a file."""
    graph = graph_in(portpart.space("cpu"), MESH)
    path, n = tmp_path / f"g.{suffix}", graph.num_vertices
    portpart.io.write(graph, path)
    if suffix == "graph":
        measure(benchmark, space, lambda: portpart.io.open_metis_piece(path, 1, 4).rows(0, space),
                path.stat().st_size // 4)
    else:
        with portpart.io.open_rows(path) as file:
            measure(benchmark, space, lambda: file.rows(n // 4, n // 2, space),
                    path.stat().st_size // 4)


@functools.lru_cache(maxsize=2)
def graph_in(space: ExecutionSpace, name: str) -> Graph:
    graph: Graph = by_name(name).portable.to(space)
    return graph


def balance_of(graph: Structure, k: int) -> Balance:
    total = graph.total_vertex_weight
    return Balance(k, metrics.block_weight_limit(total, k), total // k)


@pytest.mark.parametrize("name", GRAPHS)
def test_matching(benchmark: Any, space: ExecutionSpace, name: str) -> None:
    """Heavy-edge rounds until the matching is maximal."""
    graph = graph_in(space, name)
    options = MatchingOptions(two_hop=False)
    measure(benchmark, space,
            lambda: matched_clusters(graph, graph.num_vertices, 1, options=options))


@pytest.mark.parametrize("name", GRAPHS)
def test_two_hop_matching(benchmark: Any, space: ExecutionSpace, name: str) -> None:
    """Heavy-edge rounds, then twins and relatives."""
    graph = graph_in(space, name)
    measure(benchmark, space, lambda: matched_clusters(graph, 100, 1))


@pytest.mark.parametrize("name", [*GRAPHS, "grid_1000x1000"])
def test_contraction(benchmark: Any, space: ExecutionSpace, name: str) -> None:
    """Contract the pairs of a heavy-edge matching."""
    graph = graph_in(space, name)
    clusters = matched_clusters(graph, graph.num_vertices, 1,
                                options=MatchingOptions(two_hop=False))
    measure(benchmark, space, lambda: contract(graph, clusters), 8 * graph.num_arcs)


@functools.lru_cache(maxsize=2)
def netlist_in(space: ExecutionSpace) -> portpart.Hypergraph:
    made: portpart.Hypergraph = portpart.generators.netlist(100_000, seed=1).to(space)
    return merged_nets(made, made.num_vertices)


def test_communities(benchmark: Any, space: ExecutionSpace) -> None:
    """The labels that coarsening of hypergraphs begins with."""
    nets = netlist_in(space)
    measure(benchmark, space, lambda: communities(nets, 1, CommunityOptions()))


def net_clusters(space: ExecutionSpace) -> Clusters:
    nets = netlist_in(space)
    return cluster(space, nets, 8, 1, ClusteringOptions(), proposal_rule=NetProposals(NetOptions()))


def test_net_clustering(benchmark: Any, space: ExecutionSpace) -> None:
    """Clusters of the finest level, without labels."""
    measure(benchmark, space, lambda: net_clusters(space))


def test_net_grouping(benchmark: Any, space: ExecutionSpace) -> None:
    """Groups of the finest level, of any weight."""
    nets = netlist_in(space)
    measure(benchmark, space, lambda: group_by_nets(nets, nets.total_vertex_weight, 4, 1, 1000))


def test_net_contraction(benchmark: Any, space: ExecutionSpace) -> None:
    """The hypergraph of those clusters."""
    nets, clusters = netlist_in(space), net_clusters(space)
    measure(benchmark, space, lambda: contract_nets(nets, clusters), 8 * nets.num_pins)


@pytest.mark.parametrize("k", [2, 8, 64])
@pytest.mark.parametrize("name", GRAPHS)
def test_grown_starts(benchmark: Any, space: ExecutionSpace, name: str, k: int) -> None:
    """Grow initial partitions of a graph of some 2,000 vertices."""
    graph = graph_in(space, name)
    while graph.num_vertices > 3000:
        limit = int(8 * graph.total_vertex_weight / graph.num_vertices)
        graph = contract(graph, cluster(space, graph, limit, 1, ClusteringOptions()))
    balance = balance_of(graph, k)
    measure(benchmark, space, lambda: grown_parts(graph, balance, GrowingOptions(), 1))


@pytest.mark.parametrize("algorithm", ["jet", "gkway", "gpmetis"])
@pytest.mark.parametrize("k", [8, 64])
@pytest.mark.parametrize("name", GRAPHS)
def test_refinement_of_a_level(
    benchmark: Any, space: ExecutionSpace, name: str, k: int, algorithm: str
) -> None:
    """Refine the finest level from blocks of consecutive vertices, which is much to do."""
    graph, (found, config) = graph_in(space, name), find(algorithm, "default")
    n = graph.num_vertices
    start = space.asarray((np.arange(n) * k // n).astype(np.int32))
    problem = Problem(graph, balance_of(graph, k), 1, Trace(space, graph, None))
    recipe = found.recipe(problem, config)
    refiner = recipe.refiner(1)

    def work() -> None:
        refiner.start(graph, start)
        outcome = refiner.refine(graph, recipe.passes(0, graph)[0], None)
        benchmark.extra_info["iterations"] = outcome["iterations"]

    measure(benchmark, space, work)


@pytest.mark.parametrize("algorithm", ["portpart", "hyperg"])
@pytest.mark.parametrize("k", [8, 64])
def test_refinement_on_nets(benchmark: Any, space: ExecutionSpace, k: int, algorithm: str) -> None:
    """Refine a netlist from blocks of consecutive vertices."""
    nets, (found, config) = netlist_in(space), find(algorithm, "default", OF_NETS)
    start = space.asarray((np.arange(nets.num_vertices) * k // nets.num_vertices).astype(np.int32))
    problem = Problem(nets, balance_of(nets, k), 1, Trace(space, nets, None),
                      objective=net_objective("km1"))
    recipe = found.recipe(problem, config)
    refiner = recipe.refiner(1)

    def work() -> None:
        refiner.start(nets, start)
        refiner.refine(nets, recipe.passes(0, nets)[0], None)

    measure(benchmark, space, work)


@pytest.mark.parametrize("name", GRAPHS)
def test_cut(benchmark: Any, space: ExecutionSpace, name: str) -> None:
    """The cut, as every call ends with."""
    graph = graph_in(space, name)
    part = space.asarray((np.arange(graph.num_vertices) % 7).astype(np.int32))
    measure(benchmark, space, lambda: cut_of(graph, part), 4 * graph.num_arcs)


@pytest.mark.parametrize("preset", ["fast", "default"])
@pytest.mark.parametrize("k", [8, 64])
def test_partition(benchmark: Any, space: ExecutionSpace, k: int, preset: str) -> None:
    """A whole partition of a mesh."""
    graph = graph_in(space, MESH)
    threads = getattr(space, "threads", None)
    measure(benchmark, space,
            lambda: portpart.partition(graph, k, preset=preset, threads=threads))

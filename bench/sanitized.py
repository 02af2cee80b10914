"""Runs that touch every kernel, most of them small, a group at a time, for `bench.sanitize`.

Each array gets memory of its own instead of a piece of CuPy's pool, so that an access beyond an
array is seen.  ``--device cpu`` runs the same without a GPU.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any
from unittest import mock

import click
import numpy as np

from bench.sanitized_edits import edits
from bench.sanitized_graphs import hub, kinds_of_graphs
from bench.sanitized_ranks import ranks
from bench.sanitized_rows import rows_of_ranges

Graphs = dict[str, Any]
Runs = Iterator[tuple[str, Callable[[], Any]]]

FEW = ("both weights", "skewed", "hub")
"""Graphs that run the most different kernels, for tools that take long."""

LARGE = 300_000
"""Vertices of a graph without structure, so that lists of its vertices are long."""


@dataclass(frozen=True)
class Group:
    """Cases that run in one process, and whether programs are among what they run."""

    runs: Callable[[Any, Graphs], Runs]
    programs: bool = True


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("group")
@click.option("--vertices", default=700, show_default=True)
@click.option("--device", default="cuda", show_default=True, help="cpu works too, for a dry run.")
@click.option("--pool", is_flag=True, help="Take memory from CuPy's pool.")
@click.option("--programs", default="walk", show_default=True, help="resident or walk.")
@click.option("--few", is_flag=True, help="Leave out graphs that differ in the types of weights.")
@click.option("--limit", default=0.0, help="End after so many seconds, done or not; 0 never.")
def main(group: str, vertices: int, device: str, pool: bool, programs: str, few: bool,
         limit: float) -> None:  # fmt: skip
    signal.setitimer(signal.ITIMER_REAL, limit)  # a tool that is ended leaves what it watches alive
    import portpart

    if group not in GROUPS:
        raise click.BadParameter(f"no group is called {group!r}; there are {', '.join(GROUPS)}")
    space = portpart.space(device)
    if space.kind == "cuda":
        space.program_mode = programs
        if not pool:
            _without_pool()
    graphs = kinds_of_graphs(vertices)
    if few:
        graphs = {kind: graphs[kind] for kind in FEW}
    for name, work in GROUPS[group].runs(space, graphs):
        begin = time.perf_counter()
        work()
        space.synchronize()
        print(f"{name}: {time.perf_counter() - begin:.1f} s", flush=True)
    print("all done")


def partitions(algorithm: str, *presets: str) -> Callable[[Any, Graphs], Runs]:
    """Return the runs that partition graphs of all kinds."""

    def runs(space: Any, graphs: Graphs) -> Runs:
        for name, graph in graphs.items():
            for preset in presets:
                yield f"{algorithm}, {name}, {preset}", partial(
                    _partition, space, graph, algorithm=algorithm, preset=preset)

    return runs


def searches(space: Any, graphs: Graphs) -> Runs:
    """Yield partitions and mappings that are combined and go through a cycle, two at a time."""
    import portpart
    from portpart.algorithms.multilevel.search import SearchOptions

    partition = portpart.PortpartConfig(search=SearchOptions(2, 1, population=2))
    integrated = portpart.IntegratedConfig(search=SearchOptions(2, 1))
    sections = portpart.MultisectionConfig(preset="fast", runs=(2,), cycles=1)
    for name, graph in graphs.items():
        yield f"{name}, search", partial(_partition, space, graph, preset=partition, rounds=24)
        for label, preset in {"im": integrated, "hm": sections}.items():
            yield f"{label}, {name}, search", partial(
                _map, space, graph, _hierarchy(), None, preset)


def rare(space: Any, graphs: Graphs) -> Runs:
    """Yield runs of kernels that otherwise other options, or large graphs, call for."""
    import portpart
    from portpart.algorithms.recipes import gkway, gpmetis, jet
    from portpart.options import changed

    far = {"coarsening.coarsest_per_block": 8, "coarsening.min_coarsest": 8}
    near = {"handoff_vertices": 48, "coarsening.min_coarsest": 8}
    presets = {"groups": changed(portpart.GkwayConfig(), far),
               "linked groups": changed(gkway.PRESETS["paper"], far),
               "constrained groups": changed(portpart.IgkwayConfig(), far),
               "pairs": changed(portpart.GpmetisConfig(handoff_vertices=48), far),
               "rounds of pairs": changed(gpmetis.PRESETS["paper"], near),
               "offered pairs": jet.PRESETS["code"]}
    for (name, graph), (label, preset) in product(graphs.items(), presets.items()):
        yield f"{label}, {name}", partial(_partition, space, graph, preset=preset)
    for name, graph in graphs.items():
        yield f"homes, {name}", partial(_repartition, space, graph)
    graph = graphs["both weights"]
    fixed = np.where(np.arange(graph.num_vertices) % 9 == 1, 2, -1)
    improving = changed(portpart.PortpartConfig(), {
        **far, "search.cycles": 1, "clustering.improve_rounds": 1})
    yield "clusters improve, fixed", partial(_partition, space, graph, fixed=fixed,
                                             preset=improving)
    starts = portpart.MultisectionConfig(preset="fast", starts=8)
    yield "hm, starts", partial(_map, space, graph, _hierarchy(), "hm", starts)
    yield "wide hub", partial(_partition, space, hub(1500), preset="fast")
    for name, graph in {"hub": hub(1500), "grid": portpart.generators.grid_2d(100)}.items():
        yield f"little scratch, {name}", partial(_partition_with_little_scratch, space, graph)
    for side, nets in product((40, 160), (None, "km1")):
        yield f"flows, {side}, {nets}", partial(_refined_by_flows, space, side, nets)
    ends = np.random.default_rng(4).integers(0, LARGE, (2 * LARGE, 2))
    yield "large", partial(_partition, space, portpart.as_graph(ends), preset="fast")


def _refined_by_flows(space: Any, side: int, objective: str | None = None) -> None:
    """Refine two blocks of a grid, or of its stars, with a rough boundary, in several rounds."""
    import portpart
    from portpart.algorithms.objectives.limits import Balance
    from portpart.algorithms.objectives.net_cost import NET_COSTS
    from portpart.algorithms.refinement.flows.flow_refiner import FlowRefiner
    from portpart.algorithms.refinement.options import FlowOptions

    grid = portpart.generators.grid_2d(side)
    graph: Any = portpart.as_hypergraph((grid.offsets, grid.targets)) if objective else grid
    n, columns = side * side, np.arange(side * side) % side
    rough = np.random.default_rng(3).integers(0, 2, n)
    part = np.where(abs(2 * columns - side) < side // 3, rough, 2 * columns > side)
    options = FlowOptions(alpha=20.0, depth=side // 3, round_limit=3)
    graph, balance = graph.to(space), Balance(2, n * 11 // 20, n // 2)
    FlowRefiner(space, graph, balance, options, 1, NET_COSTS.get(objective or "")).refine(
        graph, space.asarray(part.astype(np.int32)), None, 0)


def wishes(space: Any, graphs: Graphs) -> Runs:
    """Yield partitions with targets, fixed vertices, a start and a least weight, and mappings."""
    graph = graphs["both weights"]
    n = graph.num_vertices
    random = np.random.default_rng(2)
    fixed = np.where(random.random(n) < 0.2, random.integers(0, 6, n), -1)
    start = random.integers(0, 6, n)
    least = graph.total_vertex_weight // 12
    for algorithm in ("portpart", "jet", "gkway", "gpmetis"):
        for name, given in {
            "target": {"target": [1, 2, 3, 1, 2, 3]}, "fixed": {"fixed": fixed},
            "initial": {"initial": start}, "least": {"min_block_weight": least},
        }.items():  # fmt: skip
            yield f"{algorithm}, {name}", partial(
                _partition, space, graph, algorithm=algorithm, **given)
    for algorithm, preset in (("im", "default"), ("hm", "default"), ("hm", "paper")):
        yield f"{algorithm}, {preset}, fixed", partial(
            _map, space, graph, _hierarchy(), algorithm, preset, fixed=fixed)


def mappings(algorithm: str, *presets: str) -> Callable[[Any, Graphs], Runs]:
    """Return the runs that map graphs of all kinds to a hierarchy, or to a ring where that goes."""

    def runs(space: Any, graphs: Graphs) -> Runs:
        machines = [_hierarchy()] + ([] if algorithm.startswith("hm") else [_ring()])
        for name, graph in graphs.items():
            for preset, machine in product(presets, machines):
                yield f"{algorithm}, {name}, {preset}, {machine}", partial(
                    _map, space, graph, machine, algorithm, preset)

    return runs


def _hierarchy() -> Any:
    import portpart

    return portpart.Topology("2:3", "1:10")


def _ring() -> Any:
    import portpart

    hops = np.abs(np.subtract.outer(np.arange(6), np.arange(6)))
    return portpart.Topology.from_matrix(np.minimum(hops, 6 - hops))


def inputs(space: Any, graphs: Graphs) -> Runs:
    """Yield graphs made of device arrays in every way, and their metrics."""
    import portpart

    random = np.random.default_rng(3)
    plain = graphs["both weights"]
    n = plain.num_vertices
    edges = space.asarray(random.integers(0, n, 8 * n)).reshape(-1, 2)
    weights = space.asarray(random.integers(0, 9, 4 * n).astype(np.float64))
    yield "edge list", partial(portpart.as_graph, edges)
    yield "weighted edge list", partial(portpart.as_graph, edges, edge_weights=weights,
                                        symmetrize="sum")
    parts = [space.asarray(np.array(each)) for each in list(plain.arrays.values())[:3]]
    for symmetrize in (False, True, "sum", "max"):
        yield f"rows, symmetrize={symmetrize}", partial(
            portpart.as_graph, tuple(parts), symmetrize=symmetrize)
    nets = portpart.as_hypergraph((parts[0], parts[1]))
    yield "hypergraph", partial(portpart.as_hypergraph, nets)
    part = space.asarray(random.integers(0, 6, n).astype(np.int32))
    yield "metrics", partial(portpart.metrics.evaluate, plain.to(space), part)
    for name in FEW:
        graph = graphs[name].to(space)
        for each in (graph, portpart.as_hypergraph((graph.offsets, graph.targets))):
            yield f"subgraphs, {name}, {type(each).__name__}", partial(
                portpart.subgraphs, each, part[: each.num_vertices], 2)
        yield f"edges, {name}", partial(portpart.partition_edges, graph, 3, preset="fast")
        yield f"permuted, {name}", partial(graph.permute, range(graph.num_vertices)[::-1])


def nets(space: Any, graphs: Graphs) -> Runs:
    """Yield hierarchies and refinements of hypergraphs, the neighbourhoods of vertices."""
    import portpart
    from portpart.algorithms.multilevel.search import SearchOptions

    config = portpart.HypergraphConfig(search=SearchOptions(population=2))
    for name, graph in graphs.items():
        hypergraph = portpart.as_hypergraph((graph.offsets, graph.targets),
                                            vertex_weights=graph.vertex_weights).to(space)
        yield f"nets, {name}", partial(_coarsen_nets, hypergraph)
        yield f"groups of nets, {name}", partial(_group_nets, hypergraph)
        for each in (hypergraph, graph.to(space)):
            yield f"empty blocks, {name}, {type(each).__name__}", partial(_fill_empty, each)
        yield f"starts of nets, {name}", partial(_grow_on_nets, hypergraph)
        yield f"rounds on nets, {name}", partial(portpart.partition, hypergraph, 3, rounds=24,
                                                 preset=config)
        for objective, k in product(("km1", "cut", "soed"), (3, 70)):
            for sequences in (False, True):
                yield f"refined nets, {name}, {objective}, {k}, {sequences}", partial(
                    _refine, space, hypergraph, objective, k, sequences)


def _refine(space: Any, hypergraph: Any, objective: str, k: int, sequences: bool) -> None:
    from portpart.algorithms.objectives.limits import Balance
    from portpart.algorithms.objectives.net_cost import net_objective
    from portpart.algorithms.refinement.nets.best_sequence import sequence_pieces
    from portpart.algorithms.refinement.nets.steps import jet_on_nets
    from portpart.algorithms.refinement.options import RefinementOptions, SequenceOptions
    from portpart.algorithms.refinement.refiner import Refiner

    n, mean = hypergraph.num_vertices, hypergraph.total_vertex_weight // k
    start = (np.random.default_rng(5).random(n) ** 2 * k).astype(np.int32)
    refiner = Refiner(space, hypergraph, Balance(k, mean + mean // 9 + 1, mean),
                      RefinementOptions(until_balanced=True), 7,
                      objective=net_objective(objective),
                      pieces=sequence_pieces(SequenceOptions()) if sequences else jet_on_nets())
    refiner.start(hypergraph, space.asarray(start))
    assert refiner.refine(hypergraph, 0.75)["iterations"] > 1


def _fill_empty(graph: Any) -> None:
    from portpart.algorithms.final_balance.empty_blocks import with_empty_filled
    from portpart.algorithms.objectives.limits import Balance

    total = graph.total_vertex_weight
    part = graph.space.asarray((np.arange(graph.num_vertices) % 3).astype(np.int32))
    blocks = np.array([total] * 3 + [0, 0], np.int64)
    assert with_empty_filled(graph, part, blocks, Balance(5, total, 1), None)[1].all()


def _group_nets(hypergraph: Any) -> None:
    from portpart.algorithms.coarsening.broken_groups import group_by_nets

    group_by_nets(hypergraph, hypergraph.total_vertex_weight, 4, 1, 1000)


def _grow_on_nets(hypergraph: Any) -> None:
    from portpart.algorithms.final_balance.overload import with_heavy_apart
    from portpart.algorithms.initial import GrowingOptions, partition_net_by_net
    from portpart.algorithms.multilevel.greedy_start import grown_parts
    from portpart.algorithms.objectives import Balance, costs_and_weights, net_objective

    mean = hypergraph.total_vertex_weight // 6
    options = GrowingOptions(hierarchies=2, net_by_net=2)
    balance = Balance(6, mean + mean // 9 + 1, mean)
    partition_net_by_net(hypergraph, 6, None, balance.limits, 3, options)
    parts = grown_parts(hypergraph, balance, options, 3)
    costs_and_weights(hypergraph, parts, 6, net_objective("km1"))
    with_heavy_apart(hypergraph, parts, balance)


def _coarsen_nets(hypergraph: Any) -> None:
    from portpart.algorithms import coarsening
    from portpart.algorithms.coarsening.cluster_rules import cluster_rule

    places = coarsening.places_by_nets(hypergraph, coarsening.NetOptions(max_rated=1))
    hypergraph = hypergraph if places is None else coarsening.in_order(hypergraph, places)
    options = coarsening.NetOptions()
    finest = coarsening.merged_nets(coarsening.reduced_nets(hypergraph, options),
                                    hypergraph.num_vertices)
    rule = cluster_rule(finest, 48, finest.total_vertex_weight, coarsening.ClusteringOptions(),
                        coarsening.NetProposals(options))
    groups = coarsening.communities(finest, 1, coarsening.CommunityOptions(max_net_size=9))
    coarsening.coarsen(finest.space, finest, rule, stop_at=48, max_kept=0.95,
                       contraction=coarsening.contract_nets, labels=(groups,))


def primitives(space: Any, graphs: Graphs) -> Runs:
    """Yield every primitive below, at and above the size of a tile."""
    from bench.primitive_cases import CASES, integers
    from portpart.primitives.histogram import histogram
    from portpart.primitives.sort import radix_sort_keys

    for name, make in CASES.items():
        for size in (1, 100, 8192, 20_001):
            yield f"{name}, {size}", make(space, size)[0]
    for size, dtype in product((100, 20_001), (np.int32, np.uint64)):
        keys = space.asarray(space.to_host(integers(space, size)), dtype)
        yield f"radix sort, {size}, {dtype.__name__}", partial(radix_sort_keys, space, keys)
    yield "histogram, many bins", partial(histogram, space, integers(space, 20_001, 5000), 5000)


GROUPS: dict[str, Group] = {
    "primitives": Group(primitives, programs=False),
    "inputs": Group(inputs, programs=False),
    "portpart": Group(partitions("portpart", "fast", "default", "strong")),
    "jet": Group(partitions("jet", "fast", "default", "ultra", "paper", "code")),
    "gkway": Group(partitions("gkway", "default", "paper")),
    "igkway": Group(partitions("igkway", "default", "paper")),
    "gpmetis": Group(partitions("gpmetis", "default", "paper")),
    "wishes": Group(wishes),
    "rare": Group(rare),
    "im": Group(mappings("im", "fast", "default", "paper")),
    "hm": Group(mappings("hm", "default", "paper")),
    "hm-ultra": Group(mappings("hm-ultra", "default")),
    "two-phase": Group(mappings("two-phase", "default")),
    "two-phase-jet": Group(mappings("two-phase", "jet")),
    "identity": Group(mappings("identity", "default")),
    "searches": Group(searches),
    "nets": Group(nets),
    "edits": Group(edits, programs=False),
    "rows": Group(rows_of_ranges, programs=False),
    "ranks": Group(ranks),
}


def _partition(space: Any, graph: Any, **options: Any) -> None:
    import portpart

    result = portpart.partition(graph.to(space), 6, imbalance=0.02, **options)
    cut = portpart.metrics.cut(graph, space.to_host(result.part))
    assert result.cut == cut, f"cut {result.cut} is said, {cut} is true"


def _partition_with_little_scratch(space: Any, graph: Any) -> None:
    """Coarsen as if the graph were very large: coarse rows are made piece by piece."""
    from portpart.algorithms.coarsening import clustering, row_pieces

    with (mock.patch.object(row_pieces, "MAX_SCRATCH", 2**14),
          mock.patch.object(clustering, "MAX_UNCOUNTED", 0)):
        _partition(space, graph, preset="fast")


def _repartition(space: Any, graph: Any) -> None:
    import portpart

    old = np.arange(graph.num_vertices) * 5 // graph.num_vertices
    result = portpart.repartition(graph.to(space), old, 6, migration=2, seed=1)
    moved = int((space.to_host(result.part) != old).sum())
    assert result.moved == moved, f"{result.moved} are said to move, {moved} do"


def _map(space: Any, graph: Any, machine: Any, algorithm: str, preset: str, **given: Any) -> None:
    import portpart

    result = portpart.map_processes(graph.to(space), topology=machine, algorithm=algorithm,
                                    preset=preset, **given)
    cost = portpart.metrics.mapping_cost(graph, space.to_host(result.part), machine)
    assert result.cost == cost, f"cost {result.cost} is said, {cost} is true"


def _without_pool() -> None:
    import cupy

    cupy.cuda.set_allocator(None)
    cupy.cuda.set_pinned_memory_allocator(None)


if __name__ == "__main__":
    main()

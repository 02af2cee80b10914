"""Whole partitions and mappings of small graphs on emulated lanes, with work items in any order."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any
from unittest import mock

import numpy as np

from portpart import generators
from portpart.algorithms.coarsening import row_pieces
from portpart.algorithms.coarsening.broken_groups import group_by_nets
from portpart.algorithms.coarsening.cluster_rules import cluster_rule
from portpart.algorithms.coarsening.communities import communities
from portpart.algorithms.coarsening.contraction import contract
from portpart.algorithms.coarsening.hierarchy import coarsen
from portpart.algorithms.coarsening.large_nets import in_order, places_by_nets, reduced_nets
from portpart.algorithms.coarsening.net_contraction import contract_nets, merged_nets
from portpart.algorithms.coarsening.net_proposals import NetProposals
from portpart.algorithms.coarsening.options import ClusteringOptions, CommunityOptions, NetOptions
from portpart.algorithms.coarsening.ranks.hierarchy import Fold, coarsen_ranks
from portpart.algorithms.final_balance.empty_blocks import with_empty_filled
from portpart.algorithms.final_balance.overload import with_heavy_apart
from portpart.algorithms.incremental import edits, nets as nets_followed
from portpart.algorithms.initial import GrowingOptions, partition_net_by_net
from portpart.algorithms.mapping.mappers import mapper_of
from portpart.algorithms.multilevel.greedy_start import grown_parts
from portpart.algorithms.multilevel.problem import Constraints, MappingProblem, Problem
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.objectives import communication, cut, net_cost
from portpart.algorithms.objectives.candidates import costs_and_weights
from portpart.algorithms.objectives.distances import distances_on
from portpart.algorithms.objectives.limits import Balance
from portpart.algorithms.objectives.net_cost import net_objective
from portpart.algorithms.recipes.nearby_owners import MoveRule
from portpart.algorithms.recipes.partitioners import lookup
from portpart.algorithms.recipes.portpart import PortpartConfig
from portpart.algorithms.recipes.portpart_ranks import partition_ranks
from portpart.algorithms.refinement import options as sizes, rebalancing, work_arrays as lanes
from portpart.algorithms.refinement.blocks.previous_blocks import PreviousBlocks
from portpart.algorithms.refinement.flows import state as networks
from portpart.algorithms.refinement.flows.flow_refiner import FlowRefiner
from portpart.algorithms.refinement.gains import state as active_sets
from portpart.algorithms.refinement.nets.best_sequence import sequence_pieces
from portpart.algorithms.refinement.nets.constrained import constrained_on_nets
from portpart.algorithms.refinement.options import FlowOptions, RefinementOptions, SequenceOptions
from portpart.api.bounds import bounds_for, start_with_fixed
from portpart.api.mapping_call import mapped_by
from portpart.api.request import _finished
from portpart.backends.communication import Communicator, Local
from portpart.backends.language import Kernel
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.graph import Graph
from portpart.graphs.ranks.distribution import distributed
from portpart.graphs.topology import Topology
from portpart.inputs.constructors import from_edges
from portpart.options import changed
from tests import oracles
from tests.golden.cases import weighted
from tests.helpers.emulation.emulated_edits import (
    by_critical_pins,
    by_pseudo_block,
    edited_graph,
    edited_nets,
)
from tests.helpers.emulation.emulated_flows import with_flows
from tests.helpers.emulation.emulated_rounds import of_population
from tests.helpers.emulation.lanes import LanesSpace
from tests.helpers.nets import circuit, hypergraph_of, neighbourhoods, with_weights
from tests.helpers.ranks.cut_rows import borders, rows_of
from tests.helpers.ranks.rank_rows import move_anywhere
from tests.helpers.refining import balance_of, refiner_at
from tests.helpers.spaces import clusters_of, reference

GRAPHS: dict[str, Callable[[], Graph]] = {
    "mesh": lambda: generators.delaunay(48),
    "weighted": lambda: weighted(generators.random_geometric(44), 2, vertices=20, edges=9),
    "skewed": lambda: generators.rmat(5, 4),
}
HYPERGRAPHS = {"circuit": lambda: circuit(60, 5, large=30, weighted=True),
               "large net": lambda: with_weights(circuit(80, 6, large=70), [30, *[1] * 79]),
               "network": lambda: neighbourhoods(generators.rmat(5))}
SMALL = {"coarsening.coarsest_per_block": 2, "coarsening.min_coarsest": 8}
"""Coarsening goes on for small graphs too."""

SECTIONS = {"preset": changed(PortpartConfig(), {"initial.starts": 2, **SMALL}),
            "min_coarsest": 4}
"""The same for multisection."""

EAGER = MoveRule(min_ghosts=0, max_left=0.6, spacing=1)
"""Vertices move to other ranks, after their copies have been counted."""

INHERITING = GrowingOptions(candidates=2, max_candidates=4, trials=3, refined_trials=2,
                            min_vertices=8, split_vertices=4, net_by_net=2)
"""Starts grow on coarser graphs first."""

IMPROVED = ClusteringOptions(improve_rounds=1)

SIZES: dict[str, list[tuple[Any, str, Any]]] = {
    "long lists": [(active_sets, "LONG", 10), (active_sets, "MANY", 0), (active_sets, "FEW", 0),
                   (rebalancing.rule, "MANY_VERTICES", 100)],
    "degrees": [*((module, "max_arcs", lambda team: 6) for module in (lanes, sizes)),
                (net_cost, "MAX_LOW_DEGREE", 3), (cut, "MAX_PAIRWISE", 3), (cut, "MAX_IN_TABLE", 3),
                (communication, "MAX_ALONG", 3), (communication, "MAX_IN_TABLE", 3)],
    "little scratch": [(row_pieces, "MAX_SCRATCH", 40_000)],
    "little memory": [(networks, "TEAM_BYTES", 8)],
    "few rows": [(nets_followed, "MAX_SPARE_ROWS", 0), (edits, "FEW", 1)],
}
"""Sizes from which on work is done in another way, made small: vertices with more than 3 neighbours
have many, and with more than 6 they are hubs."""


@dataclass(frozen=True)
class Case:
    """One partition, or a mapping if there is a machine; `changes` are to a preset."""

    graph: str
    algorithm: str
    proposal: str = ""
    changes: tuple[tuple[str, Any], ...] = ()
    machine: str = ""

    def __str__(self) -> str:
        return " ".join(filter(None, [self.graph, self.algorithm, self.proposal, self.machine,
                                      *(name for name, _ in self.changes)]))


def cases() -> dict[Case, int]:
    """Each with a number of lanes: every algorithm has one, two and three."""
    found = {Case(graph, algorithm): (i + j) % 3 + 1 for i, graph in enumerate(GRAPHS)
             for j, algorithm in enumerate(("portpart", "jet", "gkway", "gpmetis", "igkway"))}
    sections, integrated, flows = (*SECTIONS.items(),), (*SMALL.items(),), (("flows.levels", 9),)
    idle = (("refinement.finest.iteration_limit", 0), ("refinement.coarse.iteration_limit", 0),
            ("initial.growing.finest_passes", 0))
    inheriting = ("initial.growing", INHERITING), ("clustering", IMPROVED)
    found.update({
        Case("mesh", "portpart", "fixed"): 2, Case("weighted", "portpart", "initial"): 3,
        Case("weighted", "portpart", "initial homes"): 2,
        Case("mesh", "jet", "fixed initial"): 1, Case("skewed", "portpart", "target"): 1,
        Case("mesh", "portpart", "", (("search.runs", 2), ("search.cycles", 1))): 2,
        Case("mesh", "hm", "", sections, "tree"): 2,
        Case("mesh", "hm", "fixed", sections, "tree"): 1,
        Case("weighted", "hm", "", (*sections, ("slack_shares", (0.0, 0.5)), ("cycles", 1)),
             "tree"): 1,
        Case("weighted", "im", "", integrated, "tree"): 3,
        Case("skewed", "im", "", integrated, "line"): 2,
        Case("mesh", "two-phase", "", (), "line"): 1,
        Case("mesh", "im", "paper", integrated, "line"): 2,
        Case("mesh", "hm", "paper fixed", (), "tree"): 2,
        Case("mesh", "jet", "paper"): 2, Case("skewed", "gkway", "paper"): 3,
        Case("mesh", "jet", "code"): 3, Case("mesh", "gpmetis", "paper"): 2,
        Case("mesh", "gpmetis", "initial", (("handoff_vertices", 16),)): 2,
        Case("mesh", "portpart", "inheriting", inheriting): 3,
        Case("skewed", "portpart", "", flows): 2,
        Case("mesh", "blocks of ranks", "", (*flows, *idle)): 2,
        Case("weighted", "blocks of ranks", "moved", (("flows.max_level", 0),)): 2,
        Case("grid", "flows"): 3, Case("grid", "flows", "little memory"): 2,
        Case("circuit", "flows of nets"): 2,
        Case("circuit", "nets"): 2, Case("circuit", "starts of nets"): 3,
        Case("large net", "values"): 2, Case("skewed", "rounds"): 3,
        Case("network", "jet on nets", "until balanced"): 2,
        Case("large net", "jet on nets"): 3, Case("large net", "jet on nets", "degrees"): 2,
        Case("large net", "sequences"): 3, Case("circuit", "groups of nets"): 2,
        Case("large net", "constrained nets", "degrees"): 2,
        Case("skewed", "empty blocks"): 2, Case("circuit", "empty blocks"): 3,
        **{Case(graph, "ranks"): 2 + i % 2 for i, graph in enumerate((*GRAPHS, "star"))},
        Case("skewed", "ranks", "moved"): 2, Case("mesh", "blocks of ranks", "moved"): 3,
        Case("weighted", "blocks of ranks"): 2, Case("skewed", "blocks of ranks", "degrees"): 3,
        Case("weighted", "edits"): 3, Case("large net", "edits of nets", "few rows"): 2,
        Case("weighted", "pseudo block"): 2, Case("weighted", "pseudo block", "degrees"): 3,
        Case("circuit", "critical pins"): 3, Case("mesh", "jet", "long lists"): 3,
        Case("path", "rows", "little scratch"): 2, Case("large net", "rounds"): 2,
        Case("skewed", "jet", "degrees"): 2, Case("skewed", "gkway", "degrees"): 3,
        Case("skewed", "im", "degrees", integrated, "tree"): 3,
        Case("skewed", "im", "degrees", integrated, "line"): 2,
    })
    return found


@functools.cache
def outcome(case: Case, lanes: int) -> tuple[np.ndarray, dict[Kernel, int]]:
    """The blocks, and by kernel how many lanes it had; with 0 lanes on one thread of the CPU."""
    others = {"rows": _contracted, "ranks": _coarsened_by_ranks, "nets": _coarsened,
              "blocks of ranks": _divided_by_ranks, "flows": with_flows,
              "flows of nets": _with_flows_of_nets, "groups of nets": _grouped,
              "jet on nets": _refined, "starts of nets": _grown, "values": _valued,
              "sequences": _refined, "constrained nets": _refined, "empty blocks": _filled,
              **dict.fromkeys(EDITS, _edited)}
    run = others.get(case.algorithm, _mapped if case.machine else _partitioned)
    if lanes == 0:
        return run(reference(), case), {}
    space = Recording(lanes)
    with ExitStack() as changed:
        for module, name, value in SIZES.get(case.proposal, []):
            changed.enter_context(mock.patch.object(module, name, value))
        return run(space, case), space.kernels


class Recording(LanesSpace):
    """Emulated lanes that remember the kernels that have run.

    The space is taken for one that has teams, so what such spaces alone do is done.
    """

    widest_team = 256

    def __init__(self, lanes: int) -> None:
        super().__init__(lanes, seed=lanes)
        self.kernels: dict[Kernel, int] = {}

    def run_flat(self, n: int, kernel: Kernel, args: tuple[Any, ...], team: int) -> None:
        lanes = self.lanes if team > 1 else 1
        self.kernels[kernel] = max(lanes, self.kernels.get(kernel, 0))
        super().run_flat(n, kernel, args, team)


def preset_of(case: Case) -> str:
    """The preset that `changes` are made to."""
    return next((name for name in ("paper", "code") if name in case.proposal), "default")


def _partitioned(space: ExecutionSpace, case: Case, k: int = 3) -> np.ndarray:
    graph = GRAPHS[case.graph]().to(space)
    random = np.random.default_rng(1)
    some = space.asarray(random.integers(0, k, graph.num_vertices), np.int32)
    few = space.asarray(np.where(random.random(graph.num_vertices) < 0.1, 1, -1), np.int32)
    ties = space.asarray(random.integers(0, 4, graph.num_vertices))
    fixed = few if "fixed" in case.proposal else None
    initial = some if "initial" in case.proposal else None
    constraints = Constraints(fixed, start_with_fixed(space, initial, fixed),
                              previous_blocks=PreviousBlocks(some, ties) if "homes" in case.proposal
                              else None)
    target = [1, 2, 2] if "target" in case.proposal else None
    bounds = bounds_for(graph, k, 0.03, target, constraints.fixed, 0)
    run, config = lookup(case.algorithm, preset_of(case))
    config = changed(config, {**SMALL, **dict(case.changes)})
    problem = Problem(graph, bounds.balance, 4, Trace(space, graph, None), constraints)
    return oracles.host(_finished(problem, run(problem, config), bounds)[0])


def _coarsened(space: ExecutionSpace, case: Case) -> np.ndarray:
    """All rows of the coarser hypergraphs."""
    finest = reduced_nets(HYPERGRAPHS[case.graph]().to(space), NetOptions())
    finest = merged_nets(finest, finest.num_vertices)
    rule = cluster_rule(finest, 20, finest.total_vertex_weight, IMPROVED,
                        NetProposals(NetOptions(40)))
    levels = coarsen(space, finest, rule, stop_at=20, max_kept=0.9, contraction=contract_nets,
                     labels=(communities(finest, 1, CommunityOptions(max_net_size=9)),))
    wide = reduced_nets(hypergraph_of([list(range(v, v + 6)) for v in (0, 1, 0)], 7).to(space),
                        NetOptions())
    dense = hypergraph_of([[u for u in range(7) if u != v % 7] for v in range(40)], 7).to(space)
    places = places_by_nets(dense, NetOptions(max_rated=2))
    assert places is not None
    graphs = [*(level.graph for level in levels), wide, in_order(dense, places)]
    return np.concatenate([oracles.host(array) for graph in graphs
                           for array in graph.arrays.values() if array is not None])


def _contracted(space: ExecutionSpace, case: Case) -> np.ndarray:
    """All rows of a coarser graph of more clusters than a tile has, each sorted."""
    ids = np.arange(2100)
    coarse = contract(generators.grid_2d(1, len(ids)).to(space),
                      clusters_of(space, ids // 2, len(ids) // 2))
    return np.concatenate([np.ravel(sorted(oracles.arcs(coarse))), oracles.vertex_weights(coarse)])


def _coarsened_by_ranks(space: ExecutionSpace, case: Case) -> np.ndarray:
    """The clusters of all levels of a graph that belongs to three ranks."""
    graph = GRAPHS[case.graph]() if case.graph in GRAPHS else from_edges(
        [(0, i) for i in range(1, 50)])
    first = borders(graph.num_vertices, 3, 1)

    def main(comm: Communicator) -> list[np.ndarray]:
        rows = rows_of(graph, first[comm.rank], first[comm.rank + 1], space)
        made = distributed(comm, rows)
        if case.proposal == "moved":
            made = move_anywhere(made, 1).graph
        ids = made.local.global_ids[: made.local.num_vertices]
        labels = space.asarray((oracles.host(ids) // 9).astype(np.int32))
        levels = [level for label in (None, labels) for level in coarsen_ranks(
            made, 6, graph.total_vertex_weight // 6, ClusteringOptions(max_left=0.0),
            Fold(8, 100), stop_at=6, max_kept=0.99, skip_above=0.5, seed=2, labels=[label])]
        return [oracles.host(level.cluster) for level in levels if level.cluster is not None]

    return np.concatenate([each for found in Local(3).run(main) for each in found])


def _divided_by_ranks(space: ExecutionSpace, case: Case) -> np.ndarray:
    """The blocks of a graph that belongs to three ranks, within limits that are hard to keep."""
    graph = GRAPHS[case.graph]()
    first = borders(graph.num_vertices, 3, 1)
    rule = EAGER if case.proposal == "moved" else None
    config = changed(PortpartConfig(), {
        "coarsening.min_coarsest": 8, "coarsening.coarsest_per_block": 2,
        "initial.growing.slack": 0.0,
        "refinement.coarse": RefinementOptions(weak_limit=1, iteration_limit=6),
        "refinement.finest": RefinementOptions(weak_limit=1, iteration_limit=6)})
    config = changed(config, dict(case.changes))

    def main(comm: Communicator) -> np.ndarray:
        part = distributed(comm, rows_of(graph, first[comm.rank], first[comm.rank + 1], space))
        imbalance = 0.3 if case.changes else 0.0
        blocks, _ = partition_ranks(part, balance_of(graph, 3, imbalance), config, 1,
                                    Trace(space, part, None), Fold(8, 100), rule=rule)
        return oracles.host(blocks)

    return np.concatenate(Local(3).run(main))


def _with_flows_of_nets(space: ExecutionSpace, case: Case) -> np.ndarray:
    """Two blocks of a hypergraph, drawn vertex by vertex, after rounds of flow refinement."""
    hypergraph = HYPERGRAPHS[case.graph]().to(space)
    drawn = np.random.default_rng(4).integers(0, 2, hypergraph.num_vertices)
    part = space.asarray(drawn, np.int32)
    FlowRefiner(space, hypergraph, balance_of(hypergraph, 2), FlowOptions(round_limit=3), 1,
                net_cost.NET_COSTS["km1"]).refine(hypergraph, part, None, 9)
    return oracles.host(part)


def _grouped(space: ExecutionSpace, case: Case) -> np.ndarray:
    """The groups of a hypergraph."""
    hypergraph = HYPERGRAPHS[case.graph]().to(space)
    return oracles.host(group_by_nets(hypergraph, 30, 3, 1, 20).cluster)


def _grown(space: ExecutionSpace, case: Case) -> np.ndarray:
    """Partitions grown net by net, and on coarser hypergraphs, on one hierarchy and on two."""
    hypergraph = HYPERGRAPHS[case.graph]().to(space)
    balance, once = balance_of(hypergraph, 3), INHERITING
    parts = [partition_net_by_net(hypergraph, 3, None, balance.limits, 4, once)]
    for options in (once, replace(once, hierarchies=2)):
        parts += [*grown_parts(hypergraph, balance, options, 4)]
    return np.concatenate([oracles.host(part) for part in parts])


def _valued(space: ExecutionSpace, case: Case) -> np.ndarray:
    """What several partitions of a hypergraph cost and weigh, and where macros should be."""
    hypergraph = HYPERGRAPHS[case.graph]().to(space)
    drawn = np.random.default_rng(1).integers(0, 3, 4 * hypergraph.num_vertices).astype(np.int32)
    parts = space.asarray(drawn).reshape(4, -1)
    found = costs_and_weights(hypergraph, parts, 3, net_objective("km1"))
    apart = with_heavy_apart(hypergraph, parts, balance_of(hypergraph, 3))
    return np.concatenate([each.ravel() for each in (*found, oracles.host(apart))])


def _refined(space: ExecutionSpace, case: Case) -> np.ndarray:
    """Blocks of a hypergraph, from a start that is not balanced."""
    hypergraph = HYPERGRAPHS[case.graph]()
    start = (np.random.default_rng(1).random(hypergraph.num_vertices) ** 2 * 3).astype(np.int32)
    pieces = {"sequences": sequence_pieces(SequenceOptions()),
              "constrained nets": constrained_on_nets()}.get(case.algorithm)
    refiner, here = refiner_at(space, hypergraph, start, 3, objective=net_objective("km1"),
                               pieces=pieces, until_balanced=case.proposal == "until balanced")
    outcome = refiner.refine(here, 0.75)
    return np.append(oracles.host(refiner.best), outcome["cut"])


def _filled(space: ExecutionSpace, case: Case) -> np.ndarray:
    """Blocks of which two were empty."""
    made = (GRAPHS | HYPERGRAPHS)[case.graph]().to(space)
    part = (np.arange(made.num_vertices) % 3).astype(np.int32)
    blocks = np.array([made.total_vertex_weight] * 3 + [0, 0], np.int64)
    balance = Balance(5, made.total_vertex_weight, 1)
    return oracles.host(with_empty_filled(made, space.asarray(part), blocks, balance, None)[0])


EDITS = {"edits": edited_graph, "edits of nets": edited_nets, "pseudo block": by_pseudo_block,
         "critical pins": by_critical_pins, "rounds": of_population}


def _edited(space: ExecutionSpace, case: Case) -> np.ndarray:
    """What has become of a graph by edits, or of its partitions by rounds."""
    return EDITS[case.algorithm]({**GRAPHS, **HYPERGRAPHS}[case.graph]().to(space))


MACHINES = {"tree": Topology("2:3", "1:10"),
            "line": Topology.from_matrix(abs(np.subtract.outer(np.arange(4), np.arange(4))))}


def _mapped(space: ExecutionSpace, case: Case) -> np.ndarray:
    graph, machine = GRAPHS[case.graph]().to(space), MACHINES[case.machine]
    few = np.where(np.arange(graph.num_vertices) % 10 == 0, 1, -1)
    fixed = space.asarray(few, np.int32) if "fixed" in case.proposal else None
    mapper, config = mapper_of(case.algorithm, preset_of(case), machine.is_hierarchy)
    config = changed(config, dict(case.changes))
    problem = MappingProblem(
        graph, balance_of(graph, machine.num_elements), 4, Trace(space, graph, None),
        Constraints(fixed), topology=machine, distances=distances_on(space, machine))
    return oracles.host(mapped_by(mapper, problem, config, swapped=True)[0])

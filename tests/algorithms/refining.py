"""A level under refinement, phase by phase, and plain answers about its state."""

from __future__ import annotations

from typing import Any

import numpy as np

from portpart.algorithms.balance.limits import Balance
from portpart.algorithms.refinement import gain_cache as destinations
from portpart.algorithms.refinement import loss_buckets as buckets
from portpart.algorithms.refinement import moves
from portpart.algorithms.refinement import state as at
from portpart.algorithms.refinement.jet_refinement import JetRefiner
from portpart.algorithms.refinement.options import RefinementOptions
from portpart.backends.interface import ExecutionSpace
from portpart.graphs.graph import Graph
from tests import oracles
from tests.algorithms.spaces import launch


def balance_of(graph: Graph, k: int, imbalance: str = "0.03") -> Balance:
    total = graph.total_vertex_weight
    return Balance(k, oracles.block_weight_limit(total, k, imbalance), total // k)


def refiner_at(space: ExecutionSpace, graph: Graph, part: Any, k: int, imbalance: str = "0.03",
               **options: Any) -> tuple[JetRefiner, Graph]:
    """A refiner that starts from `part`, and the graph in the refiner's space."""
    here = graph.to(space)
    refiner = JetRefiner(space, here, balance_of(graph, k, imbalance),
                         RefinementOptions(**options), 7)
    refiner.start(here, space.asarray(part, np.int32))
    return refiner, here


def part_of(refiner: JetRefiner, name: str = "best") -> np.ndarray:
    return oracles.host(refiner.vertex_arrays[name]).copy()


class Phases:
    """The refinement of one level, launched phase by phase."""

    def __init__(self, space: ExecutionSpace, graph: Graph, part: Any, k: int,
                 hub_degree: int | None = None) -> None:
        self.space, self.k = space, k
        self.refiner, self.graph = refiner_at(space, graph, part, k)
        self.n = graph.num_vertices
        self.team = self.refiner.team_on(graph)
        self.state = self.refiner.words.copy()
        self.state[at.ITERATION] = 0
        self.state[at.LONG] = graph.num_vertices  # all lists are work for teams
        if hub_degree is not None:
            self.state[at.HUB_DEGREE] = hub_degree
            self.refiner.other_arrays["hubs"] = space.empty(max(1, self.n), np.int32)
        self.begin()

    def run(self, count: int, kernel: Any, team: int | None = None) -> None:
        state = self.space.asarray(self.state)
        arrays = {**self.graph.arrays, **self.refiner.vertex_arrays, **self.refiner.other_arrays,
                  "state": state, "filter_ratio": 0.75, "tolerance": 0.999, "fixed": None,
                  "lone": 0, "sub_buckets": buckets.sub_buckets_for(self.k, self.n)}
        launch(self.space, count, kernel, arrays, team or self.team)
        self.state = oracles.host(state).copy()

    def begin(self) -> None:
        """Forget everything but the partition."""
        self.refiner.vertex_arrays["touched"][: self.n] = 1
        self.state[at.MARKED] = 0
        self.run(self.n, destinations.begin_vertex, team=1)
        self.refresh()

    def refresh(self) -> None:
        dirty, self.state[at.MARKED] = int(self.state[at.MARKED]), 0
        self.state[at.DIRTY], self.state[at.GROUP] = dirty, 1
        few = destinations.choose_destination(self.refiner.counter, int(self.state[at.FEW_ARCS]))
        self.run(dirty, few)
        many = destinations.choose_destination_of_many(self.refiner.counter)
        self.run(dirty, many, destinations.COUNTING_TEAM)
        of_hub = destinations.choose_destination_of_hub(self.refiner.counter)
        self.run(int(self.state[at.HUBS]), of_hub, team=256)

    def move(self, vertices: np.ndarray, blocks: np.ndarray) -> None:
        arrays = self.refiner.vertex_arrays
        for name, values in (("wish", blocks), ("moved_in", self.state[at.ITERATION])):
            array = self.array(name)
            array[vertices] = values
            arrays[name] = self.space.asarray(array)
        movers = self.array("move_list")
        movers[: len(vertices)] = vertices
        arrays["move_list"] = self.space.asarray(movers)
        self.state[at.MOVES] = len(vertices)
        self.run(len(vertices), moves.weigh_moves)
        self.run(int(self.state[at.HUBS]), moves.weigh_moves_of_hubs, team=256)
        self.state[at.ITERATION] += 1
        self.run(len(vertices), moves.move_vertex, team=1)

    def array(self, name: str) -> np.ndarray:
        arrays = {**self.refiner.vertex_arrays, **self.refiner.other_arrays}
        return oracles.host(arrays[name]).copy()


def counted_rows(graph: Graph, part: np.ndarray) -> list[dict[int, int]]:
    """Weight of the arcs of each vertex into each block, by a plain loop."""
    rows: list[dict[int, int]] = [{} for _ in range(graph.num_vertices)]
    blocks = part.tolist()
    for u, v, weight in oracles.arcs(graph):
        if weight > 0:
            rows[u][blocks[v]] = rows[u].get(blocks[v], 0) + weight
    return rows

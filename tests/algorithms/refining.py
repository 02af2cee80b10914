"""A level under refinement, phase by phase, and plain answers about its state."""

from __future__ import annotations

from typing import Any

import numpy as np

from portpart.algorithms.refinement import connectivity
from portpart.algorithms.refinement import state as at
from portpart.algorithms.refinement.balance import Balance
from portpart.algorithms.refinement.jet_refinement import JetRefiner, RefinementOptions
from portpart.algorithms.teams import team_for
from portpart.backends.interface import ExecutionSpace
from portpart.graph import Graph
from portpart.metrics import block_weight_limit
from tests import oracles
from tests.algorithms.spaces import launch


def balance_of(graph: Graph, k: int, imbalance: str = "0.03") -> Balance:
    total = graph.total_vertex_weight
    return Balance(k, block_weight_limit(total, k, imbalance), total // k)


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

    def __init__(self, space: ExecutionSpace, graph: Graph, part: Any, k: int) -> None:
        self.space, self.k = space, k
        self.refiner, self.graph = refiner_at(space, graph, part, k)
        self.n = graph.num_vertices
        self.team = team_for(graph.mean_degree)
        capacity = np.minimum(np.diff(oracles.host(graph.offsets)), k)
        begin = np.concatenate([[0], np.cumsum(capacity)])
        self.row_begin = space.asarray(begin, graph.offsets.dtype)
        self.state = self.refiner.state
        self.state[at.ITERATION] = 0
        self.begin()

    def run(self, count: int, kernel: Any, team: int | None = None) -> None:
        state = self.space.asarray(self.state)
        arrays = {**self.graph.arrays, **self.refiner.vertex_arrays, **self.refiner.other_arrays,
                  "row_begin": self.row_begin, "state": state, "filter_ratio": 0.75, "fixed": None}
        launch(self.space, count, kernel, arrays, team or self.team)
        self.state = oracles.host(state).copy()

    def begin(self) -> None:
        """Forget everything but the partition."""
        self.run(self.n, connectivity.begin_vertex, team=1)
        self.state[at.DIRTY] = self.n
        self.refresh()

    def refresh(self) -> None:
        dirty = int(self.state[at.DIRTY])
        self.run(dirty, connectivity.count_row)
        self.run(dirty, connectivity.choose_destination)
        self.state[at.DIRTY] = 0

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
        self.run(len(vertices), connectivity.leave_block)
        self.run(len(vertices), connectivity.enter_block)
        self.state[at.ITERATION] += 1

    def array(self, name: str) -> np.ndarray:
        arrays = {**self.refiner.vertex_arrays, **self.refiner.other_arrays}
        return oracles.host(arrays[name]).copy()

    def rows(self) -> dict[int, dict[int, int]]:
        """Weight by block of every vertex that has a row."""
        begin, keys, sums = oracles.host(self.row_begin), self.array("keys"), self.array("sums")
        result = {}
        for v in np.flatnonzero(self.array("row_valid")).tolist():
            slots = [slot for slot in range(begin[v], begin[v + 1]) if keys[slot] >= 0]
            row = {int(keys[slot]): int(sums[slot]) for slot in slots}
            assert len(row) == len(slots), f"a block has two slots in the row of {v}"
            result[v] = row
        return result


def counted_rows(graph: Graph, part: np.ndarray) -> list[dict[int, int]]:
    """Weight of the arcs of each vertex into each block, by a plain loop."""
    rows: list[dict[int, int]] = [{} for _ in range(graph.num_vertices)]
    for u, v, weight in oracles.arcs(graph):
        if weight > 0:
            block = int(part[v])
            rows[u][block] = rows[u].get(block, 0) + weight
    return rows

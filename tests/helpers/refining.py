"""A level under refinement, phase by phase, and plain answers about its state."""

from __future__ import annotations

from typing import Any

import numpy as np

from portpart.algorithms.multilevel.refiners import pieces_for
from portpart.algorithms.objectives.cut import CUT, HUB_TEAM, low_degree_limit
from portpart.algorithms.objectives.limits import Balance
from portpart.algorithms.objectives.objective import Objective, Shape
from portpart.algorithms.refinement.blocks.previous_blocks import PreviousBlocks
from portpart.algorithms.refinement.by_degree import DIRTY, ByDegree
from portpart.algorithms.refinement.gains.gain_cache import begin_vertex, refreshed
from portpart.algorithms.refinement.moves.state import move_vertex
from portpart.algorithms.refinement.options import (
    RefinementOptions,
    RefinementSizes,
    sub_buckets_for,
)
from portpart.algorithms.refinement.piece import LevelWords, Piece, Recording, Run, Widths
from portpart.algorithms.refinement.program import (
    record_refinement,
    weigh_moves,
    weigh_moves_of_hubs,
)
from portpart.algorithms.refinement.rebalancing.rule import BY_WEIGHT
from portpart.algorithms.refinement.refiner import Refiner
from portpart.backends.language import Record
from portpart.backends.language.records import Nothing
from portpart.backends.programs.interface import Array, ExecutionSpace
from portpart.backends.programs.program import Program
from portpart.graphs.graph import Graph
from portpart.graphs.structure import Structure
from tests import oracles
from tests.helpers.spaces import launch

FILTER_RATIO = 0.75


def balance_of(graph: Structure, k: int, imbalance: str = "0.03") -> Balance:
    total = graph.total_vertex_weight
    return Balance(k, oracles.block_weight_limit(total, k, imbalance), total // k)


def sizes_of(graph: Graph, k: int) -> RefinementSizes:
    return RefinementSizes(graph.num_vertices, graph.num_arcs, k)


def refiner_at(space: ExecutionSpace, graph: Any, part: Any, k: int, imbalance: str = "0.03",
               objective: Objective = CUT, pieces: tuple[Piece, ...] | None = None,
               **options: Any) -> tuple[Refiner, Any]:
    """A refiner that starts from `part`, and the graph in the refiner's space."""
    here = graph.to(space)
    refiner = Refiner(space, here, balance_of(graph, k, imbalance), RefinementOptions(**options), 7,
                      objective=objective, pieces=pieces or pieces_for(objective))
    refiner.start(here, space.asarray(part, np.int32))
    return refiner, here


def copied(array: Array) -> np.ndarray:
    """What an array of a space holds now."""
    return oracles.host(array).copy()


def recorded(refiner: Refiner, graph: Graph, widths: Widths) -> Program:
    """The program of a refiner for a level whose vertices are worked on like this."""
    program = Program("refinement")
    program.record("graph", refiner.rows(graph), opened=True)
    program.record("tables", refiner.objective.tables)
    for name, each in refiner.own.items():
        program.record(name, each)
    run = program.record("run", refiner.run, opened=True)
    record_refinement(Recording(program, run, widths, refiner.objective.rules, refiner.pieces))
    return program


def widest(objective: Objective, shape: Shape, one_lane: bool) -> Widths:
    """What takes the most scratch memory: vertices of all degrees, or long lists of those with few.

    Lone lanes work on graphs only where no vertex has more neighbours than they take.
    """
    alone = 0
    if one_lane:
        alone = low_degree_limit(shape._replace(team=1, mean_degree=0.0))
        shape = shape._replace(mean_degree=min(shape.mean_degree, alone),
                               max_degree=min(shape.max_degree, alone))
    return Widths(of_many=1 if one_lane else shape.team, team=shape.team, high_degree=not one_lane,
                  hubs=not one_lane, counter=shape.counter,
                  max_low_degree=objective.low_degree_limit(shape), one_lane=alone)


class Phases:
    """The refinement of one level, launched phase by phase.

    Attributes
    ----------
    run : Run
        Work arrays in the space.
    level : LevelWords
        Words of the host: a launch starts from them and leaves them as it has set them.
    """

    def __init__(self, space: ExecutionSpace, graph: Structure, part: Any, k: int,
                 hub_degree: int | None = None, objective: Objective = CUT,
                 previous_blocks: PreviousBlocks | None = None) -> None:
        self.space, self.k, self.objective = space, k, objective
        refiner, self.graph = refiner_at(space, graph, part, k, objective=objective)
        self.rows = refiner.rows(self.graph)
        self.n, self.counter = graph.num_vertices, refiner.lanes.counter
        self.team = refiner.lanes.team_on(graph)
        self.level = LevelWords(np.array(refiner.words.array))
        self.level.iteration = 0
        self.level.long = graph.num_vertices  # all lists are work for teams
        self.run = prepared(refiner.run, k, self.n)
        if previous_blocks is not None:
            self.run = self.run.replaced(blocks=self.run.blocks.replaced(
                previous=previous_blocks.previous, move_cost=previous_blocks.move_cost))
        if hub_degree is not None:
            self.level.hub_degree = hub_degree
            hubs = space.empty(max(1, self.n), np.int32)
            self.run = self.run.replaced(active=self.run.active.replaced(hub_list=hubs))
        self.begin()

    def launch(self, count: int, kernel: Any, team: int | None = None, **given: Any) -> None:
        words = self.space.asarray(self.level.array)
        arguments = {**opened(self.run, LevelWords(words)), "graph": self.rows,
                     **dict(self.rows.named()),
                     "tables": self.objective.tables, "more": Nothing(), "one_lane": 0,
                     "rules": self.objective.rules, "rule": BY_WEIGHT,
                     "net_cost": self.objective.rules.net_cost, **given}
        launch(self.space, count, kernel, arguments, team or self.team)
        self.level = LevelWords(copied(words))

    def begin(self) -> None:
        """Forget everything but the partition."""
        self.run.incumbent.touched[: self.n] = 1
        self.level.marked = 0
        self.launch(self.n, begin_vertex, team=1)
        self.begin_hubs()
        self.refresh()

    def begin_hubs(self) -> None:
        """Do what is to be done once about hubs."""

    def refresh(self) -> None:
        dirty, self.level.marked = int(self.level.marked), 0
        self.level.dirty, self.level.group = dirty, 1
        kernels = ByDegree(refreshed, DIRTY, self.objective.rules)
        self.launch(dirty, kernels.low_degree(self.counter, int(self.level.max_low_degree)))
        self.launch(dirty, kernels.high_degree(self.counter),
                    self.objective.rules.team_of_high_degree)
        self.refresh_hubs(kernels)

    def refresh_hubs(self, kernels: ByDegree) -> None:
        self.launch(int(self.level.hubs), kernels.of_hub(self.counter), team=HUB_TEAM)

    def move(self, vertices: np.ndarray, blocks: np.ndarray) -> None:
        moves, count = self.run.moves, len(vertices)
        for array, values in ((moves.target, blocks), (moves.moved_in, self.level.iteration)):
            changed = copied(array)
            changed[vertices] = values
            array[:] = self.space.asarray(changed)
        moves.listed[:count] = self.space.asarray(vertices, np.int32)
        self.level.moves = count
        self.launch(count, weigh_moves)
        self.launch(int(self.level.hubs), weigh_moves_of_hubs, team=HUB_TEAM)
        self.level.iteration += 1
        self.launch(count, move_vertex, team=1)


def opened(run: Run, level: LevelWords) -> dict[str, Any]:
    """The pieces of refinement by their names, over these words."""
    pieces = {name: piece.over(level) for name, piece in run.named()
              if isinstance(piece, Record)}
    return {**pieces, "level": level, "figures": level, "before": run.before}


def prepared(run: Run, k: int, n: int) -> Run:
    """What a run of the refiner sets for a graph of n vertices."""
    return run.replaced(
        rebalancing=run.rebalancing.replaced(sub_buckets=sub_buckets_for(k, n)),
        cache=run.cache.replaced(filter_ratio=FILTER_RATIO),
        incumbent=run.incumbent.replaced(tolerance=0.999))


def counted_rows(graph: Graph, part: np.ndarray) -> list[dict[int, int]]:
    """Weight of the arcs of each vertex into each block, by a plain loop."""
    rows: list[dict[int, int]] = [{} for _ in range(graph.num_vertices)]
    blocks = part.tolist()
    for u, v, weight in oracles.arcs(graph):
        if weight > 0:
            rows[u][blocks[v]] = rows[u].get(blocks[v], 0) + weight
    return rows

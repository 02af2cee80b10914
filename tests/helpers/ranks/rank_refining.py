"""Levels refined by ranks and by one device, where ghosts are compared with their vertices."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Any

import numpy as np

from portpart.algorithms.objectives.limits import Balance
from portpart.algorithms.refinement.options import RefinementOptions
from portpart.algorithms.refinement.ranks import refiner
from portpart.algorithms.refinement.ranks.refiner import RankRefiner
from portpart.algorithms.refinement.refiner import Refiner
from portpart.api.bounds import bounds_for
from portpart.backends.communication import Communicator, Local
from portpart.backends.programs.interface import Array, ExecutionSpace
from portpart.errors import PortpartError
from portpart.graphs.graph import Graph
from portpart.graphs.ranks.distribution import distributed
from portpart.graphs.ranks.rank_rows import DistributedGraph
from tests.helpers.emulation.ghosts import Field, GhostSpace
from tests.helpers.ranks.cut_rows import rows_of
from tests.helpers.ranks.rank_rows import move_anywhere

OPTIONS = RefinementOptions(tolerance=0.999, stall_limit=5)

KNOWN = {"moves": ("part", "moved_in", "locked_in"), "cache": ("best_target", "gain"),
         "incumbent": ("best",)}
"""What a ghost has as its vertex has it, whenever a partition is evaluated."""

TOLD = ("best_target", "gain")
"""What a ghost has as its vertex has it, whenever a kernel reads it."""


class Stale(AssertionError):
    """A ghost does not have what its vertex has."""


class Watching:
    """The communicator of a rank; ghosts are compared with their vertices at each evaluation.

    Attributes
    ----------
    refiners : dict
        Those of all ranks.
    """

    def __init__(self, comm: Communicator, refiners: dict[int, RankRefiner]) -> None:
        self.comm, self.rank, self.size, self.refiners = comm, comm.rank, comm.size, refiners
        self.compared = 0

    def all_reduce(self, words: Array, first: int, count: int, op: str) -> None:
        mine = self.refiners.get(self.rank)
        if mine is not None and words is mine._totals.words:
            self.comm.vote(None)
            try:
                self.compare(mine)
            except Stale as error:
                self.comm.vote(PortpartError(str(error)))
            self.comm.vote(None)
        self.comm.all_reduce(words, first, count, op)

    def all_to_all(self, parcel: Any) -> None:
        self.comm.all_to_all(parcel)

    def post(self, send: Array, numbers: np.ndarray, allocate: Any) -> tuple[Array, np.ndarray]:
        return self.comm.post(send, numbers, allocate)

    def vote(self, problem: Exception | None) -> None:
        self.comm.vote(problem)

    def compare(self, mine: RankRefiner) -> None:
        """Compare the ghosts of this rank with their vertices."""
        graph = mine._graph
        own = graph.local.num_vertices
        for place, name in enumerate(graph.ghost_names.tolist(), own):
            owner = int(np.searchsorted(graph.first, name, side="right")) - 1
            there, v = self.refiners[owner].run, name - int(graph.first[owner])
            for record, fields in KNOWN.items():
                for field in fields:
                    here = getattr(getattr(mine.run, record), field)[place]
                    if here != getattr(getattr(there, record), field)[v]:
                        raise Stale(f"{field} of ghost {name}")
            self.compared += 1


def balance_of(graph: Graph, k: int, imbalance: float = 0.03, target: Any = None) -> Balance:
    return bounds_for(graph, k, imbalance, target, None, 0).balance


def start_of(graph: Graph, k: int, seed: int) -> np.ndarray:
    """Blocks drawn at random, but not evenly."""
    rng = np.random.default_rng(seed)
    return np.minimum(rng.integers(0, k, graph.num_vertices),
                      rng.integers(0, k, graph.num_vertices)).astype(np.int32)


def begin(one: Refiner, graph: Graph, seed: int) -> None:
    """Begin with blocks that are evaluated, and left as they are."""
    options = one.finest_options
    one.finest_options = replace(options, iteration_limit=0)
    one.start(graph, start_of(graph, one.balance.num_blocks, seed))
    one.refine(graph, 0.0)
    one.finest_options = options


def refined(graph: Graph, balance: Balance, passes: tuple[float, ...], seed: int,
            options: RefinementOptions,
            fixed: np.ndarray | None = None) -> tuple[list[int], list[int]]:
    """What one device comes to."""
    one = Refiner(graph.space, graph, balance, options, seed)
    begin(one, graph, seed)
    one.project(graph, np.arange(graph.num_vertices, dtype=np.int32))
    for number, ratio in enumerate(passes):
        if number:
            one.restart(graph)
        outcome = one.refine(graph, ratio, fixed)
    return one.best[: graph.num_vertices].tolist(), [outcome["cut"], outcome["iterations"]]


class FromBlocks(RankRefiner):
    """A refiner whose coarser level is the same graph, which all ranks have."""

    fields: dict[str, Field] | None = None

    def _hold(self, graph: DistributedGraph) -> None:
        super()._hold(graph)
        if self.fields is None:
            return
        watched = {}
        for name in TOLD:
            self.fields[name].name = name
            array = np.asarray(getattr(self.run.cache, name))[: refiner.num_held(graph)]
            watched[name] = self.fields[name].watch(graph, self.space, array)
        self.run = self.run.replaced(cache=self.run.cache.replaced(**watched))
        self.comm.vote(None)


def refined_by_ranks(graph: Graph, first: list[int], balance: Balance, passes: tuple[float, ...],
                     seed: int, options: RefinementOptions, interpreted: bool = False,
                     compares: bool = True,
                     fixed: np.ndarray | None = None,
                     moved_by: int | None = None) -> tuple[list[int], list[int]]:
    """What ranks come to, after vertices have moved anywhere if a seed is given for that."""
    refiners: dict[int, RankRefiner] = {}
    fields: defaultdict[str, Field] = defaultdict(lambda: Field(""))

    def main(comm):
        space: ExecutionSpace = GhostSpace(comm.rank) if interpreted else graph.space
        watching = Watching(comm, refiners)
        part = distributed(watching, rows_of(graph, *first[comm.rank : comm.rank + 2], space))
        moved = None if moved_by is None else move_anywhere(part, moved_by)
        part = part if moved is None else moved.graph
        whole = replace(graph, space=space)
        ranks = FromBlocks([part, whole], balance, options, seed)
        ranks.fields = fields if interpreted else None
        begin(ranks, whole, seed)
        ranks.project(part, part.local.global_ids)
        if compares:
            refiners[comm.rank] = ranks
        comm.vote(None)
        for number, ratio in enumerate(passes):
            if number:
                ranks.restart(part)
            own = None if fixed is None else fixed[slice(*first[comm.rank : comm.rank + 2])]
            if moved is not None and own is not None:
                own = moved.taken_along(own)
            outcome = ranks.refine(part, ratio, own)
        best = np.asarray(ranks.best)[: part.local.num_vertices]
        found = (best if moved is None else moved.brought_back(best)).tolist()
        return found, [outcome["cut"], outcome["iterations"]], watching.compared, part.num_ghosts

    results = Local(len(first) - 1).run(main)
    assert all((compared > 0) == (compares and num_ghosts > 0)
               for _, _, compared, num_ghosts in results)
    assert all(outcome == results[0][1] for _, outcome, _, _ in results)
    return [block for found, *_ in results for block in found], results[0][1]



"""Refinement over ranks ends with the bits of one device; ghosts know what their owners know."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portpart import generators
from portpart.algorithms.balance.limits import Balance
from portpart.algorithms.refinement.options import RefinementOptions
from portpart.algorithms.refinement.piece import Recording
from portpart.algorithms.refinement.ranks import ghosts, refiner, sums
from portpart.algorithms.refinement.ranks.refiner import RankRefiner
from portpart.algorithms.refinement.rebalancing.steps import RebalancingSteps
from portpart.algorithms.refinement.refiner import Refiner
from portpart.api.bounds import bounds_for
from portpart.backends.communication import Communicator, Local
from portpart.backends.interface import Array, ExecutionSpace
from portpart.errors import PortpartError
from portpart.graphs.distributed import DistributedGraph
from portpart.graphs.distribution import distributed
from portpart.graphs.graph import Graph
from portpart.primitives.owners import clear_arrived, record_push
from tests.ghosts import Field, GhostSpace
from tests.graphs import graphs, random_graph
from tests.ranks import SIZES, borders, cut_graphs, rows_of

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
            options: RefinementOptions) -> tuple[list[int], list[int]]:
    """What one device comes to."""
    one = Refiner(graph.space, graph, balance, options, seed)
    begin(one, graph, seed)
    one.project(graph, np.arange(graph.num_vertices, dtype=np.int32))
    for number, ratio in enumerate(passes):
        if number:
            one.restart(graph)
        outcome = one.refine(graph, ratio)
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
            array = np.asarray(getattr(self.run.cache, name))[: refiner.room_for(graph)]
            watched[name] = self.fields[name].watch(graph, self.space, array)
        self.run = self.run.replaced(cache=self.run.cache.replaced(**watched))
        self.comm.vote(None)


def refined_by_ranks(graph: Graph, first: list[int], balance: Balance, passes: tuple[float, ...],
                     seed: int, options: RefinementOptions, interpreted: bool = False,
                     compares: bool = True) -> tuple[list[int], list[int]]:
    """What ranks come to."""
    refiners: dict[int, RankRefiner] = {}
    fields: defaultdict[str, Field] = defaultdict(lambda: Field(""))

    def main(comm):
        space: ExecutionSpace = GhostSpace(comm.rank) if interpreted else graph.space
        watching = Watching(comm, refiners)
        part = distributed(watching, rows_of(graph, *first[comm.rank : comm.rank + 2], space))
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
            outcome = ranks.refine(part, ratio)
        found = np.asarray(ranks.best)[: part.local.num_vertices].tolist()
        return found, [outcome["cut"], outcome["iterations"]], watching.compared, part.num_ghosts

    results = Local(len(first) - 1).run(main)
    assert all((compared > 0) == (compares and num_ghosts > 0)
               for _, _, compared, num_ghosts in results)
    assert all(outcome == results[0][1] for _, outcome, _, _ in results)
    return [block for found, *_ in results for block in found], results[0][1]


CASES = {
    "mesh": (generators.delaunay(700), 5, 0.03),
    "geometric, tight": (generators.random_geometric(600), 4, 0.0),
    "skewed": (generators.rmat(9), 3, 0.03),
    "weights": (random_graph(500, 1500, 1, weighted=True, vertex_weighted=True), 7, 0.05),
    "heavy vertices": (random_graph(400, 900, 3, vertex_weighted=True), 16, 0.01),
    "hub": (random_graph(600, 3000, 4, skewed=True), 2, 0.03),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", CASES)
def test_ranks_come_to_the_partition_of_one_device(name, size):
    graph, k, imbalance = CASES[name]
    balance = balance_of(graph, k, imbalance)
    for passes, options in (((0.75, 0.25), OPTIONS), ((0.0,), replace(OPTIONS, weak_limit=0))):
        wanted = refined(graph, balance, passes, size, options)
        first = borders(graph.num_vertices, size, size)
        assert refined_by_ranks(graph, first, balance, passes, size, options) == wanted


@settings(max_examples=60)
@given(cut_graphs(graphs(40, loops=False).filter(lambda graph: graph.num_vertices >= 8)),
       st.integers(2, 5), st.sampled_from([0.0, 0.03, 0.3]), st.integers(0, 99))
def test_any_graph_is_refined_by_ranks_as_by_one_device(drawn, k, imbalance, seed):
    graph, first = drawn
    balance, passes = balance_of(graph, k, imbalance), (0.5, 0.0)
    assert refined_by_ranks(graph, first, balance, passes, seed, OPTIONS) == refined(
        graph, balance, passes, seed, OPTIONS)


@settings(max_examples=25)
@given(cut_graphs(graphs(24, loops=False).filter(lambda graph: graph.num_vertices >= 8)),
       st.sampled_from([0.0, 0.3]), st.integers(0, 99))
def test_no_kernel_reads_a_gain_that_is_out_of_date(drawn, imbalance, seed):
    graph, first = drawn
    balance = balance_of(graph, 3, imbalance)
    assert refined_by_ranks(graph, first, balance, (0.5,), seed, OPTIONS, interpreted=True) == (
        refined(graph, balance, (0.5,), seed, OPTIONS))


class Untold(ghosts.GhostSteps):
    """Gains are not told."""

    def refresh_hubs(self, this: Recording) -> None:
        pass


class UntoldMoves(ghosts.GhostSteps):
    """Moves are not told."""

    def account(self, this: Recording) -> None:
        this.program.launch(1, clear_arrived)


class Unmarked(ghosts.GhostSteps):
    """What is beside ghosts that move is not out of date."""

    def account(self, this: Recording) -> None:
        records: Any = this.program.records
        record_push(this.program, records["halo"], records["mail"], [this.run.moves.target],
                    this.run.moves.listed, this.run.level.moves)


class Unmoved(ghosts.GhostSteps):
    """Ghosts stay."""

    def end(self, this: Recording) -> None:
        pass


class Unknown(ghosts.GhostSteps):
    """Ghosts keep what they knew on the coarser level."""

    def begin(self, this: Recording) -> None:
        this.program.launch(1, clear_arrived)


class AllRestore(sums.SumSteps):
    """All ranks begin with the weights and the cost of the best partition."""

    def begin(self, this: Recording) -> None:
        pass


class OwnSums(sums.SumSteps):
    """Ranks evaluate their own sums."""

    def add_up(self, this: Recording) -> dict[str, Any]:
        return {}


class OwnThresholds(sums.RankRebalancingSteps):
    """Ranks have thresholds of their own."""

    def _set_thresholds(self, this: Recording) -> None:
        RebalancingSteps._set_thresholds(self, this)


class OwnRows(sums.RankRebalancingSteps):
    """What leaves a rank stands at the front of the row."""

    def _place(self, this: Recording) -> None:
        pass


MUTATIONS = (Untold, UntoldMoves, Unmarked, Unmoved, Unknown, AllRestore, OwnSums, OwnThresholds,
             OwnRows)


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_what_is_left_out_is_noticed(mutation, monkeypatch):
    wrong = tuple(mutation() if isinstance(piece, mutation.__bases__) else piece
                  for piece in refiner.RANK_JET)
    assert sum(isinstance(piece, mutation) for piece in wrong) == 1
    monkeypatch.setattr(refiner, "RANK_JET", wrong)
    options = replace(OPTIONS, weak_limit=0 if mutation is OwnRows else OPTIONS.weak_limit)
    in_python = mutation.__bases__ != (sums.RankRebalancingSteps,)
    noticed = 0
    for seed in range(4):  # by Python, where what is wrong may lead anywhere
        graph = random_graph(40, 100, seed) if in_python else generators.delaunay(700, seed=seed)
        n = graph.num_vertices
        balance, first = balance_of(graph, 4, 0.0), [0, n // 3, n]
        wanted = refined(graph, balance, (0.75,), seed, options)
        try:
            noticed += wanted != refined_by_ranks(graph, first, balance, (0.75,), seed, options,
                                                  interpreted=in_python)
        except (PortpartError, AssertionError):
            noticed += 1
    assert noticed

"""Refinement over ranks reads no ghost that is out of date, and what is left out is noticed."""


from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from portpart import generators
from portpart.algorithms.refinement.piece import Recording
from portpart.algorithms.refinement.ranks import ghosts, refiner, sums
from portpart.algorithms.refinement.rebalancing.steps import RebalancingSteps
from portpart.errors import PortpartError
from portpart.primitives.owners import clear_arrived, record_push
from tests.helpers.graphs import graphs, random_graph
from tests.helpers.ranks.rank_refining import (
    OPTIONS,
    balance_of,
    refined,
    refined_by_ranks,
    start_of,
)
from tests.helpers.ranks.rank_rows import cut_graphs


@settings(max_examples=25)
@given(cut_graphs(graphs(24, loops=False).filter(lambda graph: graph.num_vertices >= 8)),
       st.sampled_from([0.0, 0.3]), st.integers(0, 99), st.booleans())
def test_no_kernel_reads_a_gain_that_is_out_of_date(drawn, imbalance, seed, some_fixed):
    graph, first = drawn
    balance, n = balance_of(graph, 3, imbalance), graph.num_vertices
    fixed = None
    if some_fixed:  # in the blocks where they begin; nothing is known of ghosts
        fixed = np.where(np.arange(n) % 4 == 0, start_of(graph, 3, seed), -1).astype(np.int32)
    assert refined_by_ranks(graph, first, balance, (0.5,), seed, OPTIONS, interpreted=True,
                            fixed=fixed) == refined(graph, balance, (0.5,), seed, OPTIONS, fixed)


@settings(max_examples=15)
@given(cut_graphs(graphs(24, loops=False).filter(lambda graph: graph.num_vertices >= 8)),
       st.sampled_from([0.0, 0.3]), st.integers(0, 99))
def test_no_kernel_reads_a_gain_that_is_out_of_date_where_vertices_have_moved(drawn, imbalance,
                                                                             seed):
    graph, first = drawn
    balance, options = balance_of(graph, 3, imbalance), replace(OPTIONS, weak_limit=0)
    assert refined_by_ranks(graph, first, balance, (0.5,), seed, options, interpreted=True,
                            moved_by=seed) == refined(graph, balance, (0.5,), seed, options)


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

"""The work arrays of refinement: allocation, growth, and size in bytes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from operator import attrgetter
from typing import Any

import numpy as np

from portpart.algorithms.objectives import Balance, Objective, Shape, cut
from portpart.algorithms.refinement.blocks import Blocks
from portpart.algorithms.refinement.gains import state as active_sets
from portpart.algorithms.refinement.incumbent import PAGE_LENGTH, WORDS
from portpart.algorithms.refinement.options import RefinementSizes, max_arcs
from portpart.algorithms.refinement.piece import PIECES, SIZE, LevelWords, Piece, Run, Widths
from portpart.backends.language import Record, Word
from portpart.backends.programs import ExecutionSpace, bytes_of
from portpart.graphs import Csr, Structure, WithMeasures, team_for

STATES, PAGES = 3, 2
"""Numbers of states of refinement and of pages of outcomes that exist at once."""

MANY = 2**22
"""With this many more vertices or arcs, all arrays that depend on their number are made longer."""

NAMES = Run.field_names[: len(PIECES)]
"""The names of the records that hold work arrays."""


def run_for(space: ExecutionSpace, sizes: RefinementSizes, balance: Balance) -> Run:
    """Allocate the work arrays of refinement."""
    blocks = Blocks.allocate(
        space, sizes, limits=space.asarray(balance.limits), means=space.asarray(balance.means),
        open_below=space.asarray(balance.open_below), fixed=None)
    nothing = LevelWords(space.zeros(len(LevelWords.indices), np.int64))
    pieces: dict[str, Any] = {
        name: blocks if piece is Blocks else piece.allocate(space, sizes)
        for name, piece in zip(Run.field_names, PIECES)}
    return Run(**pieces, level=nothing, before=nothing)


def own_records(pieces: tuple[Piece, ...], space: ExecutionSpace, sizes: RefinementSizes,
                run: Run) -> dict[str, Record]:
    """Return the records that belong to a single piece."""
    return {name: record for piece in pieces
            for name, record in piece.records(space, sizes, run).items()}


def rows_for(pieces: tuple[Piece, ...], space: ExecutionSpace, finest: Structure,
             num_blocks: int) -> Callable[[Any], Csr]:
    """Return a function from a graph to its rows: that of a piece, if any, else `graph.csr`."""
    found = (piece.rows(space, finest, num_blocks) for piece in pieces)
    return next(filter(None, found), attrgetter("csr"))


@lru_cache(maxsize=256)
def refining_bytes(sizes: RefinementSizes) -> int:
    """Return the bytes of what all refinement keeps: work arrays, words and outcomes."""
    words = STATES * SIZE + PAGES * PAGE_LENGTH * WORDS
    return bytes_of(PIECES, sizes) + words * np.dtype(np.int64).itemsize


def shortened(run: Run, before: RefinementSizes, after: RefinementSizes) -> Run:
    """Return the run without the arrays whose length differs between the two sizes."""
    return run.replaced(**{name: getattr(run, name).lasting(before, after) for name in NAMES})


def lengthened(run: Run, space: ExecutionSpace, sizes: RefinementSizes) -> Run:
    """Return the run with all missing arrays allocated."""
    return run.replaced(**{name: getattr(run, name).completed(space, sizes) for name in NAMES})


def taking(run: Run, other: Run, sizes: RefinementSizes) -> Run:
    """Copy the arrays of another run into those of a run, except arrays per vertex or arc."""
    vertices, arcs = sizes.vertices + MANY, sizes.arcs + MANY
    few = replace(sizes, finest=max(vertices, sizes.finest))
    more = replace(few, vertices=vertices, arcs=arcs)
    for name in NAMES:
        mine, kept = getattr(run, name), getattr(other, name).lasting(few, more)
        for field in mine.declared:
            if getattr(kept, field) is not None:
                getattr(mine, field)[:] = getattr(kept, field)
    return run.replaced(level=other.level)


# Lanes for the vertices of a graph, by their degrees -------------------------------------------


MIN_TEAM, WIDE_TEAM = 8, 32
"""Lanes for a vertex of one of the lists, which are short: a single lane would take longer."""

MAX_IN_GROUP = 8
"""Number of vertices that a team examines together, to find those with many neighbours."""


@dataclass(frozen=True)
class Lanes:
    """Numbers of lanes on one kind of device.

    Attributes
    ----------
    objective : Objective
    num_blocks : int
    counter : Word
        Type of numbers that hold any sum of arc weights.
    widest_team : int
        Maximum number of lanes for a vertex.
    sums_hubs : bool
        Whether the connectivity of hubs is summed up first.
    """

    objective: Objective
    num_blocks: int
    counter: Word
    widest_team: int
    sums_hubs: bool

    def team_on(self, graph: WithMeasures) -> int:
        """Return the number of lanes for a vertex of one of the lists."""
        return MIN_TEAM if graph.whole.mean_degree <= self.objective.wide_degree else WIDE_TEAM

    def one_lane_degree(self, graph: WithMeasures) -> int:
        """Return the maximum degree, if long lists are processed by single lanes; else 0."""
        whole = graph.whole
        may_be_long = (self.widest_team > 1 and whole.num_vertices > active_sets.LONG
                       and self.objective.lone_lanes)
        max_degree = cut.low_degree_limit(self._shape(graph, 1, 0.0)) if may_be_long else 0
        return max_degree if whole.max_degree <= max_degree else 0

    def words_on(self, graph: WithMeasures, num_vertices: int, one_lane: int) -> dict[str, int]:
        """Return the words with the lanes of kernels, with at most this many vertices per list.

        `one_lane` is the degree that `one_lane_degree` returns.
        """
        team, several = self.team_on(graph), self.widest_team > 1
        shape = self._shape(graph, team, graph.whole.mean_degree)
        return {
            "max_low_degree": int(self.objective.low_degree_limit(shape)),
            # low if many teams share a hub
            "hub_degree": max_arcs(1 if self.sums_hubs else team),
            "max_in_group": min(MAX_IN_GROUP, self.widest_team),
            "long": active_sets.LONG if one_lane else num_vertices,
            "many_on_boundary": active_sets.MANY if several else num_vertices,
        }

    def widths(self, graph: WithMeasures, words: dict[str, int], one_lane: int) -> Widths:
        """Return the teams for the vertices of a graph, with these words and that degree."""
        whole, team = graph.whole, self.team_on(graph)
        max_low_degree, hub = words["max_low_degree"], words["hub_degree"]
        return Widths(
            1 if team_for(whole.mean_degree) == 1 else team, team,
            high_degree=whole.max_degree > max_low_degree, hubs=whole.max_degree > hub,
            counter=self.counter, max_low_degree=max_low_degree,
            one_lane=one_lane, summed=whole.max_degree > hub and self.sums_hubs)

    def _shape(self, graph: WithMeasures, team: int, mean_degree: float) -> Shape:
        return Shape(team, self.widest_team, self.num_blocks, self.counter, mean_degree,
                     graph.whole.max_degree)

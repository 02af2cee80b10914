"""Pieces of refinement: what each of them records in the phases of a pass.

An algorithm is a tuple of pieces, its *recipe*.  The program of a level (`program.py`) runs the
phases, and in each phase the pieces, in order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from portpart.algorithms.objectives import HUB_TEAM, Rules
from portpart.algorithms.refinement.blocks import Blocks
from portpart.algorithms.refinement.gains import ActiveSets, GainCache, UnratedList
from portpart.algorithms.refinement.incumbent import Incumbent
from portpart.algorithms.refinement.moves import Moves
from portpart.algorithms.refinement.options import Figures, RefinementOptions, RefinementSizes
from portpart.algorithms.refinement.rebalancing import Rebalancing
from portpart.backends.language import Kernel, Record, Word
from portpart.backends.programs import Element, ExecutionSpace, Program, Records
from portpart.graphs import Csr


class LevelWords(Figures, Moves.own_words, GainCache.own_words, ActiveSets.own_words,
                 Incumbent.own_words, Blocks.own_words, UnratedList.own_words,
                 Rebalancing.own_words):
    """The words of all pieces, in memory of the space.

    The host writes them before a run and reads none during it.
    """


SIZE = len(LevelWords.indices)


class Run(Record):
    """The records of refinement; `before` has the words of the previous run."""

    moves: Moves
    cache: GainCache
    active: ActiveSets
    incumbent: Incumbent
    blocks: Blocks
    unrated: UnratedList
    rebalancing: Rebalancing
    level: LevelWords
    before: LevelWords


PIECES: tuple[type[Record], ...] = (
    Moves, GainCache, ActiveSets, Incumbent, Blocks, UnratedList, Rebalancing)
"""The records that hold work arrays."""


class Widths(NamedTuple):
    """Teams for the vertices of a graph: all vertices, those with many neighbours, and hubs.

    Attributes
    ----------
    of_many : int
        Lanes for a vertex of a list that may be long.
    team : int
        Lanes for a vertex of a list that is usually short.
    high_degree, hubs : bool
        Whether there are vertices of these kinds.
    counter : Word
        Type of numbers that hold any sum of arc weights.
    max_low_degree : int
        Vertices of higher degree have many neighbours.
    one_lane : int
        Maximum degree, if it is so small that long lists are processed by single lanes; else 0.
    summed : bool
        Whether the connectivity of hubs is summed up before it is needed.
    """

    of_many: int
    team: int
    high_degree: bool
    hubs: bool
    counter: Word
    max_low_degree: int
    one_lane: int = 0
    summed: bool = False

    def of_list(self, team: int) -> tuple[tuple[int, int], ...]:
        """Return lanes, and whether each vertex has one, for launches over a list of any length."""
        return ((team, 0), (1, 1)) if self.one_lane else ((team, 0),)


@dataclass(frozen=True, eq=False)
class Recording:
    """A program that is being recorded, and the records of its launches.

    Attributes
    ----------
    program : Program
    run : Run
        Slots.
    widths : Widths
    rules : Rules
    pieces : tuple of Piece
    """

    program: Program
    run: Run
    widths: Widths
    rules: Rules
    pieces: tuple[Piece, ...]

    def __post_init__(self) -> None:
        self.program.statics.update(rules=self.rules, net_cost=self.rules.net_cost)
        for piece in self.pieces:
            self.program.statics.update(piece.statics)


@dataclass(frozen=True)
class Piece:
    """A part of refinement, which owns a record or adds a step.

    A piece is a frozen dataclass: its fields, if it has any, are options and static values, and are
    a part of the key of compiled programs.  It has a method for each phase in which it acts; the
    method adds launches to the program that is being recorded.

    Attributes
    ----------
    loses : bool
        Whether moves may lose as much as the filter ratio allows.
    holds_heavy : bool
        Whether vertices that are heavy for a block stay.
    """

    loses = False
    holds_heavy = False

    @property
    def statics(self) -> dict[str, Any]:
        """Static values, which launches find by name."""
        return {}

    def with_options(self, options: RefinementOptions) -> Piece:
        """Return the piece for the options of a level."""
        return self

    def records(self, space: ExecutionSpace, sizes: RefinementSizes, run: Run) -> dict[str, Record]:
        """Return its own records, by their names in kernels."""
        return {}

    def adapted(self, space: ExecutionSpace, run: Run) -> Run:
        """Return the shared records, changed as the piece needs them."""
        return run

    def rows(self, space: ExecutionSpace, finest: Any,
             num_blocks: int) -> Callable[[Any], Csr] | None:
        """Return a function from a graph to its rows, if these are not `graph.csr`."""
        return None

    def sums_hubs(self, num_blocks: int) -> bool:
        """Whether it sums up the connectivity of hubs before their gains are computed."""
        return False

    def begin(self, this: Recording) -> None:
        """Start a level, before the first evaluation."""

    def activate(self, this: Recording) -> None:
        """Start a run around some vertices, which have been marked as stale."""

    def refresh(self, this: Recording) -> None:
        """Update the state at the start of an iteration; pieces do so side by side."""

    def refresh_hubs(self, this: Recording) -> None:
        """Update the state of hubs whose connectivity has been summed up."""

    def move(self, this: Recording) -> None:
        """Choose the moves of the iteration, if all blocks are within their limits."""

    def rebalance(self, this: Recording) -> None:
        """Choose the moves of the iteration, if a block is overloaded."""

    def account(self, this: Recording) -> None:
        """Account for the moves."""

    def add_up(self, this: Recording) -> Records:
        """Add up values for the next evaluation; return records with the sums, by parameters."""
        return {}

    def end(self, this: Recording) -> None:
        """End an iteration, side by side with the evaluation of the partition."""

    def finish(self, this: Recording) -> None:
        """End a level, after the last iteration."""


class Variant(NamedTuple):
    """Options and pieces of a pass that has others than the refiner.

    Attributes
    ----------
    options : RefinementOptions
    pieces : tuple of Piece
    """

    options: RefinementOptions
    pieces: tuple[Piece, ...]


def launch_with_hubs(this: Recording, count: Element, kernels: tuple[Kernel, Kernel],
                     team: int, pieces: Element | None = None) -> None:
    """Launch the kernel for a list with this many lanes, and the kernel for hubs, side by side.

    The latter is launched for chunks of hubs (`pieces`), if they are given.
    """
    program, widths = this.program, this.widths
    with program.side_by_side():
        for lanes, one_lane in widths.of_list(team):
            program.launch(count, kernels[0], team=lanes, one_lane=one_lane)
        if widths.hubs:
            hubs = this.run.level.hubs if pieces is None else pieces
            program.launch(hubs, kernels[1], team=HUB_TEAM)


def record_accounts(this: Recording) -> None:
    """Record how all pieces account for moves."""
    for piece in this.pieces:
        piece.account(this)


def record_ends(this: Recording) -> None:
    """Record how all pieces end an iteration."""
    for piece in this.pieces:
        piece.end(this)

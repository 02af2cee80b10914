"""The best partition as a piece: start from it, keep it, and record outcomes of runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from portpart.algorithms.refinement import Figures, LevelWords, Piece, Recording
from portpart.algorithms.refinement.incumbent.state import Incumbent, save_best
from portpart.algorithms.refinement.moves import Moves, set_cost, set_weight
from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace

# The piece: start from the best partition, and keep it -----------------------------------------


@kl.kernel
def restore_block(b, moves: Moves, incumbent: Incumbent, figures: Figures):
    """Set the weight of block b to that of the best partition."""
    set_weight(b, incumbent.best_weight[b], moves, figures)


@kl.kernel
def restore_cost(stripe, moves: Moves, before: LevelWords):
    """Set the cost to that of the best partition of the previous run."""
    set_cost(stripe, before.best_cost, moves)


@dataclass(frozen=True)
class IncumbentSteps(Piece):
    """The best partition.

    Attributes
    ----------
    save : Kernel
        Saves the changes of the best partition.
    """

    save: kl.Kernel = save_best  # type: ignore[has-type]  # the doors form a circle to mypy

    def begin(self, this: Recording) -> None:
        """Start from the weights and the cost of the best partition, if there is one."""
        level = this.run.level
        this.program.launch(level.restored_blocks, restore_block)
        this.program.launch(level.restored_stripes, restore_cost)

    def refresh(self, this: Recording) -> None:
        """Save the last partition if it is the best."""
        this.program.launch(this.run.level.saves, self.save)

    finish = refresh


# Outcomes of refinement, kept in the space of the graph until they are read --------------------


NAMES = ("cut", "overload", "balanced", "iterations")
CUT, OVERLOAD, BALANCED, ITERATIONS = range(len(NAMES))
WORDS = len(NAMES)

PAGE_LENGTH = 64
"""Number of outcomes that are read together."""


class RefinementOutcome(Mapping[str, int]):
    """The outcome of one run, a number by name.  Reading one waits for all runs so far.

    ``cut``; ``overload``, the maximum by which a block exceeds its limit; ``balanced``, whether all
    blocks are within their limits, on a coarse level with some slack; ``iterations``.
    """

    def __init__(self, page: Outcomes, index: int) -> None:
        self._page, self._index = page, index

    def __getitem__(self, name: str) -> int:
        return self._page.row(self._index)[NAMES.index(name)]

    @property
    def words(self) -> Array:
        """The numbers in the space of the graph, in the order of their names.  Does not wait."""
        begin = WORDS * self._index
        return self._page.words[begin : begin + WORDS]

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return WORDS


class Outcomes:
    """A page of outcomes of one refiner, to which `add` appends."""

    def __init__(self, space: ExecutionSpace) -> None:
        self.space, self.length = space, 0
        self.words = space.empty(PAGE_LENGTH * WORDS, np.int64)
        self._read: list[int] = []

    def add(self, level: LevelWords) -> RefinementOutcome:
        """Append the outcome of a launched run, which will be copied from its words."""
        self.space.parallel_for(1, note_outcome, level, level, self.words[WORDS * self.length :])
        self.length += 1
        return RefinementOutcome(self, self.length - 1)

    def row(self, index: int) -> list[int]:
        """Return the numbers of one run, read from the space with all that have been added."""
        begin = WORDS * index
        if len(self._read) <= begin:
            self._read = self.space.to_host(self.words[: WORDS * self.length]).tolist()
        return self._read[begin : begin + WORDS]


@kl.kernel
def note_outcome(_, incumbent: Incumbent, figures: Figures, words):
    """Copy the words of an outcome, in the order of their names."""
    words[CUT] = incumbent.best_cost
    words[OVERLOAD] = incumbent.best_overload + figures.slack
    words[BALANCED] = incumbent.best_is_balanced
    words[ITERATIONS] = figures.iteration

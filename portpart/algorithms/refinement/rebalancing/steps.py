"""Rebalancing as a piece: vertices leave overloaded blocks (Jet, section 4.2).

docs/pieces.md has a picture of its states.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

from portpart.algorithms.refinement import UNRATED, ByDegree, Piece, Recording, RefinementOptions
from portpart.algorithms.refinement.gains import keep_on_boundary, launch_by_degree
from portpart.algorithms.refinement.rebalancing import eviction
from portpart.algorithms.refinement.rebalancing.rule import (
    BY_WEIGHT,
    RebalancingRule,
    rebalancing_rule,
    set_threshold,
    swap_boundary,
)
from portpart.algorithms.refinement.rebalancing.strong import record_leaving, record_weight_change

GATHERING_TEAM = 32
"""Number of lanes that look for candidates in a batch of vertices."""

THRESHOLD_TEAM = 32
"""Number of lanes that scan the buckets of a block."""

When = Callable[[], AbstractContextManager[object]]
"""Returns a context for launches: of a branch, or of none."""


@dataclass(frozen=True)
class RebalancingSteps(Piece):
    """Weak and strong rebalancing.

    Attributes
    ----------
    rule : RebalancingRule
        How vertices and targets are selected.
    """

    rule: RebalancingRule = BY_WEIGHT

    def with_options(self, options: RefinementOptions) -> RebalancingSteps:
        """Return rebalancing with the rule that the options of a level select."""
        return replace(self, rule=rebalancing_rule(options))

    @property
    def statics(self) -> dict[str, Any]:
        """The rule, which `evaluate` also uses for its plan."""
        return {"rule": self.rule}

    def rebalance(self, this: Recording) -> None:
        """List and rate candidates, select the vertices that must leave, and move them."""
        program, level = this.program, this.run.level
        with program.if_nonzero(level.needs_compaction):
            program.launch(level.on_boundary, keep_on_boundary)
            program.launch(1, swap_boundary)
        with program.side_by_side():
            if self.rule.rates_boundary:
                program.launch(level.movable, eviction.list_movable_candidates)
                list_others(this)
            program.launch(level.swept, eviction.list_all_candidates, team=GATHERING_TEAM)
        self._rate(this)
        if self.rule.rates_boundary:
            self._rate_others(this)
        self._leave(this)

    def _rate_others(self, this: Recording) -> None:
        """Rate the rest of the boundary if the movable vertices are not enough."""
        with this.program.if_nonzero(this.run.level.short):
            with this.program.side_by_side():
                list_others(this)
            self._rate(this)

    def _rate(self, this: Recording, when: When = nullcontext) -> None:
        """Rate candidates that have only been listed, and set the thresholds.

        All launches are in contexts that `when` returns; sums over ranks are not.
        """
        program, level = this.program, this.run.level
        with when():
            if self.rule.rates_boundary:
                with program.if_nonzero(level.batches):
                    program.launch(level.candidates, eviction.rate_gathered)
            launch_by_degree(this, level.unrated, level.unrated_hubs,
                             ByDegree(eviction.Rated(self.rule), UNRATED, this.rules))
        self._set_thresholds(this, when)

    def _set_thresholds(self, this: Recording, when: When) -> None:
        """Record how the last slot that leaves each block is found."""
        with when():
            this.program.launch(this.run.level.blocks, set_threshold, team=THRESHOLD_TEAM)

    def _leave(self, this: Recording) -> None:
        """Record how vertices up to the thresholds leave: strongly or weakly."""
        program, level = this.program, this.run.level
        with program.if_nonzero(level.strong):
            self._leave_strongly(this)
        with program.otherwise():
            program.launch(level.candidates, eviction.evict_weakly)

    def _leave_strongly(self, this: Recording) -> None:
        """Record how leaving vertices are laid out in a row, and moved."""
        record_weight_change(this)
        self._place(this)
        record_leaving(this, self.rule)

    def _place(self, this: Recording) -> None:
        """Shift the positions of tiles by the weight that leaves other ranks, if there are any."""


def list_others(this: Recording) -> None:
    """List boundary vertices that are not movable, or gather them from a long list."""
    this.program.launch(this.run.level.single, eviction.list_other_candidates)
    this.program.launch(this.run.level.batches, eviction.gather_other_candidates,
                        team=GATHERING_TEAM)

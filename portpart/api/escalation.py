"""How much is done about a batch, by counts alone."""

from __future__ import annotations

from typing import NamedTuple

CYCLE_PART = 40
"""With edits of one in this many arcs or pins, all levels are refined."""

FULL_PART = 2
"""With edits of one in this many, the partition is rebuilt."""

GROWTH = 21, 20
"""All levels are refined when the objective has grown by this ratio, relative to the graph."""


class EscalationState(NamedTuple):
    """What has happened since all levels were refined.

    Attributes
    ----------
    edits : int
        Arcs or pins that have changed.
    cost, weight : int
        The objective then, and the total weight of edges or pins.
    hopeless : bool
        Whether bounds were broken even then.
    """

    edits: int
    cost: int
    weight: int
    hopeless: bool

    def effort(self, cost: int, weight: int, pairs: int, feasible: bool) -> str:
        """The effort that the current state requires."""
        if FULL_PART * self.edits > pairs:
            return "full"
        more, than = GROWTH
        grown = than * cost * max(1, self.weight) > more * self.cost * max(1, weight)
        broken = not (feasible or self.hopeless)
        if broken or CYCLE_PART * self.edits > pairs or (grown and self.edits > 0):
            return "cycle"
        return "local"

"""Which pieces kernels about nets take together, where they take more than a few."""

from __future__ import annotations

from portpart.algorithms.objectives.pin_state import PinCounts
from portpart.algorithms.refinement.nets.state import NetAfterburner, NetLists
from portpart.algorithms.refinement.state import (
    ActiveSets,
    Blocks,
    Figures,
    GainCache,
    Incumbent,
    Moves,
)
from portpart.backends.language import Scope


class Burning(Scope):
    """What tells pins of large nets what their moves gain."""

    moves: Moves
    cache: GainCache
    pin_counts: PinCounts
    afterburner: NetAfterburner


class Agreeing(Scope):
    """What tells which moves nets agree to, and keeps these."""

    moves: Moves
    cache: GainCache
    afterburner: NetAfterburner
    figures: Figures


class Announcing(Scope):
    """What vertices that want to move tell their nets."""

    moves: Moves
    cache: GainCache
    blocks: Blocks
    lists: NetLists
    pin_counts: PinCounts
    afterburner: NetAfterburner
    figures: Figures


class ActingOnNets(Scope):
    """The same, and who may want to move."""

    moves: Moves
    cache: GainCache
    active: ActiveSets
    blocks: Blocks
    lists: NetLists
    pin_counts: PinCounts
    afterburner: NetAfterburner
    figures: Figures


class Touching(Scope):
    """What changes when vertices move, before their nets are settled."""

    moves: Moves
    cache: GainCache
    active: ActiveSets
    incumbent: Incumbent
    blocks: Blocks
    lists: NetLists
    pin_counts: PinCounts
    figures: Figures


class Settling(Scope):
    """What changes for a net and vertices beside it when its pins have moved."""

    moves: Moves
    cache: GainCache
    lists: NetLists
    pin_counts: PinCounts
    figures: Figures

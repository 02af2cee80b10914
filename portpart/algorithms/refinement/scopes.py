"""Which pieces of refinement kernels take together, where they take more than a few."""

from __future__ import annotations

from portpart.algorithms.refinement.state import (
    ActiveSets,
    Blocks,
    Figures,
    GainCache,
    Incumbent,
    Moves,
    Rebalancing,
    UnratedList,
)
from portpart.backends.language import Scope


class Searching(Scope):
    """What the best block of a vertex depends on."""

    moves: Moves
    blocks: Blocks
    figures: Figures


class Entering(Scope):
    """What tells which block a vertex may enter, and keeps those that wait."""

    moves: Moves
    active: ActiveSets
    blocks: Blocks
    figures: Figures


class RatingLeavers(Scope):
    """What the loss of a vertex that may leave its block depends on, and where it is kept."""

    moves: Moves
    blocks: Blocks
    rebalancing: Rebalancing
    figures: Figures


class Propagating(Scope):
    """What tells which moves pay, and keeps the best ones."""

    moves: Moves
    cache: GainCache
    active: ActiveSets
    blocks: Blocks
    figures: Figures


class Joining(Scope):
    """What changes when vertices that were in no block join one."""

    moves: Moves
    cache: GainCache
    incumbent: Incumbent
    blocks: Blocks
    figures: Figures


class Accounting(Scope):
    """What changes when vertices move."""

    moves: Moves
    cache: GainCache
    active: ActiveSets
    incumbent: Incumbent
    blocks: Blocks
    figures: Figures


class ChoosingLegal(Scope):
    """What tells which moves keep the blocks balanced."""

    moves: Moves
    cache: GainCache
    active: ActiveSets
    blocks: Blocks
    unrated: UnratedList
    figures: Figures


class RatingByCache(Scope):
    """What rates a vertex that may leave, or lists it to be rated."""

    moves: Moves
    cache: GainCache
    blocks: Blocks
    unrated: UnratedList
    rebalancing: Rebalancing
    figures: Figures


class Deciding(Scope):
    """What tells where vertices go, for a gain or out of a block that is too heavy."""

    moves: Moves
    cache: GainCache
    active: ActiveSets
    blocks: Blocks
    unrated: UnratedList
    rebalancing: Rebalancing
    figures: Figures


class Dirty(Scope):
    """Vertices whose best block is out of date, and how many neighbours are many."""

    cache: GainCache
    active: ActiveSets
    figures: Figures


class Unrated(Scope):
    """Vertices that have been listed to be rated, and how many neighbours are many."""

    unrated: UnratedList
    figures: Figures

"""The words of a level, and the records of refinement as the host holds them."""

from __future__ import annotations

from portpart.algorithms.refinement.blocks import Blocks
from portpart.algorithms.refinement.gains import ActiveSets, GainCache, UnratedList
from portpart.algorithms.refinement.incumbent import Incumbent
from portpart.algorithms.refinement.moves import Moves
from portpart.algorithms.refinement.options import Figures
from portpart.algorithms.refinement.rebalancing import Rebalancing
from portpart.backends.language import Record


class LevelWords(Figures, Moves.own_words, GainCache.own_words, ActiveSets.own_words,
                 Incumbent.own_words, Blocks.own_words, UnratedList.own_words,
                 Rebalancing.own_words):
    """The words of all pieces, in memory of the space.

    The host writes them before a run and reads none during it.
    """


SIZE = len(LevelWords.indices)


class Run(Record):
    """The pieces of refinement; `before` are the words of the run before."""

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

"""What a round knows of the edits: new vertices, the dead, those weighed anew, changed pairs.

Kinds that a batch has not are empty arrays, so that one program does for every batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from portpart.algorithms.balance.limits import Balance
from portpart.algorithms.edits.batch import Births
from portpart.algorithms.edits.findings import Expected
from portpart.algorithms.edits.living import Dying, Living, Weighings
from portpart.algorithms.edits.operations import Changes
from portpart.algorithms.edits.tally import OF_SECOND, OF_VERTICES, Outcome, Tally
from portpart.algorithms.edits.update import Update
from portpart.backends import language as kl
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import Record, Words

FEW = 1024
"""So many new vertices are placed by one team."""


class TooEarly(Exception):
    """What it takes to follow a batch is not known as long as it is on its way."""


class Counts(Words):
    """How much there is of each kind.

    Attributes
    ----------
    born, first : int
        New vertices; the first, where their ids follow each other.
    few, many : int
        Whether these are few, or many.
    died, weighed, changed : int
    woken, awake : int
        New vertices and changed pairs that refinement is to look at: all, or none.  Without a batch
        `woken` may be others, that are listed as if they were new.
    go : int
        Whether there is anything to follow.
    unsure : int
        1 if a batch is followed that is on its way.  Then those that have changed are at first
        what is given, in so many `directions`, and the rest is learned from its outcome.
    directions, stores, lost, wakes : int
        And what is expected of it: stores that it has written, the weight of vertices that die;
        and whether refinement is to look at pairs.
    """

    born: int
    first: int
    few: int
    many: int
    died: int
    weighed: int
    changed: int
    woken: int
    awake: int
    go: int
    unsure: int
    directions: int
    stores: int
    lost: int
    wakes: int


class NewLimits(Words):
    """Limits that all blocks get.

    Attributes
    ----------
    limited : int
        Number of blocks; 0 if there are no new limits, or others for each.
    limit, mean, open_below : int
        As in `Blocks`.
    """

    limited: int
    limit: int
    mean: int
    open_below: int


SAME_LIMITS = NewLimits.of()
"""Blocks keep their limits."""


class Born(Record):
    """New vertices, and who is alive.

    Attributes
    ----------
    ids : array of int32, or None
        None where they follow each other.
    deaths : array of int32
        As `Living` has it.
    """

    ids: Array | None
    deaths: Array


@kl.device
def new_vertex(i, born: Born, counts: Counts):
    """The i-th new vertex."""
    return kl.value_or(born.ids, i, counts.first + i)


@kl.kernel
def learn_outcome(_, outcome: Outcome, counts: Counts):
    """Learn how many pairs have changed; go on if the batch has come to what is expected."""
    counts.changed += counts.directions * outcome[Tally.cleared]
    counts.awake = counts.wakes * counts.changed
    written = outcome[Tally.written] + outcome[OF_SECOND + Tally.written]
    counts.go = kl.int64(written == counts.stores
                      and outcome[OF_VERTICES + Tally.weight] == -counts.lost)


class Nothing:
    """Empty arrays of each kind, made once."""

    def __init__(self, space: ExecutionSpace) -> None:
        none, none32 = space.empty(0, np.int64), space.empty(0, np.int32)
        self.dying = Dying(none32, none32, none32, none32, none)
        self.weighed = Weighings(none32, none, none, 0)
        self.changes = Changes(none, none, none, none32, none)
        self.outcome = Outcome(none)
        self._born: Born | None = None

    def born(self, deaths: Array) -> Born:
        """New vertices whose ids follow each other; the same record until `deaths` is another."""
        if self._born is None or self._born.deaths is not deaths:
            self._born = Born(None, deaths)
        return self._born


def records_of(update: Update, vertices: Living, nothing: Nothing, refine: bool,
               limits: Balance | None, expected: Expected | None,
               woken: Array | None = None) -> dict[str, Any]:
    """The records of an update for a program; new limits, if they are alike for all blocks.

    `expected` is what the batch is expected to come to, if it is on its way; `woken` are vertices
    that refinement looks at where there is no batch.
    """
    births = [birth for birth in update.births if birth.living is vertices]
    dying, weighed = edits_of(update, vertices, nothing)
    changes = update.changes[-1] if update.changes else nothing.changes
    born, changed = sum(birth.number for birth in births), changes.length_of("keys")
    unsure = {}
    if expected is not None:
        changed = expected.operations * expected.directions
        unsure = {"unsure": 1, "directions": expected.directions, "stores": expected.stores,
                  "lost": expected.died, "wakes": int(refine)}
    ids = _ids(vertices.space, births) if woken is None else woken
    return {
        "born": nothing.born(vertices.deaths) if ids is None else Born(ids, vertices.deaths),
        "dying": dying, "weighed": weighed, "changes": changes,
        "outcome": nothing.outcome if expected is None else expected.outcome,
        "counts": Counts.of(
            born=born, first=births[0].first if births else 0, few=int(0 < born <= FEW),
            many=int(born > FEW), died=dying.length_of("died"),
            weighed=weighed.length, changed=changed,
            woken=len(woken) if woken is not None else born if refine else 0,
            awake=changed if refine else 0, go=1, **unsure),
        "new_limits": SAME_LIMITS if limits is None else NewLimits.of(
            limited=limits.num_blocks, limit=limits.max_block_weight,
            mean=limits.mean_block_weight, open_below=limits.one_open_below),
    }


def edits_of(update: Update, living: Living, nothing: Nothing) -> tuple[Dying, Weighings]:
    """Which ids of a kind have died, and which are weighed anew."""
    dying = next((each for kind, each in update.died if kind is living), nothing.dying)
    weighed = next((each for kind, each in update.weighed if kind is living), nothing.weighed)
    return dying, weighed


def _ids(space: ExecutionSpace, births: Sequence[Births]) -> Array | None:
    end = births[0].first if births else 0
    for birth in births:
        if birth.first != end:
            return space.asarray(np.concatenate([
                np.arange(birth.first, birth.first + birth.number) for birth in births]), np.int32)
        end += birth.number
    return None


def touched(update: Update) -> int:
    """How many pairs and vertices a batch is about."""
    return (sum(changes.length_of("keys") for changes in update.changes)
            + sum(birth.number for birth in update.births)
            + sum(dying.length_of("died") for _, dying in update.died)
            + sum(weighed.length for _, weighed in update.weighed))

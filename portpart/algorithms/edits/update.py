"""What a batch came to: the record from which it can be undone."""

from __future__ import annotations

from dataclasses import dataclass, field

from portpart.algorithms.edits.batch import Births
from portpart.algorithms.edits.living import Dying, Living, Weighings
from portpart.algorithms.edits.operations import Changes


@dataclass(frozen=True)
class Totals:
    """By how much pairs, their weight, and for each kind of ids number and weight change."""

    pairs: int
    pair_weight: int
    ids: list[tuple[Living, int, int]]


@dataclass(frozen=True)
class Update:
    """What a batch came to.

    The ends of pairs that changed are the rows of the keys of `changes`.  Of an objective that adds
    up over edges, each key of a graph whose row is the smaller end contributes its weight after the
    batch less that before, absent pairs nothing, where its ends are apart.

    Attributes
    ----------
    changes : list of Changes
        Of the pairs in each store, those of a graph in both directions; for hypergraphs the pins of
        nets, then the nets of vertices.  Empty if no pair was edited.
    births : list of Births
        New ids with their weights.
    died : list of (Living, Dying)
        Ids that died.
    weighed : list of (Living, Weighings)
        Ids with new weights.
    loops, merged, missing : int
        Self loops that were dropped, pairs that were there already, deletions of what was not
        there.
    """

    changes: list[Changes] = field(default_factory=list)
    births: list[Births] = field(default_factory=list)
    died: list[tuple[Living, Dying]] = field(default_factory=list)
    weighed: list[tuple[Living, Weighings]] = field(default_factory=list)
    loops: int = 0
    merged: int = 0
    missing: int = 0
    totals: Totals = field(default_factory=lambda: Totals(0, 0, []))

"""What a batch came to: the record from which it can be undone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from portpart.algorithms.edits.batch import Births
from portpart.algorithms.edits.living import Dying, Living, Weighings
from portpart.algorithms.edits.names import Named, Names
from portpart.algorithms.edits.operations import Changes


class Totals(NamedTuple):
    """By how much pairs, their weight, and for each kind of ids number and weight change."""

    pairs: int
    pair_weight: int
    ids: Sequence[tuple[Living, int, int]]


NO_CHANGE = Totals(0, 0, ())


@dataclass(eq=False)  # a frozen one takes longer to make
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
    named : list of (Names, Named)
        New names, in order.
    loops, merged, missing : int
        Self loops that were dropped, pairs that were there already, deletions of what was not
        there.
    """

    changes: Sequence[Changes] = ()
    births: Sequence[Births] = ()
    died: Sequence[tuple[Living, Dying]] = ()
    weighed: Sequence[tuple[Living, Weighings]] = ()
    loops: int = 0
    merged: int = 0
    missing: int = 0
    totals: Totals = NO_CHANGE
    named: Sequence[tuple[Names, Named]] = ()

    @property
    def num_changes(self) -> int:
        """How many arcs or pins have changed."""
        return self.changes[0].length_of("keys") if self.changes else 0

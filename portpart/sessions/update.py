"""The result of a batch of edits, and the effort that it requires."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from portpart.graphs import Numbers, table
from portpart.metrics.balance import imbalance_of

# The result of a batch of edits, for callers ---------------------------------------------------


VALUES = "cut", "km1", "soed"
"""Names of the values of a partition."""


def refuse_uncounted(name: str) -> NoReturn:
    """Raise because a value of an earlier state was not computed."""
    raise AttributeError(f"{name} of this state is no longer known")


class CountedValues(NamedTuple):
    """Computed values, and error messages for values that could not be computed.

    Attributes
    ----------
    answers : dict
        The value or the message for each name.
    """

    answers: dict[str, int | str]

    def __call__(self, name: str) -> int:
        answer = self.answers[name]
        if isinstance(answer, str):
            raise AttributeError(answer)
        return answer


def measured(measure: Callable[[str], int]) -> CountedValues:
    """Return all values that can be computed now."""
    answers: dict[str, int | str] = {}
    for name in VALUES:
        try:
            answers[name] = measure(name)
        except AttributeError as problem:
            answers[name] = str(problem)
    return CountedValues(answers)


class PartitionValues:
    """Values of a partition: `cut`, and for hypergraphs `km1` and `soed`."""

    if TYPE_CHECKING:
        def _value(self, name: str) -> int: ...

    @property
    def cut(self) -> int:
        """Weight of the edges between blocks, or of the nets that span several blocks."""
        return self._value("cut")

    @property
    def km1(self) -> int:
        """For hypergraphs: see :class:`portpart.PartitionResult`."""
        return self._value("km1")

    @property
    def soed(self) -> int:
        """For hypergraphs: see :class:`portpart.PartitionResult`."""
        return self._value("soed")


@dataclass(frozen=True, eq=False, repr=False)
class SessionUpdate(PartitionValues):
    """Result of :meth:`portpart.Session.apply`.

    Attributes
    ----------
    objective : str
        Objective of the session: ``"cut"``, for hypergraphs ``"km1"``, ``"cut"`` or ``"soed"``.
    value : int
        Value of the objective for the new partition.
    feasible : bool
        Whether all blocks are within their limits and have at least `min_block_weight`, and no
        block is empty that could have a vertex.
    block_weights : numpy.ndarray of int64, shape (k,)
    moved : int
        Number of vertices that existed before, still exist, and are in another block.
    migration : int
        Migration volume: their total size.
    affected : int
        Number of vertices that were active at first: the ends of the edits.
    effort : str
        The effort that was used: ``"none"``, ``"local"``, ``"cycle"`` or ``"full"``.
    seconds : float
        Wall time of the call.
    loops, merged, missing : int
        Number of dropped self loops, of inserted edges or pins that existed already, and of deleted
        ones that did not exist.

    Notes
    -----
    ``cut``, and for hypergraphs ``km1`` and ``soed``, are also values of the partition.  Values
    other than the objective are computed when they are read, in time proportional to all pins, as
    long as the session has not changed.  Pickling or copying an update also computes them; the copy
    does not refer to the session.

    Examples
    --------
    >>> import portpart
    >>> session = portpart.Session(portpart.generators.grid_2d(8), 2)
    >>> batch = session.batch()
    >>> batch.insert_edges([0], [63])
    >>> update = session.apply(batch)
    >>> update.moved, update.feasible, update.effort
    (0, True, 'cycle')
    """

    objective: str
    value: int
    feasible: bool
    block_weights: np.ndarray
    moved: int
    migration: int
    affected: int
    effort: str
    seconds: float
    loops: int = 0
    merged: int = 0
    missing: int = 0
    target: Numbers | None = None
    measure: Callable[[str], int] = field(default=refuse_uncounted)

    @property
    def imbalance(self) -> float:
        """Weight of the heaviest block over ``ceil(W / k)``, minus one; with a target the largest
        ``weight_b / ceil(target_b) - 1``.
        """
        return imbalance_of(self.block_weights, self.target)

    def _value(self, name: str) -> int:
        return self.value if name == self.objective else self.measure(name)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "measure": measured(self._value)}

    def _repr_html_(self) -> str:
        return table("SessionUpdate", [
            (self.objective, self.value), ("imbalance", f"{self.imbalance:.4f}"),
            ("balance", "kept" if self.feasible else "NOT kept"), ("moved", self.moved),
            ("migration", self.migration), ("affected", self.affected), ("effort", self.effort),
            ("time", f"{1000 * self.seconds:.3f} ms")])

    def __repr__(self) -> str:
        state = "" if self.feasible else ", out of bounds"
        return (f"<SessionUpdate: {self.objective} {self.value:,}, imbalance {self.imbalance:.4f}"
                f"{state}, {self.moved:,} moved, {self.effort}, {1000 * self.seconds:.3f} ms>")


# The effort after a batch, from counts alone ---------------------------------------------------


CYCLE_PART = 40
"""All levels are refined if edits exceed one in this many arcs or pins."""

FULL_PART = 2
"""The graph is partitioned from scratch if edits exceed one in this many."""

GROWTH = 21, 20
"""All levels are refined when the objective has grown by this ratio, relative to the graph."""


class EscalationState(NamedTuple):
    """Counts since all levels were last refined, and figures of that time.

    Attributes
    ----------
    edits : int
        Arcs or pins that have changed since.
    cost, weight : int
        The objective then, and the total weight of edges or pins.
    hopeless : bool
        Whether limits were violated even then.
    """

    edits: int
    cost: int
    weight: int
    hopeless: bool

    def effort(self, cost: int, weight: int, pairs: int, feasible: bool) -> str:
        """Return the effort that the current state requires."""
        if FULL_PART * self.edits > pairs:
            return "full"
        more, than = GROWTH
        grown = than * cost * max(1, self.weight) > more * self.cost * max(1, weight)
        broken = not (feasible or self.hopeless)
        if broken or CYCLE_PART * self.edits > pairs or (grown and self.edits > 0):
            return "cycle"
        return "local"

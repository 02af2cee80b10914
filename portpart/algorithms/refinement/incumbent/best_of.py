"""The best of several refined partitions, chosen in their space: the host does not wait."""

from __future__ import annotations

from portpart.algorithms.refinement.incumbent.steps import (
    BALANCED,
    CUT,
    OVERLOAD,
    RefinementOutcome,
)
from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace


class BestOf:
    """The best of the partitions offered so far; of equal ones the first.

    Parameters
    ----------
    space : ExecutionSpace
    penalty : int
        A partition costs its cut and this for each weight of overload. With 0, a balanced partition
        is better than others, and of these the one of the smaller cut.

    Attributes
    ----------
    part : array of int32 or None
        The best partition; None before the first offer.
    """

    def __init__(self, space: ExecutionSpace, penalty: int = 0) -> None:
        self.space, self.penalty = space, penalty
        self.part: Array | None = None
        self._words: Array | None = None

    def offer(self, part: Array, outcome: RefinementOutcome) -> None:
        """Take a copy of a partition if it is the best.  Does not wait."""
        words = outcome.words
        if self.part is None:
            self.part, self._words = self.space.copy(part), self.space.copy(words)
            return
        self.space.parallel_for(len(part), take_better, part, words, self.part, self._words,
                                self.penalty)
        self.space.parallel_for(1, note_better, words, self._words, self.penalty)


@kl.device
def cost_with_overload(words, penalty):
    """Return the cut plus the cost of overload, rounded: it may exceed 64 bits."""
    overload = max(kl.int64(0), words[OVERLOAD])
    return kl.float64(words[CUT]) + kl.float64(penalty) * kl.float64(overload)


@kl.device
def is_better(words, best_words, penalty):
    """Whether an outcome is better than the best one."""
    result = words[BALANCED] > best_words[BALANCED] or (
        words[BALANCED] == best_words[BALANCED] and words[CUT] < best_words[CUT])
    if penalty > 0:
        result = cost_with_overload(words, penalty) < cost_with_overload(best_words, penalty)
    return result


@kl.kernel
def take_better(v, part, words, best, best_words, penalty):
    """Take the block of v from a partition that is better than the best one."""
    if is_better(words, best_words, penalty):
        best[v] = part[v]


@kl.kernel
def note_better(_, words, best_words, penalty):
    """Store the outcome of a partition that is better than the best one."""
    if is_better(words, best_words, penalty):
        best_words[CUT] = words[CUT]
        best_words[OVERLOAD] = words[OVERLOAD]
        best_words[BALANCED] = words[BALANCED]

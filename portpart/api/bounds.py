"""Checks of constraints: targets, fixed vertices, an initial partition, a minimum weight."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from portpart.algorithms.final_balance import host_vertex_weights, max_filled, nonempty_weight
from portpart.algorithms.objectives import Balance
from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.errors import InputError
from portpart.graphs import PLURALS, EitherGraph, Numbers, as_array, host_array, integral
from portpart.metrics import block_weight_limits, target_weights
from portpart.options import WrittenNumber, exact_fraction
from portpart.primitives import histogram

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


FREE = -1
MAX_IMBALANCE = 2**31
"""A larger imbalance is no limit for any k."""


@dataclass(frozen=True, eq=False)
class Bounds:
    """Limits and minimum weights of the blocks of a graph.

    Attributes
    ----------
    max_limit : int
        The largest limit; it may exceed 64 bits.
    limits : numpy.ndarray of int64, shape (k,)
        Limits of the blocks, at most the total weight.
    fixed_weight : numpy.ndarray of int64, shape (k,)
        Weight of the vertices that are fixed to each block.
    min_weight : int
        Minimum weight of every block.
    balance : Balance
        Limits for the algorithms: no limit is below the fixed weight of its block.
    max_filled : callable
        Returns how many blocks can have weight at once; 0 if empty blocks do not matter.
    """

    max_limit: int
    limits: np.ndarray
    fixed_weight: np.ndarray
    min_weight: int
    balance: Balance
    max_filled: Callable[[], int]

    def kept_by(self, weights: np.ndarray) -> bool:
        """Whether weights keep limits and minimum, and no block is empty that could have weight."""
        least = int(np.minimum.reduce(weights))  # the same as numpy.min, with less overhead
        return (least >= self.min_weight and int(np.minimum.reduce(self.limits - weights)) >= 0
                and (least > 0 or self.empty(weights) == 0))

    def empty(self, weights: np.ndarray) -> int:
        """Return the number of empty blocks that could have weight."""
        filled = int((weights > 0).sum())
        return 0 if filled == len(weights) else max(0, self.max_filled() - filled)

    def may_be_missed(self, graph: EitherGraph) -> bool:
        """Whether weights are hard to pack: one exceeds the slack of a block.

        Otherwise each vertex fits into some block, in any order.
        """
        weights = host_vertex_weights(graph)
        heaviest = int(weights.max(initial=0))
        slack = int((self.balance.limits - self.balance.means).min())
        if self.min_weight > 0:
            slack = min(slack, int(self.balance.means.min()) - self.min_weight)
        return heaviest > slack and bool(((weights > 0) & (weights < heaviest)).any())

    def rank(self, weights: np.ndarray, cut: int) -> tuple[int, int, int, int]:
        """Return a key; smaller is better: overload, missing weight, empty blocks, the cut."""
        over = max(0, self.balance.overload(weights))
        return over, max(0, self.min_weight - int(weights.min())), self.empty(weights), cut


def bounds_for(graph: EitherGraph, k: int, imbalance: WrittenNumber, target: Numbers | None,
               fixed: Array | None, min_weight: int) -> Bounds:
    """Return the limits of the blocks; refuse a minimum weight that no partition can have."""
    fixed_weight = np.zeros(k, np.int64) if fixed is None else fixed_weights(graph, fixed, k)
    bounds = LimitRule(k, imbalance, target, fixed_weight, min_weight).bounds(
        graph.total_vertex_weight, lambda limits: max_filled(graph, limits, fixed_weight, fixed))
    if min_weight > 0:
        _check_min_weight(graph, min_weight, bounds.limits, fixed_weight)
    return bounds


class LimitRule:
    """Computes the limits of the blocks from the weight of all vertices.

    Parameters
    ----------
    k : int
    imbalance, target
        As in `portpart.partition`.
    fixed_weight : numpy.ndarray of int64, shape (k,)
    min_weight : int
    """

    def __init__(self, k: int, imbalance: WrittenNumber, target: Numbers | None,
                 fixed_weight: np.ndarray, min_weight: int) -> None:
        self.k, self.target, self.min_weight = k, target, min_weight
        self.fixed_weight, self.any_fixed = fixed_weight, bool(fixed_weight.any())
        self.imbalance = exact_fraction(imbalance)
        self.float_imbalance = float(min(self.imbalance, Fraction(MAX_IMBALANCE)))

    def bounds(self, total: int, max_filled: Callable[[np.ndarray], int]) -> Bounds:
        """Return the limits for a total weight.

        Parameters
        ----------
        max_filled : callable
            Returns how many blocks can have weight at once, for given limits.
        """
        k = self.k
        # no block is heavier than the total, which keeps a large limit within 64 bits
        if self.target is None:
            numerator, denominator = self.imbalance.numerator, self.imbalance.denominator
            max_limit = (numerator + denominator) * -(-total // k) // denominator
            limits, means = np.full(k, min(max_limit, total), np.int64), None
        else:
            exact = block_weight_limits(total, k, self.imbalance, self.target)
            max_limit = max(exact)
            limits = np.array([min(limit, total) for limit in exact], np.int64)
            # a target rounded down is minus the target of the negative weight rounded up
            means = np.array([-mean for mean in target_weights(-total, k, self.target)], np.int64)
        return Bounds(max_limit, limits, self.fixed_weight, self.min_weight,
                      self._balance(limits, means, total), lambda: max_filled(limits))

    def _balance(self, limits: np.ndarray, means: np.ndarray | None, total: int) -> Balance:
        if means is None and not self.any_fixed:
            return Balance(self.k, int(limits[0]), total // self.k, imbalance=self.float_imbalance)
        if means is None:
            means = np.full(self.k, total // self.k, np.int64)
        limits, k = np.maximum(limits, self.fixed_weight), self.k
        # blocks that are alike need no arrays, and the result is the same as without a target
        if (limits == limits[0]).all() and (means == means[0]).all():
            return Balance(k, int(limits[0]), int(means[0]), imbalance=self.float_imbalance)
        return Balance(k, int(limits.max()), int(means.max()), limits, means, self.float_imbalance)


def fixed_weights(graph: Any, fixed: Array, k: int) -> np.ndarray:
    """Return the weight of the vertices fixed to each block."""
    space = graph.space
    block = space.empty(len(fixed), np.int32)  # free vertices count in block k
    space.parallel_for(len(fixed), write_block_or, fixed, k, block)
    return space.to_host(histogram(space, block, k + 1, graph.vertex_weights))[:k]


def _check_min_weight(graph: EitherGraph, min_weight: int, limits: np.ndarray,
                      fixed_weight: np.ndarray) -> None:
    k, low = len(limits), int(limits.argmin())
    if min_weight > limits[low]:
        raise InputError(f"min_block_weight is {min_weight}, more than the {limits[low]} that "
                         f"block {low} may weigh")
    missing = sum(max(min_weight - weight, 0) for weight in fixed_weight.tolist())
    free = graph.total_vertex_weight - int(fixed_weight.sum())
    if missing > free:
        free_ones = ("the vertices that are not fixed" if fixed_weight.any()
                     else "all vertices together")
        raise InputError(f"min_block_weight is {min_weight}: {k} blocks need {missing} more, and "
                         f"{free_ones} weigh {free}")
    if nonempty_weight(graph, k) == 0:
        raise InputError(f"min_block_weight is {min_weight}: fewer than {k} vertices weigh "
                         "something")


def block_array(space: ExecutionSpace, values: ArrayLike | None, n: int, k: int, name: str,
                lowest: int, first: int = 0, item: str = "vertex") -> Array | None:
    """Return a block per vertex as int32 array of the space; entries are `lowest` ... k - 1.

    Messages contain the number of the `first` vertex plus the index, and the word `item`.
    """
    if values is None:
        return None
    array = as_array(space, host_array(values) if space.kind == "cpu" else values, name)
    if array.ndim != 1 or len(array) != n:
        raise InputError(f"{name} has shape {tuple(array.shape)} for {n} {PLURALS[item]}; one "
                         f"block for each {item} is needed")
    array = integral(space, array, name)
    if n and (int(array.min()) < lowest or int(array.max()) >= k):
        vertex = int(((array < lowest) | (array >= k)).argmax())
        block = int(space.to_host(array[vertex : vertex + 1])[0])
        raise InputError(f"{name}[{vertex}] is {block}: {item} {first + vertex} is in no block of "
                         f"0 ... {k - 1}" + (f" and not free ({FREE})" if lowest < 0 else ""),
                         vertex=vertex)
    return array.astype(np.int32, copy=False)


def start_with_fixed(space: ExecutionSpace, initial: Array | None,
                     fixed: Array | None) -> Array | None:
    """Return the initial partition with fixed vertices in their blocks."""
    if initial is None or fixed is None:
        return initial
    start = space.copy(initial)
    space.parallel_for(len(start), apply_fixed, fixed, start)
    return start


@kl.kernel
def write_block_or(v, fixed, otherwise, block):
    """block[v] = the block that v is fixed to, or `otherwise`."""
    block[v] = fixed[v]
    if fixed[v] < 0:
        block[v] = otherwise


@kl.kernel
def apply_fixed(v, fixed, part):
    """Put v into the block that it is fixed to."""
    if fixed[v] >= 0:
        part[v] = fixed[v]

"""Previous blocks of vertices, and the migration cost of leaving them.

Costs are integers: with a migration cost factor of p / q, all edges or nets weigh q times as much,
and leaving its previous block costs a vertex p times its size.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from portpart.algorithms.multilevel import Problem, inherited
from portpart.algorithms.refinement.blocks import PreviousBlocks
from portpart.api.bounds import FREE, block_array
from portpart.api.objective_specs import checked_sizes
from portpart.api.vertex_names import blocks_by_vertex
from portpart.errors import FEW_CHARACTERS, InputError
from portpart.graphs import MAX_INT32, MAX_TOTAL_WEIGHT, Blocks, EitherGraph, Graph, Numbers
from portpart.options import MAX_BLOCKS, WrittenNumber, nonnegative

MAX_DOUBLINGS = 6
"""After this many rises in sequence the factor rises faster."""


@dataclass(frozen=True, eq=False)
class PreviousPartition:
    """The previous partition, on the host.

    Attributes
    ----------
    known : numpy.ndarray of int32, shape (n,)
        Previous blocks of vertices; -1 for vertices whose block does not exist any more.
    sizes : numpy.ndarray of int64, shape (n,)
    """

    known: np.ndarray
    sizes: np.ndarray

    def moved(self, part: np.ndarray) -> tuple[int, int]:
        """Return the number and the total size of vertices outside their previous blocks."""
        away = (self.known != FREE) & (self.known != part)
        return int(away.sum()), int(self.sizes[away].sum())


def previous_partition(graph: EitherGraph, part: Blocks | None, k: int,
                       sizes: Numbers | None) -> PreviousPartition:
    """Return the checked previous blocks; blocks from k on do not exist any more."""
    space, n = graph.space, graph.num_vertices
    blocks = block_array(space, blocks_by_vertex(part, "part", graph), n, MAX_BLOCKS + 1, "part",
                         FREE)
    if blocks is None:
        raise InputError("part is None; it must be the blocks that vertices are in, -1 for new "
                         "vertices")
    known = space.to_host(blocks).copy()
    known[known >= k] = FREE
    own = checked_sizes(graph, sizes)
    return PreviousPartition(known, np.ones(n, np.int64) if own is None else space.to_host(own))


def limit_of(value: WrittenNumber | None, old: PreviousPartition) -> int | None:
    """Return the limit of the migration volume; a number that is no integer is a share of sizes."""
    if value is None:
        return None
    limit = nonnegative("max_migration", value)
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return int(limit if whole else limit * int(old.sizes.sum()))


def with_previous_blocks(problem: Problem[Any], old: PreviousPartition,
                         price: Fraction) -> Problem[Any]:
    """Return the problem with migration costs.

    A vertex without a previous block starts in the block of its neighbours and moves without cost.
    The previous block of a fixed vertex is its fixed block.
    """
    space, wanted = problem.space, problem.constraints
    known = old.known
    has_cost = known != FREE
    if wanted.fixed is not None:
        fixed = space.to_host(wanted.fixed)
        known, has_cost = np.where(fixed == FREE, known, fixed), has_cost & (fixed == FREE)
    start = space.asarray(inherited(problem.graph, known, problem.balance))
    factor, size = price.denominator, price.numerator
    check_migration_factor(problem.graph, price, int(old.sizes.sum()))
    previous_blocks = PreviousBlocks(start, space.asarray(np.where(has_cost, old.sizes, 0) * size))
    return replace(problem, graph=scaled(problem.graph, factor),
                   constraints=replace(wanted, initial=start, previous_blocks=previous_blocks))


def check_migration_factor(graph: EitherGraph, price: Fraction, sizes: int) -> None:
    """Refuse a factor with which 64-bit sums may overflow; `sizes` is the total size."""
    if not fits(_joint(graph), price, sizes):
        raise InputError(f"migration is {_in_few_digits(price)}: costs may exceed 2^61; "
                         "use a factor with fewer digits, smaller sizes or smaller weights")


def possible_price(graph: EitherGraph, price: Fraction, sizes: int) -> Fraction:
    """Return the factor, or the largest possible integer if it may overflow."""
    if fits(_joint(graph), price, sizes):
        return price
    return Fraction(max(1, (MAX_TOTAL_WEIGHT - _joint(graph)) // (2 * sizes)))


def fits(joint: int, price: Fraction, sizes: int) -> bool:
    """Whether 64-bit sums hold the largest costs of edges or nets and of all moves."""
    return joint * price.denominator + 2 * sizes * price.numerator <= MAX_TOTAL_WEIGHT


def _joint(graph: EitherGraph) -> int:
    """Return the largest cost of all edges or nets."""
    if isinstance(graph, Graph):
        return graph.total_arc_weight
    return graph.total_net_weight * max(1, graph.max_net_size)


def _in_few_digits(price: Fraction) -> str:
    """Format a factor for a message: exactly, or rounded if that is long."""
    exact = f"{price.numerator}/{price.denominator}"
    if len(exact) <= FEW_CHARACTERS:
        return exact
    return f"about {Decimal(price.numerator) / price.denominator:.3g}"


def scaled(graph: Any, factor: int) -> Any:
    """Return the graph with edge or net weights multiplied by a factor."""
    if factor == 1:
        return graph
    nets = not isinstance(graph, Graph)
    weights, count = ((graph.net_weights, graph.num_nets) if nets
                      else (graph.weights, graph.num_arcs))
    total = graph.total_net_weight if nets else graph.total_arc_weight
    dtype = np.int32 if total * factor <= MAX_INT32 else np.int64
    larger = (graph.space.full(count, factor, dtype) if weights is None
              else weights.astype(np.int64) * factor)
    name = "net_weights" if nets else "weights"
    return replace(graph, **{name: larger.astype(dtype)}, _totals={})


class FactorSchedule:
    """Migration cost factors: raised while the migration volume is above its limit, lowered while
    it is below.

    They are doubled or halved, by less after each change of direction. After many rises in sequence
    they rise by larger and larger factors.

    Parameters
    ----------
    lowest, highest : Fraction
    """

    def __init__(self, lowest: Fraction, highest: Fraction) -> None:
        self.lowest, self.highest, self.price = lowest, highest, lowest
        self._factor, self._rises, self._rose = 2.0, 0, True

    def after(self, too_much: bool) -> Fraction:
        """Return the next factor, larger after too much migration, else smaller."""
        if too_much != self._rose and self._rises > 0:
            self._factor = min(self._factor, 2.0) ** 0.5
        if too_much:
            self._rises += 1
            if self._rises > MAX_DOUBLINGS and self._factor >= 2:
                self._factor **= 2
        self._rose = too_much
        wanted = float(self.price) * (self._factor if too_much else 1 / self._factor)
        self.price = min(max(rounded(wanted), self.lowest), self.highest)
        return self.price


def rounded(price: float) -> Fraction:
    """Return a fraction of few digits near a number."""
    if price >= 1:
        return Fraction(price).limit_denominator(64)
    return 1 / Fraction(1 / price).limit_denominator(64)

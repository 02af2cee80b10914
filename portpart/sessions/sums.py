"""Sums of a session: costs and prices of moving fit 64 bits, at first and after each batch."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any

from portpart.algorithms.edits import Batch, Editable
from portpart.algorithms.incremental import LivePartition
from portpart.algorithms.objectives import check_net_costs
from portpart.api import PRICED, Request, check_migration_factor
from portpart.backends.programs import Array
from portpart.graphs import MAX_TOTAL_WEIGHT, EitherGraph, Hypergraph, exact_total
from portpart.metrics.balance import exact_target
from portpart.sessions.levels import SessionOptions, made

if TYPE_CHECKING:
    from portpart.options import Configuration



def kept(session_options: SessionOptions, request: Request, sizes: Array | None) -> SessionOptions:
    """The same, whatever callers do to their arrays; refused if sums may overflow at the price."""
    check_sums(session_options, request, sizes)
    if session_options.target is None:
        return session_options
    return session_options._replace(target=exact_target(request.problem.num_blocks,
                                                        session_options.target))


def check_sums(session_options: SessionOptions, request: Request, sizes: Array | None) -> None:
    """Refuse weights, sizes and a price for which sums may overflow."""
    _check(request.problem.graph, request.problem.num_blocks,
           prices_of(session_options, request.config),
           total_size(request.problem.graph.num_vertices, sizes))


def prices_of(session_options: SessionOptions, config: Configuration) -> list[Fraction]:
    """The price of moving around edits and, if all levels are refined at one, that one."""
    around = Fraction(ceil(session_options.price))
    if session_options.escalates and isinstance(config, PRICED):
        return [around, session_options.price]
    return [around]


def total_size(number: int, sizes: Array | None) -> int:
    """What this many vertices together would move."""
    return number if sizes is None else int(sizes.sum())


def _check(graph: EitherGraph, k: int, prices: list[Fraction], size: int) -> None:
    exact_total(0, size, "vertex sizes")
    if isinstance(graph, Hypergraph):
        check_net_costs(graph, k, "net weights")
    for price in prices:
        check_migration_factor(graph, price, size)


class Sums:
    """Bounds of what edges, or nets, and moves can cost, which follow the batches of a session.

    They exclude an overflow for most batches, in a time that does not depend on the graph.  Only
    where they do not the graph is examined.

    Parameters
    ----------
    request : Request
        That of the first partition.
    session_options : SessionOptions
    sizes : array or None
        What is moved with each vertex.
    """

    def __init__(self, request: Request, session_options: SessionOptions, sizes: Array
                 | None) -> None:
        graph = request.problem.graph
        self._k, self._prices = request.problem.num_blocks, prices_of(session_options,
                                                                      request.config)
        self._factor = max(price.denominator for price in self._prices)
        self._slope = 2 * max(price.numerator for price in self._prices)
        self._of_nets = isinstance(graph, Hypergraph)
        self._longest = graph.max_net_size if isinstance(graph, Hypergraph) else 0
        self._size = None if sizes is None else total_size(0, sizes)

    def surely_fit(self, edited: Editable, batch: Batch) -> bool:
        """Whether they surely do after a batch that has not been applied yet."""
        return self._fit(edited, batch.given_weight, batch.num_pairs, _born(batch))

    def follow(self, batch: Batch) -> None:
        """Take into account what a batch may have added."""
        self._longest += batch.num_pairs
        if self._size is not None:
            self._size += _born(batch)

    def undo(self, num_changes: int) -> None:
        """Take into account that this many changes of pins have been undone."""
        self._longest += num_changes

    def check(self, edited: Editable, live_partition: Callable[[], LivePartition]) -> None:
        """Refuse the graph as it is if sums may overflow.

        Raises
        ------
        InputError
            As `portpart.Session` does for such a graph.
        """
        if self._fit(edited, 0, 0, 0):
            return
        graph = made(edited)
        _check(graph, self._k, self._prices, total_size(graph.num_vertices, live_partition().sizes))
        if isinstance(graph, Hypergraph):
            self._longest = graph.max_net_size

    def _fit(self, edited: Any, weight: int, pairs: int, inserted: int) -> bool:
        """Whether bounds fit after edits that give so much weight, to these pairs and new ids."""
        vertices = edited.vertices.num_alive + inserted
        size = vertices if self._size is None else self._size + inserted
        if self._of_nets:
            joint = ((edited.nets.total_weight + weight + inserted)
                     * max(1, min(self._longest + pairs, vertices)))
        else:
            joint = edited.pair_weight + 2 * (weight + pairs)
        return (joint < MAX_TOTAL_WEIGHT and size < MAX_TOTAL_WEIGHT
                and joint * self._factor + size * self._slope <= MAX_TOTAL_WEIGHT)


def _born(batch: Batch) -> int:
    """New vertices and nets of a batch."""
    return sum(insertion.number for insertion in batch.insertions) if batch.insertions else 0

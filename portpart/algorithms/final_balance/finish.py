"""The final step on block weights: no block too heavy, too light, or empty."""

from __future__ import annotations

import heapq
from collections.abc import Callable

import numpy as np

from portpart.algorithms.final_balance import overload
from portpart.algorithms.final_balance.empty_blocks import with_empty_filled
from portpart.algorithms.final_balance.exact_packing import within_bounds
from portpart.algorithms.final_balance.host_connectivity import host_connectivity
from portpart.algorithms.objectives import Balance
from portpart.backends.programs import Array
from portpart.graphs import EitherGraph

# Filling of blocks that are too light or empty, with the least loss; on the host ---------------
#
# Refinement has no minimum weights. With a limit close to the mean they are not needed. If it
# leaves a block empty or too light, that block gets vertices one by one, always the one whose move
# increases the cut least and that its own block can spare. Deterministic: ties go to the smaller
# vertex.


FEW = 16
"""At most one entry in this many of a heap is pushed singly."""


def filled(graph: EitherGraph, part: Array, blocks: np.ndarray, balance: Balance, min_weight: int,
           fixed: Array | None = None) -> tuple[Array, np.ndarray]:
    """Fill blocks to at least `min_weight`, if possible; return `part` and the block weights.

    Parameters
    ----------
    graph : Graph or Hypergraph
    part : array of int32, shape (n,)
        Returned as it is if no block is too light.
    blocks : numpy.ndarray of int64, shape (k,)
        The block weights of `part`.
    balance : Balance
        Limits that blocks keep when they get vertices.
    min_weight : int
        Minimum weight of each block. With 0, no block is empty if enough vertices have weight.
    fixed : array of int32, shape (n,), optional
        Vertices with an entry of 0 or more stay in their blocks.

    Returns
    -------
    part : array of int32, shape (n,)
    block_weights : numpy.ndarray of int64, shape (k,)
    """
    if blocks.min() >= max(1, min_weight):
        return part, blocks
    some = overload.nonempty_weight(graph, balance.num_blocks)
    if some:
        part, blocks = with_empty_filled(graph, part, blocks, balance, fixed)
    if blocks.min() >= max(some, min_weight):
        return part, blocks
    space = graph.space
    free = np.ones(graph.num_vertices, bool) if fixed is None else space.to_host(fixed) < 0
    host_part, blocks = space.to_host(part).copy(), blocks.copy()
    # first one vertex for each block, because more may be impossible
    for bound in (some, min_weight):
        if blocks.min() < bound:
            filling = _Filling(graph, host_part, free, blocks, balance.limits, bound)
            filling.fill_all(filling.fill)
            if blocks.min() < bound:
                filling.fill_lightest()
    if blocks.min() == 0 and some > 0:
        filling = _Filling(graph, host_part, free, blocks, balance.limits, 1)
        filling.fill_all(filling.pass_on)
    return space.asarray(host_part), blocks


class _Filling:
    """The partition, its block weights and connectivity, which change."""

    def __init__(self, graph: EitherGraph, part: np.ndarray, free: np.ndarray, blocks: np.ndarray,
                 limits: np.ndarray, min_weight: int) -> None:
        self.connections = host_connectivity(graph, part)
        self.inside = self.connections.inside
        self.part, self.free, self.blocks, self.limits = part, free, blocks, limits
        self.weights, self.min_weight = overload.host_vertex_weights(graph), min_weight
        self.toward = np.zeros(len(part), np.int64)  # connectivity to the block that is filled
        spare = np.flatnonzero(free & (self.weights > 0) & (blocks[part] > min_weight))
        self.everywhere = list(zip(self.inside[spare].tolist(), spare.tolist()))
        heapq.heapify(self.everywhere)

    def fill_all(self, fill: Callable[[int], None]) -> None:
        """Fill blocks that are too light; skip an empty one if no vertex fitted a larger limit."""
        hopeless = -1
        for block in np.flatnonzero(self.blocks < self.min_weight).tolist():
            if self.min_weight > 1 or self.limits[block] > hopeless:
                fill(block)
                if self.blocks[block] == 0:
                    hopeless = max(hopeless, int(self.limits[block]))

    def fill(self, block: int) -> None:
        """Move vertices into `block` until it is heavy enough or no vertex is available."""
        self.connections.begin()
        self.toward[:] = 0
        adjacent: list[tuple[int, int]] = []
        for member in np.flatnonzero(self.part == block).tolist():
            self._look_around(member, block, adjacent)
        unfit: list[tuple[int, int]] = []
        while self.blocks[block] < self.min_weight:
            v = self._cheapest(block, adjacent, unfit)
            if v is None:
                break
            self._move(v, block)
            self._look_around(v, block, adjacent)
        for entry in unfit:
            heapq.heappush(self.everywhere, entry)

    def _look_around(self, v: int, block: int, adjacent: list[tuple[int, int]]) -> None:
        """Add the neighbours of v, which is in the block, to the adjacent vertices.

        While this block is filled, other blocks only become lighter: vertices that they cannot
        spare are left out.
        """
        for others, weight in self.connections.around(v):
            if isinstance(others, np.ndarray):
                self._push_many(others, weight, block, adjacent)
                continue
            for u in others:
                self.toward[u] += weight
                if self.part[u] != block and self.free[u] and self.weights[u] > 0 and (
                        self._can_be_spared(u)):
                    heapq.heappush(adjacent, (int(self.inside[u] - self.toward[u]), u))

    def _push_many(self, others: np.ndarray, weight: int, block: int,
                   adjacent: list[tuple[int, int]]) -> None:
        """Do the same for the pins of a net. The order of entries does not matter to a heap."""
        self.toward[others] += weight
        here = self.part[others]
        fit = self.free[others] & (self.weights[others] > 0) & (here != block) & (
            self.blocks[here] - self.weights[others] >= self.min_weight)
        found = others[fit]
        entries = list(zip((self.inside[found] - self.toward[found]).tolist(), found.tolist()))
        if FEW * len(entries) > len(adjacent):
            adjacent += entries
            heapq.heapify(adjacent)
            return
        for entry in entries:
            heapq.heappush(adjacent, entry)

    def _cheapest(self, block: int, adjacent: list[tuple[int, int]],
                  unfit: list[tuple[int, int]]) -> int | None:
        """Pop the vertex whose move to the block costs least."""
        while adjacent or self.everywhere:
            near = not self.everywhere or (bool(adjacent) and adjacent[0] <= self.everywhere[0])
            loss, v = entry = heapq.heappop(adjacent if near else self.everywhere)
            now = int(self.inside[v]) - (int(self.toward[v]) if near else 0)
            if self.part[v] == block or not self._can_be_spared(v):
                continue
            if loss != now:  # a move has changed it
                heapq.heappush(adjacent if near else self.everywhere, (now, v))
            elif self._fits(v, block):
                return v
            elif not near:
                unfit.append(entry)
        return None

    def _can_be_spared(self, v: int) -> bool:
        return bool(self.blocks[self.part[v]] - self.weights[v] >= self.min_weight)

    def _fits(self, v: int, block: int) -> bool:
        """Whether the block keeps its limit, or exceeds it by less than v's block does now."""
        over = self.blocks[block] + self.weights[v] - self.limits[block]
        here = self.part[v]
        return bool(over <= max(0, self.blocks[here] - self.limits[here] - 1))

    def _move(self, v: int, block: int) -> None:
        self.blocks[self.part[v]] -= self.weights[v]
        self.blocks[block] += self.weights[v]
        for u in self.connections.move(v, block):
            if self.free[u] and self.weights[u] > 0:
                heapq.heappush(self.everywhere, (int(self.inside[u]), u))

    def pass_on(self, block: int) -> None:
        """Fill an empty block through blocks that give their only vertex and get another one."""
        giving = self.free & (self.weights > 0)
        several = self.blocks[self.part] > self.weights
        lightest = int(self.weights[giving & several].min(initial=2**62))
        alone = np.flatnonzero(giving & ~several)
        given: dict[int, tuple[int, int]] = {}  # by block: its vertex, and the block that gets it
        queue, widest = [block], -1
        for empty in queue:
            if self.limits[empty] >= lightest:
                self._hand_over(empty, given)
                return
            if self.limits[empty] > widest:
                widest = int(self.limits[empty])
                for v in alone[self.weights[alone] <= widest].tolist():
                    here = int(self.part[v])
                    if here not in given:
                        given[here] = v, empty
                        queue.append(here)

    def _hand_over(self, last: int, given: dict[int, tuple[int, int]]) -> None:
        """Move the only vertex of each block from `last` on to the next block; fill `last`."""
        block = last
        while block in given:
            v, block_that_gets_it = given[block]
            self._move(v, block_that_gets_it)
            block = block_that_gets_it
        self.fill(last)

    def fill_lightest(self) -> None:
        """Repack all vertices, heaviest first, if that makes all blocks heavy enough."""
        part, k = self.part.copy(), len(self.limits)
        blocks = overload.block_weights_on_host(part[~self.free], self.weights[~self.free], k)
        queue = [self._urgency(blocks, block) for block in range(k)]
        heapq.heapify(queue)
        for v in np.argsort(-self.weights, kind="stable"):
            if self.free[v] and self.weights[v] > 0:
                block = queue[0][2]
                blocks[block] += self.weights[v]
                heapq.heapreplace(queue, self._urgency(blocks, block))
                part[v] = block
        allowed = max(0, int((self.blocks - self.limits).max()))
        if blocks.min() >= self.min_weight and (blocks - self.limits).max() <= allowed:
            self.part[:], self.blocks[:] = part, blocks

    def _urgency(self, blocks: np.ndarray, block: int) -> tuple[bool, int, int]:
        """Return the key of a block: too light ones first, then those with the largest capacity."""
        weight = int(blocks[block])
        enough = weight >= self.min_weight
        return enough, weight - (int(self.limits[block]) if enough else self.min_weight), block


# The final step: blocks within their limits, not below the minimum weight, not empty -----------
#
# Refinement nearly always ends within the limits; then nothing happens. Otherwise vertices move or
# are repacked (`overload`), light blocks are filled (`filled`), and if limits are still violated,
# all means are tried (`exact_packing`).


def enforce_limits(graph: EitherGraph, part: Array, balance: Balance, min_weight: int = 0,
                   fixed: Array | None = None,
                   block_weights: np.ndarray | None = None) -> tuple[Array, np.ndarray]:
    """Return `part` within its limits, or with small violations, and the block weights.

    Parameters
    ----------
    graph : Graph or Hypergraph
    part : array of int32, shape (n,)
        Returned as it is if it is within the limits.
    balance : Balance
    min_weight : int
        Minimum weight of each block. With 0, no block is empty if enough vertices have weight.
    fixed : array of int32, shape (n,), optional
        Vertices with an entry of 0 or more stay in their blocks.
    block_weights : numpy.ndarray of int64, shape (k,), optional
        Those of `part`, if they are known.

    Returns
    -------
    part : array of int32, shape (n,)
    block_weights : numpy.ndarray of int64, shape (k,)
    """
    found, blocks = overload.repaired(graph, part, balance, fixed, block_weights)
    found, blocks = filled(graph, found, blocks, balance, min_weight, fixed)
    if balance.overload(blocks) <= 0 and blocks.min() >= min_weight:
        return found, blocks
    space, weights = graph.space, overload.host_vertex_weights(graph)
    balance = overload.attainable(balance, space.to_host(found), weights)
    if balance.overload(blocks) <= 0 and blocks.min() >= min_weight:
        return found, blocks
    free = np.ones(len(weights), bool) if fixed is None else space.to_host(fixed) < 0
    result = within_bounds(space.to_host(part), space.to_host(found), weights, free,
                           balance.limits, min_weight, balance.known)
    blocks = overload.block_weights_on_host(result, weights, balance.num_blocks)
    return filled(graph, space.asarray(result), blocks, balance, min_weight, fixed)

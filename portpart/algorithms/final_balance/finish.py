"""The last step on the weights of blocks: none too heavy, too light, or empty."""

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

# Blocks that weigh too little, or nothing, get vertices of others: on the host, at least loss
#
# Refinement knows no lower bound.  With a limit close to the mean it needs none; where it leaves a
# block empty or too light, that block takes one vertex after the other, always the one whose move
# costs least cut and that its own block can spare.  Deterministic: ties go to the smaller vertex.


FEW = 16
"""Entries that are no more than one in this many of a heap are pushed one by one."""


def filled(graph: EitherGraph, part: Array, blocks: np.ndarray, balance: Balance, min_weight: int,
           fixed: Array | None = None) -> tuple[Array, np.ndarray]:
    """Return `part` with at least `min_weight` in every block if that is found, and block weights.

    Parameters
    ----------
    graph : Graph or Hypergraph
    part : array of int32, shape (n,)
        Returned as it is if no block is too light.
    blocks : numpy.ndarray of int64, shape (k,)
        The block weights of `part`.
    balance : Balance
        Limits that blocks which take vertices keep.
    min_weight : int
        What each block has to weigh; where that is 0, something if enough vertices do.
    fixed : array of int32, shape (n,), optional
        Vertices with an entry of 0 or more stay where they are.

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
    # first something for each, for more may be too much to ask
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
    """The partition and its block weights, which change, and the ties of vertices to blocks."""

    def __init__(self, graph: EitherGraph, part: np.ndarray, free: np.ndarray, blocks: np.ndarray,
                 limits: np.ndarray, min_weight: int) -> None:
        self.connections = host_connectivity(graph, part)
        self.inside = self.connections.inside
        self.part, self.free, self.blocks, self.limits = part, free, blocks, limits
        self.weights, self.min_weight = overload.host_vertex_weights(graph), min_weight
        self.toward = np.zeros(len(part), np.int64)  # what ties vertices to the block to be filled
        spare = np.flatnonzero(free & (self.weights > 0) & (blocks[part] > min_weight))
        self.everywhere = list(zip(self.inside[spare].tolist(), spare.tolist()))
        heapq.heapify(self.everywhere)

    def fill_all(self, fill: Callable[[int], None]) -> None:
        """Fill blocks that weigh too little, but for empty ones that others have shown hopeless."""
        hopeless = -1
        for block in np.flatnonzero(self.blocks < self.min_weight).tolist():
            if self.min_weight > 1 or self.limits[block] > hopeless:
                fill(block)
                if self.blocks[block] == 0:
                    hopeless = max(hopeless, int(self.limits[block]))

    def fill(self, block: int) -> None:
        """Let `block` take vertices until it weighs enough or none can be had."""
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

        Other blocks only get lighter while this one is filled: what they cannot spare is left out.
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
        """The same for the pins of a net.  How entries come does not matter to a heap."""
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
        """The vertex whose move to the block costs least, taken off its heap."""
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
        """Fill an empty block by way of blocks that give their only vertex and get another one."""
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
        """Let each block from `last` on give its only vertex to the next; the last takes one."""
        block = last
        while block in given:
            v, block_that_gets_it = given[block]
            self._move(v, block_that_gets_it)
            block = block_that_gets_it
        self.fill(last)

    def fill_lightest(self) -> None:
        """Pack all vertices again, heaviest first, if that alone makes all blocks heavy enough."""
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
        """Blocks that weigh too little come first, then those with the most room."""
        weight = int(blocks[block])
        enough = weight >= self.min_weight
        return enough, weight - (int(self.limits[block]) if enough else self.min_weight), block


# The last word on what blocks weigh: no more than their limits, no less than wanted, not nothing
#
# Refinement nearly always ends within the limits; then nothing is done.  Else vertices move or are
# packed again (`overload`), light blocks are filled (`underload`), and where bounds are broken
# still,
# what can be had by any means is looked for (`exact_packing`).


def enforce_limits(graph: EitherGraph, part: Array, balance: Balance, min_weight: int = 0,
                   fixed: Array | None = None) -> tuple[Array, np.ndarray]:
    """`part` within its bounds, or with bounds broken little, and the block weights.

    Parameters
    ----------
    graph : Graph or Hypergraph
    part : array of int32, shape (n,)
        Returned as it is if it keeps the bounds.
    balance : Balance
    min_weight : int
        What each block has to weigh; where that is 0, something if enough vertices do.
    fixed : array of int32, shape (n,), optional
        Vertices with an entry of 0 or more stay where they are.

    Returns
    -------
    part : array of int32, shape (n,)
    block_weights : numpy.ndarray of int64, shape (k,)
    """
    found, blocks = overload.repaired(graph, part, balance, fixed)
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

"""Costs and gains of hypergraphs by plain loops, and the phases of their refinement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from portpart.algorithms.objectives.cut import COUNTING_TEAM
from portpart.algorithms.objectives.hub_connectivity import PieceSums
from portpart.algorithms.objectives.pin_state import (
    LARGE_TEAM,
    SMALL_TEAM,
    words_for,
    words_of_hub,
)
from portpart.algorithms.refinement.by_degree import ByDegree
from portpart.algorithms.refinement.moves.state import move_vertex
from portpart.algorithms.refinement.nets.lists import clear_sums, empty_lists, split_hub, sum_chunk
from portpart.algorithms.refinement.nets.moves import (
    concerns_some,
    touch_nets_of_chunks,
    touch_nets_of_moves,
    update_large_net,
    update_small_net,
)
from portpart.algorithms.refinement.nets.state import ListWords
from portpart.graphs.hypergraph import Hypergraph
from tests.helpers.nets import (
    nets_of,
    rows_of,
    weights_of,
)
from tests.helpers.refining import (
    FILTER_RATIO,
    Phases,
    balance_of,
    copied,
)

NET_COSTS = {"km1": lambda connectivity: max(0, connectivity - 1),
             "cut": lambda connectivity: int(connectivity > 1),
             "soed": lambda connectivity: connectivity if connectivity > 1 else 0}


def cost(hypergraph: Hypergraph, part: np.ndarray, name: str) -> int:
    """What all nets cost."""
    weights, blocks = weights_of(hypergraph.net_weights, hypergraph.num_nets), part.tolist()
    return sum(weight * NET_COSTS[name](len({blocks[v] for v in pins}))
               for pins, weight in zip(nets_of(hypergraph), weights))


def random_part(hypergraph: Hypergraph, k: int, seed: int = 0) -> np.ndarray:
    """Most blocks about equal."""
    return np.random.default_rng(seed).permutation(hypergraph.num_vertices).astype(np.int32) % k


def assert_outcome_is_true(hypergraph: Hypergraph, k: int, name: str, outcome: dict[str, int],
                           part: np.ndarray, imbalance: str = "0.03") -> None:
    weights = weights_of(hypergraph.vertex_weights, hypergraph.num_vertices)
    heaviest = max(np.bincount(part, weights, minlength=k).astype(np.int64))
    limit = balance_of(hypergraph, k, imbalance).max_block_weight
    assert outcome["cut"] == cost(hypergraph, part, name)
    assert outcome["overload"] == heaviest - limit


def connections(hypergraph: Hypergraph, part: np.ndarray, name: str, v: int,
                nets: list[int]) -> dict[int, int]:
    """By block: what the nets of v cost more if v is in a block without others of them."""
    price, found, blocks = NET_COSTS[name], dict[int, int](), part.tolist()
    weights = weights_of(hypergraph.net_weights, hypergraph.num_nets)
    rows = nets_of(hypergraph)
    tied = []
    for net in nets:
        others = {blocks[u] for u in rows[net] if u != v}
        step = weights[net] * (price(len(others) + 1) - price(len(others)))
        tied.append((len(others | {blocks[v]}), step, others))
        for block in others:
            found[block] = found.get(block, 0) + step
    widest = max(64, min((connectivity for connectivity, step, _ in tied if step), default=64))
    led_to = {blocks[v]}.union(*(others for connectivity, step, others in tied
                                    if connectivity <= widest and step))
    return {block: weight for block, weight in found.items() if weight > 0 and block in led_to}


def losses(hypergraph: Hypergraph, part: np.ndarray, name: str, v: int, block: int,
           nets: list[int]) -> int:
    """What those of v's nets cost more that cost more if v moves to a block."""
    moved = part.copy()
    moved[v] = block
    blocks = part.tolist(), moved.tolist()
    total = 0
    weights = weights_of(hypergraph.net_weights, hypergraph.num_nets)
    rows = nets_of(hypergraph)
    for net in nets:
        pins = rows[net]
        before, after = (NET_COSTS[name](len({each[u] for u in pins})) for each in blocks)
        total += weights[net] * max(0, after - before)
    return total


def assert_gains_are_right(phases: Phases, hypergraph: Hypergraph, name: str,
                           vertices: Sequence[int] | None = None) -> None:
    """Best target, gain and filter of vertices on a boundary, by costs before and after."""
    cache, flags = phases.run.cache, copied(phases.run.active.flags)
    part, target, gain = map(copied, (phases.run.moves.part, cache.best_target, cache.gain))
    vertex_nets = rows_of(hypergraph.vertex_offsets, hypergraph.vertex_nets)
    before = cost(hypergraph, part, name)
    for v in np.flatnonzero(flags).tolist() if vertices is None else vertices:
        row = connections(hypergraph, part, name, v, vertex_nets[v])
        own = row.pop(int(part[v]), 0)
        if not row:
            assert target[v] == -1
            assert gain[v] == -own
            continue
        block = int(target[v]) if target[v] >= 0 else -2 - int(target[v])
        moved = part.copy()
        moved[v] = block
        assert gain[v] == before - cost(hypergraph, moved, name)
        assert gain[v] == max(row.values()) - own
        lost = losses(hypergraph, part, name, v, block, vertex_nets[v])
        assert (target[v] >= 0) == (gain[v] >= 0 or -gain[v] < int(FILTER_RATIO * lost))


class NetPhases(Phases):
    """The same for nets, with hubs in pieces."""

    rows: Any

    @property
    def pieces(self) -> int:
        return int(ListWords(copied(self.rows.list_words.array)).chunks)

    def begin_hubs(self) -> None:
        """Have room for the hubs of any degree."""
        space, rows, n = self.space, self.rows, self.n
        most = n + self.graph.num_entries
        self.rows = rows.replaced(
            hub_chunks=rows.hub_chunks.replaced(vertex=space.empty(most, np.int32),
                                                begin=space.empty(most, np.int64)),
            hub_sums=rows.hub_sums.replaced(row=space.empty(n, np.int32),
                                            sums=space.empty(n * words_of_hub(self.k), np.int64)))
        self.launch(int(self.level.hubs), split_hub, team=1)

    def refresh_hubs(self, kernels: ByDegree) -> None:
        if words_for(self.k) > 1:
            super().refresh_hubs(kernels)
            return
        hubs = int(self.level.hubs)
        self.launch(hubs, clear_sums, team=COUNTING_TEAM)
        sums = PieceSums(self.objective.rules, self.counter)
        self.launch(self.pieces, sum_chunk, team=LARGE_TEAM, sums=sums)
        self.launch(hubs, kernels.of_hub(self.counter, summed=True), team=COUNTING_TEAM)

    def move(self, vertices: np.ndarray, blocks: np.ndarray) -> None:
        moves, count = self.run.moves, len(vertices)
        for array, entries in ((moves.target, blocks), (moves.moved_in, self.level.iteration)):
            changed = copied(array)
            changed[vertices] = entries
            array[:] = self.space.asarray(changed)
        moves.listed[:count] = self.space.asarray(vertices, np.int32)
        self.level.moves = count
        self.launch(count, touch_nets_of_moves)
        self.launch(self.pieces, touch_nets_of_chunks, team=LARGE_TEAM)
        listed = ListWords(copied(self.rows.list_words.array))
        for count_of, settle, team in (
                (listed.small_touched, update_small_net, SMALL_TEAM),
                (listed.large_touched, update_large_net, LARGE_TEAM)):
            self.launch(int(count_of), settle, team=team, concerns=concerns_some)
        self.level.iteration += 1
        self.launch(count, move_vertex, team=1)
        self.launch(1, empty_lists, team=1)

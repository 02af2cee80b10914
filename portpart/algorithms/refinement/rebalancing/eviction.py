"""Rating of eviction candidates, and Jetrw: weak rebalancing (Jet, section 4.2).

Vertices of overloaded blocks are rated by the loss of a move; the vertices with the smallest loss
leave (`rule.py`).  In weak rebalancing every vertex moves to its best connected block with
capacity.  The gain cache knows the target of most vertices; for others the connectivity is counted.
For strong rebalancing see `strong.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

from portpart.algorithms.objectives import BestTarget, BlockScore, ConnectivityTable, Rules, Tables
from portpart.algorithms.refinement import Deciding, Figures, gains
from portpart.algorithms.refinement.blocks import Blocks
from portpart.algorithms.refinement.moves import Moves, add_move, set_target
from portpart.algorithms.refinement.rebalancing.rule import (
    ALL,
    BATCH,
    BY_WEIGHT,
    REST,
    RebalancingRule,
    batch_of_all,
    empty_slot,
    enter_bucket,
    evicts_all,
    random_bits,
    scope_of,
)
from portpart.algorithms.refinement.rebalancing.state import Rebalancing
from portpart.algorithms.refinement.rebalancing.strong import let_stay
from portpart.backends import language as kl
from portpart.graphs import Csr, global_id

NONE = -1


@kl.device
def accepts(v, block, graph: Csr, blocks: Blocks, figures: Figures, rule: RebalancingRule):
    """Whether a block accepts vertices of others."""
    return rule.target_capacity.free_capacity(block, blocks, figures) > 0


@dataclass(frozen=True)
class EvictionRating(kl.Static):
    """How eviction candidates are rated.

    Attributes
    ----------
    search : BlockSearch
        How their targets are found.
    rule : RebalancingRule
    """

    search: gains.BlockSearch
    rule: RebalancingRule


@kl.device
def rate(v, graph: Csr, state: Deciding, connections: ConnectivityTable, tables: Tables,
         found: BestTarget, more: kl.Record, rating: EvictionRating):
    """Find the target and the loss of a candidate, and put it into its bucket.

    In weak rebalancing the loss is relative to the best target (equation 4.9), in strong
    rebalancing to what a move to any block with capacity gives (equation 4.10).  A vertex that is
    connected to no block with capacity moves to one chosen by a hash.  Called by all lanes of a
    team.
    """
    gains.best_candidate(v, graph, state, connections, tables, found, rating.search)
    if kl.lane() == 0:
        block = kl.int32(found.block)
        value = found.value
        if block == NONE or state.rebalancing.strong != 0:
            value = rating.search.rules.untouched_score(found, tables)
        if block == NONE:
            drawn = random_bits(global_id(v, graph), state.figures)
            block = state.blocks.destination[drawn % state.blocks.destinations]
        set_target(v, block, state.moves)
        enter_bucket(v, found.here - value, graph, state.moves, state.rebalancing, state.figures,
                     rating.rule)


@dataclass(frozen=True)
class Rated:
    """`rate` for a rule: a body that takes an objective and a block score."""

    rule: RebalancingRule

    def __call__(self, rules: Rules, valuation: BlockScore) -> kl.DeviceFunction:
        admits = accepts.bound(rule=self.rule)
        search = gains.BlockSearch(rules, valuation, admits, counts=rules.is_cut)
        return rate.bound(rating=EvictionRating(search, self.rule))


@kl.kernel
def evict_weakly(i, moves: Moves, rebalancing: Rebalancing, figures: Figures):
    """Weak rebalancing: move a vertex up to the threshold to its own best target.

    Also empties its buckets.
    """
    v = rebalancing.listed[i]
    slot = empty_slot(moves.part[v], kl.int64(rebalancing.slot_of[v]), rebalancing)
    if slot <= rebalancing.threshold[moves.part[v]]:
        add_move(v, moves, figures)


NONE = -1

ROUNDS = 8
"""Number of vertices that a lane examines together."""


class OfRounds(kl.StaticArray, size=ROUNDS):
    """A number for each of these vertices."""


@kl.device
def is_eviction_candidate(v, block, slight, graph: Csr, blocks: Blocks, rebalancing: Rebalancing,
                          figures: Figures, rule: RebalancingRule):
    """Whether v may leave its block, which is overloaded: slightly if `slight`, else heavily.

    A vertex stays if it is fixed, or heavier than 1.5 times the excess of its block (2 times in
    strong rebalancing if the rule says so).
    """
    here = blocks.weight[block]
    result = (here > blocks.limits[block] + figures.slack
              and kl.value_or(blocks.fixed, v, NONE) == NONE)
    if result:
        excess = here - blocks.means[block]
        whole = evicts_all(block, blocks, rebalancing, rule)
        weight = kl.value_or(graph.vertex_weights, v, 1)
        half_more = rebalancing.strong == 0 or not rule.doubled
        heaviest = excess + excess // 2 if half_more else 2 * excess
        result = whole != slight and weight > 0 and weight <= heaviest and blocks.destinations > 0
    return result


@kl.device
def cached_block(v, graph: Csr, cache: gains.GainCache, blocks: Blocks, figures: Figures,
                 rule: RebalancingRule):
    """Return the cached target of v: its best block, or a random one if it is connected to none.

    NONE if the best block has no capacity.
    """
    block = cache.best_target[v]
    if block < NONE:
        block = gains.failed(block)
    if block == NONE:
        block = blocks.destination[random_bits(global_id(v, graph), figures) % blocks.destinations]
    elif rule.target_capacity.free_capacity(block, blocks, figures) <= 0:
        block = kl.int32(NONE)
    return block


@kl.device
def rate_by_cache(v, graph: Csr, state: Deciding, rule: RebalancingRule):
    """Rate v if the cache has its loss, else list it.

    Strong rebalancing has no slightly overloaded blocks, so the loss is that of the cache.
    """
    block = cached_block(v, graph, state.cache, state.blocks, state.figures, rule)
    if block == NONE:
        gains.list_unrated(v, graph, state.unrated, state.figures)
    else:
        set_target(v, block, state.moves)
        enter_bucket(v, -state.cache.gain[v], graph, state.moves, state.rebalancing, state.figures,
                     rule)


@kl.kernel
def list_movable_candidates(i, graph: Csr, state: Deciding, rule: RebalancingRule):
    """List movable vertex i if its block is slightly overloaded.

    All vertices that lose nothing are movable.
    """
    v = gains.movable_vertex(i, state.active)
    if is_eviction_candidate(v, state.moves.part[v], True, graph, state.blocks, state.rebalancing,
                             state.figures, BY_WEIGHT):
        state.rebalancing.listed[kl.atomic_next(state.rebalancing, Rebalancing.candidates)] = v
        rate_by_cache(v, graph, state, rule)


@kl.device
def needs_others(block, active: gains.ActiveSets, blocks: Blocks, rebalancing: Rebalancing,
                 figures: Figures):
    """Whether a block is overloaded and needs boundary vertices that are not movable."""
    scope = REST if rebalancing.short != 0 else ALL
    return (blocks.weight[block] > blocks.limits[block] + figures.slack
            and scope_of(block, active, rebalancing) == scope)


@kl.device
def is_boundary_candidate(v, block, graph: Csr, active: gains.ActiveSets, blocks: Blocks,
                          rebalancing: Rebalancing, figures: Figures):
    """Whether boundary vertex v, which is not movable, may leave a block that needs such vertices.

    The inner vertices of such a block are not examined: they lose most, and on a mesh they are
    many.
    """
    result = needs_others(block, active, blocks, rebalancing, figures)
    if result:
        result = (active.flags[v] & gains.IS_MOVABLE == 0 and is_eviction_candidate(
            v, block, True, graph, blocks, rebalancing, figures, BY_WEIGHT))
    return result


@kl.device
def rates_boundary_now(active: gains.ActiveSets, rebalancing: Rebalancing):
    """Whether vertices that are not movable are examined now."""
    return rebalancing.wide != 0 or rebalancing.short != 0 or gains.are_few(active)


@kl.kernel
def list_other_candidates(i, graph: Csr, state: Deciding, rule: RebalancingRule):
    """List boundary vertex i, if it is not movable and its slightly overloaded block needs it."""
    if rates_boundary_now(state.active, state.rebalancing) and i < state.active.on_boundary:
        v = gains.boundary_vertex(i, state.active)
        if is_boundary_candidate(v, state.moves.part[v], graph, state.active, state.blocks,
                                 state.rebalancing, state.figures):
            state.rebalancing.listed[kl.atomic_next(state.rebalancing, Rebalancing.candidates)] = v
            rate_by_cache(v, graph, state, rule)


@kl.device
def append_candidates(chosen, first, active: gains.ActiveSets, rebalancing: Rebalancing):
    """Append the boundary vertices first + lane() + j * team_size() for each bit j of `chosen`.

    Called by all lanes of a team.
    """
    until = kl.team_scan(kl.int64(kl.popcount(kl.uint64(chosen))))
    total = kl.team_last(until)
    begin = kl.int64(0)
    if kl.lane() == 0 and total > 0:
        begin = kl.atomic_add(rebalancing, Rebalancing.candidates, total)
    place = kl.team_sum(begin) + until
    left = chosen
    while left != 0:
        place -= 1
        j = first + kl.lane() + kl.ctz(kl.uint64(left)) * kl.team_size()
        rebalancing.listed[place] = gains.boundary_vertex(j, active)
        left &= left - 1


@kl.kernel
def gather_other_candidates(i, graph: Csr, moves: Moves, active: gains.ActiveSets, blocks: Blocks,
                            rebalancing: Rebalancing, figures: Figures):
    """List the vertices of batch i that `list_other_candidates` would list, to be rated later.

    Most vertices are in blocks that need none, so the blocks of several vertices are loaded before
    the first vertex is examined.
    """
    width = kl.int64(kl.team_size())
    first = kl.int64(i) * BATCH
    end = min(first + BATCH, active.on_boundary)
    vertices = OfRounds()
    here = OfRounds()
    while rates_boundary_now(active, rebalancing) and first < end:
        for j in kl.static_range(ROUNDS):
            vertices[j] = gains.boundary_vertex(min(first + kl.lane() + j * width, end - 1), active)
        for j in kl.static_range(ROUNDS):
            here[j] = moves.part[vertices[j]]
        chosen = kl.int64(0)
        for j in kl.static_range(ROUNDS):
            if first + kl.lane() + j * width < end:
                if is_boundary_candidate(vertices[j], here[j], graph, active, blocks, rebalancing,
                                         figures):
                    chosen |= kl.int64(1) << j
        append_candidates(chosen, first, active, rebalancing)
        first += ROUNDS * width


@kl.kernel
def rate_gathered(i, graph: Csr, state: Deciding, rule: RebalancingRule):
    """Rate eviction candidate i, if it has only been listed."""
    v = state.rebalancing.listed[i]
    if i >= state.rebalancing.rated and state.active.flags[v] & gains.IS_MOVABLE == 0:
        if not evicts_all(state.moves.part[v], state.blocks, state.rebalancing, BY_WEIGHT):
            rate_by_cache(v, graph, state, rule)


@kl.kernel
def list_all_candidates(i, graph: Csr, moves: Moves, blocks: Blocks, unrated: gains.UnratedList,
                        rebalancing: Rebalancing, figures: Figures, rule: RebalancingRule):
    """List the vertices of batch i whose block is heavily overloaded.

    In strong rebalancing it is enough if it is overloaded.  Several vertices are loaded before the
    first one is examined, so that their latencies overlap.
    """
    batch = batch_of_all(figures)
    width = kl.int64(kl.team_size())
    end = min((i + 1) * batch, figures.vertices)
    here = OfRounds()
    for first in range(i * batch + kl.lane(), end, ROUNDS * width):
        for j in kl.static_range(ROUNDS):
            here[j] = moves.part[min(first + j * width, end - 1)]
        for j in kl.static_range(ROUNDS):
            v = first + j * width
            if v < end:
                if rebalancing.strong != 0:
                    let_stay(v, rebalancing)
                if is_eviction_candidate(v, here[j], False, graph, blocks, rebalancing, figures,
                                         rule):
                    rebalancing.listed[
                        kl.atomic_next(rebalancing, Rebalancing.candidates)] = kl.int32(v)
                    gains.list_unrated(v, graph, unrated, figures)

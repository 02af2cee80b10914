"""Evaluates a partition, plans the next iteration, and keeps the best (Jet, algorithm 4.1)."""

from __future__ import annotations

from portpart.algorithms.refinement import gains
from portpart.algorithms.refinement.blocks import Blocks
from portpart.algorithms.refinement.incumbent import (
    MUCH_BETTER,
    Incumbent,
    compare_with_best,
    keep_if_better,
    plan_saving,
    set_touched,
)
from portpart.algorithms.refinement.moves import (
    Moves,
    add_weight,
    join_block,
    note_propagation,
    share_of_cost,
    sum_many_copies,
    sum_of_copies,
    thin_out,
)
from portpart.algorithms.refinement.options import Figures
from portpart.algorithms.refinement.piece import SIZE, LevelWords
from portpart.algorithms.refinement.rebalancing import (
    Rebalancing,
    RebalancingRule,
    end_rebalancing,
    forget_rebalancings,
    plan_gathering,
    plan_leaving,
    request_strong,
)
from portpart.backends import language as kl
from portpart.backends.programs import Array
from portpart.graphs import Csr

LOWEST = -(2**63)

CROWDED = 8
"""If more than 1 / CROWDED of all weight exceeds the limits, too many vertices moved at once."""


@kl.kernel
def start_from(v, graph: Csr, moves: Moves, incumbent: Incumbent, figures: Figures):
    """Add v to the weight of its block, and mark v as possibly on a boundary.

    Atomic, independent of order.
    """
    set_touched(v, 1, incumbent)
    add_weight(v, moves.part[v], kl.value_or(graph.vertex_weights, v, 1), moves, figures)


@kl.device
def allow_no_iteration(figures: Figures):
    """Request that the partition is evaluated only, without any iteration."""
    figures.iteration_limit = 0


@kl.device
def end_propagation(too_many, moves: Moves, active: gains.ActiveSets, rebalancing: Rebalancing,
                    figures: Figures, rule: RebalancingRule):
    """End a label propagation: its moves are locked for the next one."""
    note_propagation(moves, figures)
    forget_rebalancings(rebalancing)
    gains.swap_movable(active, figures)
    if rule.until_balanced:
        if too_many:
            thin_out(moves)


@kl.device
def end_iteration(too_many, lengths, moves: Moves, cache: gains.GainCache, active: gains.ActiveSets,
                  rebalancing: Rebalancing, figures: Figures, rule: RebalancingRule):
    """Update the counts after an iteration; return whether no vertex can move."""
    idle = False
    if figures.iteration >= 0 and figures.balanced != 0:
        end_propagation(too_many, moves, active, rebalancing, figures, rule)
        idle = gains.is_idle(cache, active, lengths)
    elif figures.iteration >= 0:
        end_rebalancing(rebalancing, rule)
    return idle


@kl.device
def plan_next(improvement, balanced, idle, rebalancing: Rebalancing, figures: Figures,
              rule: RebalancingRule):
    """Count the iteration, and decide what the next one is, if there is one."""
    iteration = figures.iteration
    counts = kl.int64(1)
    if rule.until_balanced:
        if not balanced and rebalancing.rebalancings < rebalancing.weak_limit:
            counts = kl.int64(0)
    figures.stalled = 0 if improvement == MUCH_BETTER else figures.stalled + counts
    figures.iteration = iteration + 1
    figures.balanced = kl.int64(balanced)
    figures.overloaded = 1 - kl.int64(balanced)
    figures.running = kl.int64(
        figures.stalled < figures.stall_limit and iteration + 1 < figures.iteration_limit
        and not idle
    )


@kl.device
def plan_work(heavily, lengths, cache: gains.GainCache, active: gains.ActiveSets,
              incumbent: Incumbent, unrated: gains.UnratedList, rebalancing: Rebalancing,
              figures: Figures):
    """Set the work sizes of the next iteration.

    `heavily` says whether a block is heavily overloaded.
    """
    gains.plan_tidying(active, lengths)
    plan_gathering(cache, active, rebalancing)
    plan_saving(incumbent)
    gains.plan_refreshing(cache)
    plan_leaving(heavily, unrated, rebalancing, figures)


@kl.device
def is_heavily_overloaded(b, weight, blocks: Blocks, figures: Figures, rule: RebalancingRule):
    """Whether block b is heavily overloaded."""
    too_heavy = weight > blocks.limits[b] + figures.slack
    return too_heavy and weight - blocks.means[b] > blocks.limits[b] // rule.slight_share


@kl.device
def copy_words(words: LevelWords, copy: LevelWords):
    """Copy all words.  Called by all lanes of a team."""
    for word in range(kl.lane(), SIZE, kl.team_size()):
        copy[word] = words[word]
    return SIZE


@kl.kernel
def evaluate(_, moves: Moves, active: gains.ActiveSets, blocks: Blocks, incumbent: Incumbent,
             level: LevelWords, rule: RebalancingRule):
    """Sum up weights and cost, update the best partition, and plan the next iteration.

    Called by one team.  The overload is the maximum by which a block exceeds its limit.  All words
    are read and written at once: one by one, each would wait for memory.
    """
    now = LevelWords(kl.team_array(kl.int64, SIZE))
    copy_words(level, now)
    twice = share_of_cost(moves)
    kl.team_sync()
    sum_many_copies(moves.weight_sums, blocks.weight, now, now)
    overload = kl.int64(LOWEST)
    heavily = kl.int64(0)
    surplus = kl.int64(0)
    total = kl.int64(0)
    for b in range(kl.lane(), now.blocks, kl.team_size()):
        limit = blocks.limits[b] + now.slack
        weight = sum_of_copies(b, moves.weight_sums, blocks.weight, now, now)
        rule.target_capacity.note_weight(b, weight, blocks, now)
        overload = max(overload, weight - limit)
        total += weight
        surplus += max(kl.int64(0), weight - limit)
        if is_heavily_overloaded(b, weight, blocks, now, rule):
            heavily = kl.int64(1)
    twice = kl.team_sum(twice)
    overload = kl.team_max(overload)
    heavily = kl.team_max(heavily)
    if rule.until_balanced:
        surplus = kl.team_sum(surplus)
        total = kl.team_sum(total)
    kl.team_sync()
    if overload > 0:
        opened = rule.target_capacity.find(blocks, now, now)
        if opened and kl.lane() == 0:
            request_strong(now)
    if kl.lane() == 0:
        balanced = overload <= 0
        improvement = compare_with_best(twice // 2, overload, incumbent.tolerance, now, now)
        keep_if_better(improvement, twice // 2, overload, now, now)
        idle = end_iteration(surplus > total // CROWDED, active.lengths, now, now, now, now,
                             now, rule)
        plan_next(improvement, balanced, idle and balanced, now, now, rule)
        plan_work(heavily, active.lengths, now, now, now, now, now, now)
    kl.team_sync()
    copy_words(now, level)


class Coarser(kl.Record):
    """Arrays of the coarser level that a level starts from.

    Attributes
    ----------
    best : array of int32
        The best partition.
    flags : array of int8
    is_dirty : array of int32, or None
        See `ActiveSets` and `GainCache`; without the second one, flags say which vertices may be on
        a boundary.
    """

    best: Array
    flags: Array
    is_dirty: Array | None = None


@kl.device
def may_touch(flags, is_dirty):
    """Whether a vertex may be on a boundary of the best partition; all others are in the interior.

    The last moves may be the best ones, and the vertices whose gains they changed are not listed
    yet.
    """
    return kl.int8(flags != 0 or is_dirty != 0)


@kl.device
def project_vertex(v, c, coarser: Coarser, moves: Moves, incumbent: Incumbent):
    """Start v in the block of cluster c, and in the interior if c was."""
    join_block(v, coarser.best[c], moves)
    set_touched(v, may_touch(coarser.flags[c], kl.value_or(coarser.is_dirty, c, 0)), incumbent)


@kl.kernel
def project(v, cluster, coarser: Coarser, moves: Moves, incumbent: Incumbent):
    """Start v in the block of its cluster, and in the interior if the cluster was.

    Without `cluster`, vertices are their own clusters.
    """
    project_vertex(v, kl.value_or(cluster, v, v), coarser, moves, incumbent)


@kl.kernel
def revert_to_best(v, moves: Moves, cache: gains.GainCache, active: gains.ActiveSets,
                   incumbent: Incumbent):
    """Start v in its best block."""
    join_block(v, incumbent.best[v], moves)
    set_touched(v, may_touch(active.flags[v], cache.is_dirty[v]), incumbent)

"""Evaluating a partition, planning the next iteration, keeping the best (Jet, algorithm 4.1)."""

from __future__ import annotations

from portpart.algorithms.refinement.active_sets import (
    is_at_rest,
    is_crowded,
    plan_gathering,
    turn_movable,
)
from portpart.algorithms.refinement.relief import Relief
from portpart.algorithms.refinement.state import (
    SIZE,
    ActiveSets,
    Blocks,
    Figures,
    GainCache,
    Incumbent,
    Level,
    Run,
)
from portpart.algorithms.refinement.weight_copies import sum_copies
from portpart.backends.language import (
    atomic_add,
    device,
    float64,
    int8,
    int64,
    kernel,
    lane,
    team_array,
    team_max,
    team_size,
    team_sum,
    team_sync,
    value_or,
)
from portpart.graphs.rows import Csr
from portpart.primitives.reduce import STRIPES

NOT_BETTER, BETTER, MUCH_BETTER = 0, 1, 2
LOWEST = -(2**63)

CROWDED = 8
"""If more than 1 / CROWDED of all weight is too much for its block, too many have moved at once."""

ENOUGH_GROUPS = 2048
"""Teams to look through a list at the same time: more would take turns on a GPU."""


@kernel
def begin_with(v, graph: Csr, run: Run):
    """Add v to the weight of its block, atomic and order-free; what is around it may be new."""
    run.incumbent.touched[v] = int8(1)
    stripe = v % run.level.weight_stripes
    place = stripe * run.level.blocks + run.moves.part[v]
    atomic_add(run.moves.weight_sums, place, value_or(graph.vertex_weights, v, 1))


@kernel
def restore_block(b, run: Run):
    """Set the weight of block b to that of the best partition."""
    run.moves.weight_sums[b] = run.incumbent.best_weight[b]
    for stripe in range(1, run.level.weight_stripes):
        run.moves.weight_sums[stripe * run.level.blocks + b] = 0


@kernel
def restore_cost(stripe, run: Run):
    """Set the cost to that of the best partition of the run before."""
    run.moves.cost_sums[stripe] = 2 * run.before.best_cost if stripe == 0 else 0


@device
def compare_with_best(cost, overload, incumbent: Incumbent, level: Level):
    """How the partition compares with the best: NOT_BETTER, BETTER or MUCH_BETTER.

    Iteration -1 judges the partition that refinement starts from, which is the best so far.
    """
    result = int64(NOT_BETTER)
    best_cost = level.best_cost
    if level.iteration < 0:
        result = int64(MUCH_BETTER)
    elif level.best_is_balanced == 0:
        if overload < level.best_overload:
            result = int64(MUCH_BETTER)
    elif overload <= 0 and cost < best_cost:
        result = int64(BETTER)
        if float64(cost) < incumbent.tolerance * float64(best_cost):
            result = int64(MUCH_BETTER)
    return result


@device
def keep_if_better(improvement, cost, overload, level: Level):
    """Record the values of a new best partition, and what is to be copied."""
    level.saved_vertices = 0
    level.saved_blocks = 0
    if improvement != NOT_BETTER:
        level.best_cost = cost
        level.best_overload = overload
        level.best_is_balanced = int64(overload <= 0)
        level.saved_vertices = level.unsaved
        level.unsaved = 0
        level.saved_blocks = level.blocks
    return improvement


@device
def plan_next(improvement, balanced, too_many, level: Level, relief: Relief):
    """Count what was done and set the flags of the next iteration."""
    iteration = level.iteration
    at_rest = False
    if iteration >= 0 and level.balanced != 0:
        level.last_propagation = iteration
        level.rebalancings = 0
        turn_movable(level)
        at_rest = is_at_rest(level) and balanced
        if relief.until_balanced:
            if too_many:
                level.thinned = 1
    elif iteration >= 0:
        level.rebalancings += 1
        if relief.weak_again:
            if level.strong != 0:
                level.rebalancings = 0
        level.short = 0
        level.wide = level.next_wide
        level.next_wide = 0
    counts = int64(1)
    if relief.until_balanced:
        if not balanced and level.rebalancings < level.weak_limit:
            counts = int64(0)
    level.stalled = 0 if improvement == MUCH_BETTER else level.stalled + counts
    level.iteration = iteration + 1
    level.balanced = int64(balanced)
    level.overloaded = 1 - int64(balanced)
    level.crowded = int64(is_crowded(level))
    plan_gathering(level)
    level.strong = int64(not balanced and level.rebalancings >= level.weak_limit)
    level.running = int64(
        level.stalled < level.stall_limit and iteration + 1 < level.iteration_limit
        and not at_rest
    )
    return iteration


@device
def plan_work(heavily, level: Level):
    """Set the work sizes of what follows; `heavily` tells of a heavily overloaded block."""
    level.saves = max(1, max(level.saved_vertices, level.saved_blocks))
    level.dirty = level.marked
    level.group = max(1, min(level.max_in_group, level.marked // ENOUGH_GROUPS))
    level.dirty_groups = (level.marked + level.group - 1) // level.group
    level.marked = 0
    level.leavers = 0
    level.rated = 0
    level.unrated = 0
    level.unrated_hubs = 0
    level.swept = max(heavily, level.strong) * level.vertices
    return level.saves


@device
def is_heavily_overloaded(b, weight, blocks: Blocks, level: Figures, relief: Relief):
    """Whether block b weighs far more than it may."""
    too_heavy = weight > blocks.limits[b] + level.slack
    return too_heavy and weight - blocks.means[b] > blocks.limits[b] // relief.slight_share


@kernel
def evaluate(_, run: Run, relief: Relief):
    """Sum up weights and cost, then decide what is best so far and what to do next.  One team.

    The overload is the most by which a block exceeds its limit.  The level is read and written
    as a whole: one word after the other would wait for memory each time.
    """
    level = Level(team_array(int64, SIZE))
    for word in range(lane(), SIZE, team_size()):
        level[word] = run.level[word]
    sum_copies(run.moves.weight_sums, run.blocks.weight, run.level)
    twice = int64(0)
    for stripe in range(lane(), STRIPES, team_size()):
        twice += run.moves.cost_sums[stripe]
    twice = team_sum(twice)
    overload = int64(LOWEST)
    heavily = int64(0)
    surplus = int64(0)
    total = int64(0)
    for b in range(lane(), run.level.blocks, team_size()):
        weight = run.blocks.weight[b]
        relief.rooms.note_weight(b, weight, run.blocks, run.level)
        overload = max(overload, weight - run.blocks.limits[b] - run.level.slack)
        total += weight
        surplus += max(int64(0), weight - run.blocks.limits[b] - run.level.slack)
        if is_heavily_overloaded(b, weight, run.blocks, run.level, relief):
            heavily = int64(1)
    overload = team_max(overload)
    heavily = team_max(heavily)
    if relief.until_balanced:
        surplus = team_sum(surplus)
        total = team_sum(total)
    team_sync()
    if overload > 0:
        relief.rooms.find(run.blocks, level)
    if lane() == 0:
        improvement = compare_with_best(twice // 2, overload, run.incumbent, level)
        keep_if_better(improvement, twice // 2, overload, level)
        plan_next(improvement, overload <= 0, surplus > total // CROWDED, level, relief)
        plan_work(heavily, level)
    team_sync()
    for word in range(lane(), SIZE, team_size()):
        run.level[word] = level[word]


@device
def may_touch(v, cache: GainCache, active: ActiveSets):
    """Whether v may be on a boundary of the best partition: all others are surely not.

    The last moves may be the best ones, and what they have changed is not listed yet.
    """
    return int8(active.flags[v] != 0 or cache.dirty[v] != 0)


@kernel
def project(v, cluster, run: Run):
    """A vertex starts in the block of its cluster, and inside it if that was."""
    run.moves.part[v] = run.incumbent.best[cluster[v]]
    run.incumbent.touched[v] = may_touch(cluster[v], run.cache, run.active)


@kernel
def go_back(v, run: Run):
    """A vertex starts in its best block."""
    run.moves.part[v] = run.incumbent.best[v]
    run.incumbent.touched[v] = may_touch(v, run.cache, run.active)

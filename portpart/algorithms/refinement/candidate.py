"""The best block for a vertex, among those that it touches and that are admitted."""

from __future__ import annotations

from functools import cache

from portpart.algorithms.objectives.connectivity import Ties
from portpart.algorithms.objectives.objective import Found, Rules, Tables, Valuation
from portpart.algorithms.refinement.homes import pull_of
from portpart.algorithms.refinement.state import Run
from portpart.backends.language import (
    DeviceFunction,
    device,
    int32,
    int64,
    lane,
    team_max,
    team_size,
    team_sum,
    team_sync,
    value_or,
)
from portpart.graphs.rows import Csr
from portpart.primitives.hashing import pair_hash
from portpart.primitives.team_winner import team_winner

NONE = -1
LOWEST = -(2**63)


@cache
def note_found(by_distance: bool) -> DeviceFunction:
    """Device function for values that are weights, or by distance."""

    @device
    def note_found(own, total, cost, block, value, found: Found):
        """Tell the first lane of a team what has been found; nothing is admitted so far."""
        if lane() == 0:
            found.own = own
            found.here = -cost if by_distance else own
            if by_distance:
                found.total = total
            found.block = int64(block)
            found.value = value
            found.admitted = 0
        return block

    return note_found


@device
def note_admitted(admitted, weight, found: Found):
    """Tell the first lane of a team how many blocks are admitted, and the weight of the ties there.

    All lanes together.
    """
    admitted_by_all = team_sum(admitted)
    weight_by_all = team_sum(weight)
    if lane() == 0:
        found.admitted = admitted_by_all
        found.total = weight_by_all
    return admitted_by_all


@device
def ignore_admitted(admitted, weight, found: Found):
    """Nobody asks how many they are."""
    return admitted


@cache
def note_home(admits: DeviceFunction) -> DeviceFunction:
    """Device function for admitted blocks."""

    @device
    def note_home(v, graph: Csr, run: Run, found: Found):
        """Set right what has been found where v touches nobody at home.  One lane.

        Blocks that v touches have their pull already: home could not win for its tie alone.
        """
        tie = value_or(run.blocks.tie, v, 0)
        home = int32(value_or(run.blocks.home, v, NONE))
        if home == run.moves.part[v]:
            if found.own == 0:
                found.own = tie
                found.here = tie
        elif admits(v, home, graph, run) and tie >= found.value:
            seed = run.level.seed
            if tie > found.value or pair_hash(v, home, seed) > pair_hash(v, found.block, seed):
                found.block = int64(home)
                found.value = tie
        return tie

    return note_home


@cache
def best_candidate(rules: Rules, valuation: Valuation, admits: DeviceFunction,
                   counts: bool) -> DeviceFunction:
    """Device function for an objective, a way to value blocks, and which blocks are admitted.

    Parameters
    ----------
    admits : DeviceFunction
        ``admits(v, block, graph, run)``
    counts : bool
        Whether the admitted blocks are counted.
    """
    find, note = best_touched(rules, valuation, admits, counts), note_home(admits)

    @device
    def best_candidate(v, graph: Csr, run: Run, ties: Ties, tables: Tables, found: Found):
        """Find out, all lanes together, what `Found` says about v; a hash breaks ties."""
        find(v, graph, run, ties, tables, found)
        if value_or(run.blocks.tie, v, 0) > 0 and lane() == 0:
            note(v, graph, run, found)
        return v

    return best_candidate


@cache
def best_touched(rules: Rules, valuation: Valuation, admits: DeviceFunction,
                 counts: bool) -> DeviceFunction:
    """Device function that looks at the blocks that v touches."""
    bring, number, block_of, weight_of = valuation.connectivity.functions
    value_of, distance, by_distance = valuation.value, rules.distance, not rules.is_cut
    note, tell_admitted = note_found(by_distance), note_admitted if counts else ignore_admitted

    @device
    def best_touched(v, graph: Csr, run: Run, ties: Ties, tables: Tables, found: Found):
        """The same, for a home only if v has ties there beside the one to home."""
        num_blocks = run.level.blocks
        seed = run.level.seed
        here = run.moves.part[v]
        own = int64(0)
        total = int64(0)
        cost = int64(0)
        best = int64(LOWEST)
        best_hash = int64(LOWEST)
        best_block = int32(NONE)
        admitted = int64(0)
        admitted_weight = int64(0)
        first = int64(0)
        while first < num_blocks:
            end = bring(v, first, graph, run.moves.part, ties, num_blocks)
            count = number(v, first, end, graph, ties)
            for j in range(lane(), count, team_size()):
                block = block_of(j, v, first, end, graph, run.moves.part, ties)
                weight = weight_of(j, count, v, block, first, end, graph, ties)
                if weight > 0:
                    weight += pull_of(v, block, run.blocks)
                total += weight
                if block == here:
                    own += weight
                elif weight > 0:
                    if by_distance:
                        cost += weight * distance(here, block, tables)
                    if admits(v, block, graph, run):
                        if counts:
                            admitted += 1
                            admitted_weight += weight
                        value = value_of(block, weight, count, v, graph, run.moves.part, ties,
                                         tables)
                        if value >= best:
                            hashed = pair_hash(v, block, seed)
                            if value > best or hashed > best_hash:
                                best = value
                                best_hash = hashed
                                best_block = block
            team_sync()
            first = end
        own = team_sum(own)
        if by_distance:
            total = team_sum(total)
            cost = team_sum(cost)
        top = team_max(best)
        note(own, total, cost, team_winner(best, best_hash, best_block), top, found)
        tell_admitted(admitted, admitted_weight, found)
        return top

    return best_touched

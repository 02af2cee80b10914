"""The best admissible block for a vertex, among the blocks it is connected to."""

from __future__ import annotations

from dataclasses import dataclass

from portpart.algorithms import objectives
from portpart.algorithms.refinement import Figures
from portpart.algorithms.refinement.blocks import Blocks, migration_gain
from portpart.algorithms.refinement.moves import Moves
from portpart.backends import language as kl
from portpart.graphs import Csr, global_id
from portpart.primitives import pair_hash, team_winner

NONE = -1
LOWEST = -(2**63)


class Searching(kl.Scope):
    """Records that the best block of a vertex depends on."""

    moves: Moves
    blocks: Blocks
    figures: Figures


@dataclass(frozen=True)
class BlockSearch(kl.Static):
    """How the best block of a vertex is found.

    Attributes
    ----------
    rules : Rules
    valuation : BlockScore
    admits : DeviceFunction
        ``admits(v, block, graph, blocks, figures)``: whether v may move to the block.
    counts : bool
        Whether the admitted blocks are counted.
    """

    rules: objectives.Rules
    valuation: objectives.BlockScore
    admits: kl.DeviceFunction
    counts: bool = False

    @property
    def connections(self) -> objectives.Connectivity:
        """How the blocks that a vertex is connected to are found."""
        return self.valuation.connectivity


@kl.device
def store_best(own, total, cost, block, value, found: objectives.BestTarget,
               rules: objectives.Rules):
    """Store the best target.

    Only the first lane of a team stores; no block is counted as admitted.
    """
    if kl.lane() == 0:
        found.own = own
        found.here = own if rules.is_cut else -cost
        if not rules.is_cut:
            found.total = total
        found.block = kl.int64(block)
        found.value = value
        found.admitted = 0


@kl.device
def store_admitted(admitted, weight, found: objectives.BestTarget):
    """Store the number of admitted blocks and the connectivity to them, on the first lane.

    Called by all lanes of a team.
    """
    admitted_by_all = kl.team_sum(admitted)
    weight_by_all = kl.team_sum(weight)
    if kl.lane() == 0:
        found.admitted = admitted_by_all
        found.total = weight_by_all


@kl.device
def include_previous_block(v, graph: Csr, moves: Moves, blocks: Blocks, figures: Figures,
                           found: objectives.BestTarget, search: BlockSearch):
    """Consider the previous block of v, to which v may have no arc.  Called by one lane.

    The values of connected blocks include their migration gain already; a previous block without an
    arc has its move cost as its value.
    """
    move_cost = kl.value_or(blocks.move_cost, v, 0)
    previous = kl.int32(kl.value_or(blocks.previous, v, NONE))
    if previous == moves.part[v]:
        if found.own == 0:
            found.own = move_cost
            found.here = move_cost
    elif search.admits(v, previous, graph, blocks, figures) and move_cost >= found.value:
        here = global_id(v, graph)
        hashed = pair_hash(here, previous, figures.seed)
        if move_cost > found.value or hashed > pair_hash(here, found.block, figures.seed):
            found.block = kl.int64(previous)
            found.value = move_cost


@kl.device
def best_candidate(v, graph: Csr, state: Searching, connections: objectives.ConnectivityTable,
                   tables: objectives.Tables, found: objectives.BestTarget, search: BlockSearch):
    """Find the best target of v, and store it in `found`.  A hash breaks ties.

    Called by all lanes of a team.
    """
    best_touched(v, graph, state, connections, tables, found, search)
    if kl.value_or(state.blocks.move_cost, v, 0) > 0 and kl.lane() == 0:
        include_previous_block(v, graph, state.moves, state.blocks, state.figures, found, search)


@kl.device
def best_touched(v, graph: Csr, state: Searching, connections: objectives.ConnectivityTable,
                 tables: objectives.Tables, found: objectives.BestTarget, search: BlockSearch):
    """Find the best target among the blocks that v has an arc to.

    Called by all lanes of a team.
    """
    num_blocks = state.figures.blocks
    seed = state.figures.seed
    here = state.moves.part[v]
    own = kl.int64(0)
    total = kl.int64(0)
    cost = kl.int64(0)
    best = kl.int64(LOWEST)
    best_hash = kl.int64(LOWEST)
    best_block = kl.int32(NONE)
    if search.counts:
        admitted = kl.int64(0)
        admitted_weight = kl.int64(0)
    first = kl.int64(0)
    while first < num_blocks:
        end = search.connections.load(v, first, graph, state.moves.part, connections, num_blocks)
        count = search.connections.count(v, first, end, graph, connections)
        for j in range(kl.lane(), count, kl.team_size()):
            block = search.connections.block_of(j, v, first, end, graph, state.moves.part,
                                                connections)
            weight = search.connections.weight_of(j, count, v, block, first, end, graph,
                                                  connections)
            if weight > 0:
                weight += migration_gain(v, block, state.blocks)
            total += weight
            if block == here:
                own += weight
            elif weight > 0:
                if not search.rules.is_cut:
                    cost += weight * search.rules.distance(here, block, tables)
                if search.admits(v, block, graph, state.blocks, state.figures):
                    if search.counts:
                        admitted += 1
                        admitted_weight += weight
                    if search.valuation.value:
                        value = search.valuation.value(block, count, v, graph, state.moves.part,
                                                       connections, tables)
                    else:
                        value = weight
                    if value >= best:
                        hashed = pair_hash(global_id(v, graph), block, seed)
                        if value > best or hashed > best_hash:
                            best = value
                            best_hash = hashed
                            best_block = block
        kl.team_sync()
        first = end
    own = kl.team_sum(own)
    if not search.rules.is_cut:
        total = kl.team_sum(total)
        cost = kl.team_sum(cost)
    top = kl.team_max(best)
    best_block = team_winner(best == top, best_hash, best_block)
    store_best(own, total, cost, best_block, top, found, search.rules)
    if search.counts:
        store_admitted(admitted, admitted_weight, found)

"""Rating the vertices that may leave, and Jetrw: weak rebalancing (Jet, section 4.2).

Vertices of blocks that are too heavy are rated by what a move would lose; the cheapest leave
(`loss_buckets.py`).  Weak: every vertex goes to its best connected block with capacity, mostly
known from the gain cache.  Strong: see `strong.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

from portpart.algorithms.objectives import BestTarget, BlockScore, ConnectivityTable, Rules, Tables
from portpart.algorithms.refinement import Figures
from portpart.algorithms.refinement.blocks import Blocks
from portpart.algorithms.refinement.gains import BlockSearch, best_candidate
from portpart.algorithms.refinement.moves import Moves, add_move, set_target
from portpart.algorithms.refinement.rebalancing.loss_buckets import (
    empty_slot,
    enter_bucket,
    random_bits,
)
from portpart.algorithms.refinement.rebalancing.rule import Evicting, RebalancingRule
from portpart.algorithms.refinement.rebalancing.state import Rebalancing
from portpart.backends import language as kl
from portpart.graphs import Csr, global_id

NONE = -1


@kl.device
def accepts(v, block, graph: Csr, blocks: Blocks, figures: Figures, rule: RebalancingRule):
    """Whether a block takes vertices of others."""
    return rule.target_capacity.free_capacity(block, blocks, figures) > 0


@dataclass(frozen=True)
class EvictionRating(kl.Static):
    """How vertices that may leave are rated.

    Attributes
    ----------
    search : BlockSearch
        How their targets are found.
    rule : RebalancingRule
    """

    search: BlockSearch
    rule: RebalancingRule


@kl.device
def rate(v, graph: Csr, state: Evicting, connections: ConnectivityTable, tables: Tables,
         found: BestTarget, more: kl.Record,
         rating: EvictionRating):
    """Find target and loss of a vertex that may leave, and its bucket.

    Weak: the loss is measured against the best target (equation 4.9), strong: against what
    vertices can count on that go where there is room (equation 4.10).  A vertex that
    touches no block with room goes to one chosen by a hash.  All lanes of a team together.
    """
    best_candidate(v, graph, state, connections, tables, found, rating.search)
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
    return v


@dataclass(frozen=True)
class Rated:
    """`rate` for a rule: a body, of an objective and a way to value blocks."""

    rule: RebalancingRule

    def __call__(self, rules: Rules, valuation: BlockScore) -> kl.DeviceFunction:
        admits = accepts.bound(rule=self.rule)
        search = BlockSearch(rules, valuation, admits, counts=rules.is_cut)
        return rate.bound(rating=EvictionRating(search, self.rule))


@kl.kernel
def evict_weakly(i, moves: Moves, rebalancing: Rebalancing, figures: Figures):
    """Weak rebalancing: a vertex up to the threshold moves to its own best target.

    The buckets are emptied.
    """
    v = rebalancing.listed[i]
    slot = empty_slot(moves.part[v], kl.int64(rebalancing.slot_of[v]), rebalancing)
    if slot <= rebalancing.threshold[moves.part[v]]:
        add_move(v, moves, figures)

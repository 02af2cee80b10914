"""Cost and weights of the blocks after a batch, by what the edits themselves contribute."""

from __future__ import annotations

from typing import Any

from portpart.algorithms.edits.id_table import ALIVE, DeletedIds, WeightChanges
from portpart.algorithms.edits.operations import Changes
from portpart.algorithms.incremental.edits import EditCounts, NewLimits, NewVertices, new_vertex
from portpart.algorithms.refinement.blocks.block_weights import set_limits
from portpart.algorithms.refinement.blocks.state import Blocks
from portpart.algorithms.refinement.gains.dirty_list import mark_dirty
from portpart.algorithms.refinement.gains.state import GainCache
from portpart.algorithms.refinement.incumbent.state import Incumbent
from portpart.algorithms.refinement.incumbent.unsaved_list import set_best
from portpart.algorithms.refinement.local.local import Journal
from portpart.algorithms.refinement.moves.list_moves import add_cost, change_weight
from portpart.algorithms.refinement.moves.state import Moves
from portpart.algorithms.refinement.piece import Recording
from portpart.backends import language as kl
from portpart.graphs.rows import Csr


@kl.kernel
def account_pair(i, changes: Changes, moves: Moves):
    """Add what a changed pair costs more: both directions are there, sums are twice the cost."""
    will = max(kl.int64(0), kl.int64(changes.will[i]))
    was = max(kl.int64(0), kl.int64(changes.was[i]))
    if will != was:
        u = changes.keys[i] >> 32
        v = changes.keys[i] & 0xFFFFFFFF
        if moves.part[u] != moves.part[v]:
            add_cost(i, will - was, moves)


@kl.kernel
def activate_end(i, changes: Changes, cache: GainCache):
    """Activate the end of a changed pair; each pair is stored at both ends."""
    if changes.will[i] != changes.was[i]:
        mark_dirty(kl.int32(changes.keys[i] >> 32), cache)


@kl.kernel
def limit_block(b, new_limits: NewLimits, blocks: Blocks):
    """Block b gets the limits that all have."""
    set_limits(b, new_limits.limit, new_limits.mean, new_limits.open_below, blocks)


@kl.kernel
def account_inserted(i, inserted: NewVertices, counts: EditCounts, graph: Csr, moves: Moves,
                     incumbent: Incumbent):
    """Count a new vertex in its block, with what it weighs after the batch."""
    v = new_vertex(i, inserted, counts)
    set_best(v, moves.part[v], incumbent)
    change_weight(moves.part[v], kl.value_or(graph.vertex_weights, v, 1), moves)


@kl.kernel
def activate_inserted(i, inserted: NewVertices, counts: EditCounts, cache: GainCache):
    """Activate a new vertex."""
    mark_dirty(kl.int32(new_vertex(i, inserted, counts)), cache)


@kl.kernel
def account_deletion(j, deleted: DeletedIds, moves: Moves, journal: Journal):
    """Take a deleted vertex out of its block, unless it is new."""
    v = kl.int64(deleted.effective[j])
    if v >= 0:
        if journal.previous[v] >= 0:
            change_weight(moves.part[v], -kl.int64(deleted.weights[j]), moves)


@kl.kernel
def account_weight_change(i, weighed: WeightChanges, inserted: NewVertices, moves: Moves,
                          journal: Journal):
    """Count the new weight of a vertex that stays and is not new."""
    v = kl.int64(weighed.ids[i])
    if weighed.will[i] >= 0 and inserted.deletions[v] == ALIVE and journal.previous[v] >= 0:
        change_weight(moves.part[v], kl.int64(weighed.will[i]) - kl.int64(weighed.was[i]), moves)


def record_pairs(this: Recording) -> None:
    """Record the accounts of changed edges, and that their ends are activated."""
    counts: Any = this.program.records["counts"]
    this.program.launch(counts.changed, account_pair)
    this.program.launch(counts.active_pairs, activate_end)

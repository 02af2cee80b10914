"""The program of a round: changed edges or pins, accounts, and refinement around them."""

from __future__ import annotations

from typing import ClassVar

from portpart.algorithms import edits
from portpart.algorithms.incremental import placing, widening
from portpart.algorithms.incremental.edits import (
    EditCounts,
    NewLimits,
    NewVertices,
    learn_outcome,
    new_vertex,
)
from portpart.algorithms.incremental.net_changes import record_nets, record_pins
from portpart.algorithms.incremental.nets import (
    EditedNets,
    EditedNetSteps,
    EditedRows,
    GraphFollowed,
)
from portpart.algorithms.refinement import (
    LOCAL,
    AccountingSteps,
    Journal,
    Piece,
    PropagationSteps,
    Recording,
    Refiner,
    record_begin,
    record_end,
    record_local,
)
from portpart.algorithms.refinement.blocks import Blocks, set_limits
from portpart.algorithms.refinement.gains import GainCache, mark_dirty
from portpart.algorithms.refinement.incumbent import Incumbent, set_best
from portpart.algorithms.refinement.moves import Moves, add_cost, change_weight
from portpart.algorithms.refinement.nets import NetPropagation
from portpart.backends import language as kl
from portpart.graphs import Csr

# Cost and weights of the blocks after a batch, by what the edits themselves contribute ---------


@kl.kernel
def account_pair(i, changes: edits.Changes, moves: Moves):
    """Add what a changed pair costs more: both directions are there, sums are twice the cost."""
    will = max(kl.int64(0), kl.int64(changes.will[i]))
    was = max(kl.int64(0), kl.int64(changes.was[i]))
    if will != was:
        u = changes.keys[i] >> 32
        v = changes.keys[i] & 0xFFFFFFFF
        if moves.part[u] != moves.part[v]:
            add_cost(i, will - was, moves)


@kl.kernel
def activate_end(i, changes: edits.Changes, cache: GainCache):
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
def account_deletion(j, deleted: edits.DeletedIds, moves: Moves, journal: Journal):
    """Take a deleted vertex out of its block, unless it is new."""
    v = kl.int64(deleted.effective[j])
    if v >= 0:
        if journal.previous[v] >= 0:
            change_weight(moves.part[v], -kl.int64(deleted.weights[j]), moves)


@kl.kernel
def account_weight_change(i, weighed: edits.WeightChanges, inserted: NewVertices, moves: Moves,
                          journal: Journal):
    """Count the new weight of a vertex that stays and is not new."""
    v = kl.int64(weighed.ids[i])
    if weighed.will[i] >= 0 and inserted.deletions[v] == edits.ALIVE and journal.previous[v] >= 0:
        change_weight(moves.part[v], kl.int64(weighed.will[i]) - kl.int64(weighed.was[i]), moves)


def record_pairs(this: Recording) -> None:
    """Record the accounts of changed edges, and that their ends are activated."""
    counts = this.program.find("counts", EditCounts)
    this.program.launch(counts.changed, account_pair)
    this.program.launch(counts.active_pairs, activate_end)


# What rounds do about the edges or pins that a batch has changed -------------------------------


class GraphUpdates:
    """Edits of graphs, of which nothing is known but cost and weights.

    Attributes
    ----------
    pieces : tuple of Piece
        Refinement around edits.
    rows : type of EditedRows
        The vertices as refinement sees them.
    most_connected : DeviceFunction
        ``most_connected(v, graph, moves, blocks, figures)``: the block that a new vertex is tied to
        most.
    """

    pieces: ClassVar[tuple[Piece, ...]] = (
        *LOCAL, PropagationSteps(), widening.Widening(widening.activate_neighbours),
        AccountingSteps())
    rows: ClassVar[type[EditedRows]] = EditedRows
    most_connected: ClassVar[kl.DeviceFunction] = placing.most_connected_block

    def followed(self, refiner: Refiner) -> GraphFollowed:
        """What follows edits, of such a refiner."""
        return GraphFollowed()

    def account(self, this: Recording) -> None:
        """Record, side by side with the accounts of vertices, those of what has changed."""
        record_pairs(this)

    def activate(self, this: Recording) -> None:
        """Record which vertices are examined when all of that is known."""


class NetUpdates(GraphUpdates):
    """Edits of hypergraphs, whose nets count their pins in each block."""

    pieces = (*LOCAL, NetPropagation(), widening.Widening(widening.activate_pins_around),
              EditedNetSteps())
    rows = EditedNets
    most_connected = placing.most_connected_by_nets

    def followed(self, refiner: Refiner) -> GraphFollowed:
        """The nets, whose state follows edits."""
        assert isinstance(refiner.rows, GraphFollowed)
        return refiner.rows

    def account(self, this: Recording) -> None:
        """Record the accounts of pins that have changed."""
        record_pins(this)

    def activate(self, this: Recording) -> None:
        """Record which vertices nets ask to examine."""
        record_nets(this)


def updates_of(graph: edits.Editable) -> GraphUpdates:
    """What rounds do about edits of a graph or hypergraph."""
    return NetUpdates() if isinstance(graph, edits.EditableHypergraph) else GraphUpdates()


# The program of a round: new vertices, accounts, activation, and refinement around edits -------


def record_round(this: Recording, updates: GraphUpdates, costs: bool) -> None:
    """Record a round; records are those of `edits.records_of`, and the journal.

    Parameters
    ----------
    costs : bool
        Whether moves have a migration cost.
    """
    program = this.program
    counts = program.find("counts", EditCounts)
    limits = program.find("new_limits", NewLimits)
    journal = program.find("journal", Journal)
    program.launch(counts.unsure, learn_outcome)
    with program.if_nonzero(counts.go):
        with program.side_by_side():
            record_begin(this)
            program.launch(limits.limited, limit_block)
            program.launch(counts.inserted, placing.begin_inserted)
            if costs:
                _record_ties(this, 0)
        placing.record_placing(program, updates.most_connected)
        with program.side_by_side():
            program.launch(counts.inserted, account_inserted)
            program.launch(counts.deleted, account_deletion)
            program.launch(counts.weighed, account_weight_change)
            program.launch(counts.activated, activate_inserted)
            updates.account(this)
        updates.activate(this)
        record_local(this)
        with program.side_by_side():
            record_end(this)
            program.launch(counts.inserted, placing.finish_inserted)
            if costs:
                _record_ties(this, journal.migration_factor)


def _record_ties(this: Recording, migration_factor: int) -> None:
    """What it costs to move new vertices."""
    counts = this.program.find("counts", EditCounts)
    this.program.launch(counts.inserted, placing.connect_inserted,
                        migration_factor=migration_factor)

"""The program of a round: accounts of changed edges or pins, and refinement around them."""

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

# Cost and block weights after a batch: the contributions of the edits --------------------------


@kl.kernel
def account_pair(i, changes: edits.Changes, moves: Moves):
    """Add the change of a pair's weight to the cost, if its ends are in different blocks.

    Pairs have both directions, and sums are twice the cost.
    """
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
    """Set the limits of block b, which are equal for all blocks."""
    set_limits(b, new_limits.limit, new_limits.mean, new_limits.open_below, blocks)


@kl.kernel
def account_inserted(i, inserted: NewVertices, counts: EditCounts, graph: Csr, moves: Moves,
                     incumbent: Incumbent):
    """Add the weight of a new vertex, after the batch, to its block."""
    v = new_vertex(i, inserted, counts)
    set_best(v, moves.part[v], incumbent)
    change_weight(moves.part[v], kl.value_or(graph.vertex_weights, v, 1), moves)


@kl.kernel
def activate_inserted(i, inserted: NewVertices, counts: EditCounts, cache: GainCache):
    """Activate a new vertex."""
    mark_dirty(kl.int32(new_vertex(i, inserted, counts)), cache)


@kl.kernel
def account_deletion(j, deleted: edits.DeletedIds, moves: Moves, journal: Journal):
    """Subtract the weight of a deleted vertex from its block, unless it is new."""
    v = kl.int64(deleted.effective[j])
    if v >= 0:
        if journal.previous[v] >= 0:
            change_weight(moves.part[v], -kl.int64(deleted.weights[j]), moves)


@kl.kernel
def account_weight_change(i, weighed: edits.WeightChanges, inserted: NewVertices, moves: Moves,
                          journal: Journal):
    """Add the change of weight of a vertex to its block, unless it is deleted or new."""
    v = kl.int64(weighed.ids[i])
    if weighed.will[i] >= 0 and inserted.deletions[v] == edits.ALIVE and journal.previous[v] >= 0:
        change_weight(moves.part[v], kl.int64(weighed.will[i]) - kl.int64(weighed.was[i]), moves)


def record_pairs(this: Recording) -> None:
    """Record the accounts of changed edges, and the activation of their ends."""
    counts = this.program.find("counts", EditCounts)
    this.program.launch(counts.changed, account_pair)
    this.program.launch(counts.active_pairs, activate_end)


# The steps of a round for the edges or pins that a batch has changed ---------------------------


class GraphUpdates:
    """Edits of graphs, which change cost and weights only.

    Attributes
    ----------
    pieces : tuple of Piece
        Refinement around edits.
    rows : type of EditedRows
        The vertices for refinement.
    most_connected : DeviceFunction
        ``most_connected(v, graph, moves, blocks, figures)``: the most connected block of a new
        vertex.
    """

    pieces: ClassVar[tuple[Piece, ...]] = (
        *LOCAL, PropagationSteps(), widening.Widening(widening.activate_neighbours),
        AccountingSteps())
    rows: ClassVar[type[EditedRows]] = EditedRows
    most_connected: ClassVar[kl.DeviceFunction] = placing.most_connected_block

    def followed(self, refiner: Refiner) -> GraphFollowed:
        """Return the state of a refiner that edits change."""
        return GraphFollowed()

    def account(self, this: Recording) -> None:
        """Record the accounts of changed edges, side by side with the accounts of vertices."""
        record_pairs(this)

    def activate(self, this: Recording) -> None:
        """Record which vertices are activated after the accounts."""


class NetUpdates(GraphUpdates):
    """Edits of hypergraphs, whose nets count their pins in each block."""

    pieces = (*LOCAL, NetPropagation(), widening.Widening(widening.activate_pins_around),
              EditedNetSteps())
    rows = EditedNets
    most_connected = placing.most_connected_by_nets

    def followed(self, refiner: Refiner) -> GraphFollowed:
        """Return the state of the nets."""
        assert isinstance(refiner.rows, GraphFollowed)
        return refiner.rows

    def account(self, this: Recording) -> None:
        """Record the accounts of changed pins."""
        record_pins(this)

    def activate(self, this: Recording) -> None:
        """Record which pins edited nets activate."""
        record_nets(this)


def updates_of(graph: edits.Editable) -> GraphUpdates:
    """Return the steps of a round for edits of a graph or hypergraph."""
    return NetUpdates() if isinstance(graph, edits.EditableHypergraph) else GraphUpdates()


# The program of a round: new vertices, accounts, activation, and refinement around edits -------


def record_round(this: Recording, updates: GraphUpdates, costs: bool) -> None:
    """Record a round; its records are those of `edits.records_of`, and the journal.

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
                _record_move_costs(this, 0)
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
                _record_move_costs(this, journal.migration_factor)


def _record_move_costs(this: Recording, migration_factor: int) -> None:
    """Record that the migration costs of new vertices are set."""
    counts = this.program.find("counts", EditCounts)
    this.program.launch(counts.inserted, placing.connect_inserted,
                        migration_factor=migration_factor)

"""The program of a round: new vertices, accounts, activation, and refinement around edits."""

from __future__ import annotations

from typing import Any

from portpart.algorithms.incremental.accounts import (
    account_deletion,
    account_inserted,
    account_weight_change,
    activate_inserted,
    limit_block,
)
from portpart.algorithms.incremental.edits import learn_outcome
from portpart.algorithms.incremental.placing import (
    begin_inserted,
    connect_inserted,
    finish_inserted,
    record_placing,
)
from portpart.algorithms.incremental.updates import GraphUpdates
from portpart.algorithms.refinement.local.local import record_begin, record_end, record_local
from portpart.algorithms.refinement.piece import Recording


def record_round(this: Recording, updates: GraphUpdates, costs: bool) -> None:
    """Record a round; records are those of `edits.records_of`, and the journal.

    Parameters
    ----------
    costs : bool
        Whether moves have a price.
    """
    program = this.program
    counts: Any = program.records["counts"]
    limits: Any = program.records["new_limits"]
    journal: Any = program.records["journal"]
    program.launch(counts.unsure, learn_outcome)
    with program.if_nonzero(counts.go):
        with program.side_by_side():
            record_begin(this)
            program.launch(limits.limited, limit_block)
            program.launch(counts.inserted, begin_inserted)
            if costs:
                _record_ties(this, 0)
        record_placing(program, updates.most_connected)
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
            program.launch(counts.inserted, finish_inserted)
            if costs:
                _record_ties(this, journal.price)


def _record_ties(this: Recording, price: Any) -> None:
    """What it costs to move new vertices."""
    counts: Any = this.program.records["counts"]
    this.program.launch(counts.inserted, connect_inserted, price=price)

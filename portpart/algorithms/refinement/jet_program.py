"""Jet refinement of a level, as one recorded program (Jet, algorithm 4.1).

Label propagation runs while the blocks are balanced, rebalancing while they are not; the best
balanced partition is kept.  Nothing returns to the host until the level is done.
"""

from __future__ import annotations

import numpy as np

from portpart.algorithms.refinement import state as at
from portpart.algorithms.refinement.best import judge, restore_block, restore_cut, save_best
from portpart.algorithms.refinement.connectivity import (
    begin_vertex,
    choose_destination,
    count_row,
    enter_block,
    leave_block,
)
from portpart.algorithms.refinement.label_propagation import keep_paying_moves, wish_to_move
from portpart.algorithms.refinement.rebalance import (
    fill_buckets,
    leave_strongly,
    leave_weakly,
    list_leavers,
    rate_leaving,
    set_threshold,
    weigh_leaving,
)
from portpart.backends.program import Program
from portpart.graph import Graph
from portpart.primitives.scan import record_scan


def record_refinement(graph: Graph, dtypes: dict[str, np.dtype], team: int) -> Program:
    """The program for graphs of the types of `graph` and work arrays of the types `dtypes`.

    Parameters
    ----------
    team : int
        Lanes for one vertex.
    """
    program = Program("Jet refinement")
    graph.declare(program)
    program.array("fixed", dtypes.get("fixed"))
    for name, dtype in dtypes.items():
        if name not in program.slots:
            program.array(name, dtype)
    program.scalar("filter_ratio", np.float64)
    program.scalar("tolerance", np.float64)
    program.scalar("sub_buckets", np.int64)
    state = program.slots["state"]
    _begin(program)
    _judge(program)
    with program.while_loop(state[at.RUNNING]):
        _refresh(program, team)
        with program.if_nonzero(state[at.BALANCED]):
            _propagate_labels(program, team)
        with program.otherwise():
            _rebalance(program, team)
        _move(program, team)
        _judge(program)
    return program


def _begin(program: Program) -> None:
    """Lay out the rows, and start from the weights and the cut of the best partition, if any."""
    state = program.slots["state"]
    program.launch(state[at.VERTICES], begin_vertex)
    _scan(program, "capacity", "row_begin")
    program.launch(state[at.RESTORED_BLOCKS], restore_block)
    program.launch(state[at.RESTORED_STRIPES], restore_cut)


def _judge(program: Program) -> None:
    program.launch(1, judge, team=256)
    program.launch(program.slots["state"][at.SAVES], save_best)


def _refresh(program: Program, team: int) -> None:
    """Bring the best destinations of vertices beside moves up to date."""
    dirty = program.slots["state"][at.DIRTY]
    program.launch(dirty, count_row, team=team)
    program.launch(dirty, choose_destination, team=team)


def _propagate_labels(program: Program, team: int) -> None:
    state = program.slots["state"]
    program.launch(state[at.VERTICES], wish_to_move)
    program.launch(state[at.ACTIVE], keep_paying_moves, team=team)


def _rebalance(program: Program, team: int) -> None:
    state = program.slots["state"]
    program.launch(state[at.VERTICES], list_leavers)
    program.launch(state[at.LEAVERS], rate_leaving, team=team)
    program.launch(state[at.LEAVERS], fill_buckets)
    program.launch(state[at.BLOCKS], set_threshold, team=32)
    with program.if_nonzero(state[at.STRONG]):
        program.launch(state[at.LEAVERS], weigh_leaving)
        _scan(program, "leaving", "position")
        program.launch(state[at.LEAVERS], leave_strongly)
    with program.otherwise():
        program.launch(state[at.LEAVERS], leave_weakly)


def _move(program: Program, team: int) -> None:
    moves = program.slots["state"][at.MOVES]
    program.launch(moves, leave_block, team=team)
    program.launch(moves, enter_block, team=team)


def _scan(program: Program, values: str, result: str) -> None:
    slot = program.slots
    state = slot["state"]
    record_scan(program, slot[values], slot[result], slot["tile_sums"], state[at.VERTICES],
                state[at.TILES])

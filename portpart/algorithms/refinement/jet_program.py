"""Jet refinement of a level, as one recorded program (Jet, algorithm 4.1).

Label propagation runs while the blocks are balanced, rebalancing while they are not; the best
balanced partition is kept.  Nothing returns to the host until the level is done.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from portpart.algorithms.refinement import state as at
from portpart.algorithms.refinement.best import judge, restore_block, restore_cut
from portpart.algorithms.refinement.buckets import set_threshold
from portpart.algorithms.refinement.destinations import (
    COUNTING_TEAM,
    HUB_TEAM,
    begin_vertex,
    choose_destination,
    choose_destination_of_hub,
    choose_destination_of_many,
)
from portpart.algorithms.refinement.label_propagation import (
    keep_paying_moves,
    keep_paying_moves_of_hubs,
)
from portpart.algorithms.refinement.lists import keep_on_boundary, turn_boundary
from portpart.algorithms.refinement.moves import (
    move_vertex,
    save_best,
    weigh_moves,
    weigh_moves_of_hubs,
)
from portpart.algorithms.refinement.rebalance import (
    leave_strongly,
    leave_weakly,
    list_eager_leavers,
    list_far_leavers,
    list_other_leavers,
    rate_leaving,
    rate_leaving_of_hub,
    rate_leaving_of_many,
    weigh_leaving,
)
from portpart.backends.language import Kernel, Word
from portpart.backends.program import Element, Program
from portpart.graph import Graph
from portpart.primitives.scan import record_scan


@dataclass(frozen=True)
class Widths:
    """Teams for the vertices of a graph: all of them, those with many neighbours, and hubs.

    Attributes
    ----------
    of_many : int
        Lanes for a vertex of a list that may be long,
    team : int
        and of one that seldom is.
    many, hubs : bool
        Whether there are vertices of these kinds.
    counter : Word
        Type of numbers that hold any sum of arc weights.
    pairwise : int
        Vertices of higher degree are those with many neighbours.
    """

    of_many: int
    team: int
    many: bool
    hubs: bool
    counter: Word
    pairwise: int


def record_refinement(
    graph: Graph, dtypes: dict[str, np.dtype], widths: Widths,
    record_moves: Callable[[Program, Widths], None] | None = None,
) -> Program:
    """The program for graphs of the types of `graph` and work arrays of the types `dtypes`.

    Parameters
    ----------
    widths : Widths
        How many lanes work on a vertex.
    record_moves : callable, optional
        Records what moves vertices while the blocks are balanced: label propagation by default.
    """
    program = Program("refinement")
    graph.declare(program)
    program.array("fixed", dtypes.get("fixed"))
    for name, dtype in dtypes.items():
        if name not in program.slots:
            program.array(name, dtype)
    program.scalar("filter_ratio", np.float64)
    program.scalar("tolerance", np.float64)
    program.scalar("sub_buckets", np.int64)
    state = program.slots["state"]
    record_begin(program)
    record_judge(program)
    with program.while_loop(state[at.RUNNING]):
        _refresh(program, widths)
        with program.if_nonzero(state[at.OVERLOADED]):
            _rebalance(program, widths)
        with program.otherwise():
            (record_moves or propagate_labels)(program, widths)
        _weigh(program, widths)
        record_judge(program)
    program.launch(state[at.SAVES], save_best)
    return program


def record_begin(program: Program) -> None:
    """Start from the weights and the cut of the best partition, if any."""
    state = program.slots["state"]
    program.launch(state[at.VERTICES], begin_vertex)
    program.launch(state[at.RESTORED_BLOCKS], restore_block)
    program.launch(state[at.RESTORED_STRIPES], restore_cut)


def _refresh(program: Program, widths: Widths) -> None:
    """Bring the best destinations of vertices beside moves up to date; keep what was the best."""
    state = program.slots["state"]
    with program.side_by_side():
        program.launch(state[at.SAVES], save_best)
        launch_by_degree(program, widths, state[at.DIRTY], state[at.HUBS], choose_destination,
                         choose_destination_of_many, choose_destination_of_hub,
                         groups=state[at.DIRTY_GROUPS])


def launch_by_degree(program: Program, widths: Widths, count: Element, hubs: Element,
                     few: Callable[[Word, int], Kernel], many: Callable[[Word], Kernel],
                     of_hub: Callable[[Word], Kernel], groups: Element | None = None) -> None:
    """Launch the kernels for vertices with few and with many neighbours, and for hubs.

    Of the kernels for kinds of vertices that the graph has not, none.  That for many neighbours
    goes through groups if their number is given.
    """
    if widths.pairwise >= 0:
        program.launch(count, few(widths.counter, widths.pairwise), team=widths.team)
    if widths.many:
        program.launch(groups or count, many(widths.counter), team=COUNTING_TEAM)
    if widths.hubs:
        program.launch(hubs, of_hub(widths.counter), team=HUB_TEAM)


def propagate_labels(program: Program, widths: Widths) -> None:
    """Record a round of label propagation."""
    state = program.slots["state"]
    with program.side_by_side():
        program.launch(state[at.EAGER], keep_paying_moves, team=widths.of_many)
        if widths.hubs:
            program.launch(state[at.HUBS], keep_paying_moves_of_hubs, team=HUB_TEAM)


def _rebalance(program: Program, widths: Widths) -> None:
    state = program.slots["state"]
    with program.if_nonzero(state[at.CROWDED]):
        program.launch(state[at.LISTED], keep_on_boundary)
        program.launch(1, turn_boundary)
    with program.side_by_side():
        program.launch(state[at.EAGER], list_eager_leavers)
        program.launch(state[at.LISTED], list_other_leavers)
        program.launch(state[at.FAR_VERTICES], list_far_leavers)
    _rate(program, widths)
    with program.if_nonzero(state[at.SHORT]):
        program.launch(state[at.LISTED], list_other_leavers)
        _rate(program, widths)
    record_leaving(program)


def record_leaving(program: Program) -> None:
    """Record how those up to the thresholds leave: strongly or weakly, as the state says."""
    state, slot = program.slots["state"], program.slots
    with program.if_nonzero(state[at.STRONG]):
        program.launch(state[at.LEAVERS], weigh_leaving)
        record_scan(program, slot["leaving"], slot["position"], slot["tile_sums"],
                    state[at.VERTICES], state[at.TILES])
        program.launch(state[at.LEAVERS], leave_strongly)
    with program.otherwise():
        program.launch(state[at.LEAVERS], leave_weakly)


def _rate(program: Program, widths: Widths) -> None:
    """Rate what the cache does not tell of, then see who has to leave."""
    state = program.slots["state"]
    with program.side_by_side():
        launch_by_degree(program, widths, state[at.UNRATED], state[at.UNRATED_HUBS], rate_leaving,
                         rate_leaving_of_many, rate_leaving_of_hub)
    program.launch(state[at.BLOCKS], set_threshold, team=32)


def _weigh(program: Program, widths: Widths) -> None:
    state = program.slots["state"]
    with program.side_by_side():
        program.launch(state[at.MOVES], weigh_moves, team=widths.team)
        if widths.hubs:
            program.launch(state[at.HUBS], weigh_moves_of_hubs, team=HUB_TEAM)


def record_judge(program: Program) -> None:
    """Record how a partition is judged, while what has been decided on moves."""
    state = program.slots["state"]
    with program.side_by_side():
        program.launch(1, judge, team=256)
        program.launch(state[at.MOVES], move_vertex)

"""Jet refinement of a level, as one recorded program (Jet, algorithm 4.1).

Label propagation runs while the blocks are balanced, rebalancing while they are not; the best
balanced partition is kept.  Nothing returns to the host until the level is done.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from portpart.algorithms.refinement import state as at
from portpart.algorithms.refinement.active_sets import keep_eager, keep_on_boundary, turn_boundary
from portpart.algorithms.refinement.connectivity import HUB_TEAM
from portpart.algorithms.refinement.eviction import (
    gather_other_leavers,
    list_eager_leavers,
    list_far_leavers,
    list_other_leavers,
    rate_gathered,
)
from portpart.algorithms.refinement.gain_cache import (
    COUNTING_TEAM,
    begin_vertex,
    choose_destination,
    choose_destination_of_hub,
    choose_destination_of_many,
)
from portpart.algorithms.refinement.incumbent import judge, restore_block, restore_cut
from portpart.algorithms.refinement.label_propagation import (
    keep_paying_moves,
    keep_paying_moves_of_hubs,
)
from portpart.algorithms.refinement.loss_buckets import set_threshold
from portpart.algorithms.refinement.moves import (
    move_vertex,
    save_best,
    weigh_moves,
    weigh_moves_of_hubs,
)
from portpart.algorithms.refinement.rebalance import (
    leave_strongly,
    leave_weakly,
    rate_leaving,
    rate_leaving_of_hub,
    rate_leaving_of_many,
    weigh_leaving,
)
from portpart.backends.language import Kernel, Word
from portpart.backends.program import Element, Program
from portpart.graphs.graph import Graph
from portpart.primitives.scan import record_scan

GATHERING_TEAM = 32
"""Lanes that gather vertices from a batch of a list."""


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
    few : int
        Vertices of higher degree are those with many neighbours.
    lone : int
        Most neighbours of a vertex, if these are so few that long lists are work for lone lanes;
        else 0.
    """

    of_many: int
    team: int
    many: bool
    hubs: bool
    counter: Word
    few: int
    lone: int = 0

    def of_list(self, team: int) -> tuple[tuple[int, int], ...]:
        """Lanes, and whether they are lone, for each launch over a list of any length."""
        return ((team, 0), (1, 1)) if self.lone else ((team, 0),)


@dataclass(frozen=True)
class ByDegree:
    """Makers of the kernels for vertices with few and with many neighbours, and for hubs.

    Attributes
    ----------
    few : callable
        From the type of sums of weights, and the most neighbours.
    many, of_hub : callable
        From that type.
    team : int
        Lanes for a vertex with many.
    """

    few: Callable[[Word, int], Kernel]
    many: Callable[[Word], Kernel]
    of_hub: Callable[[Word], Kernel]
    team: int = COUNTING_TEAM


@dataclass(frozen=True)
class Objective:
    """Kernels of refinement that depend on what is minimised.

    Attributes
    ----------
    choose, rate : ByDegree
        Find the best destination of a dirty vertex; destination and loss of one that may leave.
    keep, weigh : tuple of Kernel
        Decide on the moves of label propagation; account for moves.  Of eager or moving vertices
        that are no hubs, and of hubs.
    scalars : tuple of str
        Integers that these kernels take beside the slots of every refinement.
    """

    choose: ByDegree
    rate: ByDegree
    keep: tuple[Kernel, Kernel]
    weigh: tuple[Kernel, Kernel]
    scalars: tuple[str, ...] = ()


CUT = Objective(
    ByDegree(choose_destination, choose_destination_of_many, choose_destination_of_hub),
    ByDegree(rate_leaving, rate_leaving_of_many, rate_leaving_of_hub),
    (keep_paying_moves, keep_paying_moves_of_hubs),
    (weigh_moves, weigh_moves_of_hubs),
)


def record_refinement(
    graph: Graph, dtypes: dict[str, np.dtype], widths: Widths,
    record_moves: Callable[[Program, Widths], None] | None = None, objective: Objective = CUT,
) -> Program:
    """The program for graphs of the types of `graph` and work arrays of the types `dtypes`.

    Parameters
    ----------
    widths : Widths
        How many lanes work on a vertex.
    record_moves : callable, optional
        Records what moves vertices while the blocks are balanced: label propagation by default.
    objective : Objective
    """
    program = Program("refinement")
    graph.declare(program)
    program.array("fixed", dtypes.get("fixed"))
    for name, dtype in dtypes.items():
        if name not in program.slots:
            program.array(name, dtype)
    for name, scalar in (("filter_ratio", np.float64), ("tolerance", np.float64),
                         *((name, np.int64) for name in ("sub_buckets", *objective.scalars))):
        program.scalar(name, scalar)
    state = program.slots["state"]
    _record_begin(program)
    _record_judge(program)
    with program.while_loop(state[at.RUNNING]):
        _refresh(program, widths, objective)
        with program.if_nonzero(state[at.OVERLOADED]):
            _rebalance(program, widths, objective)
        with program.otherwise():
            if record_moves is not None:
                record_moves(program, widths)
            else:
                _propagate_labels(program, widths, objective)
        _weigh(program, widths, objective)
        _record_judge(program)
    program.launch(state[at.SAVES], save_best)
    return program


def _record_begin(program: Program) -> None:
    """Start from the weights and the cut of the best partition, if any."""
    state = program.slots["state"]
    program.launch(state[at.VERTICES], begin_vertex)
    program.launch(state[at.RESTORED_BLOCKS], restore_block)
    program.launch(state[at.RESTORED_STRIPES], restore_cut)


def _refresh(program: Program, widths: Widths, objective: Objective) -> None:
    """Bring the best destinations of vertices beside moves up to date; keep what was the best."""
    state = program.slots["state"]
    with program.side_by_side():
        program.launch(state[at.SAVES], save_best)
        for team, lone in widths.of_list(widths.team):
            most = widths.lone if lone else widths.few
            if most >= 0:
                program.launch(state[at.DIRTY], objective.choose.few(widths.counter, most),
                               team=team, lone=lone)
        launch_large(program, widths, state[at.DIRTY_GROUPS], state[at.HUBS], objective.choose)


def launch_by_degree(program: Program, widths: Widths, count: Element, hubs: Element,
                     kernels: ByDegree) -> None:
    """Launch the kernels for vertices with few and with many neighbours, and for hubs.

    Of the kernels for kinds of vertices that the graph has not, none.
    """
    if widths.few >= 0:
        program.launch(count, kernels.few(widths.counter, widths.few), team=widths.team)
    launch_large(program, widths, count, hubs, kernels)


def launch_large(program: Program, widths: Widths, count: Element, hubs: Element,
                 kernels: ByDegree) -> None:
    """Launch the kernels for vertices with many neighbours and for hubs, if there are any."""
    if widths.many:
        program.launch(count, kernels.many(widths.counter), team=kernels.team)
    if widths.hubs:
        program.launch(hubs, kernels.of_hub(widths.counter), team=HUB_TEAM)


def _propagate_labels(program: Program, widths: Widths, objective: Objective) -> None:
    """A round of label propagation."""
    state = program.slots["state"]
    with program.side_by_side():
        program.launch(state[at.EAGER], keep_eager)
        _launch_with_hubs(program, widths, at.EAGER, objective.keep, widths.of_many)


def _launch_with_hubs(program: Program, widths: Widths, count: int, kernels: tuple[Kernel, Kernel],
                      team: int) -> None:
    """Launch the kernel for a list, by so many lanes, and the one for hubs, side by side."""
    state = program.slots["state"]
    with program.side_by_side():
        for lanes, lone in widths.of_list(team):
            program.launch(state[count], kernels[0], team=lanes, lone=lone)
        if widths.hubs:
            program.launch(state[at.HUBS], kernels[1], team=HUB_TEAM)


def _rebalance(program: Program, widths: Widths, objective: Objective) -> None:
    state = program.slots["state"]
    with program.if_nonzero(state[at.CROWDED]):
        program.launch(state[at.LISTED], keep_on_boundary)
        program.launch(1, turn_boundary)
    with program.side_by_side():
        program.launch(state[at.EAGER], list_eager_leavers)
        _list_others(program)
        program.launch(state[at.FAR_VERTICES], list_far_leavers)
    _rate(program, widths, objective.rate)
    with program.if_nonzero(state[at.SHORT]):
        with program.side_by_side():
            _list_others(program)
        _rate(program, widths, objective.rate)
    _record_leaving(program)


def _list_others(program: Program) -> None:
    """List vertices of a boundary that are not eager, or gather them from a long list."""
    state = program.slots["state"]
    program.launch(state[at.SINGLE], list_other_leavers)
    program.launch(state[at.BATCHES], gather_other_leavers, team=GATHERING_TEAM)


def _record_leaving(program: Program) -> None:
    """How those up to the thresholds leave: strongly or weakly, as the state says."""
    state, slot = program.slots["state"], program.slots
    with program.if_nonzero(state[at.STRONG]):
        program.launch(state[at.LEAVERS], weigh_leaving)
        record_scan(program, slot["leaving"], slot["position"], slot["tile_sums"],
                    state[at.VERTICES], state[at.TILES])
        program.launch(state[at.LEAVERS], leave_strongly)
    with program.otherwise():
        program.launch(state[at.LEAVERS], leave_weakly)


def _rate(program: Program, widths: Widths, kernels: ByDegree) -> None:
    """Rate those that have only been listed so far, then see who has to leave."""
    state = program.slots["state"]
    with program.if_nonzero(state[at.BATCHES]):
        program.launch(state[at.LEAVERS], rate_gathered)
    with program.side_by_side():
        launch_by_degree(program, widths, state[at.UNRATED], state[at.UNRATED_HUBS], kernels)
    program.launch(state[at.BLOCKS], set_threshold, team=32)


def _weigh(program: Program, widths: Widths, objective: Objective) -> None:
    _launch_with_hubs(program, widths, at.MOVES, objective.weigh, widths.team)


def _record_judge(program: Program) -> None:
    """How a partition is judged, while what has been decided on moves."""
    state = program.slots["state"]
    with program.side_by_side():
        program.launch(1, judge, team=256)
        program.launch(state[at.MOVES], move_vertex)

"""A program with nested loops and branches, and what it must compute."""

from __future__ import annotations

from typing import Any

import numpy as np

from portpart.backends.language import atomic_add, int64, kernel, lane, team_size, team_sum
from portpart.backends.programs.program import Program
from portpart.backends.programs.steps import Slot

ROUNDS, INNER, IS_ODD, COUNT, STEPS, ONE_MORE = range(6)
"""Elements of the array `control`."""


@kernel
def start_round(i, control, limit):
    """Set the counters and flags of one round of the outer loop."""
    control[INNER] = control[ROUNDS] % 4
    control[IS_ODD] = control[ROUNDS] % 2
    control[COUNT] = min(control[COUNT] + 7, limit)


@kernel
def add_to_items(i, values, amount):
    """values[i] += amount * i"""
    values[i] += amount * i


@kernel
def end_inner(i, control):
    """One inner round less to go."""
    control[INNER] -= 1
    control[STEPS] += 1


@kernel
def double_items(i, values):
    """Even rounds."""
    values[i] = values[i] * 2 % 1000003


@kernel
def add_total(i, values, width, total, weights):
    """total += the sum of a stretch of values, by one team."""
    mine = int64(0)
    for k in range(i * width + lane(), (i + 1) * width, team_size()):
        mine += values[k]
    mine = team_sum(mine)
    if lane() == 0:
        atomic_add(total, 0, mine)


@kernel
def end_round(i, control):
    """One outer round less to go."""
    control[ROUNDS] -= 1
    control[ONE_MORE] = 0


def record_nested(team: int) -> Program:
    """While rounds are left: an inner loop, then a branch on odd and even rounds."""
    program = Program("nested")
    control, values = program.array("control", np.int64), program.array("values", np.int64)
    total, absent = program.array("total", np.int64), program.array("weights", None)
    amount, limit = program.scalar("amount"), program.scalar("limit")
    with program.while_loop(control[ROUNDS]):
        program.parallel_for(1, start_round, control, limit)
        with program.while_loop(control[INNER]):
            program.parallel_for(control[COUNT], add_to_items, values, amount)
            program.parallel_for(1, end_inner, control)
        with program.if_nonzero(control[IS_ODD]):
            program.parallel_for(control[COUNT], add_to_items, values, 3)
        with program.otherwise():
            program.parallel_for(control[COUNT], double_items, values)
            with program.if_nonzero(control[ONE_MORE]):
                program.parallel_for(1, add_to_items, values, 5)
        program.parallel_for(4, add_total, values, 8, total, absent, team=team)
        program.parallel_for(1, end_round, control)
    return program


def words_of(program: Program, name: str, count: int) -> Slot:
    """Return a slot for an array of int64 or, with a count, for words that are sent."""
    if count == 0:
        return program.array(name, np.int64)
    program.slots[name] = Slot(name, np.dtype(np.int64), True, words=count)
    return program.slots[name]


def bindings_for(space: Any, n: int, rounds: int) -> dict[str, Any]:
    """Fresh arrays for one run."""
    control = np.zeros(6, np.int64)
    control[ROUNDS], control[ONE_MORE] = rounds, 1
    return {
        "control": space.asarray(control), "values": space.zeros(n, np.int64),
        "total": space.zeros(1, np.int64), "weights": None, "amount": 2, "limit": n,
    }


def expected(n: int, rounds: int) -> tuple[np.ndarray, int, int]:
    """values, total and number of inner steps after a run."""
    values, items, total, count, steps, one_more = np.zeros(n, np.int64), np.arange(n), 0, 0, 0, 1
    for left in range(rounds, 0, -1):
        count = min(count + 7, n)
        for _ in range(left % 4):
            values[:count] += 2 * items[:count]
            steps += 1
        if left % 2:
            values[:count] += 3 * items[:count]
        else:
            values[:count] = values[:count] * 2 % 1000003
            values[:1] += 5 * one_more * items[:1]
        total += int(values[:32].sum())
        one_more = 0
    return values, total, steps

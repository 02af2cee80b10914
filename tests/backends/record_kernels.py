"""Kernels with records and words, for tests."""

from __future__ import annotations

from typing import Any

from portpart.backends.language import (
    Record,
    Words,
    atomic_add,
    atomic_next,
    device,
    int32,
    int64,
    kernel,
    lane,
    lane_array,
    team_array,
    team_size,
    team_sum,
    team_sync,
    value_or,
)


class Rows(Record):
    """Rows of a graph."""

    begin: Any
    end: Any
    targets: Any
    weights: Any
    unused: Any = None


class Lists(Record):
    """A list that kernels append to."""

    heavy: Any
    threshold: Any


class Run(Record):
    """All that belongs to a run."""

    lists: Lists
    level: Level


class Scratch(Record):
    """Arrays of a team."""

    seen: Any
    sums: Any


class Level(Words):
    """Words of a run."""

    length: int
    arcs: int
    rounds: int


class Tables(Record):
    """What a distance needs."""


class Steps(Tables):
    """Distances by differences."""

    step: Any


@device
def weight_of(arc, rows: Rows):
    """Weight of an arc."""
    return value_or(rows.weights, arc, 1)


@device
def distance(a, b, tables: Steps):
    """Steps from a to b."""
    return abs(int64(a) - int64(b)) * tables.step


@device
def same(a, b, tables: Tables):
    """1 for two different numbers."""
    return int64(a != b)


@device
def count_row(v, rows: Rows, level: Level):
    """Count v's arcs."""
    if lane() == 0:
        atomic_add(level, Level.arcs, int64(rows.end[v] - rows.begin[v]))
    return rows.begin[v]


@kernel
def list_heavy(v, rows: Rows, lists: Lists, level: Level):
    """List v if its arcs are heavy."""
    total = int64(0)
    for arc in range(rows.begin[v] + lane(), rows.end[v], team_size()):
        total += weight_of(arc, rows)
    total = team_sum(total)
    count_row(v, rows, level)
    if lane() == 0 and total > lists.threshold:
        lists.heavy[atomic_next(level, Level.length)] = int32(v)


@kernel
def list_light(v, rows: Rows, run: Run):
    """List v if it has few arcs."""
    count_row(v, rows, run.level)
    if lane() == 0:
        run.level.rounds = 7
        if rows.end[v] - rows.begin[v] <= run.lists.threshold:
            run.lists.heavy[atomic_next(run.level, Level.length)] = int32(v)


@kernel
def plan(_, level: Level):
    """Plan another round."""
    level.rounds += level.length
    level.length = 0


@kernel
def copy_words(_, level: Level, found: Level):
    """Copy the words of a run."""
    found.length = level.length
    found.arcs = level.arcs


def lengths(measure):
    """The kernel for a measure of length."""

    @kernel
    def lengths(v, rows: Rows, tables: Tables, result):
        """The lengths of v's arcs."""
        total = int64(0)
        for arc in range(rows.begin[v] + lane(), rows.end[v], team_size()):
            total += measure(v, rows.targets[arc], tables)
        total = team_sum(total)
        if lane() == 0:
            result[v] = total

    return lengths


@device
def fill(v, rows: Rows, scratch: Scratch):
    """Bring the first targets of v to scratch memory."""
    for j in range(lane(), 4, team_size()):
        scratch.seen[j] = int32(-1)
        scratch.sums[j] = 0
        if rows.begin[v] + j < rows.end[v]:
            scratch.seen[j] = rows.targets[rows.begin[v] + j]
            scratch.sums[j] = value_or(rows.weights, rows.begin[v] + j, 1)
    team_sync()
    return 0


@kernel
def first_four(v, rows: Rows, result):
    """The sum of weights times targets of v's first four arcs."""
    scratch = Scratch(seen=team_array(int32, 4), sums=team_array(int64, 4))
    fill(v, rows, scratch)
    total = int64(0)
    for j in range(4):
        total += int64(scratch.seen[j]) * scratch.sums[j]
    if lane() == 0:
        result[v] = total
    team_sync()


@device
def product_of(level: Level):
    """Arcs for each of the list."""
    return level.length * level.arcs


@kernel
def shift_words(_, level: Level):
    """Each word takes the place of the one before, by way of a copy; the last one is a product."""
    own = Level(team_array(int64, 3))
    for word in range(lane(), 3, team_size()):
        own[word] = level[word]
    team_sync()
    for word in range(lane(), 2, team_size()):
        level[word] = own[word + 1]
    if lane() == 0:
        level.rounds = product_of(own)
    team_sync()


@device
def ends_of(v, rows: Rows, found: Level):
    """Where v's arcs begin and end, and how many there are: three numbers of one function."""
    found.length = int64(rows.begin[v])
    found.arcs = int64(rows.end[v])
    found.rounds = found.arcs - found.length
    return 0


@kernel
def sum_of_lanes(v, rows: Rows, result):
    """result[v] = v's arcs times the sum of what each lane keeps to itself, its number and one."""
    found = Level(lane_array(int64, 3))
    own = lane_array(int32, 2)
    ends_of(v, rows, found)
    own[1] = int32(lane() + 1)
    total = team_sum(int64(own[1]))
    if lane() == 0:
        result[v] = found.rounds * total

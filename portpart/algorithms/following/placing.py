"""Blocks for new vertices: where they are tied to most and fit, else the lightest."""

from __future__ import annotations

from functools import cache
from typing import Any

from portpart.algorithms.refinement.state import Run
from portpart.backends.interface import ExecutionSpace
from portpart.backends.language import (
    DeviceFunction,
    Kernel,
    device,
    int32,
    int64,
    kernel,
    lane,
    team_min,
    team_size,
    team_sync,
    value_or,
)
from portpart.graphs.rows import Csr

NONE = -1

HEAVIEST = 2**62

ROUNDS = 4
"""A new vertex waits so often for a neighbour to be placed."""

MAX_SEEN = 64
"""Neighbours that are compared to place a vertex."""

FEW = 1024
"""So many new vertices are placed by one team."""

TEAM, LIGHTEST_TEAM = 256, 32


@device
def tie_of_arcs(v, block, begin, end, graph: Csr, run: Run):
    """What ties v to a block, of the arcs begin ... end - 1."""
    total = int64(0)
    for arc in range(begin, end):
        if run.moves.part[graph.targets[arc]] == block:
            total += value_or(graph.weights, arc, 1)
    return total


@device
def tied_most(v, graph: Csr, run: Run):
    """The block that v is tied to most of those it fits in, -1 if none; the smaller of equals."""
    best = int64(NONE)
    most = int64(0)
    weight = value_or(graph.vertex_weights, v, 1)
    begin = int64(graph.begin[v])
    end = min(begin + MAX_SEEN, int64(graph.end[v]))
    for arc in range(begin, end):
        block = int64(run.moves.part[graph.targets[arc]])
        if block >= 0:
            if run.blocks.weight[block] + weight <= run.blocks.limits[block]:
                total = tie_of_arcs(v, block, begin, end, graph, run)
                if total > most or (total == most and block < best):
                    most = total
                    best = block
    return best


@device
def place_lightest(v, weight, run: Run):
    """Put v into the lightest block, of equal ones the first.  All lanes of a team."""
    least = int64(HEAVIEST)
    for b in range(lane(), run.level.blocks, team_size()):
        least = min(least, int64(run.blocks.weight[b]))
    least = team_min(least)
    block = int64(run.level.blocks)
    for b in range(lane(), run.level.blocks, team_size()):
        if run.blocks.weight[b] == least:
            block = min(block, int64(b))
    block = team_min(block)
    team_sync()
    if lane() == 0:
        run.moves.part[v] = int32(block)
        run.blocks.weight[block] += weight
    team_sync()
    return block


@kernel
def bear(i, first, run: Run, home):
    """New vertex first + i is in no block, and was in none."""
    run.moves.part[first + i] = int32(NONE)
    home[first + i] = int32(NONE)


@kernel
def settle_birth(i, first, run: Run, home):
    """New vertex first + i is at home where it is."""
    home[first + i] = run.incumbent.best[first + i]


@cache
def choosing(tied: DeviceFunction) -> tuple[Kernel, Kernel]:
    """The kernels for a way to find the block that a vertex is tied to most."""

    @kernel
    def choose_block(i, first, graph: Csr, run: Run):
        """Choose a block for new vertex first + i that has none."""
        v = first + i
        run.moves.target[v] = run.moves.part[v]
        if run.moves.part[v] < 0:
            run.moves.target[v] = int32(tied(v, graph, run))

    @kernel
    def place_few(_, first, number, graph: Csr, run: Run):
        """All rounds for a few vertices.  One team."""
        for _round in range(ROUNDS):
            for v in range(first + lane(), first + number, team_size()):
                if run.moves.part[v] < 0:
                    run.moves.target[v] = int32(tied(v, graph, run))
            team_sync()
            for v in range(first + lane(), first + number, team_size()):
                if run.moves.part[v] < 0:
                    run.moves.part[v] = run.moves.target[v]
            team_sync()

    return choose_block, place_few


@kernel
def take_block(i, first, run: Run):
    """Place new vertex first + i where it has chosen."""
    run.moves.part[first + i] = run.moves.target[first + i]


@kernel
def place_rest(_, first, number, graph: Csr, run: Run):
    """Put those that are nowhere into the lightest blocks, one after the other.  One team."""
    for v in range(first, first + number):
        if run.moves.part[v] < 0:
            place_lightest(v, value_or(graph.vertex_weights, v, 1), run)


def place(space: ExecutionSpace, first: int, number: int, rows: Any, run: Run,
          tied: DeviceFunction) -> None:
    """Place new vertices first ... first + number - 1, which are in no block.

    Each goes where most of what it is tied to is, when that is placed; the weights of blocks are
    those before the batch, and of what is left the lightest take one after the other.

    Parameters
    ----------
    tied : DeviceFunction
        ``tied(v, rows, run)``, such as `tied_most`.
    """
    choose_block, place_few = choosing(tied)
    if number <= FEW:
        space.parallel_for(1, place_few, first, number, rows, run, team=TEAM)
    else:
        for _ in range(ROUNDS):
            space.parallel_for(number, choose_block, first, rows, run)
            space.parallel_for(number, take_block, first, run)
    space.parallel_for(1, place_rest, first, number, rows, run, team=LIGHTEST_TEAM)

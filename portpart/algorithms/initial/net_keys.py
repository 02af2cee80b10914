"""First keys of the vertices of a hypergraph: what its nets gain by moves as a bisection begins.

Every net tells its pins, so that no vertex of many nets is the work of few lanes.  Most nets have
few pins, which one lane compares with each other; those of the others are counted by a team.
"""

from __future__ import annotations

from portpart.algorithms.initial.bisection_state import Candidates, Run
from portpart.algorithms.initial.fm_gains import TALLY, Attempts, Tally
from portpart.algorithms.initial.net_prices import Incidence, cost_of, gain_of, size_of
from portpart.algorithms.initial.project_bisection import side_at, store_key
from portpart.backends.interface import Array
from portpart.backends.language import (
    Record,
    atomic_add,
    ctz,
    device,
    int32,
    int64,
    kernel,
    lane,
    lane_array,
    team_array,
    team_atomic_add,
    team_size,
    team_sum,
    team_sync,
    uint64,
)

FEW = 8
"""Pins that one lane compares with each other, at most."""

COUNTED = 64
"""Blocks whose pins a team counts at a time."""

CODES = 2 * COUNTED
"""What `code_of` may say of pins there."""


class Codes(Record):
    """What `code_of` says of each pin of a net of few, in memory of a lane."""

    codes: Array


class Counts(Record):
    """How many pins of a net have each code, in memory of a team."""

    counts: Array


@kernel
def begin_net_key(i, candidates: Candidates, attempts: Attempts, run: Run):
    """Begin the key of vertex i without gains; strays go where they want to."""
    n = run.vertices
    here = side_at(i // n * n + candidates.place[i], attempts)
    gain = int64(0)
    store_key(i, here, gain, candidates, attempts, run)


@device
def code_of(place, base, graph: Incidence, candidates: Candidates, attempts: Attempts):
    """Twice the first block of the bisection that a pin is in, and its side; marks do not count.

    Blocks that are bisected no more keep the marks of the last time.
    """
    w = base + graph.nets.pins[place]
    return 2 * int64(candidates.part[w]) + (attempts.side[base + candidates.place[w]] & 1)


@device
def tell_key(place, base, beside, across, net, graph: Incidence, candidates: Candidates,
             attempts: Attempts, run: Run):
    """Add what a net gains by a pin, beside and across which it has so many, to the pin's key."""
    if beside + across > 0:
        w = base + graph.nets.pins[place]
        gain = gain_of(beside, across, net, run.weight_shift, graph)
        atomic_add(attempts.key, base + candidates.place[w], gain * (int64(1) << run.key_bits))
    return place


@device
def tell_cut(block, beside, across, net, base, graph: Incidence, attempts: Attempts, run: Run):
    """Add what a net is cut to the bisection of a block and others, if it is."""
    cut = cost_of(beside, across, net, run.weight_shift, graph)
    if cut > 0:
        begin = TALLY * (base // run.vertices * run.blocks + block)
        atomic_add(attempts.tally, begin + Tally.cut, cut)
    return cut


@device
def tell_by_lane(net, base, known: Codes, graph: Incidence, candidates: Candidates,
                 attempts: Attempts, run: Run):
    """Tell the pins of a net of few; the first one in a bisection adds the cut.  One lane."""
    size = size_of(net, graph)
    begin = int64(graph.nets.begin[net])
    for j in range(size):
        known.codes[j] = code_of(begin + j, base, graph, candidates, attempts)
    for j in range(size):
        mine = known.codes[j]
        beside = int64(-1)  # the pin itself is met, too
        across = int64(0)
        before = int64(0)
        for other in range(size):
            found = known.codes[other]
            beside += int64(found == mine)
            across += int64(found ^ 1 == mine)
            before += int64(found >> 1 == mine >> 1 and other < j)
        tell_key(begin + j, base, beside, across, net, graph, candidates, attempts, run)
        if before == 0:
            tell_cut(mine >> 1, beside, across, net, base, graph, attempts, run)
    return size


@device
def tell_blocks(low, net, base, known: Counts, graph: Incidence, candidates: Candidates,
                attempts: Attempts, run: Run):
    """Tell the pins of a net in COUNTED blocks from `low` on.  All lanes of a team together."""
    begin = int64(graph.nets.begin[net])
    end = int64(graph.nets.end[net])
    for code in range(lane(), CODES, team_size()):
        known.counts[code] = int32(0)
    team_sync()
    for place in range(begin + lane(), end, team_size()):
        code = code_of(place, base, graph, candidates, attempts) - 2 * low
        if code >= 0 and code < CODES:
            team_atomic_add(known.counts, code, 1)
    team_sync()
    for place in range(begin + lane(), end, team_size()):
        code = code_of(place, base, graph, candidates, attempts) - 2 * low
        if code >= 0 and code < CODES:
            beside = int64(known.counts[code]) - 1
            across = int64(known.counts[code ^ 1])
            tell_key(place, base, beside, across, net, graph, candidates, attempts, run)
    for block in range(lane(), COUNTED, team_size()):
        beside = int64(known.counts[2 * block])
        across = int64(known.counts[2 * block + 1])
        if beside > 0:
            tell_cut(low + block, beside - 1, across, net, base, graph, attempts, run)
    team_sync()
    return low


@kernel
def add_net_gains(i, graph: Incidence, candidates: Candidates, attempts: Attempts, run: Run):
    """Add what nets of group i gain by their pins to the keys of these, and what they are cut.

    Nets of all candidates.  Each lane has one of few pins; for the others they work together.
    """
    known = Codes(lane_array(int64, FEW))
    counted = Counts(team_array(int32, CODES))
    first = i * run.net_group
    mine = first + lane()
    together = int64(0)
    if lane() < run.net_group and mine < run.nets_of_all:
        net = mine % run.nets
        if size_of(net, graph) <= FEW:
            base = mine // run.nets * run.vertices
            tell_by_lane(net, base, known, graph, candidates, attempts, run)
        else:
            together = int64(1) << lane()
    together = team_sum(together)
    while together != 0:
        each = first + ctz(uint64(together))
        base = each // run.nets * run.vertices
        for low in range(0, run.blocks, COUNTED):
            tell_blocks(low, each % run.nets, base, counted, graph, candidates, attempts, run)
        together &= together - 1

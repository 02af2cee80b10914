"""First keys of the vertices of a hypergraph: what its nets gain by moves as a bisection begins.

Every net tells its pins, so that no vertex of many nets is the work of few lanes.
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
    device,
    int32,
    int64,
    kernel,
    lane,
    team_array,
    team_size,
    team_sync,
)

ROOM = 256
"""Pins of a net whose whereabouts a team keeps in scratch memory."""


class Codes(Record):
    """What `code_of` says of each pin of a net, where there is room for all."""

    codes: Array


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
def code_at(j, net, base, known: Codes, graph: Incidence, candidates: Candidates,
            attempts: Attempts):
    """The same for pin j of a net."""
    code = int64(0)
    if size_of(net, graph) <= ROOM:
        code = int64(known.codes[j])
    else:
        code = code_of(graph.nets.begin[net] + j, base, graph, candidates, attempts)
    return code


@device
def tell_pin(j, net, base, known: Codes, graph: Incidence, candidates: Candidates,
             attempts: Attempts, run: Run):
    """Add what a net gains by pin j to the pin's key; the first pin in a bisection adds the cut."""
    mine = code_at(j, net, base, known, graph, candidates, attempts)
    beside = int64(-1)  # the pin itself is met, too
    across = int64(0)
    before = int64(0)
    for other in range(size_of(net, graph)):
        found = code_at(other, net, base, known, graph, candidates, attempts)
        beside += int64(found == mine)
        across += int64(found ^ 1 == mine)
        before += int64(found >> 1 == mine >> 1 and other < j)
    if beside + across > 0:
        w = base + graph.nets.pins[graph.nets.begin[net] + j]
        gain = gain_of(beside, across, net, run.weight_shift, graph)
        atomic_add(attempts.key, base + candidates.place[w], gain * (int64(1) << run.key_bits))
        if before == 0 and across > 0:
            cut = cost_of(beside, across, net, run.weight_shift, graph)
            begin = TALLY * (base // run.vertices * run.blocks + candidates.part[w])
            atomic_add(attempts.tally, begin + Tally.cut, cut)
    return beside


@kernel
def add_net_gains(i, graph: Incidence, candidates: Candidates, attempts: Attempts, run: Run):
    """Add what net i of all candidates gains by its pins to their keys, and what it is cut."""
    codes = team_array(int32, ROOM)
    known = Codes(codes)
    net = i % run.nets
    base = i // run.nets * run.vertices
    size = size_of(net, graph)
    if size <= ROOM:
        for j in range(lane(), size, team_size()):
            place = graph.nets.begin[net] + j
            codes[j] = int32(code_of(place, base, graph, candidates, attempts))
    team_sync()
    for j in range(lane(), size, team_size()):
        tell_pin(j, net, base, known, graph, candidates, attempts, run)
    team_sync()

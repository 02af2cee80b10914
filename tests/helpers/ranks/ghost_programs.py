"""Programs of several ranks whose kernels read ghosts, and what they compute on one device.

`Pushes` records their pushes, and may leave one out or make it otherwise wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from portpart.backends import language as kl
from portpart.backends.programs.program import Program
from portpart.backends.programs.steps import Slot
from portpart.graphs.graph import Graph
from portpart.graphs.ranks.rank_rows import DistributedGraph
from portpart.primitives.hashing import hash_of
from portpart.primitives.mail import Mail
from portpart.primitives.owners import record_push
from tests.oracles.hashing import mixed

LENGTH, RUNS, ROUND, WIDTH = 0, 1, 2, 3
"""Words: vertices on the list, whether there is another round, its number, and how many words
there are."""

UNDECIDED, IN, OUT = 0, 1, 2
FAR = 2**40

LEFT_OUT, FIRST_ONE_MISSING, ONE_FIELD, TOO_EARLY = "left out", "one missing", "one field", "early"
FAULTS = (LEFT_OUT, FIRST_ONE_MISSING, ONE_FIELD, TOO_EARLY)


@dataclass
class Pushes:
    """Records pushes of vertices that are listed; one of them may have a fault."""

    program: Program
    graph: DistributedGraph
    faulty: int = -1
    fault: str = ""
    count: int = 0

    def __post_init__(self) -> None:
        self.program.record("owners", self.graph.owners)
        self.halo = self.program.record("halo", self.graph.halo)
        self.mail = self.program.record("mail", Mail())
        self.changed = self.program.array("changed", np.int32)
        self.words = self.program.array("words", np.int64)

    def all(self, fields: Sequence[Slot]) -> None:
        """Push all own vertices, which are on the list at the beginning."""
        record_push(self.program, self.halo, self.mail, fields, self.changed,
                    self.graph.local.num_vertices)

    def listed(self, fields: Sequence[Slot], change: Callable[[], None]) -> None:
        """Record what changes vertices and lists them, and their push."""
        fault = self.fault if self.count == self.faulty else ""
        self.count += 1
        self.program.launch(1, clear_list)
        if fault == TOO_EARLY:
            self._push(fields)
        change()
        if fault == FIRST_ONE_MISSING:
            self.program.launch(1, forget_last)
        if fault == ONE_FIELD:
            self._push(fields[1:])
        elif fault not in (LEFT_OUT, TOO_EARLY):
            self._push(fields)

    def _push(self, fields: Sequence[Slot]) -> None:
        if fields:
            record_push(self.program, self.halo, self.mail, fields, self.changed,
                        self.words[LENGTH])


@kl.kernel
def clear_list(_, words):
    """Nothing has changed."""
    words[LENGTH] = 0


@kl.kernel
def forget_last(_, words):
    """One vertex on the list is forgotten."""
    words[LENGTH] = max(0, words[LENGTH] - 1)


@kl.kernel
def count_changed(_, words):
    """There is another round if a vertex has changed."""
    words[RUNS] = words[LENGTH]
    words[ROUND] += 1


@kl.kernel
def find_least(v, offsets, targets, labels, found):
    """found[v] = the least label of v and its neighbours."""
    least = kl.int64(labels[v])
    for arc in range(offsets[v], offsets[v + 1]):
        least = min(least, kl.int64(labels[targets[arc]]))
    found[v] = least


@kl.kernel
def adopt_least(v, labels, found, changed, words):
    """Take the label that has been found."""
    if found[v] < labels[v]:
        labels[v] = found[v]
        changed[kl.atomic_next(words, LENGTH)] = kl.int32(v)


def record_components(graph: DistributedGraph, faulty: int = -1, fault: str = "") -> Program:
    """Labels become the least ones of components."""
    program = Program("components")
    pushes = Pushes(program, graph, faulty, fault)
    own = graph.local.num_vertices
    program.array("offsets", np.int32), program.array("targets", np.int32)
    labels = program.array("labels", np.int64)
    program.array("found", np.int64)

    def change() -> None:
        program.launch(own, find_least)
        program.launch(own, adopt_least)

    pushes.all([labels])
    with program.while_loop(pushes.words[RUNS]):
        pushes.listed([labels], change)
        program.launch(1, count_changed)
        program.all_reduce(pushes.words, RUNS, 1)
    return program


@kl.kernel
def find_way(v, offsets, targets, distance, source, found, by):
    """found[v] = the least distance, and by[v] the least source of a neighbour that has it."""
    best = kl.int64(distance[v])
    who = kl.int64(source[v])
    for arc in range(offsets[v], offsets[v + 1]):
        u = targets[arc]
        length = distance[u] + 1
        if length < best or (length == best and source[u] < who):
            best = length
            who = kl.int64(source[u])
    found[v] = best
    by[v] = kl.int32(who)


@kl.kernel
def adopt_way(v, distance, source, found, by, changed, words):
    """Take the distance and the source that have been found."""
    if found[v] != distance[v] or by[v] != source[v]:
        distance[v] = found[v]
        source[v] = by[v]
        changed[kl.atomic_next(words, LENGTH)] = kl.int32(v)


def record_ways(graph: DistributedGraph, faulty: int = -1, fault: str = "") -> Program:
    """Each vertex gets its distance from the nearest source, and the least of these."""
    program = Program("ways")
    pushes = Pushes(program, graph, faulty, fault)
    own = graph.local.num_vertices
    program.array("offsets", np.int32), program.array("targets", np.int32)
    distance, source = program.array("distance", np.int64), program.array("source", np.int32)
    program.array("found", np.int64), program.array("by", np.int32)

    def change() -> None:
        program.launch(own, find_way)
        program.launch(own, adopt_way)

    pushes.all([distance, source])
    with program.while_loop(pushes.words[RUNS]):
        pushes.listed([source, distance], change)
        program.launch(1, count_changed)
        program.all_reduce(pushes.words, RUNS, 1)
    return program


@kl.kernel
def win(v, offsets, targets, state, names, changed, words):
    """An undecided vertex whose hash is the largest around it is in."""
    wins = state[v] == UNDECIDED
    own = hash_of(names[v], words[ROUND])
    for arc in range(offsets[v], offsets[v + 1]):
        u = targets[arc]
        if state[u] == UNDECIDED and hash_of(names[u], words[ROUND]) > own:
            wins = False
    if wins:
        changed[kl.atomic_next(words, LENGTH)] = kl.int32(v)


@kl.kernel
def enter(i, changed, state):
    """Vertices that have won are in."""
    state[changed[i]] = kl.int8(IN)


@kl.kernel
def lose(v, offsets, targets, state, changed, words):
    """An undecided vertex beside one that is in is out."""
    loses = False
    if state[v] == UNDECIDED:
        for arc in range(offsets[v], offsets[v + 1]):
            if state[targets[arc]] == IN:
                loses = True
    if loses:
        state[v] = kl.int8(OUT)
        changed[kl.atomic_next(words, LENGTH)] = kl.int32(v)


@kl.kernel
def count_undecided(v, state, words):
    """There is another round if a vertex is undecided; atomic."""
    if state[v] == UNDECIDED:
        kl.atomic_add(words, RUNS, 1)


@kl.kernel
def begin_round(_, words):
    """No vertex is known to be undecided."""
    words[RUNS] = 0
    words[ROUND] += 1


def record_independent_set(graph: DistributedGraph, faulty: int = -1, fault: str = "") -> Program:
    """Luby's maximal independent set: two pushes a round."""
    program = Program("independent set")
    pushes = Pushes(program, graph, faulty, fault)
    own = graph.local.num_vertices
    program.array("offsets", np.int32), program.array("targets", np.int32)
    state = program.array("state", np.int8)
    program.array("names", np.int64)

    def choose() -> None:
        program.launch(own, win)
        program.launch(pushes.words[LENGTH], enter)

    pushes.all([state])
    with program.while_loop(pushes.words[RUNS]):
        pushes.listed([state], choose)
        pushes.listed([state], lambda: program.launch(own, lose))
        program.launch(1, begin_round)
        program.launch(own, count_undecided)
        program.all_reduce(pushes.words, RUNS, 1)
    return program


def components(graph: Graph) -> dict[str, list[int]]:
    """The least vertex of each component, by searching from each vertex in turn."""
    labels = [-1] * graph.num_vertices
    for root in range(graph.num_vertices):
        todo = [root] if labels[root] < 0 else []
        while todo:
            v = todo.pop()
            if labels[v] < 0:
                labels[v] = root
                todo += neighbours(graph, v)
    return {"labels": labels}


def ways(graph: Graph) -> dict[str, list[int]]:
    """Distances from every seventh vertex, and the least source at that distance."""
    n = graph.num_vertices
    distance, source = [FAR] * n, [n] * n
    for root in range(0, n, 7):
        reached, front, length = {root}, [root], 0
        while front:
            for v in front:
                if (length, root) < (distance[v], source[v]):
                    distance[v], source[v] = length, root
            front = sorted({u for v in front for u in neighbours(graph, v)} - reached)
            reached |= set(front)
            length += 1
    return {"distance": distance, "source": source}


def independent_set(graph: Graph) -> dict[str, list[int]]:
    """The set that Luby's rounds lead to."""
    n = graph.num_vertices
    state, rounds = [UNDECIDED] * n, 0
    while UNDECIDED in state:
        drawn = [(mixed(v ^ mixed(rounds)) + 2**63) % 2**64 for v in range(n)]  # as signed ones
        chosen = [v for v in range(n) if state[v] == UNDECIDED and all(
            drawn[u] <= drawn[v] for u in neighbours(graph, v) if state[u] == UNDECIDED)]
        for v in chosen:
            state[v] = IN
        for v in range(n):
            if state[v] == UNDECIDED and any(state[u] == IN for u in neighbours(graph, v)):
                state[v] = OUT
        rounds += 1
    return {"state": state}


def neighbours(graph: Graph, v: int) -> list[int]:
    """The heads of the arcs that leave a vertex."""
    return graph.targets[graph.offsets[v] : graph.offsets[v + 1]].tolist()


@dataclass(frozen=True)
class Case:
    """A program, what it begins with, and what it computes.

    Attributes
    ----------
    record : callable
    fields : callable
        The fields at the start, from the global ids of own vertices and ghosts, and their number.
    scratch : dict
        Types of arrays for own vertices.
    wanted : callable
    pushes : int
        That may have a fault.
    """

    record: Callable[..., Program]
    fields: Callable[[np.ndarray, int], dict[str, np.ndarray]]
    scratch: dict[str, Any]
    wanted: Callable[[Graph], dict[str, list[int]]]
    pushes: int = 1


CASES = {
    "components": Case(record_components, lambda names, n: {"labels": names.copy()},
                       {"found": np.int64}, components),
    "ways": Case(record_ways, lambda names, n: {
        "distance": np.where(names % 7 == 0, 0, FAR),
        "source": np.where(names % 7 == 0, names, n).astype(np.int32)},
        {"found": np.int64, "by": np.int32}, ways),
    "independent set": Case(record_independent_set, lambda names, n: {
        "state": np.zeros(len(names), np.int8)}, {}, independent_set, pushes=2),
}

"""A population of partitions: each round makes one more, and the best is kept.

A round combines two partitions, improves one by a cycle, or makes one from scratch. Random numbers
are a hash of the seed and the number of the round. A child replaces the most similar worse
partition (Sanders, Schulz 2012).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, cast

import numpy as np

from portpart.algorithms.multilevel.problem import Problem
from portpart.backends import language as kl
from portpart.backends.programs import Array
from portpart.graphs import Csr, EitherGraph, Hypergraph, Nets, team_for_all
from portpart.primitives import STRIPES

CYCLES = 5
"""One of this many children comes from one partition, by a cycle."""

FRESH = 8
"""One of this many partitions is made from scratch, once the population is full."""

TEAM_OF_NET = 8
"""Lanes for a net."""


@dataclass(frozen=True, eq=False)
class Partition:
    """The result of a walk.

    Attributes
    ----------
    part : array of int32, shape (n,)
    balanced : int
        1 if all blocks are within their limits, else 0.
    value : int
        The objective: the cut, or the communication cost.
    """

    part: Array
    balanced: int
    value: int

    @property
    def rank(self) -> tuple[int, int]:
        """The key of comparisons; smaller is better."""
        return -self.balanced, self.value


class TimeIsUp(Exception):
    """Ends a walk whose result is not needed."""


@dataclass
class Clock:
    """Checks whether time is over; if so, `leaves` ends the walk with an exception."""

    out_of_time: Callable[[], bool]
    leaves: bool = False

    def __call__(self) -> bool:
        is_late = self.out_of_time()
        if is_late and self.leaves:
            raise TimeIsUp
        return is_late


class Draws:
    """Random numbers of one round.

    Parameters
    ----------
    seed, number : int
        The seed of the problem, and the number of the round.
    """

    def __init__(self, seed: int, number: int) -> None:
        digest = blake2b(f"{seed} {number}".encode()).digest()
        self._words = iter(np.frombuffer(digest, "<u8").tolist())

    def below(self, count: int) -> int:
        """Return a number from 0 to count - 1."""
        return int(next(self._words) % count)

    def winner(self, count: int, without: int | None = None) -> int:
        """Return the smaller of two different numbers below `count`; none is `without`."""
        left = [each for each in range(count) if each != without]
        first = self.below(len(left))
        second = (first + 1 + self.below(max(1, len(left) - 1))) % len(left)
        return min(left[first], left[second])


class Population:
    """Partitions of a graph, best first; no two have the same rank.

    Parameters
    ----------
    problem : Problem
    size : int
        Maximum number of partitions.
    spare : int
        A partition that is replaced is kept until as many others have been added.
    """

    def __init__(self, problem: Problem[Any], size: int, spare: int = 1) -> None:
        self.graph: EitherGraph = problem.graph
        self.size, n = size, problem.graph.num_vertices
        self.members: list[Partition] = []
        self._parts = problem.space.empty((size + spare) * n, np.int32)
        self._places = [self._parts[each * n : (each + 1) * n] for each in range(size + spare)]
        self._free = deque(range(size + spare))

    def add(self, child: Partition) -> None:
        """Add a child; if the population is full, replace the most similar worse partition."""
        if any(each.rank == child.rank for each in self.members):
            return
        kept = list(self.members)
        if len(kept) == self.size:
            worse = [each for each in kept if each.rank > child.rank]
            if not worse:
                return
            differing = self.differing(child.part)
            gone = min(worse, key=lambda each: (differing[self._place_of(each)], *each.rank))
            kept.remove(gone)
            self._free.append(self._place_of(gone))
        place = self._free.popleft()
        self._places[place][...] = child.part
        kept.append(replace(child, part=self._places[place]))
        self.members = sorted(kept, key=lambda each: each.rank)

    def _place_of(self, member: Partition) -> int:
        return next(place for place, part in enumerate(self._places) if part is member.part)

    def differing(self, part: Array) -> list[int]:
        """Count the edges or nets cut either in `part` or in the partition at each place.

        Edges count twice. Waits for the device.
        """
        graph, n, places = self.graph, self.graph.num_vertices, len(self._places)
        counts = graph.space.zeros(places * STRIPES, np.int64)
        if isinstance(graph, Hypergraph):
            graph.space.parallel_for(places * graph.num_nets, count_differing_nets, graph.nets,
                                     graph.num_nets, self._parts, n, part, counts,
                                     team=TEAM_OF_NET)
        else:
            graph.space.parallel_for(places * n, count_differing_arcs, cast(Any, graph).csr,
                                     self._parts, n, part, counts, team=team_for_all(graph))
        found: list[int] = graph.space.to_host(counts).reshape(places, STRIPES).sum(1).tolist()
        return found


@kl.kernel
def count_differing_arcs(i, graph: Csr, parts, n, part, counts):
    """Count the arcs of vertex i % n that are cut either in `part` or in partition i // n."""
    v = i % n
    first = i - v
    count = kl.int64(0)
    for arc in range(graph.begin[v] + kl.lane(), graph.end[v], kl.team_size()):
        u = graph.targets[arc]
        count += kl.int64((part[v] != part[u]) != (parts[first + v] != parts[first + u]))
    count = kl.team_sum(count)
    if kl.lane() == 0 and count > 0:
        kl.atomic_add(counts, i // n * STRIPES + v % STRIPES, count)


@kl.device
def pins_apart(net, nets: Nets, parts, first):
    """Number of pins that are not in the block of the first one. Called by all lanes of a team."""
    count = kl.int64(0)
    begin = nets.begin[net]
    for place in range(begin + kl.lane(), nets.end[net], kl.team_size()):
        count += kl.int64(parts[first + nets.pins[place]] != parts[first + nets.pins[begin]])
    return kl.team_sum(count)


@kl.kernel
def count_differing_nets(i, nets: Nets, num_nets, parts, n, part, counts):
    """Count net i % num_nets if it is cut either in `part` or in partition i // num_nets."""
    net = i % num_nets
    which = i // num_nets
    here = pins_apart(net, nets, part, kl.int64(0)) > 0
    there = pins_apart(net, nets, parts, which * n) > 0
    if kl.lane() == 0 and here != there:
        kl.atomic_add(counts, which * STRIPES + net % STRIPES, 1)

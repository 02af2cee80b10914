"""Plain answers about mappings: slow, obvious, sharing no code with portpart."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from portpart.graphs.graph import Graph
from tests import oracles

Machine = list[list[int]]
"""The distance of each two processing elements."""


def addresses(arities: list[int]) -> list[tuple[int, ...]]:
    """The place of each element on every level, outermost first."""
    return list(itertools.product(*(range(arity) for arity in reversed(arities))))


def distances(arities: list[int], lengths: list[int]) -> Machine:
    """Distances of a hierarchy: that of the first place, from outside, where addresses differ."""
    table = []
    for here in addresses(arities):
        row = []
        for there in addresses(arities):
            differing = [at for at, pair in enumerate(zip(here, there)) if pair[0] != pair[1]]
            row.append(lengths[len(arities) - 1 - differing[0]] if differing else 0)
        table.append(row)
    return table


def cost(graph: Graph, part: Any, machine: Machine) -> int:
    """J, each edge once."""
    return sum(w * machine[part[u]][part[v]] for u, v, w in oracles.arcs(graph) if u < v)


def level_costs(graph: Graph, part: Any, arities: Sequence[int],
                lengths: Sequence[int]) -> list[int]:
    """J by the innermost level whose groups hold both ends of an edge, innermost first."""
    costs = [0] * len(arities)
    for u, v, weight in oracles.arcs(graph):
        here, there = int(part[u]), int(part[v])
        if u < v and here != there:
            level = -1
            while here != there:
                level += 1
                here, there = here // arities[level], there // arities[level]
            costs[level] += weight * lengths[level]
    return costs


def traffic(graph: Graph, part: Any, k: int) -> np.ndarray:
    """Weight of the edges between each two elements."""
    sums: Counter[tuple[int, int]] = Counter()
    for u, v, weight in oracles.arcs(graph):
        if part[u] != part[v]:
            sums[int(part[u]), int(part[v])] += weight
    table = np.zeros((k, k), np.int64)
    for pair, weight in sums.items():
        table[pair] = weight
    return table

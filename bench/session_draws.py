"""What edits of a round are drawn by."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.eco_edits import EcoEdits
from bench.random_edits import RandomEdits

NEAR = 3
"""A new pin is so many vertices from its net's own at most."""


class SteadyEdits:
    """Half new edges or pins, half those of the round before, which go."""

    def __init__(self, graph: Any, seed: int) -> None:
        self._random, self._before = np.random.default_rng(seed), None
        self._is_graph = hasattr(graph, "num_edges")
        self._count = graph.num_vertices if self._is_graph else graph.num_nets
        # two steps away in a grid, whose rows are as long as it is high
        self._steps = np.array([2, int(self._count**0.5) + 1]) if self._is_graph else (
            np.arange(1, NEAR + 1))

    def play(self, batch: Any, count: int) -> None:
        """Put so many edits into a batch."""
        insert, delete = ((batch.insert_edges, batch.delete_edges) if self._is_graph else
                          (batch.insert_pins, batch.delete_pins))
        first = self._random.integers(0, self._count, count - count // 2)
        second = (first + self._random.choice(self._steps, len(first))) % self._count
        if self._before is not None:
            delete(*(ends[: count // 2] for ends in self._before), missing="ignore")
        insert(first, second)
        self._before = first, second


def drawn_on(graph: Any, draws: str) -> Any:
    """What draws edits of a graph or hypergraph."""
    if draws == "steady":
        return SteadyEdits(graph, 1)
    if draws == "eco":
        return EcoEdits(graph, 1)
    return RandomEdits(graph, 1, "near", keep_size=False)

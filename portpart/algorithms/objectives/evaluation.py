"""Block weights and the cut of the partition that a call will return, computed ahead."""

from __future__ import annotations

from collections.abc import Callable
from weakref import ref

import numpy as np

from portpart.algorithms.objectives.cut import CUT
from portpart.algorithms.objectives.total import cost_sums
from portpart.backends.programs import Array
from portpart.graphs import EitherGraph, Graph
from portpart.primitives import STRIPES, histogram

MAX_BLOCKS = 4096
"""Maximum number of blocks whose weights are computed early: more are counted in more memory."""


class Evaluation:
    """The evaluation of one partition, begun before the host waits for the refinement.

    A GPU then computes the values as soon as it has the partition, and the host waits only once.
    Another partition is evaluated where its values are needed.

    Parameters
    ----------
    graph : Graph or Hypergraph
        The graph of the call; nothing is begun for hypergraphs, or very many blocks.
    num_blocks : int
    """

    def __init__(self, graph: EitherGraph, num_blocks: int) -> None:
        takes = isinstance(graph, Graph) and num_blocks <= MAX_BLOCKS
        self._graph, self._num_blocks = graph if takes else None, num_blocks
        self._part: Callable[[], Array | None] = lambda: None
        self._arrived: Callable[[], np.ndarray] = lambda: np.empty(0, np.int64)
        self._numbers: np.ndarray | None = None

    def begin(self, graph: EitherGraph, part: Array, num_blocks: int) -> None:
        """Evaluate a partition, if graph and blocks are those of the call; does not wait."""
        if graph is not self._graph or num_blocks != self._num_blocks:
            return
        space = graph.space
        words = space.zeros(num_blocks + STRIPES, np.int64)
        histogram(space, part, num_blocks, graph.vertex_weights, words[:num_blocks])
        cost_sums(graph, part, CUT, graph.csr, words[num_blocks:])
        self._part, self._numbers, self._arrived = ref(part), None, space.fetch(words)

    def block_weights(self, part: Array) -> np.ndarray | None:
        """Return the weight of each block; None for a partition that was not begun."""
        numbers = self._read(part)
        return None if numbers is None else numbers[: self._num_blocks]

    def cut(self, part: Array) -> int | None:
        """Return the cut; None for a partition that was not begun."""
        numbers = self._read(part)
        return None if numbers is None else int(numbers[self._num_blocks :].sum()) // 2

    def _read(self, part: Array) -> np.ndarray | None:
        if part is not self._part():
            return None
        if self._numbers is None:
            self._numbers = self._arrived()
        return self._numbers

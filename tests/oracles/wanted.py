"""A plain judge of what callers want of blocks, sharing no code with portpart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from portpart.graphs.graph import Graph
from tests import oracles
from tests.helpers.graphs import graphs
from tests.oracles.exhaustive import possible


@dataclass(frozen=True)
class Case:
    """A graph, and options of `portpart.partition`."""

    graph: Graph
    k: int
    imbalance: str
    target: list[Any] | None
    fixed: np.ndarray | None
    initial: np.ndarray | None
    least: int

    @property
    def options(self) -> dict[str, Any]:
        return {"imbalance": self.imbalance, "target": self.target, "fixed": self.fixed,
                "initial": self.initial, "min_block_weight": self.least or None}

    @property
    def limits(self) -> list[int]:
        """Most that each block may weigh."""
        total = sum(oracles.vertex_weights(self.graph))
        return oracles.block_weight_limits(total, self.k, self.imbalance, self.target)

    @property
    def positive(self) -> int:
        """Number of vertices that weigh something."""
        return sum(weight > 0 for weight in oracles.vertex_weights(self.graph))

    def keeps(self, part: Any) -> bool:
        """Whether `part` keeps what `keeps_bounds` says, and no block is empty without need."""
        return self.keeps_bounds(part) and self.empty(part) == 0

    def keeps_bounds(self, part: Any) -> bool:
        """Whether `part` keeps the limits, the least weight and the fixed vertices."""
        blocks = oracles.block_weights(self.graph, part, self.k)
        if self.fixed is not None and ((part != self.fixed) & (self.fixed >= 0)).any():
            return False
        return all(self.least <= w <= most for w, most in zip(blocks, self.limits))

    def excess(self, part: Any) -> int:
        """Most by which a block exceeds its limit, 0 if none does."""
        blocks = oracles.block_weights(self.graph, part, self.k)
        return max(0, *(weight - most for weight, most in zip(blocks, self.limits)))

    def missing(self, part: Any) -> int:
        """What the lightest block lacks."""
        return max(0, self.least - min(oracles.block_weights(self.graph, part, self.k)))

    def empty(self, part: Any) -> int:
        """Blocks that weigh nothing but could, if there are vertices for all blocks.

        All could where no partition keeps the limits.
        """
        filled = self.filled(part)
        if filled == self.k or self.positive < self.k:
            return 0
        return max(0, (possible(self).max_filled if self.can_be_kept() else self.k) - filled)

    def filled(self, part: Any) -> int:
        """Number of blocks that weigh something."""
        return sum(weight > 0 for weight in oracles.block_weights(self.graph, part, self.k))

    def can_be_kept(self) -> bool:
        """Whether any partition keeps all."""
        return possible(self).any


@st.composite
def cases(draw: st.DrawFn, max_vertices: int = 9) -> Case:
    """Any small graph with any mixture of wishes."""
    graph = draw(graphs(max_vertices))
    n, k = graph.num_vertices, draw(st.integers(1, 4))

    def blocks(lowest: int) -> np.ndarray | None:
        some = draw(st.none() | st.lists(st.integers(lowest, k - 1), min_size=n, max_size=n))
        return None if some is None else np.array(some, np.int32)

    share = st.sampled_from([1, 2, 5, 0.1, 0.25, "1/3", 0])
    return Case(
        graph=graph, k=k, imbalance=draw(st.sampled_from(["0", "0.03", "0.5"])),
        target=draw(st.none() | st.lists(share, min_size=k, max_size=k).filter(any)),
        fixed=blocks(-1), initial=blocks(0), least=draw(st.sampled_from([0, 0, 1, 2])),
    )

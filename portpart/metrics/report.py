"""What evaluations of graphs and of hypergraphs have in common, and how every number is called."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from portpart.graphs.html import aligned, table
from portpart.metrics.balance import imbalance_of, keeps_limits

FACTS = {
    "vertices": "num_vertices",
    "edges": "num_edges",
    "nets": "num_nets",
    "pins": "num_pins",
    "blocks": "k",
    "empty blocks": "empty_blocks",
    "disconnected blocks": "disconnected_blocks",
    "cut": "cut",
    "km1": "km1",
    "soed": "soed",
    "absorption": "absorption",
    "communication volume": "communication_volume",
    "largest volume of a block": "max_communication_volume",
    "pairs of neighbouring blocks": "neighbour_pairs",
    "imbalance": "imbalance",
    "heaviest block": "max_block_weight",
    "lightest block": "min_block_weight",
    "boundary vertices": "boundary",
}
"""The names of numbers wherever they are shown, and the attributes that hold them."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """Metrics of a partition that graphs and hypergraphs have."""

    num_vertices: int
    k: int
    cut: int
    imbalance: float
    block_weights: np.ndarray
    max_block_weight: int
    min_block_weight: int
    boundary: int
    target: Any = None

    def facts(self) -> dict[str, int | float]:
        """Every number by its name, as printed, in notebooks and on pages."""
        return {name: getattr(self, field) for name, field in FACTS.items() if hasattr(self, field)}

    def __str__(self) -> str:
        return aligned(self.facts())

    def _repr_html_(self) -> str:
        return table(type(self).__name__, self.facts().items())

    def is_balanced(self, imbalance: Any = 0.03) -> bool:
        """True if no block is above its limit for `imbalance` (exact)."""
        return keeps_limits(self.block_weights, imbalance, self.target)

    def as_dict(self) -> dict[str, Any]:
        """All fields but `target` as plain Python values (arrays become lists), for JSON."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in values.items() if name != "target"
        }


def of_weights(weights: np.ndarray, target: Any) -> dict[str, Any]:
    """What follows from the weights of the blocks."""
    return {
        "imbalance": imbalance_of(weights, target),
        "block_weights": weights,
        "max_block_weight": int(weights.max(initial=0)),
        "min_block_weight": int(weights.min()) if len(weights) else 0,
        "target": target,
    }

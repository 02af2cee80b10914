"""What evaluations of graphs and of hypergraphs have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields
from typing import Any

import numpy as np

from portpart.graphs.html import table
from portpart.metrics.balance import keeps_limits


class Report(ABC):
    """A dataclass of metrics; has block weights, and perhaps a target."""

    block_weights: np.ndarray
    target: Any

    @abstractmethod
    def _facts(self) -> list[tuple[str, str]]:
        """What is printed, by name."""

    def __str__(self) -> str:
        return "\n".join(f"{name:<14}{text}" for name, text in self._facts())

    def _repr_html_(self) -> str:
        return table(type(self).__name__, self._facts())

    def is_balanced(self, imbalance: Any = 0.03) -> bool:
        """True if no block is above its limit for `imbalance` (exact)."""
        return keeps_limits(self.block_weights, imbalance, self.target)

    def as_dict(self) -> dict[str, Any]:
        """All fields but `target` as plain Python values (arrays become lists), for JSON."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in values.items() if name != "target"
        }

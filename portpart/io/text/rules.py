"""What becomes of directions and of weights while a file is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from portpart.graphs.csr import directions_of
from portpart.graphs.weights import ABS, IGNORE, KEEP, ROUND, checked_mode

RULES = ("symmetrize", "weights", "weight_scale")
"""Names of the options."""


@dataclass(frozen=True)
class ReadingRules:
    """Options of reading, as in `portpart.as_graph`.

    Parameters
    ----------
    symmetrize : bool or str, optional
    weights : str, optional
        One of `weights.MODES`; None: as the format has it.
    scale : float, optional
    """

    symmetrize: bool | str | None = None
    weights: str | None = None
    scale: float | None = None

    @property
    def takes_fractions(self) -> bool:
        """Whether weights need not be integers."""
        return self.weights in (ABS, ROUND)

    def wants_weights(self, by_default: bool) -> bool:
        """Whether weights are read, of a format with such a default."""
        return by_default if self.weights is None else self.weights != IGNORE

    def of_arcs(self) -> dict[str, Any]:
        """Keywords of `from_arrays.csr_graph` for formats that hold both directions of an edge."""
        return {"symmetrize": self.symmetrize or False, **self._of_weights()}

    def of_edges(self) -> dict[str, Any]:
        """Keywords of `from_arrays.edges_graph` for formats that list edges without direction."""
        return {"symmetrize": self.symmetrize or True, **self._of_weights()}

    def _of_weights(self) -> dict[str, Any]:
        return {"mode": self.weights or KEEP, "scale": self.scale}


STRICT = ReadingRules()
"""What holds unless something is said."""


def rules_of(symmetrize: Any = None, weights: Any = None, weight_scale: Any = None) -> ReadingRules:
    """The rules that options ask for, checked."""
    if symmetrize is not None:
        directions_of(symmetrize)
    mode = checked_mode(weights, weight_scale)
    return ReadingRules(symmetrize, None if weights is None else mode, weight_scale)

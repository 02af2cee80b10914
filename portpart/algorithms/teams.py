"""How many lanes work on one vertex."""

from __future__ import annotations


def team_for(mean_degree: float) -> int:
    """Team width for loops over the arcs of a vertex."""
    if mean_degree <= 4:
        return 1
    return 8 if mean_degree <= 16 else 32

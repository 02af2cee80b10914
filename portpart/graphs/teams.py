"""How many lanes work on one vertex."""

from __future__ import annotations

from portpart.graphs.structure import Structure


def team_for(mean_degree: float) -> int:
    """Team width for loops over the arcs of a vertex."""
    if mean_degree <= 4:
        return 1
    return 8 if mean_degree <= 16 else 32


LONE_DEGREE = 8
"""A lane alone visits up to this many arcs of each of many vertices sooner than several do."""


def team_for_all(graph: Structure) -> int:
    """Team width for a loop over the arcs of all vertices, one loop after the other."""
    return 1 if graph.max_degree <= LONE_DEGREE else team_for(graph.mean_degree)


ROWS_AT_A_TIME = 6000
"""An element of the longest row takes a lane as long as this many rows take a device."""


def team_for_longest(rows: int, mean: float, longest: int) -> int:
    """Team width for a short loop over each row: a lane alone with a long one holds up the rest."""
    team = team_for(mean)
    for wider in (8, 32):
        if team < wider and longest * ROWS_AT_A_TIME > rows * team * wider:
            team = wider
    return team

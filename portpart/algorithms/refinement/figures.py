"""Figures of a level: its sizes, the limits of the pass, and where the pass stands."""

from __future__ import annotations

from typing import Any

from portpart.backends.language import Words


class Figures(Words):
    """Figures of a level, which the host writes, and where its refinement stands."""

    vertices: Any
    blocks: Any
    mean_degree: Any
    few_arcs: Any  # vertices of higher degree have many neighbours
    hub_degree: Any  # vertices of higher degree are hubs
    long: Any  # lists of more vertices are work for single lanes
    slack: Any  # what blocks may weigh above their limits on a coarse level
    seed: Any
    stall_limit: Any
    iteration_limit: Any
    iteration: Any
    running: Any
    balanced: Any  # no block is too heavy: label propagation is next
    overloaded: Any  # the opposite: rebalancing is next
    stalled: Any  # iterations since the best partition improved enough

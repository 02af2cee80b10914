"""Pictures of partitions, by Matplotlib: ``pip install portpart[plot]``.

Every function draws on the axes that it is given, or on those of a new figure, and returns them.
"""

from __future__ import annotations

from portpart.plot.bars import block_weights
from portpart.plot.blocks import partition
from portpart.plot.colors import block_colors
from portpart.plot.layouts import layout
from portpart.plot.machines import traffic
from portpart.plot.networks import graph, quotient
from portpart.plot.reports import report
from portpart.plot.rounds import session

__all__ = [
    "block_colors",
    "block_weights",
    "graph",
    "layout",
    "partition",
    "quotient",
    "report",
    "session",
    "traffic",
]

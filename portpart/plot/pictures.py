"""Pictures of a report as text that stands in a page: SVG, or PNG where there is very much."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from portpart.backends.interrupts import late_signals
from portpart.metrics.nets import NetsView
from portpart.plot.bars import block_weights
from portpart.plot.blocks import partition
from portpart.plot.canvas import MISSING
from portpart.plot.colors import FIRST, colors_of
from portpart.plot.machines import traffic
from portpart.plot.networks import graph, quotient
from portpart.plot.page import figure
from portpart.plot.report_data import ReportData

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DRAWN = 1000
"""Vertices up to which a picture is made of lines, not of pixels."""

DISCS = 2000
"""Blocks up to which there is a picture of the quotient graph."""

SHARP = 170
"""Pixels an inch."""


def figures(report_data: ReportData, points: Any, mesh: Any) -> Iterator[str]:
    """The pictures of a partition with their captions, as HTML."""
    colours = colors_of(report_data.links)
    count = report_data.graph.num_vertices
    if points is not None:
        yield _figure("partition", lambda ax: partition(
            points, report_data.part, report_data.graph if mesh is None else None, mesh=mesh,
            k=report_data.k,
            colors=colours, ax=ax),
            "Neighbouring blocks have different colours.", many=count > DRAWN)
    else:
        yield _figure("graph",
                      lambda ax: graph(report_data.graph, report_data.part, k=report_data.k,
                                                colors=colours, ax=ax),
                      "Vertices have no coordinates: neighbours are placed near each other.",
                      many=count > DRAWN)
    if report_data.k <= DISCS:
        yield _figure("quotient", lambda ax: quotient(
            report_data.graph, report_data.part, k=report_data.k, colors=colours, ax=ax),
            "Discs are as large as blocks weigh, lines as wide as what they share.",
            many=report_data.links.nnz > 4 * DRAWN)
    if report_data.topology is not None:
        yield _figure("traffic",
                      lambda ax: traffic(report_data.graph, report_data.part, report_data.topology,
                                                    ax=ax),
                      "Squares are groups of the machine: traffic near the diagonal is cheap.",
                      (7, 6), wide=True, many=report_data.k > 64)
    if isinstance(report_data.view, NetsView):
        yield _figure("connectivity", lambda ax: _connectivity(report_data, ax),
                      "How many nets reach how many blocks.", (11, 3.4), wide=True)
    yield _figure("weights", lambda ax: _weights(report_data, colours, ax),
                  "Weights of the blocks, and the most that they may be.", (11, 3.4), wide=True)


def _weights(report_data: ReportData, colours: np.ndarray, ax: Axes) -> None:
    block_weights(_Weighed(report_data), colors=colours, ax=ax)


class _Weighed:
    """Weights and limits, as a result has them."""

    def __init__(self, report_data: ReportData) -> None:
        self.block_weights = report_data.evaluation.block_weights
        self.block_weight_limits = report_data.limits
        self.target = report_data.evaluation.target


def _connectivity(report_data: ReportData, ax: Axes) -> None:
    assert isinstance(report_data.view, NetsView)
    histogram = np.bincount(report_data.view.connectivity)
    ax.bar(np.arange(len(histogram)), histogram, color=FIRST[0])
    ax.set(xlabel="blocks that a net reaches", ylabel="nets", yscale="log",
           title="connectivity of the nets")
    ax.xaxis.get_major_locator().set_params(integer=True)


def _figure(name: str, draw: Callable[[Axes], object], caption: str,
            size: tuple[float, float] = (6.4, 6), *, wide: bool = False,
            many: bool = False) -> str:
    try:
        with late_signals():
            import matplotlib
            from matplotlib.figure import Figure
    except ModuleNotFoundError as problem:
        raise ImportError(MISSING) from problem
    made = Figure(figsize=size, layout="constrained")
    settings = {"svg.hashsalt": name, "svg.fonttype": "none", "font.family": "sans-serif"}
    with matplotlib.rc_context(settings):
        draw(made.add_subplot())
        return figure(_as_png(made, caption) if many else _as_svg(made, caption), caption, wide)


def _as_svg(made: Any, caption: str) -> str:
    """A picture as an element of the page, the same bytes each time."""
    from html import escape

    text = io.StringIO()
    made.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    svg = text.getvalue()
    svg = svg[svg.index("<svg"):]
    return svg.replace("<svg", f'<svg role="img" aria-label="{escape(caption)}"', 1)


def _as_png(made: Any, caption: str) -> str:
    from html import escape

    data = io.BytesIO()
    made.savefig(data, format="png", dpi=SHARP, metadata={"Software": None})
    packed = base64.b64encode(data.getvalue()).decode()
    return f'<img alt="{escape(caption)}" src="data:image/png;base64,{packed}">'

"""Pictures of a report as text in a page: SVG, or PNG for very many elements."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from portpart.metrics.nets import NetsView
from portpart.plot.bars import block_weights
from portpart.plot.blocks import partition
from portpart.plot.canvas import MISSING, needed
from portpart.plot.colors import FIRST, colors_of
from portpart.plot.machines import traffic
from portpart.plot.networks import graph, quotient
from portpart.plot.report_data import ReportData

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from portpart.graphs import MeshLike

DRAWN = 1000
"""Maximum number of vertices of a picture that is made of lines, not of pixels."""

DISCS = 2000
"""Maximum number of blocks with a picture of the quotient graph."""

SHARP = 170
"""Pixels per inch."""


class Picture(NamedTuple):
    """A picture as HTML, with a line of text below."""

    html: str
    caption: str
    wide: bool


def figures(found: ReportData, points: ArrayLike | None,
            mesh: MeshLike | None) -> Iterator[Picture]:
    """Yield the pictures of a partition."""
    colours = colors_of(found.links)
    count = found.graph.num_vertices
    if points is not None:
        yield _picture("partition", lambda ax: partition(
            points, found.part, found.graph if mesh is None else None, mesh=mesh,
            k=found.k,
            colors=colours, ax=ax),
            "Neighbouring blocks have different colours.", many=count > DRAWN)
    else:
        yield _picture("graph",
                      lambda ax: graph(found.graph, found.part, k=found.k,
                                                colors=colours, ax=ax),
                      "Vertices have no coordinates: neighbours are placed near each other.",
                      many=count > DRAWN)
    if found.k <= DISCS:
        yield _picture("quotient", lambda ax: quotient(
            found.graph, found.part, k=found.k, colors=colours, ax=ax),
            "Discs are as large as blocks weigh, lines as wide as what they share.",
            many=found.links.nnz > 4 * DRAWN)
    if found.topology is not None:
        yield _picture("traffic",
                      lambda ax: traffic(found.graph, found.part, found.topology,
                                                    ax=ax),
                      "Squares are groups of the machine: traffic near the diagonal is cheap.",
                      (7, 6), wide=True, many=found.k > 64)
    if isinstance(found.view, NetsView):
        yield _picture("connectivity", lambda ax: _connectivity(found, ax),
                      "How many nets reach how many blocks.", (11, 3.4), wide=True)
    weighed = SimpleNamespace(block_weights=found.evaluation.block_weights,
                              block_weight_limits=found.limits, target=found.evaluation.target)
    yield _picture("weights", lambda ax: block_weights(weighed, colors=colours, ax=ax),
                  "Weights of the blocks, and the most that they may be.", (11, 3.4), wide=True)


def _connectivity(found: ReportData, ax: Axes) -> None:
    assert isinstance(found.view, NetsView)
    histogram = np.bincount(found.view.connectivity)
    ax.bar(np.arange(len(histogram)), histogram, color=FIRST[0])
    ax.set(xlabel="blocks that a net reaches", ylabel="nets", yscale="log",
           title="connectivity of the nets")
    ax.xaxis.get_major_locator().set_params(integer=True)


def _picture(name: str, draw: Callable[[Axes], object], caption: str,
             size: tuple[float, float] = (6.4, 6), *, wide: bool = False,
             many: bool = False) -> Picture:
    """Draw with `draw` into an element of the page, with the same bytes each time."""
    with needed(MISSING):
        import matplotlib
        from matplotlib.figure import Figure
    made, data = Figure(figsize=size, layout="constrained"), io.BytesIO()
    settings = {"svg.hashsalt": name, "svg.fonttype": "none", "font.family": "sans-serif"}
    with matplotlib.rc_context(settings):
        draw(made.add_subplot())
        if many:
            made.savefig(data, format="png", dpi=SHARP, metadata={"Software": None})
            packed = base64.b64encode(data.getvalue()).decode()
            return Picture(f'<img alt="{caption}" src="data:image/png;base64,{packed}">',
                           caption, wide)
        made.savefig(data, format="svg", metadata={"Date": None, "Creator": None})
    svg = data.getvalue().decode()
    svg = svg[svg.index("<svg"):].replace("<svg", f'<svg role="img" aria-label="{caption}"', 1)
    return Picture(svg, caption, wide)

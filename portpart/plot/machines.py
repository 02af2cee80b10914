"""Traffic between processes, in the order of the machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from portpart.errors import InputError
from portpart.graphs import Blocks, Topology
from portpart.plot.canvas import INK, axes_on
from portpart.plot.links import drawn_blocks, either_graph, links_between

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from scipy.sparse import csr_array


CELLS = 1024
"""Maximum number of cells along a side; more elements share cells."""


def traffic(result: Any, part: Blocks | None = None, topology: Topology | None = None, *,
            ax: Axes | None = None) -> Axes:
    """Draw the traffic matrix of a mapping: weight of the edges between each two elements.

    Parameters
    ----------
    result : MappingResult, Graph, Hypergraph or any other input of `as_graph`
        With a graph, `part` is needed.
    part : array_like of int, shape (n,), optional
        Element, or block, of each vertex of a graph.
    topology : Topology, optional
        The machine; default: that of the result.  Without one there are no groups.
    ax : matplotlib.axes.Axes, optional
        Default: those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        Elements in their order, in which the innermost level varies fastest, with lines around the
        groups of each level, thicker ones around outer groups: traffic close to the diagonal is
        between near elements.

    Raises
    ------
    ImportError
        If Matplotlib is not installed.
    InputError
        If elements, graph and machine do not fit each other.

    Examples
    --------
    >>> import portpart
    >>> from matplotlib.figure import Figure
    >>> result = portpart.map_processes(portpart.generators.grid_2d(8, 8), "2:2", "1:10")
    >>> ax = portpart.plot.traffic(result, ax=Figure().add_subplot())
    >>> ax.images[0].get_array().shape
    (4, 4)
    """
    topology = getattr(result, "topology", None) if topology is None else topology
    matrix = _matrix_of(result, part, topology)
    k = matrix.shape[0]
    if topology is not None and topology.num_elements != k:
        raise InputError(f"{k} elements on a machine of {topology.num_elements}")
    cells, each = binned(matrix)
    ax = axes_on(ax, (7, 6))
    _draw_cells(ax, cells, k)
    if topology is not None and topology.is_hierarchy:
        _draw_groups(ax, topology)
    sharing = f", {each} elements a cell" if each > 1 else ""
    ax.set(xlabel="element", ylabel="element", title=f"traffic between {k:,} elements{sharing}")
    return ax


def _matrix_of(result: Any, part: Blocks | None, topology: Topology | None) -> csr_array:
    if part is None and hasattr(result, "traffic"):
        found: csr_array = result.traffic
        return found
    graph = either_graph(result)
    given = None if topology is None else topology.num_elements
    blocks, k = drawn_blocks(part, graph.num_vertices, given, graph)
    return links_between(graph, blocks, k)


def binned(matrix: csr_array) -> tuple[np.ndarray, int]:
    """Return a matrix of at most `CELLS` rows, sums of squares of cells, and the length of their
    sides.
    """
    each = -(-matrix.shape[0] // CELLS) or 1
    size = -(-matrix.shape[0] // each)
    entries = matrix.tocoo()
    cells = np.zeros((size, size), np.float64)
    np.add.at(cells, (entries.row // each, entries.col // each), entries.data)
    return cells, each


def _draw_cells(ax: Axes, cells: np.ndarray, k: int) -> None:
    """Draw positive entries by their logarithm; zeros are white."""
    from matplotlib.colors import LogNorm

    positive = cells[cells > 0]
    low, high = (positive.min(), positive.max()) if len(positive) else (1, 1)
    norm = LogNorm(low, high if high > low else 2 * low)
    shown = np.ma.masked_less_equal(cells, 0)
    image = ax.imshow(shown, cmap="viridis_r", norm=norm, interpolation="nearest",
                      extent=(-0.5, k - 0.5, k - 0.5, -0.5))
    ax.figure.colorbar(image, ax=ax, label="weight of the edges", shrink=0.85)


def _draw_groups(ax: Axes, topology: Topology) -> None:
    """Draw a square around each group of elements."""
    from matplotlib.collections import LineCollection

    k = topology.num_elements
    for level, size in enumerate(topology.group_sizes[1:-1], start=1):
        begin = np.arange(0, k, size) - 0.5
        end = begin + size
        corners = np.stack([np.stack([begin, end, end, begin, begin], axis=1),
                            np.stack([begin, begin, end, end, begin], axis=1)], axis=-1)
        ax.add_collection(LineCollection(corners, colors=INK, linewidths=0.5 + 0.5 * level,
                                         label=f"level {level}"))

"""Graphs without coordinates, and graphs of blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, triu

from portpart.errors import InputError
from portpart.graphs.graph import Graph
from portpart.graphs.hypergraph import EitherGraph
from portpart.metrics.balance import block_weights as weights_of_blocks
from portpart.plot.canvas import INK, PALE, as_picture, axes_on, host_points
from portpart.plot.colors import checked_colors, colors_of
from portpart.plot.layouts import layout, places_of
from portpart.plot.links import blocks_of, either_graph, links_between
from portpart.plot.points import FEW, Scene, draw_points
from portpart.plot.raster import filled_image, reach_of, window_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SAMPLE = 30_000
"""Edges of a large graph that are drawn."""

NAMED = 100
"""Blocks up to which each disc has its number."""

DISC_SHARE = 0.14
"""Of the picture that all discs cover together."""


def graph(graph: Any, part: Any = None, *, points: Any = None, k: int | None = None,
          colors: Any = None, ax: Axes | None = None) -> Axes:
    """Draw a graph or a hypergraph without coordinates, perhaps in the colours of its blocks.

    Parameters
    ----------
    graph : Graph, Hypergraph or whatever `as_graph` takes
    part : array_like of int, shape (n,), or PartitionResult, optional
        Block of each vertex; default: one colour for all.
    points : array_like of float, shape (n, 2), optional
        Places of the vertices; default: those of :func:`layout`.
    k : int, optional
        Number of blocks; default: that of the result, or the largest block number plus one.
    colors : array_like, shape (k, 3), optional
        Colours of the blocks, as of :func:`block_colors`.
    ax : matplotlib.axes.Axes, optional
        Default: those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ImportError
        If there is no Matplotlib.
    InputError
        If places, blocks and graph do not fit each other.

    Notes
    -----
    Up to 4,000 vertices each is a disc and each edge a line, dark between blocks.  Larger graphs
    become an image, with 30,000 of their edges at equal steps.  Of hypergraphs no nets are drawn.

    Examples
    --------
    >>> import portpart
    >>> from matplotlib.figure import Figure
    >>> ring = [(vertex, (vertex + 1) % 12) for vertex in range(12)]
    >>> ax = portpart.plot.graph(ring, portpart.partition(ring, 3), ax=Figure().add_subplot())
    >>> ax.get_title()
    '12 vertices in 3 blocks'
    """
    shown = either_graph(graph)
    n = shown.num_vertices
    places = layout(shown) if points is None else host_points(points)
    if len(places) != n:
        raise InputError(f"{len(places)} points for a graph of {n} vertices")
    blocks, k = blocks_of(np.zeros(n, np.int32) if part is None else part, n, k)
    colours = (colors_of(links_between(shown, blocks, k)) if colors is None
               else checked_colors(colors, k))
    ax = axes_on(ax)
    edges = shown if isinstance(shown, Graph) else None
    scene = Scene(places, colours[blocks], blocks, edges, "all")
    if n <= FEW:
        draw_points(ax, scene, None, (0, 0))
    else:
        _draw_large(ax, scene)
    return as_picture(ax, f"{n:,} vertices" + (f" in {k:,} blocks" if part is not None else ""))


def _draw_large(ax: Axes, scene: Scene) -> None:
    from matplotlib.collections import LineCollection

    window = window_of(scene.points)
    reach = reach_of(scene.points, None)
    image = filled_image(scene.points, scene.colours, np.minimum(reach, 3 * np.median(reach)),
                         window)
    if scene.graph is not None:
        tails, heads = sampled_edges(scene.graph)
        lines = np.stack([scene.points[tails], scene.points[heads]], axis=1)
        cut = scene.part[tails] != scene.part[heads]
        colours = np.column_stack([np.where(cut[:, None], 0.3, scene.colours[tails]),
                                   np.full(len(tails), 0.25)])
        ax.add_collection(LineCollection(lines, colors=colours, linewidths=0.3, rasterized=True))
    ax.imshow(image, extent=window, origin="lower", interpolation="antialiased", zorder=3)
    ax.set(xlim=window[:2], ylim=window[2:])


def sampled_edges(graph: Graph) -> tuple[np.ndarray, np.ndarray]:
    """Ends of `SAMPLE` edges at most, at equal steps."""
    arcs = graph.to_scipy().tocoo()
    once = np.flatnonzero(arcs.row < arcs.col)
    once = once[::-(-len(once) // SAMPLE) or 1]
    return arcs.row[once], arcs.col[once]


@dataclass(frozen=True)
class Blocks:
    """Blocks and what joins them.

    Attributes
    ----------
    weights : ndarray of int64, shape (k,)
    links : csr_array, shape (k, k)
    places : ndarray, shape (k, 2)
    colours : ndarray, shape (k, 3)
    """

    weights: np.ndarray
    links: csr_array
    places: np.ndarray
    colours: np.ndarray


def quotient(graph: Any, part: Any, *, points: Any = None, k: int | None = None,
             colors: Any = None, ax: Axes | None = None) -> Axes:
    """Draw blocks as discs, as large as they weigh, joined by lines as wide as the cuts.

    Parameters
    ----------
    graph : Graph, Hypergraph or whatever `as_graph` takes
        Of a hypergraph lines are as wide as the nets weigh that touch both blocks.
    part : array_like of int, shape (n,), or PartitionResult
    points : array_like of float, shape (n, 2) or (n, 3), optional
        Places of the vertices: discs stand in the middle of their blocks.  Default: strongly
        joined blocks stand near each other.
    k : int, optional
        Number of blocks; default: that of the result, or the largest block number plus one.
    colors : array_like, shape (k, 3), optional
        Colours of the blocks, as of :func:`block_colors`.
    ax : matplotlib.axes.Axes, optional
        Default: those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ImportError
        If there is no Matplotlib.
    InputError
        If places, blocks and graph do not fit each other.

    Examples
    --------
    >>> import portpart
    >>> from matplotlib.figure import Figure
    >>> grid = portpart.generators.grid_2d(8, 8)
    >>> ax = portpart.plot.quotient(grid, portpart.partition(grid, 4), ax=Figure().add_subplot())
    >>> [text.get_text() for text in ax.texts]
    ['0', '1', '2', '3']
    """
    shown = either_graph(graph)
    blocks, k = blocks_of(part, shown.num_vertices, k)
    links = links_between(shown, blocks, k)
    places = _places_of_blocks(shown, blocks, links, points)
    colours = colors_of(links) if colors is None else checked_colors(colors, k)
    ax = axes_on(ax)
    _draw_blocks(ax, Blocks(weights_of_blocks(shown, blocks, k), links, places, colours))
    return as_picture(ax, f"{k:,} blocks and the weight between them")


def _places_of_blocks(graph: EitherGraph, part: np.ndarray, links: csr_array,
                      points: Any) -> np.ndarray:
    """The middle of each block, or places that follow from the links."""
    if points is not None:
        places = host_points(points)
        if len(places) != graph.num_vertices:
            raise InputError(f"{len(places)} points for a graph of {graph.num_vertices} vertices")
        sums = [np.bincount(part, column, links.shape[0]) for column in places[:, :2].T]
        return np.stack(sums, axis=1) / np.maximum(1, np.bincount(part, minlength=links.shape[0])
                                                   )[:, None]
    joined = links.astype(np.float64)
    joined.data[:] = 1
    lengths = links.astype(np.float64)
    mean = lengths.data.sum() / max(1, lengths.nnz) or 1.0
    strong = np.maximum(lengths.data / mean, 1e-9)
    lengths.data = np.clip(strong**-0.5, 0.6, 2.5)
    return places_of(joined, lengths)


def disc_radii(blocks: Blocks, extent: tuple[float, float]) -> np.ndarray:
    """Radii of discs whose areas are as the weights, of which nine tenths do not overlap."""
    from scipy.spatial import cKDTree

    widest = max(extent) or 1.0
    area = DISC_SHARE * max(extent[0] * extent[1], (0.3 * widest) ** 2)
    radii = np.sqrt(blocks.weights / max(1, blocks.weights.sum()) * area / np.pi)
    if len(radii) < 2:
        return radii
    apart, near = cKDTree(blocks.places).query(blocks.places, k=2)
    room = apart[:, 1] / np.maximum(1e-12, radii + radii[near[:, 1]])
    return radii * np.clip(0.95 * np.quantile(room, 0.1), 0.3, 1)


def _draw_blocks(ax: Axes, blocks: Blocks) -> None:
    from matplotlib.collections import LineCollection, PatchCollection
    from matplotlib.patches import Circle

    upper = triu(blocks.links).tocoo()
    order = np.argsort(upper.data, kind="stable")
    ends = upper.row[order], upper.col[order]
    strength = upper.data[order] / max(1, upper.data.max(initial=1))
    left, right, low, high = window_of(blocks.places, 0.0) if len(blocks.places) else (0, 1, 0, 1)
    radii = disc_radii(blocks, (right - left, high - low))
    ax.add_collection(LineCollection(np.stack([blocks.places[end] for end in ends], axis=1),
                                     linewidths=0.4 + 7 * strength, colors=PALE,
                                     capstyle="round", zorder=1))
    discs = [Circle(place, radius) for place, radius in zip(blocks.places, radii)]
    ax.add_collection(PatchCollection(discs, facecolors=blocks.colours, edgecolors=INK,
                                      linewidths=0.7, zorder=2))
    if len(radii) <= NAMED:
        for block, place in enumerate(blocks.places):
            ax.text(*place, str(block), ha="center", va="center", fontsize=8, zorder=3,
                    color="white" if blocks.colours[block] @ (0.3, 0.6, 0.1) < 0.45 else "black")
    room = radii.max(initial=0) * 1.15
    ax.set(xlim=(left - room, right + room), ylim=(low - room, high + room))

"""Graphs without coordinates, and graphs of blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array, triu

from portpart.errors import InputError
from portpart.graphs import Blocks, EitherGraph, GraphLike
from portpart.metrics import block_weights as weights_of_blocks
from portpart.plot.canvas import INK, PALE, host_points, picture_on
from portpart.plot.colors import chosen_colors
from portpart.plot.layouts import disc_radii, gathered, layout, middles, places_of_blocks
from portpart.plot.links import Ends, drawn_blocks, either_graph, ends_of_edges, links_between
from portpart.plot.points import FEW, Scene, draw_points, drawn_ends
from portpart.plot.raster import filled_image, reach_of, window_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike


SAMPLE = 30_000
"""Maximum number of edges of a large graph that are drawn."""

NAMED = 100
"""Maximum number of blocks with a number on each disc."""


def graph(graph: GraphLike, part: Blocks | None = None, *, points: ArrayLike | None = None,
          k: int | None = None, colors: ArrayLike | None = None, ax: Axes | None = None) -> Axes:
    """Draw a graph or a hypergraph without coordinates, optionally in the colours of its blocks.

    Parameters
    ----------
    graph : Graph, Hypergraph or any other input of `as_graph`
    part : array_like of int, shape (n,), PartitionResult or Session, optional
        Block of each vertex; default: one colour for all.
    points : array_like of float, shape (n, 2), optional
        Places of the vertices; default: those of :func:`layout`, or if blocks of more than 800
        vertices would overlap there, a disc for each block.
    k : int, optional
        Number of blocks; default: that of the result, or the largest block number plus one.
    colors : array_like, shape (k, 3), optional
        Colours of the blocks, as from :func:`block_colors`.
    ax : matplotlib.axes.Axes, optional
        Default: those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ImportError
        If Matplotlib is not installed.
    InputError
        If points, blocks and graph do not fit each other.

    Notes
    -----
    Up to 4,000 vertices are drawn as discs and edges as lines, dark between blocks.  Larger graphs
    become an image, with 30,000 of their edges at equal steps.  Nets are lines from pin to pin.

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
    blocks, k = (np.zeros(n, np.int64), 1) if part is None else drawn_blocks(part, n, k, shown)
    links = links_between(shown, blocks, k)
    places = (gathered(layout(shown), blocks, links) if points is None
              else checked_points(points, shown))
    colours = chosen_colors(colors, k, lambda: links)
    scene = Scene(places, colours[blocks], blocks, ends_of_edges(shown), "all")
    title = f"{n:,} vertices" + (f" in {k:,} blocks" if part is not None else "")
    with picture_on(ax, title) as drawn:
        if n <= FEW:
            draw_points(drawn, scene, None, (0, 0))
        else:
            _draw_large(drawn, scene)
    return drawn


def checked_points(points: ArrayLike, graph: EitherGraph) -> np.ndarray:
    """Return the coordinates of the vertices of a graph."""
    places = host_points(points)
    if len(places) != graph.num_vertices:
        raise InputError(f"{len(places)} points for a graph of {graph.num_vertices} vertices")
    return places


def _draw_large(ax: Axes, scene: Scene) -> None:
    from matplotlib.collections import LineCollection

    window = window_of(scene.points)
    reach = reach_of(scene.points, None)
    image = filled_image(scene.points, scene.colours, np.minimum(reach, 3 * np.median(reach)),
                         window)
    tails, heads = sampled(drawn_ends(scene))
    lines = np.stack([scene.points[tails], scene.points[heads]], axis=1)
    cut = scene.part[tails] != scene.part[heads]
    opacity = np.where(cut, np.clip(1500 / max(1, cut.sum()), 0.04, 0.4), 0.25)
    colours = np.column_stack([np.where(cut[:, None], 0.2, scene.colours[tails]), opacity])
    ax.add_collection(LineCollection(lines, colors=colours, linewidths=0.3, rasterized=True))
    ax.imshow(image, extent=window, origin="lower", interpolation="antialiased", zorder=3)
    ax.set(xlim=window[:2], ylim=window[2:])


def sampled(ends: Ends) -> Ends:
    """Return the ends of at most `SAMPLE` edges, at equal steps."""
    step = -(-len(ends[0]) // SAMPLE) or 1
    return ends[0][::step], ends[1][::step]


def quotient(graph: GraphLike, part: Blocks, *, points: ArrayLike | None = None,
             k: int | None = None, colors: ArrayLike | None = None, ax: Axes | None = None) -> Axes:
    """Draw blocks as discs, whose areas are their weights, and cuts as lines between them.

    Parameters
    ----------
    graph : Graph, Hypergraph or any other input of `as_graph`
        For a hypergraph, the width of a line is the weight of the nets with pins in both blocks and
        in at most 1,000 blocks.
    part : array_like of int, shape (n,), PartitionResult or Session
    points : array_like of float, shape (n, 2) or (n, 3), optional
        Coordinates of the vertices; discs are in the middle of their blocks. Default: strongly
        connected blocks are close to each other.
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
        If Matplotlib is not installed.
    InputError
        If points, blocks and graph do not fit each other.

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
    blocks, k = drawn_blocks(part, shown.num_vertices, k, shown)
    links = links_between(shown, blocks, k)
    if points is None:
        places = places_of_blocks(links)
    else:
        places = middles(checked_points(points, shown), blocks, k)
    colours = chosen_colors(colors, k, lambda: links)
    with picture_on(ax, f"{k:,} blocks and the weight between them") as drawn:
        radii = disc_radii(places, weights_of_blocks(shown, blocks, k or None))
        _draw_blocks(drawn, places, radii, colours, links)
    return drawn


def _draw_blocks(ax: Axes, places: np.ndarray, radii: np.ndarray, colours: np.ndarray,
                 links: csr_array) -> None:
    """Draw a disc for each block, and lines whose width is the strength of links."""
    from matplotlib.collections import LineCollection, PatchCollection
    from matplotlib.patches import Circle

    upper = triu(links).tocoo()
    order = np.argsort(upper.data, kind="stable")
    ends = upper.row[order], upper.col[order]
    strength = upper.data[order] / max(1, upper.data.max(initial=1))
    left, right, low, high = window_of(places, 0.0) if len(places) else (0, 1, 0, 1)
    ax.add_collection(LineCollection(np.stack([places[end] for end in ends], axis=1),
                                     linewidths=0.4 + 7 * strength, colors=PALE,
                                     capstyle="round", zorder=1))
    discs = [Circle(place, radius) for place, radius in zip(places, radii)]
    ax.add_collection(PatchCollection(discs, facecolors=colours, edgecolors=INK,
                                      linewidths=0.7, zorder=2))
    if len(radii) <= NAMED:
        for block, place in enumerate(places):
            ax.text(*place, str(block), ha="center", va="center", fontsize=8, zorder=3,
                    color="white" if colours[block] @ (0.3, 0.6, 0.1) < 0.45 else "black")
    border = radii.max(initial=0) * 1.15
    ax.set(xlim=(left - border, right + border), ylim=(low - border, high + border))

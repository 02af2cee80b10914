"""Partitions over points and meshes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from portpart.errors import InputError, shown
from portpart.graphs import Blocks, Mesh, held_blocks, held_number
from portpart.inputs import as_mesh
from portpart.plot import links
from portpart.plot.canvas import checked_view, host_points, picture_on
from portpart.plot.colors import chosen_colors
from portpart.plot.elements import draw_elements
from portpart.plot.points import FEW, Scene, draw_points
from portpart.plot.raster import Window, checked_window

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike


EDGES = ("cut", "all", "none")


def partition(points: Any, part: Any, graph: Any = None, *, mesh: Any = None,
              k: int | None = None, colors: ArrayLike | None = None, edges: str | None = None,
              window: Window | None = None, view: tuple[float, float] = (25, -60),
              ax: Axes | None = None) -> Axes:
    """Draw a partition over the points of its vertices, or over the elements of a mesh.

    Neighbouring blocks have different colours.

    Parameters
    ----------
    points : array_like of float, shape (n, 2) or (n, 3), or object with points and cells
        Coordinates of the vertices; with `mesh` of the nodes.  A ``meshio.Mesh`` holds both.
    part : array_like of int, shape (n,), PartitionResult or Session
        Block of each vertex; with a mesh of each element, or of each node.
    graph : Graph, Hypergraph or any other input of `as_graph`, optional
        Its edges are drawn, nets as lines from pin to pin.  Without it blocks are neighbours if
        some of their points are near each other.
    mesh : Mesh or any other input of `as_mesh`, optional
        Elements become polygons, nodes of an element in the order in which they go around; in
        space, faces of triangles, tetrahedra, pyramids, wedges and hexahedra that no other element
        has.
    k : int, optional
        Number of blocks; default: that of the result, or the largest block number plus one.
    colors : array_like, shape (k, 3), optional
        Colours of the blocks, as from :func:`block_colors`.
    edges : {"cut", "all", "none"}, optional
        Edges of the graph that are drawn; by default all of up to 4,000 vertices, those between
        blocks of more.
    window : (left, right, lower, upper), optional
        The part of the plane that is drawn; default: all.
    view : (elevation, azimuth), default (25, -60)
        Degrees, from where points of space are seen, unless `ax` has three dimensions itself.
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
    Above 4,000 points the picture is an image, in which each pixel has the colour of the nearest
    point; above 50,000 elements, of the nearest centre.  A million points take some seconds.

    Examples
    --------
    >>> import portpart
    >>> from matplotlib.figure import Figure
    >>> graph, points = portpart.generators.airfoil_mesh(1000)
    >>> result = portpart.partition(graph, 8)
    >>> ax = portpart.plot.partition(points, result, graph, ax=Figure().add_subplot())
    >>> ax.get_title()
    '1,000 vertices in 8 blocks'
    """
    if hasattr(points, "cells") and getattr(points, "points", None) is not None:
        points, mesh = points.points, points if mesh is None else mesh
    if edges is not None and (not isinstance(edges, str) or edges not in EDGES):
        raise InputError(f'edges is {shown(edges)}; there are "cut", "all" and "none"')
    places, window, view = host_points(points), checked_window(window), checked_view(view)
    if mesh is None:
        return _over_points(places, part, graph, k, colors, edges, window, view, ax)
    mesh = as_mesh(mesh)
    if mesh.num_nodes > len(places):
        raise InputError(f"{len(places)} points for a mesh of {mesh.num_nodes} nodes")
    part, k = held_blocks(part), held_number(part, k)
    if len(part) == mesh.num_elements:
        return _over_elements(places, part, mesh, k, colors, window, view, ax)
    graph = mesh.nodal_graph() if graph is None else graph
    return _over_points(places, part, graph, k, colors, edges, window, view, ax)


def _over_elements(places: np.ndarray, part: Blocks, mesh: Mesh, k: int | None,
                   colors: ArrayLike | None, window: Window | None, view: tuple[float, float],
                   ax: Axes | None) -> Axes:
    blocks, k = links.drawn_blocks(part, mesh.num_elements, k)
    colours = chosen_colors(colors, k, lambda: links.links_of_mesh(mesh, blocks, k))
    with picture_on(ax, f"{len(blocks):,} elements in {k:,} blocks") as drawn:
        draw_elements(drawn, places, mesh, blocks, colours, window, view)
    return drawn


def _over_points(places: np.ndarray, part: Blocks | None, given: Any, k: int | None,
                 colors: ArrayLike | None, edges: str | None, window: Window | None,
                 view: tuple[float, float], ax: Axes | None) -> Axes:
    graph = None if given is None else links.either_graph(given)
    if graph is not None and graph.num_vertices != len(places):
        raise InputError(f"{len(places)} points for a graph of {graph.num_vertices} vertices")
    blocks, k = links.drawn_blocks(part, len(places), k, graph)
    colours = chosen_colors(colors, k, lambda: links.links_of_points(places, blocks, k)
                            if graph is None else links.links_between(graph, blocks, k))
    drawn_edges = edges or ("all" if len(places) <= FEW else "cut")
    ends = None if graph is None else links.ends_of_edges(graph)
    with picture_on(ax, f"{len(places):,} vertices in {k:,} blocks") as drawn:
        draw_points(drawn, Scene(places, colours[blocks], blocks, ends, drawn_edges), window, view)
    return drawn

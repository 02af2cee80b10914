"""What `portpart.plot.partition` puts where: discs, edges, polygons, pixels."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import portpart
from portpart.plot.points import FEW
from tests.plot.drawn import collections, new_axes, rendered


def grid(side: int) -> tuple[portpart.Graph, np.ndarray, np.ndarray]:
    """A grid, its points and nine square blocks."""
    points = np.stack(np.meshgrid(np.arange(side), np.arange(side), indexing="ij"),
                      axis=-1).reshape(-1, 2)
    blocks = points[:, 0] * 3 // side * 3 + points[:, 1] * 3 // side
    return portpart.generators.grid_2d(side, side), points.astype(float), blocks


def test_each_vertex_is_a_disc_at_its_place_in_the_colour_of_its_block() -> None:
    graph, points, part = grid(6)
    ax = portpart.plot.partition(points, part, graph, ax=new_axes())
    (discs,) = collections(ax, "PathCollection")
    np.testing.assert_array_equal(discs.get_offsets(), points)
    colours = portpart.plot.block_colors(graph, part)
    np.testing.assert_allclose(discs.get_facecolors()[:, :3], colours[part])


def test_edges_between_blocks_are_dark_and_all_are_there() -> None:
    graph, points, part = grid(6)
    ax = portpart.plot.partition(points, part, graph, ax=new_axes())
    (lines,) = collections(ax, "LineCollection")
    drawn = {tuple(map(tuple, segment)) for segment in np.array(lines.get_segments())}
    arcs = graph.to_scipy().tocoo()
    once = [(u, v) for u, v in zip(arcs.row, arcs.col) if u < v]
    assert drawn == {(tuple(points[u]), tuple(points[v])) for u, v in once}
    cut = sum(part[u] != part[v] for u, v in once)
    assert (lines.get_colors()[:, :3] == 0.1).all(axis=1).sum() == cut > 0


def test_only_cut_edges_or_none_are_drawn_if_asked_for() -> None:
    graph, points, part = grid(6)
    (lines,) = collections(portpart.plot.partition(points, part, graph, edges="cut",
                                                   ax=new_axes()), "LineCollection")
    assert len(lines.get_segments()) == 24
    (none,) = collections(portpart.plot.partition(points, part, graph, edges="none",
                                                  ax=new_axes()), "LineCollection")
    assert not none.get_segments()


def test_many_points_become_an_image_in_which_pixels_have_the_nearest_colour() -> None:
    side = int(FEW**0.5) + 10
    graph, points, part = grid(side)
    colours = portpart.plot.block_colors(graph, part)
    ax = portpart.plot.partition(points, part, graph, colors=colours, ax=new_axes())
    (image,) = ax.images
    left, right, low, high = image.get_extent()
    pixels = np.asarray(image.get_array())
    rows, columns = pixels.shape[:2]
    for u in np.random.default_rng(0).integers(0, len(points), 200):
        column = int((points[u, 0] - left) / (right - left) * columns)
        row = int((points[u, 1] - low) / (high - low) * rows)
        np.testing.assert_allclose(pixels[row, column], [*colours[part[u]], 1], rtol=1e-6)
    (lines,) = collections(ax, "LineCollection")
    assert len(lines.get_segments()) == 4 * side


def test_what_is_far_from_all_points_stays_clear() -> None:
    side = int(FEW**0.5) + 10
    _, points, part = grid(side)
    far = np.abs(points - side / 2).max(axis=1) > side / 4
    ax = portpart.plot.partition(points[far], part[far], ax=new_axes())
    pixels = np.asarray(ax.images[0].get_array())
    middle = pixels.shape[0] // 2
    assert pixels[middle, middle, 3] == 0
    assert pixels[middle, 30, 3] == 1


def test_a_window_shows_a_part() -> None:
    graph, points, part = grid(12)
    ax = portpart.plot.partition(points, part, graph, window=(2, 5, 1, 9), ax=new_axes())
    assert (ax.get_xlim(), ax.get_ylim()) == ((2, 5), (1, 9))


def square_mesh() -> tuple[list[list[int]], np.ndarray]:
    """Nine squares of sixteen nodes, of which the middle one is two triangles."""
    nodes = np.stack(np.meshgrid(np.arange(4), np.arange(4), indexing="ij"), axis=-1).reshape(-1, 2)
    squares = [[4 * x + y, 4 * x + y + 1, 4 * x + y + 5, 4 * x + y + 4]
               for x in range(3) for y in range(3)]
    a, b, c, d = squares.pop(4)
    return [*squares, [a, b, c], [a, c, d]], nodes.astype(float)


def test_elements_of_a_mesh_are_polygons_of_their_nodes() -> None:
    elements, nodes = square_mesh()
    part = np.arange(10) % 3
    ax = portpart.plot.partition(nodes, part, mesh=elements, ax=new_axes())
    drawn = {}
    for each in collections(ax, "PolyCollection"):
        for path, colour in zip(each.get_paths(), each.get_facecolors()):
            drawn[frozenset(map(tuple, path.vertices))] = tuple(colour[:3])
    assert set(drawn) == {frozenset(map(tuple, nodes[element])) for element in elements}
    colour_of = [drawn[frozenset(map(tuple, nodes[element]))] for element in elements]
    touching = [(a, b) for a in range(10) for b in range(a)
                if set(elements[a]) & set(elements[b]) and part[a] != part[b]]
    assert touching
    assert all(colour_of[a] != colour_of[b] for a, b in touching)


def test_borders_between_blocks_of_elements_are_drawn() -> None:
    elements, nodes = square_mesh()
    part = np.array([0] * 8 + [1, 0])
    ax = portpart.plot.partition(nodes, part, mesh=elements, ax=new_axes())
    (lines,) = collections(ax, "LineCollection")
    drawn = {frozenset(map(tuple, segment)) for segment in np.array(lines.get_segments())}
    a, b, c = elements[8]
    assert drawn == {frozenset(map(tuple, nodes[[u, v]])) for u, v in ((a, b), (b, c), (a, c))}


def test_a_mesh_of_meshio_brings_its_points_and_parts_of_nodes_are_points() -> None:
    elements, nodes = square_mesh()
    quads = SimpleNamespace(points=np.column_stack([nodes, np.zeros(16)]),
                            cells={"quad": np.array(elements[:8])})
    by_element = portpart.plot.partition(quads, np.arange(8) % 2, ax=new_axes())
    assert len(collections(by_element, "PolyCollection")[0].get_paths()) == 8
    by_node = portpart.plot.partition(quads, np.arange(16) % 2, ax=new_axes())
    np.testing.assert_array_equal(collections(by_node, "PathCollection")[0].get_offsets(), nodes)


def cube(side: int) -> np.ndarray:
    return np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)


@pytest.mark.parametrize("side", [5, 17])
def test_points_of_space_in_front_hide_those_behind(side: int) -> None:
    points = cube(side)
    part = (points[:, 0] > side // 2).astype(int)  # seen from where the first axis points to
    colours = np.array([[1.0, 0, 0], [0, 0, 1.0]])
    ax = portpart.plot.partition(points, part, colors=colours, view=(0, 0), ax=new_axes())
    pixels = rendered(ax)[..., :3].astype(int)
    blue = (pixels[..., 2] > pixels[..., 0] + 40).sum()
    red = (pixels[..., 0] > pixels[..., 2] + 40).sum()
    assert blue > 1000
    assert red < blue / 20


def test_axes_of_space_take_points_as_they_are() -> None:
    points = cube(4)
    ax = portpart.plot.partition(points, points[:, 0] % 2, portpart.generators.grid_3d(4, 4, 4),
                                 ax=new_axes(projection="3d"))
    drawn = np.column_stack(ax.collections[-1]._offsets3d)
    np.testing.assert_array_equal(drawn, points)
    rendered(ax)


def test_of_a_solid_the_surface_is_drawn() -> None:
    cubes = [[0, 1, 3, 2, 4, 5, 7, 6], [4, 5, 7, 6, 8, 9, 11, 10]]
    nodes = np.array([[x, y, z] for z in range(3) for y in range(2) for x in range(2)], float)
    ax = portpart.plot.partition(nodes, [0, 1], mesh=cubes, ax=new_axes())
    faces = sum(len(each.get_paths()) for each in collections(ax, "PolyCollection"))
    assert faces == 10
    rendered(ax)


def test_nothing_to_draw_is_an_empty_picture() -> None:
    ax = portpart.plot.partition(np.zeros((0, 2)), [], ax=new_axes())
    assert ax.get_title() == "0 vertices in 0 blocks"
    one = portpart.plot.partition([[3.0, 4.0]], [0], ax=new_axes())
    assert one.get_xlim()[0] < 3 < one.get_xlim()[1]


@pytest.mark.parametrize(("points", "options", "message"), [
    (np.zeros((4, 5)), {}, "shape \\(4, 5\\)"),
    ([[0, 0], [1, np.nan], [0, 1], [1, 1]], {}, "points\\[1\\]"),
    (np.zeros((3, 2)), {"graph": [(0, 1), (2, 3)]}, "3 points for a graph of 4"),
    (np.zeros((4, 2)), {"edges": "some"}, "some"),
    (np.zeros((4, 2)), {"colors": [[0, 0, 0]]}, "2 blocks"),
    (np.zeros((4, 2)), {"colors": ["red", "blue"]}, "red, green and blue"),
    (np.zeros((4, 2)), {"colors": [[0, 0, 0], [255, 0, 0]]}, r"colors\[1\] is \[255"),
    (np.zeros((4, 2)), {"edges": np.zeros(3)}, "edges is array"),
    (np.zeros((4, 2)), {"window": (0, 1)}, r"window is \(0, 1\)"),
    (np.zeros((4, 2)), {"window": (0, 1, 5, np.nan)}, "window is"),
    (np.zeros((4, 3)), {"view": "top"}, "view is 'top'; \\(elevation, azimuth\\)"),
    (np.zeros((4, 3)), {"view": (np.inf, 0)}, "view is"),
    (np.zeros((2, 2)), {"mesh": [[0, 1, 2]]}, "2 points for a mesh of 3"),
], ids=["dimension", "finite", "graph", "edges", "colors", "names", "bytes", "array", "window",
        "bounds", "view", "eye", "mesh"])
def test_what_does_not_fit_is_refused(points: object, options: dict, message: str) -> None:
    part = [0, 1, 1, 0][: len(points)]
    with pytest.raises(portpart.InputError, match=message):
        portpart.plot.partition(points, part, ax=new_axes(), **options)

"""Layouts keep what a graph is, and pictures of blocks show weights and cuts."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import numpy as np
import pytest

import portpart
from portpart.plot.points import FEW
from tests.plot.drawn import collections, new_axes, rendered

DISCONNECTED = nx.disjoint_union_all([nx.path_graph(5), nx.cycle_graph(7), nx.empty_graph(3)])


@pytest.mark.parametrize("graph", [
    nx.empty_graph(0), nx.empty_graph(1), nx.empty_graph(6), nx.path_graph(2), nx.star_graph(9),
    nx.complete_graph(5), nx.balanced_tree(2, 5), DISCONNECTED, nx.path_graph(900),
    nx.random_regular_graph(3, 1000, seed=1), nx.star_graph(1200),
], ids=["empty", "one", "isolated", "pair", "star", "complete", "tree", "disconnected",
        "long-path", "regular", "large-star"])
def test_every_vertex_has_a_place_of_its_own_and_always_the_same(graph: nx.Graph) -> None:
    n = graph.number_of_nodes()
    given = portpart.from_edges([(u, v) for u, v in graph.edges], num_vertices=n)
    places = portpart.plot.layout(given)
    assert places.shape == (n, 2)
    assert np.isfinite(places).all()
    np.testing.assert_array_equal(places, portpart.plot.layout(given))
    if n < 1000:
        assert len(np.unique(places.round(9), axis=0)) == n


@pytest.mark.parametrize("side", [8, 32])
def test_the_layout_of_a_grid_is_a_grid(side: int) -> None:
    places = portpart.plot.layout(portpart.generators.grid_2d(side, side))
    rows, columns = np.divmod(np.arange(side * side), side)
    wanted = np.column_stack([rows, columns]) - (side - 1) / 2
    # turned, mirrored and stretched as it may be
    fit, *_ = np.linalg.lstsq(places - places.mean(axis=0), wanted, rcond=None)
    error = np.abs((places - places.mean(axis=0)) @ fit - wanted)
    assert error.max() < 0.15 * side


def test_components_do_not_overlap() -> None:
    places = portpart.plot.layout(DISCONNECTED)
    boxes = [(places[list(each)].min(axis=0), places[list(each)].max(axis=0))
             for each in nx.connected_components(DISCONNECTED)]
    assert len(boxes) == 5
    for (low, high), (other_low, other_high) in combinations(boxes, 2):
        assert (high < other_low).any() or (other_high < low).any()


def test_pins_of_a_net_are_near_each_other() -> None:
    nets = [list(range(5 * net, 5 * net + 5)) for net in range(8)]
    nets += [[5 * net, 5 * net + 5] for net in range(7)]
    places = portpart.plot.layout(portpart.as_hypergraph(nets))
    assert places.shape == (40, 2)
    apart = np.linalg.norm(places[:, None] - places, axis=2)
    same = np.arange(40)[:, None] // 5 == np.arange(40) // 5
    assert apart[same].mean() < apart[~same].mean() / 3


def test_a_graph_is_drawn_in_the_colours_of_its_blocks() -> None:
    ring = nx.cycle_graph(12)
    part = np.arange(12) // 4
    ax = portpart.plot.graph(ring, part, ax=new_axes())
    (discs,) = collections(ax, "PathCollection")
    (lines,) = collections(ax, "LineCollection")
    colours = portpart.plot.block_colors(ring, part)
    np.testing.assert_allclose(discs.get_facecolors()[:, :3], colours[part])
    assert len(lines.get_segments()) == 12
    assert (lines.get_colors()[:, :3] == 0.1).all(axis=1).sum() == 3


def test_a_large_graph_is_an_image_with_some_of_its_edges() -> None:
    graph = nx.random_regular_graph(20, FEW + 2, seed=1)
    edges = portpart.from_edges(list(graph.edges))
    places = np.random.default_rng(0).random((FEW + 2, 2))
    ax = portpart.plot.graph(edges, points=places, ax=new_axes())
    (lines,) = collections(ax, "LineCollection")
    assert 10_000 < len(lines.get_segments()) <= 30_000
    assert len(ax.images) == 1
    assert ax.get_title() == f"{FEW + 2:,} vertices"


def test_discs_are_as_large_as_blocks_weigh_and_lines_as_wide_as_cuts() -> None:
    graph = portpart.from_edges([(0, 1, 1), (1, 2, 9), (2, 3, 4)], vertex_weights=[1, 4, 9, 16])
    ax = portpart.plot.quotient(graph, [0, 1, 2, 3], ax=new_axes())
    (discs,) = collections(ax, "PatchCollection")
    radii = np.array([np.ptp(path.vertices[:, 0]) / 2 for path in discs.get_paths()])
    np.testing.assert_allclose(radii / radii[0], [1, 2, 3, 4], rtol=1e-6)
    (lines,) = collections(ax, "LineCollection")
    centres = np.array([path.vertices.mean(axis=0) for path in discs.get_paths()])
    wide = {}
    for segment, width in zip(np.array(lines.get_segments()), lines.get_linewidths()):
        near = [int(np.linalg.norm(centres - end, axis=1).argmin()) for end in segment]
        wide[tuple(sorted(near))] = width
    assert set(wide) == {(0, 1), (1, 2), (2, 3)}
    assert wide[0, 1] < wide[2, 3] < wide[1, 2]
    assert [text.get_text() for text in ax.texts] == ["0", "1", "2", "3"]


def test_blocks_of_hypergraphs_are_joined_by_nets() -> None:
    nets = portpart.as_hypergraph([[0, 1, 2], [2, 3], [3, 4]], net_weights=[5, 1, 2])
    (lines,) = collections(portpart.plot.quotient(nets, [0, 1, 2, 3, 3], ax=new_axes()),
                           "LineCollection")
    widths = lines.get_linewidths()
    assert len(widths) == 4
    assert sorted(np.round(widths / max(widths), 3))[0] < 0.3
    assert np.isclose(widths, max(widths)).sum() == 3


def test_discs_stand_in_the_middle_of_their_blocks() -> None:
    points = np.array([[0, 0], [2, 0], [10, 4], [12, 4]], float)
    ax = portpart.plot.quotient([(0, 1), (1, 2), (2, 3)], [0, 0, 1, 1], points=points,
                                ax=new_axes())
    np.testing.assert_allclose([text.get_position() for text in ax.texts], [[1, 0], [11, 4]])


@pytest.mark.parametrize("k", [1, 3])
def test_blocks_that_nothing_joins_and_empty_ones_are_drawn(k: int) -> None:
    graph = portpart.from_edges([(0, 1)], num_vertices=3)
    ax = portpart.plot.quotient(graph, [0, 0, 0], k=k, ax=new_axes())
    assert len(collections(ax, "PatchCollection")[0].get_paths()) == k
    rendered(ax)


def test_nets_are_lines_from_pin_to_pin() -> None:
    points = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], float)
    nets = portpart.as_hypergraph([[0, 1, 3], [2, 3], [1]])
    ax = portpart.plot.partition(points, [0, 0, 1, 1], nets, ax=new_axes())
    (lines,) = collections(ax, "LineCollection")
    drawn = {frozenset(map(tuple, segment)) for segment in np.array(lines.get_segments())}
    assert drawn == {frozenset(map(tuple, points[[u, v]])) for u, v in ((0, 1), (1, 3), (2, 3))}


def test_blocks_that_a_layout_cannot_part_are_discs_of_their_own() -> None:
    graph = portpart.from_edges(list(nx.random_regular_graph(8, 900, seed=1).edges))
    part = np.random.default_rng(0).permutation(np.arange(900) % 6)
    ax = portpart.plot.graph(graph, part, ax=new_axes())
    places = collections(ax, "PathCollection")[0].get_offsets()
    middles = np.array([places[part == block].mean(axis=0) for block in range(6)])
    reach = [np.linalg.norm(places[part == block] - middles[block], axis=1).max()
             for block in range(6)]
    nearest = [np.linalg.norm(place - middles, axis=1).argmin() for place in places]
    assert (np.array(nearest) == part).mean() > 0.95
    for one, other in combinations(range(6), 2):
        apart = np.linalg.norm(middles[one] - middles[other])
        assert apart > 0.8 * (reach[one] + reach[other])


def test_blocks_that_are_together_stay_where_the_layout_has_them() -> None:
    grid = portpart.generators.grid_2d(30, 30)
    ax = portpart.plot.graph(grid, np.arange(900) // 300, ax=new_axes())
    np.testing.assert_array_equal(collections(ax, "PathCollection")[0].get_offsets(),
                                  portpart.plot.layout(grid))

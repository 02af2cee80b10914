"""Neighbouring blocks never have one colour, and no two colours look alike to anybody."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import portpart
from portpart.plot.colors import FIRST, palette
from portpart.plot.links import links_between
from tests.plot.drawn import edges_between, pairs_of_nets

RED_BLIND = np.array([[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]])
GREEN_BLIND = np.array([[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]])
"""Linear RGB as people see it who lack a kind of cones (Viénot, Brettel and Mollon, 1999)."""


def random_edges(n: int, count: int, seed: int) -> list[tuple[int, int]]:
    random = np.random.default_rng(seed)
    return [(int(u), int(v)) for u, v in random.integers(0, n, (count, 2)) if u != v]


@pytest.mark.parametrize(("n", "count", "k"), [(40, 60, 6), (200, 500, 30), (60, 1500, 25)])
def test_blocks_with_an_edge_between_them_differ(n: int, count: int, k: int) -> None:
    edges = random_edges(n, count, seed=k)
    part = np.random.default_rng(1).integers(0, k, n)
    colours = portpart.plot.block_colors(portpart.from_edges(edges, num_vertices=n), part, k)
    assert colours.shape == (k, 3)
    neighbours = edges_between(part, edges)
    assert neighbours
    assert all((colours[a] != colours[b]).any() for a, b in neighbours)


def test_blocks_with_a_net_between_them_differ() -> None:
    random = np.random.default_rng(3)
    nets = [random.choice(80, size, replace=False).tolist() for size in random.integers(2, 6, 60)]
    part = random.integers(0, 20, 80)
    graph = portpart.as_hypergraph(nets, num_vertices=80)
    colours = portpart.plot.block_colors(graph, part, 20)
    neighbours = pairs_of_nets(part, nets)
    assert len(neighbours) > 50
    assert all((colours[a] != colours[b]).any() for a, b in neighbours)


def test_a_net_in_very_many_blocks_links_none() -> None:
    """A clock in 1,001 blocks would make a million links; one in 1,000 still does."""
    for k, linked in ((1000, 1000 * 999), (1001, 2)):
        nets = portpart.as_hypergraph([list(range(k)), [0, 1]])
        assert links_between(nets, np.arange(k)).nnz == linked


def test_blocks_joined_by_edges_of_weight_zero_differ() -> None:
    graph = portpart.from_edges([(0, 1, 0)], num_vertices=2)
    first, second = portpart.plot.block_colors(graph, [0, 1])
    assert (first != second).any()


def test_eight_colours_suffice_where_few_blocks_touch() -> None:
    grid = portpart.generators.grid_2d(30, 30)
    part = np.arange(900) // 30 // 5 * 6 + np.arange(900) % 30 // 5
    colours = portpart.plot.block_colors(grid, part)
    assert len(np.unique(colours, axis=0)) <= len(FIRST)


def test_a_crowd_of_neighbours_has_as_many_colours() -> None:
    complete = list(combinations(range(40), 2))
    colours = portpart.plot.block_colors(portpart.from_edges(complete), np.arange(40))
    assert len(np.unique(colours, axis=0)) == 40


def seen(colours: np.ndarray, eye: np.ndarray) -> np.ndarray:
    """CIE L*a*b* of colours as an eye sees them, white of D65."""
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722],
                       [0.0193, 0.1192, 0.9505]])
    xyz = np.clip(linear @ eye.T, 0, 1) @ to_xyz.T / (0.9505, 1, 1.089)
    root = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.stack([116 * root[:, 1] - 16, 500 * (root[:, 0] - root[:, 1]),
                     200 * (root[:, 1] - root[:, 2])], axis=1)


@pytest.mark.parametrize("eye", [np.eye(3), RED_BLIND, GREEN_BLIND],
                         ids=["all-cones", "no-red", "no-green"])
@pytest.mark.parametrize(("count", "apart"), [(8, 12), (24, 6)])
def test_colours_can_be_told_apart(eye: np.ndarray, count: int, apart: float) -> None:
    places = seen(palette(count), eye)
    distances = [np.linalg.norm(a - b) for a, b in combinations(places, 2)]
    assert min(distances) > apart


def test_more_colours_begin_with_the_same() -> None:
    np.testing.assert_array_equal(palette(30)[:12], palette(12))

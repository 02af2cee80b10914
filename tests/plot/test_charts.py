"""Bars of block weights, traffic matrices, rounds of sessions."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array

import portpart
from portpart.plot.machines import CELLS, binned
from tests import oracles
from tests.plot.drawn import collections, new_axes, rendered

GRID = portpart.generators.grid_2d(8, 8)


def line(ax: object, label: str) -> list[float]:
    """The steps that have a label."""
    (found,) = [each for each in ax.patches if each.get_label() == label]  # type: ignore[attr-defined]
    return list(found.get_data().values)


def test_bars_are_what_blocks_weigh_beside_their_limits() -> None:
    part = np.arange(64) // 30
    ax = portpart.plot.block_weights(GRID, part, imbalance=0.1, ax=new_axes())
    bars = [bar for bar in ax.patches if hasattr(bar, "get_height")]
    assert [bar.get_height() for bar in bars] == oracles.block_weights(GRID, part, 3)
    assert line(ax, "limit") == oracles.block_weight_limits(64, 3, 0.1)
    assert line(ax, "perfect balance") == oracles.target_weights(64, 3)
    red = [bar.get_edgecolor()[3] > 0 for bar in bars]
    assert red == [True, True, False]
    assert ax.get_title() == "weights of 3 blocks, 2 above the limit"


def test_limits_follow_a_target_and_those_of_a_result_are_its_own() -> None:
    part = np.arange(64) // 32
    ax = portpart.plot.block_weights(GRID, part, target=[1, 3], min_block_weight=5, ax=new_axes())
    assert line(ax, "limit") == oracles.block_weight_limits(64, 2, 0.03, [1, 3])
    assert line(ax, "perfect balance") == [16, 48]
    result = SimpleNamespace(block_weights=np.array([40, 24]),
                             block_weight_limits=np.array([50, 30]))
    assert line(portpart.plot.block_weights(result, ax=new_axes()), "limit") == [50, 30]


def test_many_blocks_are_one_outline() -> None:
    part = np.arange(2000) % 500
    ax = portpart.plot.block_weights(portpart.from_edges([], num_vertices=2000), part,
                                     ax=new_axes())
    assert not [bar for bar in ax.patches if hasattr(bar, "get_height")]


def test_traffic_stands_in_the_order_of_the_machine_with_its_groups() -> None:
    machine = portpart.Topology("2:3:2", "1:10:100")
    random = np.random.default_rng(0)
    part = random.integers(0, 12, 64)
    ax = portpart.plot.traffic(GRID, part, machine, ax=new_axes())
    cells = np.ma.filled(ax.images[0].get_array(), 0)
    wanted = np.zeros((12, 12))
    arcs = GRID.to_scipy().tocoo()
    for u, v in zip(arcs.row, arcs.col):
        if part[u] != part[v]:
            wanted[part[u], part[v]] += 1
    np.testing.assert_array_equal(cells, wanted)
    boxes = {tuple(np.array(segment).min(axis=0)) + tuple(np.array(segment).max(axis=0))
             for lines in collections(ax, "LineCollection") for segment in lines.get_segments()}
    assert boxes == {(low - 0.5, low - 0.5, low + size - 0.5, low + size - 0.5)
                     for size in (2, 6) for low in range(0, 12, size)}


def test_traffic_of_a_result_and_of_a_matrix_of_distances() -> None:
    machine = portpart.Topology.from_matrix(1 - np.eye(3, dtype=int))
    traffic = csr_array([[0, 7, 0], [7, 0, 2], [0, 2, 0]])
    result = SimpleNamespace(traffic=traffic, topology=machine)
    ax = portpart.plot.traffic(result, ax=new_axes())
    np.testing.assert_array_equal(np.ma.filled(ax.images[0].get_array(), 0), traffic.toarray())
    assert not collections(ax, "LineCollection")
    with pytest.raises(portpart.InputError, match="3 elements on a machine of 4"):
        portpart.plot.traffic(result, topology=portpart.Topology("4", "1"), ax=new_axes())


def test_of_very_many_elements_several_share_a_cell() -> None:
    k = 2 * CELLS + 5
    cells, each = binned(coo_array(([3, 4, 5], ([0, 1, k - 1], [4, 5, 0])), shape=(k, k)).tocsr())
    assert each == 3
    assert (cells.sum(), cells[0, 1], cells[-1, 0]) == (12, 7, 5)


def update(value: int, migration: int, effort: str, feasible: bool = True) -> SimpleNamespace:
    return SimpleNamespace(objective="km1", value=value, cut=0, migration=migration, effort=effort,
                           feasible=feasible)


def test_rounds_of_a_session_show_the_objective_and_what_has_moved() -> None:
    updates = [update(10, 0, "local"), update(12, 3, "cycle"), update(9, 7, "full", False)]
    ax = portpart.plot.session(updates, ax=new_axes())
    lower = ax.figure.axes[-1]
    assert list(ax.lines[0].get_ydata()) == [10, 12, 9]
    assert [bar.get_height() for bar in lower.patches] == [0, 3, 7]
    assert {each.get_label() for each in ax.lines[1:]} == {"local", "cycle", "full, out of bounds"}
    assert ax.get_ylabel() == "km1"
    assert lower.get_position().y1 <= ax.get_position().y1
    rendered(ax)
    with pytest.raises(portpart.InputError, match="no updates"):
        portpart.plot.session([], ax=new_axes())


WITHOUT = """
import sys
sys.modules["matplotlib"] = None
import portpart
try:
    portpart.plot.block_weights([(0, 1)], [0, 1])
except ImportError as problem:
    print(problem)
"""

HEADLESS = """
import portpart, sys
assert "matplotlib" not in sys.modules
ax = portpart.plot.quotient([(0, 1)], [0, 1])
from matplotlib import pyplot
assert pyplot.gcf() is ax.figure
"""


def test_without_matplotlib_the_error_says_what_to_install() -> None:
    said = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True,
                          check=True)
    assert "pip install portpart[plot]" in said.stdout


def test_a_new_figure_is_one_of_pyplot_and_needs_no_screen() -> None:
    subprocess.run([sys.executable, "-c", HEADLESS], check=True, capture_output=True)

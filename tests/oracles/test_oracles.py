"""The judge finds every number that is wrong, and knows small answers by heart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import portpart
from portpart.generators import grid_2d
from tests import oracles
from tests.helpers import checked
from tests.oracles import mappings as plain

GRID = grid_2d(6)
RESULT = checked.partition(GRID, 3, imbalance=0)

WRONG: dict[str, Callable[[portpart.PartitionResult], dict[str, Any]]] = {
    "cut": lambda result: {"cut": result.cut + 1},
    "part": lambda result: {"part": (result.part + (np.arange(36) == 7)) % 3},
    "type": lambda result: {"part": result.part.astype(np.int64)},
    "shape": lambda result: {"part": result.part[:-1]},
    "block": lambda result: {"part": result.part + 1},
    "k": lambda result: {"k": 4},
    "imbalance": lambda result: {"imbalance": 0.01},
    "weights": lambda result: {"block_weights": result.block_weights + 1},
    "limit": lambda result: {"max_block_weight_allowed": 13},
    "limits": lambda result: {"block_weight_limits": result.block_weight_limits + 1},
    "feasible": lambda result: {"feasible": False},
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_result_is_found(name: str) -> None:
    with pytest.raises(AssertionError):
        oracles.assert_partition_is_true(GRID, replace(RESULT, **WRONG[name](RESULT)), 3, 0)


def test_broken_bounds_are_found() -> None:
    fixed = np.where(np.arange(36) == 0, (RESULT.part + 1) % 3, -1)
    for bounds in ({"fixed": fixed}, {"least": 13}, {"target": [1, 1, 2]}):
        with pytest.raises(AssertionError):
            oracles.assert_partition_is_true(GRID, RESULT, 3, 0, **bounds)


def test_limits_known_by_heart() -> None:
    assert oracles.block_weight_limits(1000, 3, "3%", [1, 1, 2]) == [257, 257, 515]
    assert oracles.block_weight_limits(10, 3, 0) == [4, 4, 4]
    assert oracles.target_weights(1000, 3, [0.2, 0.2, "2/5"]) == [250, 250, 500]
    assert oracles.imbalance_of([3, 1], [3, 1]) == 0
    assert oracles.imbalance_of([4, 2]) == oracles.number("1/3")
    assert oracles.can_be_packed((6, 5, 4), (6, 9))
    assert not oracles.can_be_packed((6, 6, 3), (7, 8))


def test_costs_known_by_heart() -> None:
    ring = portpart.as_graph([(0, 1, 1), (1, 2, 2), (2, 3, 3), (3, 0, 4)])
    assert plain.cost(ring, [0, 1, 2, 3], plain.distances([2, 2], [1, 10])) == 1 + 20 + 3 + 40
    assert plain.level_costs(ring, [0, 1, 2, 3], [2, 2], [1, 10]) == [4, 60]

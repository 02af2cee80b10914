"""Copies of block weights are added up, however many there are of each block."""

from __future__ import annotations

import numpy as np
import pytest

from portpart.algorithms.refinement.moves.state import sum_copies
from portpart.algorithms.refinement.options import RefinementSizes
from portpart.algorithms.refinement.piece import LevelWords
from portpart.backends.language import kernel
from portpart.backends.programs.interface import ExecutionSpace
from tests import oracles
from tests.helpers.each import looped
from tests.helpers.emulation.lanes import LanesSpace

BLOCKS = [1, 2, 3, 4, 5, 64, 100, 256, 257, 1000]


@kernel
def sum_for_all(_, sums, weights, level: LevelWords):
    sum_copies(sums, weights, level, level)


def summed(space: ExecutionSpace, blocks: int, team: int) -> tuple[np.ndarray, np.ndarray]:
    """What is found, and what NumPy finds."""
    level = LevelWords.zeros()
    level.blocks, level.weight_stripes = blocks, RefinementSizes(1000, 0, blocks).stripes
    random = np.random.default_rng(blocks)
    sums = random.integers(-2**60, 2**60, (level.weight_stripes, blocks)) // level.weight_stripes
    weights = space.full(blocks, -1, np.int64)
    space.parallel_for(1, sum_for_all, space.asarray(sums.ravel()), weights,
                       LevelWords(space.asarray(level.array)), team=team)
    return oracles.host(weights), sums.sum(axis=0)


@looped("team", [32, 256])
@looped("blocks", BLOCKS)
def test_sums_of_copies_are_those_of_numpy(space: ExecutionSpace, blocks: int, team: int) -> None:
    found, expected = summed(space, blocks, team)
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("blocks", BLOCKS)
def test_lanes_side_by_side_find_the_same(blocks: int) -> None:
    found, expected = summed(LanesSpace(8, blocks), blocks, 8)
    assert np.array_equal(found, expected)

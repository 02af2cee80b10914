"""Numbers of new blocks, and blocks of new vertices: what plain choices among all say."""

from __future__ import annotations

from itertools import permutations

import numpy as np

import portpart
from portpart.algorithms.multilevel.inherited import inherited, renumbered
from portpart.algorithms.objectives.limits import Balance
from portpart.algorithms.refinement.blocks.previous_blocks import PreviousBlocks
from portpart.backends.programs.interface import ExecutionSpace
from tests import oracles


def test_numbers_are_the_best_by_weight(space: ExecutionSpace) -> None:
    random = np.random.default_rng(6)
    part, previous = random.integers(0, 4, (2, 200)).astype(np.int32)
    tie = random.integers(0, 50, 200)
    previous_blocks = PreviousBlocks(space.asarray(previous), space.asarray(tie))
    found = oracles.host(renumbered(space, space.asarray(part), previous_blocks,
                                    Balance(4, 60, 50)))
    stays = [int(tie[np.array(names)[part] == previous].sum()) for names in permutations(range(4))]
    assert tie[found == previous].sum() == max(stays)
    apart = Balance(4, 90, 50, np.array([60, 90, 60, 90]), np.full(4, 50))
    found = oracles.host(renumbered(space, space.asarray(part), previous_blocks, apart))
    assert np.array_equal(found % 2, part % 2)


def test_blocks_are_inherited_by_most_weight() -> None:
    rows = [(0, 3, 2), (1, 3, 3), (2, 3, 4), (3, 4, 1), (5, 6, 1)]
    graph = portpart.from_edges([row[:2] for row in rows], edge_weights=[row[2] for row in rows])
    known = np.array([1, 1, 0, -1, -1, -1, -1], np.int32)
    found = inherited(graph, known, Balance(2, 4, 3))
    # 3 by 5 against 4, 4 after 3, and the pair that nobody knows where there is room
    assert found.tolist() == [1, 1, 0, 1, 1, 0, 0]
    nets = portpart.as_hypergraph([[0, 1, 2, 3], [2, 4], [3, 5]])
    assert inherited(nets, np.array([1, 1, 0, -1, -1, -1], np.int32),
                     Balance(2, 3, 3)).tolist() == [1, 1, 0, 1, 0, 1]

"""What sessions pay for moves: round by round, and at length for a much better partition."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import portpart
from tests import oracles

SIZE, LINKS = 24, 40


def links(one: int, other: int) -> tuple[np.ndarray, np.ndarray]:
    """Edges between two communities."""
    places = np.random.default_rng(1).choice(SIZE * SIZE, LINKS, replace=False)
    return one * SIZE + places // SIZE, other * SIZE + places % SIZE


@pytest.mark.parametrize(("migration", "moves"), [(1, True), (4, True), (1000, False)])
def test_a_much_better_partition_is_taken_if_it_pays_in_time(migration: int, moves: bool) -> None:
    """Of four communities others belong together: two have to move, 48 vertices to save 80 edges.

    At a price of 4 one round does not pay for that, but many do.
    """
    inside = np.array([(base + u, base + v) for base in range(0, 4 * SIZE, SIZE)
                       for u, v in combinations(range(SIZE), 2)]).T
    pairs = [(0, 2), (1, 3)]
    edges = np.hstack([inside, *(np.array(links(*pair)) for pair in pairs)])
    session = portpart.Session(portpart.from_edges(edges.T.tolist()), 2, migration=migration)
    before = oracles.host(session.part)
    assert session.cut == 0
    batch = session.batch()
    for one, other in pairs:
        batch.delete_edges(*links(one, other))
    for one, other in ((0, 1), (2, 3)):
        batch.insert_edges(*links(one, other))
    update = session.apply(batch)
    assert (update.cut, update.moved) == ((0, 2 * SIZE) if moves else (2 * LINKS, 0))
    assert (oracles.host(session.part) != before).sum() == update.moved

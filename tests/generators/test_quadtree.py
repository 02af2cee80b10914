"""Meshes around a moving front, each against what it says it is, and as edits of the one before."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest

from portpart import generators
from portpart.algorithms.edits.editable import EditableGraph
from portpart.errors import InputError


def edges(edited: EditableGraph) -> dict[tuple[int, int], int]:
    """Weights of the edges by ids."""
    matrix, ids = edited.graph().to_scipy().tocoo(), edited.ids
    return {(int(ids[u]), int(ids[v])): int(w)
            for u, v, w in zip(matrix.row, matrix.col, matrix.data) if u < v}


def applied(edited: Any, play: Callable[[Any], Any]) -> Any:
    """Let a batch be filled, and apply it."""
    batch = edited.batch()
    result = play(batch)
    edited.apply(batch)
    return result


def boxes(step: generators.MeshStep) -> np.ndarray:
    """Left, lower, right and upper end of each cell, in cells of level 4."""
    half = 0.5 ** (step.levels + 1.0)[:, None]
    return (16 * np.hstack([step.centres - half, step.centres + half])).astype(int)


@pytest.fixture(scope="module")
def mesh() -> list[generators.MeshStep]:
    return list(generators.moving_front(9, min_level=1, max_level=4))


def test_cells_tile_the_square(mesh: list[generators.MeshStep]) -> None:
    for step in mesh:
        covered = np.zeros((16, 16), int)
        for left, low, right, high in boxes(step):
            covered[left:right, low:high] += 1
        assert (covered == 1).all()
        assert set(step.levels) <= {1, 2, 3, 4}


def test_cells_with_a_common_side_are_joined_and_differ_by_a_level(
    mesh: list[generators.MeshStep]
) -> None:
    for step in mesh[::4]:
        wanted = set()
        for u, v in combinations(range(len(step.levels)), 2):
            (a, b, c, d), (e, f, g, h) = boxes(step)[[u, v]]
            across, up = min(c, g) - max(a, e), min(d, h) - max(b, f)
            if min(across, up) == 0 and max(across, up) > 0:
                wanted.add((u, v))
                assert abs(step.levels[u] - step.levels[v]) <= 1
        assert set(edges(EditableGraph(step.graph))) == wanted


def test_cells_come_from_those_of_the_step_before(mesh: list[generators.MeshStep]) -> None:
    """The same cell, the one around it, or the first one in it."""
    assert mesh[0].kept.all()
    divided = joined = 0
    for before, step in pairwise(mesh):
        old, new = boxes(before)[step.origins], boxes(step)
        same = (old == new).all(axis=1)
        assert (same == step.kept).all()
        around = (old[:, :2] <= new[:, :2]).all(axis=1) & (old[:, 2:] >= new[:, 2:]).all(axis=1)
        first = (old[:, :2] == new[:, :2]).all(axis=1) & (old[:, 2:] <= new[:, 2:]).all(axis=1)
        assert (same | around | first).all()
        divided += int((around & ~same).sum())
        joined += int((first & ~same).sum())
    assert min(divided, joined) > 10


def test_steps_as_edits_make_the_meshes(mesh: list[generators.MeshStep]) -> None:
    edited = EditableGraph(mesh[0].graph)
    ids = np.arange(len(mesh[0].levels))
    for step in mesh[1:]:
        ids = applied(edited, lambda batch: step.play(ids, batch))  # noqa: B023
        expected = {tuple(sorted((int(ids[u]), int(ids[v])))): 1
                    for u, v in edges(EditableGraph(step.graph))}
        assert edges(edited) == expected
        assert sorted(ids.tolist()) == edited.ids.tolist()


def test_a_fifth_of_the_cells_is_new_in_each_step() -> None:
    shares = [1 - step.kept.mean() for step in generators.moving_front(60)][1:]
    assert 0.1 < min(shares) < max(shares) < 0.4
    for levels in ((-1, 3), (4, 3), (0, 16)):
        with pytest.raises(InputError, match="min_level"):
            next(generators.moving_front(1, *levels))

"""Other libraries' answers that partitions rest on: a release that changes one is noticed here.

Neither NumPy's stream of random numbers nor SciPy's choice among equal assignments is promised.
"""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from portpart.algorithms.initial.fixed_vertices import best_names


@pytest.mark.parametrize(("seed", "order"), [
    (0, [9, 2, 7, 4, 5, 11, 0, 3, 6, 10, 8, 1]),
    (1, [8, 11, 4, 7, 5, 0, 1, 9, 2, 10, 6, 3]),
    (2**31, [8, 9, 10, 3, 2, 7, 0, 6, 5, 11, 4, 1]),
])
def test_numpy_shuffles_the_vertices_for_metis_as_ever(seed: int, order: list[int]) -> None:
    assert np.random.default_rng(seed).permutation(12).tolist() == order


def test_numpy_shuffles_many_vertices_as_ever() -> None:
    order = np.random.default_rng(7).permutation(10_000).astype("<i8")
    assert hashlib.sha256(order.tobytes()).hexdigest().startswith("83087fe7b91764ee")


@pytest.mark.parametrize(("value", "names"), [
    (np.zeros((5, 5), np.int64), [0, 1, 2, 3, 4]),
    (np.array([[4, 4, 1], [4, 4, 1], [1, 1, 1]]), [0, 1, 2]),
    (np.array([[2, 0, 0, 0, 0, 2, 2, 1], [0, 0, 0, 1, 1, 1, 0, 0], [2, 2, 0, 0, 1, 1, 2, 1],
               [1, 1, 1, 1, 0, 2, 2, 2], [2, 0, 0, 1, 1, 2, 2, 0], [2, 0, 0, 2, 2, 0, 0, 0],
               [0, 2, 1, 1, 0, 1, 0, 2], [1, 0, 0, 2, 1, 1, 0, 0]]), [0, 2, 1, 5, 6, 4, 7, 3]),
])
def test_scipy_chooses_among_equal_assignments_as_ever(
    value: np.ndarray, names: list[int]
) -> None:
    """Blocks are numbered so that they suit fixed vertices; ties are many."""
    assert linear_sum_assignment(value, maximize=True)[1].tolist() == names
    assert best_names(value).tolist() == names

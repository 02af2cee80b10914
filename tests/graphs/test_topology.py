"""Topologies: distances as plain loops give them, and errors that name the place."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pytest

from portpart.errors import InputError
from portpart.graphs.topology import Topology
from tests.oracles import mappings as plain

HIERARCHIES = [([4], [7]), ([2, 3], [1, 10]), ([4, 8, 6], [1, 10, 100]),
               ([1, 5, 1, 2], [9, 1, 5, 3]), ([3, 2, 2], [0, 0, 4]), ([1], [5])]


@pytest.mark.parametrize(("arities", "lengths"), HIERARCHIES)
def test_distances_are_those_of_the_hierarchy(arities: list[int], lengths: list[int]) -> None:
    machine = Topology(":".join(map(str, arities)), lengths)
    k = machine.num_elements
    here, there = np.divmod(np.arange(k * k), k)
    expected = np.array(plain.distances(arities, lengths))
    assert np.array_equal(machine.distance(here, there).reshape(k, k), expected)
    assert machine.max_distance == expected.max()
    assert machine.distance(0, k - 1) == expected[0, k - 1]


@pytest.mark.parametrize(("hierarchy", "distances", "turned"), [
    ("4:2:4", "100:10:1", "'4:2:4', '1:10:100'"), ("2:3", [5, 1], "'3:2', '1:5'"),
    ("2:1:3", "5:1:4", "'3:1:2', '4:1:5'")])
def test_distances_that_fall_outwards_are_a_warning(hierarchy: str, distances: Any,
                                                    turned: str) -> None:
    with pytest.warns(UserWarning, match="fall outwards") as caught:
        machine = Topology(hierarchy, distances)
    assert turned in str(caught[0].message)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        machine.outside(1)
        Topology(hierarchy, sorted(machine.level_distances))
        Topology("1:4", "9:2")


def test_distances_of_a_matrix_are_its_entries() -> None:
    ring = np.array([[0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]])
    machine = Topology.from_matrix(ring)
    assert machine.num_elements == 4
    assert machine.max_distance == 2
    assert machine.distance(1, 3) == 2
    assert not machine.is_hierarchy
    assert Topology.from_matrix(ring.astype(float)).distance(0, 2) == 2


@pytest.mark.parametrize(("hierarchy", "distances", "message"), [
    ("4:x:6", "1:10:100", "level 2 of hierarchy '4:x:6' is 'x'"),
    ("4,8,6", "1:10:100", "is '4,8,6'; it must be an integer from 1 to 2147483647; colons"),
    ("4:0:6", "1:10:100", "level 2 of hierarchy '4:0:6' is '0'; it must be an integer from 1"),
    ("", "1", "level 1 of hierarchy '' is ''"),
    ("4:", "1:10", "level 2 of hierarchy '4:' is ''"),
    ("4:8", "1:-10", "level 2 of distances '1:-10' is '-10'"),
    ("4:8", "1:1e2", "level 2 of distances"),
    ("4:8", "1", "hierarchy has 2 levels and distances has 1"),
    ([4, 2.5], "1:2", "level 2 of hierarchy [4, 2.5] is 2.5"),
    ([4, float("inf")], "1:2", "level 2 of hierarchy [4, inf] is inf"),
    ([], [], "numbers with colons"),
    (48, "1:2", "hierarchy is 48"),
    (np.array(4), "1", "numbers with colons"),
    ({4, 2}, "1:2", "numbers with colons"),
    ("65536:65536", "1:2", "4294967296 processing elements"),
])
def test_what_cannot_be_is_refused(hierarchy: Any, distances: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        Topology(hierarchy, distances)
    assert message in str(caught.value)


@pytest.mark.parametrize(("matrix", "message"), [
    ([[0, 1], [2, 0]], "distance [0, 1] is 1; the matrix must be symmetric"),
    ([[0, 1], [1, 3]], "distance [1, 1] is 3; it must be 0"),
    ([[0, -1], [-1, 0]], "distance [0, 1] is -1"),
    ([[0, 0.5], [0.5, 0]], "distance [0, 1] is 0.5"),
    ([[0, float("nan")], [1, 0]], "distance [0, 1] is nan"),
    ([0, 1], "has shape (2,)"),
    ([], "has shape (0,)"),
    ([["a"]], "integers are needed"),
    ([[0, 1], [1]], "cannot be read"),
])
def test_matrices_that_cannot_be_are_refused(matrix: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        Topology.from_matrix(matrix)
    assert message in str(caught.value)


def test_a_table_with_columns_is_a_matrix() -> None:
    class Table:
        """As a data frame of pandas: `get` finds a column."""

        def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
            return np.array([[0, 3], [3, 0]], dtype)

        def get(self, column: str) -> None:
            raise KeyError(column)

    assert Topology.from_matrix(Table()).distance(0, 1) == 3


@pytest.mark.parametrize("wrong", [-1, 32, 0.5, [0, 32], np.array([-1])], ids=str)
def test_elements_that_are_none_have_no_distance(wrong: Any) -> None:
    for machine in (Topology("4:8", "1:10"), Topology.from_matrix(np.zeros((32, 32), int))):
        for ask in (machine.distance, machine.level):
            with pytest.raises(InputError, match="integers from 0 to 31"):
                ask(0, wrong)


def test_a_machine_does_not_change() -> None:
    with pytest.raises(ValueError, match="read-only"):
        Topology.from_matrix([[0, 1], [1, 0]]).matrix[0, 1] = 5  # type: ignore[index]


def test_topologies_can_be_pickled_and_shown() -> None:
    machine = pickle.loads(pickle.dumps(Topology("4:8", "1:10")))
    assert machine.num_elements == 32
    assert "4:8 at distances 1:10" in repr(machine)
    assert "matrix" in repr(Topology.from_matrix([[0]]))

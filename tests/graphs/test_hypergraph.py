"""What a hypergraph is made of: rows both ways, whatever order and repetition pins come in."""

from __future__ import annotations

import pickle
import subprocess
import sys
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import portpart
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.from_nets import nets_hypergraph

ROWS = st.lists(st.lists(st.integers(0, 9), max_size=8), max_size=8)


def flat(rows: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Return offsets and members of rows."""
    offsets = np.cumsum([0, *map(len, rows)])
    return offsets, np.array([pin for row in rows for pin in row], np.int64)


def check(rows: list[list[int]], space: ExecutionSpace) -> None:
    """Compare both ways with sets."""
    made = nets_hypergraph(*flat(rows), 12, space=space)
    offsets, pins, vertex_offsets, vertex_nets = (
        space.to_host(a) for a in (made.net_offsets, made.net_pins, made.vertex_offsets,
                                   made.vertex_nets))
    assert [pins[a:b].tolist() for a, b in pairwise(offsets)] == [
        sorted(set(row)) for row in rows]
    assert [vertex_nets[a:b].tolist() for a, b in pairwise(vertex_offsets)] == [
        [net for net, row in enumerate(rows) if v in row] for v in range(12)]
    assert made.repeated_pins == sum(len(row) - len(set(row)) for row in rows)
    assert (made.num_vertices, made.num_nets, made.num_pins) == (12, len(rows), len(pins))
    assert made.max_net_size == max((len(set(row)) for row in rows), default=0)
    assert made.max_degree == max(np.diff(vertex_offsets))


@settings(max_examples=60, deadline=None)
@given(ROWS)
def test_rows_of_nets_and_of_vertices_say_the_same(rows: list[list[int]]) -> None:
    """Any pins, empty nets and repeated pins among them."""
    check(rows, portpart.space("cpu"))


def test_every_space_makes_the_same(space: ExecutionSpace) -> None:
    """One case with everything in it."""
    check([[3, 1, 3], [], [11], [5, 4, 3, 2, 1, 0], [1, 3]], space)


@pytest.mark.parametrize(("given_", "message"), [
    ({"data": ([0, 2], [0, 7]), "num_vertices": 3}, "net 0 has a pin 7"),
    ({"data": ([0, 1, 3], [0, 1, -1])}, "net 1 has a pin -1"),
    ({"data": ([0, 2], [0, 1]), "net_weights": [1, 2]}, r"shape \(2,\) for 1 nets"),
    ({"data": ([0, 2], [0, 1]), "net_weights": [-4]}, "net 0 has weight -4"),
    ({"data": ([0, 2], [0, 1]), "vertex_weights": [1, -2]}, "vertex 1 has weight -2"),
    ({"data": ([0, 3], [0, 1])}, "is 3 but there are 2"),
    ({"data": "nothing"}, "cannot be read"),
])
def test_bad_input_is_named(given_: dict[str, Any], message: str) -> None:
    """Before any work starts, and with the place."""
    data = given_.pop("data")
    with pytest.raises(portpart.InputError, match=message):
        portpart.as_hypergraph(data, **given_)


def test_it_is_a_value() -> None:
    """Arrays of the caller stay the caller's; copies and pickles are equal and read-only."""
    weights = np.array([2, 3])
    made = portpart.as_hypergraph(([0, 3, 5], [2, 0, 1, 2, 3]), net_weights=weights,
                                  vertex_weights=[1, 2, 3, 4])
    weights[0] = 99
    again = pickle.loads(pickle.dumps(made))
    assert made.total_net_weight == again.total_net_weight == 5
    assert made.total_vertex_weight == 10
    assert repr(made) == ("<Hypergraph: 4 vertices, 2 nets, 5 pins, with net and vertex weights, "
                          "on cpu>")
    for name, array in again.arrays.items():
        assert np.array_equal(array, made.arrays[name])
        assert not array.flags.writeable
        assert not made.arrays[name].flags.writeable


@pytest.mark.parametrize("call", ["portpart.as_hypergraph([[0, 1]])", "portpart.io.read_hypergraph",
                                  "portpart.generators.rmat(3)"])
def test_any_name_may_come_first(call: str) -> None:
    """Modules that import each other's folders do so in every order."""
    subprocess.run([sys.executable, "-c", f"import portpart; {call}"], check=True)

"""What the methods of a session's batches refuse, and what callers cannot write to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import portpart
from portpart import generators
from portpart.errors import InputError

NETS = portpart.as_hypergraph({"n1": ["a", "b"], "n2": ["b", "c"], "n3": ["c", "d"]})


def test_edits_behind_apply_are_refused() -> None:
    """Nothing would come of them."""
    session = portpart.Session(generators.grid_2d(4), 2)
    batch = session.batch()
    batch.insert_edges(0, 15)
    session.apply(batch)
    count = len(session.part)
    for act in (lambda: batch.insert_edges([2], [13]), lambda: batch.insert_vertices(),
                lambda: batch.delete_vertices([]), lambda: batch.set_vertex_weights(1, 2)):
        with pytest.raises(InputError, match="the batch has been applied already"):
            act()
    assert len(session.part) == count


MASKED = np.ma.array([0, 1], mask=[False, True])

OF_GRAPHS: dict[str, Callable[[Any, Any], Any]] = {
    "insert_edges": lambda batch, some: batch.insert_edges(some, [15, 14]),
    "insert_edges, second": lambda batch, some: batch.insert_edges([15, 14], some),
    "insert_edges, weights": lambda batch, some: batch.insert_edges([0, 1], [15, 14], some),
    "delete_edges": lambda batch, some: batch.delete_edges(some, [4, 5]),
    "set_edge_weights": lambda batch, some: batch.set_edge_weights([0, 1], [4, 5], some),
    "insert_vertices": lambda batch, some: batch.insert_vertices(some),
    "delete_vertices": lambda batch, some: batch.delete_vertices(some),
    "set_vertex_weights": lambda batch, some: batch.set_vertex_weights([3, 4], some),
    "one": lambda batch, some: batch.delete_vertices(some[1]),
}
OF_NETS: dict[str, Callable[[Any, Any], Any]] = {
    "insert_nets, offsets": lambda batch, some: batch.insert_nets(some, [1]),
    "insert_nets, pins": lambda batch, some: batch.insert_nets([0, 2], some),
    "insert_nets, weights": lambda batch, some: batch.insert_nets([0, 1, 2], [0, 1], some),
    "delete_nets": lambda batch, some: batch.delete_nets(some),
    "insert_pins": lambda batch, some: batch.insert_pins(some, [3, 3]),
    "delete_pins": lambda batch, some: batch.delete_pins([0, 1], some),
    "set_net_weights": lambda batch, some: batch.set_net_weights([0, 1], some),
}


@pytest.mark.parametrize("case", [*OF_GRAPHS, *OF_NETS])
def test_masked_entries_are_refused(case: str) -> None:
    """As everywhere else; an array that masks nothing is like any other."""
    nets = case in OF_NETS
    session = portpart.Session(NETS, 2) if nets else portpart.Session(generators.grid_2d(4), 2)
    batch = session.batch()
    with pytest.raises(InputError, match="a masked array has no value"):
        (OF_NETS if nets else OF_GRAPHS)[case](batch, MASKED)
    assert not batch.calls
    (OF_NETS if nets else OF_GRAPHS)[case](batch, np.ma.array([0, 1]))


def test_the_blocks_of_a_session_are_read_only() -> None:
    """A caller who writes to them would think that vertices move."""
    part = portpart.Session(generators.grid_2d(4), 2).part
    with pytest.raises(ValueError, match="read-only"):
        part[3] = 1

"""The estimate of memory of sessions against the bytes of the arrays that they really make."""

from __future__ import annotations

import gc
import tracemalloc
from typing import Any

import pytest

import portpart
from bench.counting_space import CountingSpace
from bench.random_edits import RandomEdits
from bench.recipes import copied
from portpart import generators
from portpart.backends import spaces
from portpart.errors import InputError
from portpart.graphs.hypergraph import EitherGraph

CLOSE, CLOSE_FOR_KEPT = 1.35, 1.25
"""So many times the bytes in use are at most estimated, and of those that are kept."""

CASES: dict[str, tuple[EitherGraph, int, str | None]] = {
    "grid": (generators.grid_2d(110, 110), 8, None),
    "Delaunay": (generators.delaunay(12_000), 64, None),
    "Delaunay, igkway": (generators.delaunay(12_000), 4, "igkway"),
    "netlist": (generators.netlist(12_000), 8, None),
    "netlist, sets of words": (generators.netlist(12_000), 100, None),
    "netlist, ihyperg": (generators.netlist(12_000), 2, "ihyperg"),
}


@pytest.mark.parametrize("name", CASES)
def test_estimates_are_upper_bounds_and_close(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the rounds around new vertices, and of those in which all levels are refined."""
    host, k, algorithm = CASES[name]
    space = CountingSpace(1)
    monkeypatch.setitem(spaces._spaces, ("cpu", 1), space)
    graph = copied(host, space)
    own, edits = space.live, RandomEdits(host, 1, "near")
    session = portpart.Session(graph, k, algorithm=algorithm, device="cpu", threads=1,
                               escalate="never")
    for effort in ("local", "local", "cycle", "full"):
        batch = session.batch()
        edits.play(batch, 60)
        session.apply(batch, effort=effort)
    estimate = portpart.memory_estimate(like=host, k=k, algorithm=algorithm, session=True)
    assert space.peak <= estimate.peak <= CLOSE * space.peak
    kept = space.live - own
    assert kept / 1.05 <= estimate.session <= CLOSE_FOR_KEPT * kept


@pytest.mark.parametrize("escalate", ["never", "auto"])
def test_a_mark_that_is_held_costs_what_its_batches_changed(escalate: str) -> None:
    """Edits, and a block for each vertex where all levels were refined: far below the graph."""
    graph = generators.grid_2d(60)
    session = portpart.Session(graph, 8, escalate=escalate)
    edits = RandomEdits(graph, seed=1, ends="near")

    def play(batch: Any) -> str:
        edits.play(batch, 25)
        return session.apply(batch).effort

    for _ in range(60):  # programs are made, and rows get room
        play(session.batch())
    gc.collect()
    tracemalloc.start()
    try:
        marks, refined = [], 0
        for _ in range(30):
            marks.append(session.mark())
            refined += play(session.batch()) != "local"
        gc.collect()
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert held < 30 * 32_000 + refined * 4 * len(session.part)


def test_weights_of_edges_are_kept_with_room_for_more() -> None:
    n, arcs = 1000, 6000
    plain, weighted = (portpart.memory_estimate(n, arcs, 2, edge_weights=weights, session=True)
                       for weights in (False, True))
    assert weighted.session - plain.session == 2 * 4 * arcs


@pytest.mark.parametrize("given", [{"k": portpart.Topology("2:2", "1:10")},
                                   {"objective": "volume"}])
def test_what_a_session_does_not_do_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="session=True is not for mappings"):
        portpart.memory_estimate(100, 600, **given, session=True)


def test_without_a_session_nothing_is_kept() -> None:
    assert "session" not in str(portpart.memory_estimate(100, 600))
    assert portpart.memory_estimate(100, 600).session == 0

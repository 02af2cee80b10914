"""Sessions that number their vertices anew: what stays, what ends, and what a failure changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import portpart
from portpart import generators
from portpart.backends.cpu.space import CpuSpace
from portpart.errors import InputError, OutOfMemory


def test_compaction_keeps_the_partition() -> None:
    session = portpart.Session(generators.grid_2d(8, 8), 2, vertex_sizes=np.arange(64))
    stale, mark = session.batch(), session.mark()
    batch = session.batch()
    batch.delete_vertices([5, 9])
    session.apply(batch)
    part, cut = session.part[session.ids], session.cut
    new = session.compact()
    assert new.tolist() == [v - (v > 5) - (v > 9) if v not in (5, 9) else -1 for v in range(64)]
    assert (session.part == part).all()
    assert (session.cut, len(session.part)) == (cut, 62)
    with pytest.raises(InputError, match="compact"):
        session.apply(stale)
    with pytest.raises(InputError, match="compact"):
        session.undo(mark)


@pytest.mark.parametrize("nets", [False, True], ids=["graph", "hypergraph"])
def test_a_compaction_that_fails_anywhere_changes_nothing(nets: bool, monkeypatch: Any) -> None:
    graph = generators.netlist(60, seed=2) if nets else generators.grid_2d(8, 8)
    session = portpart.Session(graph, 2, device="cpu", vertex_sizes=np.arange(graph.num_vertices))
    mark, batch = session.mark(), session.batch()
    batch.delete_vertices([5, 9])
    session.apply(batch)
    part, value, made = session.part.copy(), session.cut, CpuSpace.empty
    left = 0

    def empty(self: Any, n: int, dtype: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise MemoryError("none is left")
        return made(self, n, dtype)

    failures = 0
    while True:
        left = failures
        with monkeypatch.context() as patch:
            patch.setattr(CpuSpace, "empty", empty)
            try:
                session.compact()
                break
            except OutOfMemory:
                failures += 1
        assert (session.part == part).all()
        assert session.cut == value
        again = session.batch()
        again.delete_vertices([20])
        check = session.mark()
        session.apply(again)
        session.undo(check)
        assert (session.part == part).all()
    assert failures > 10
    assert (session.part == part[part >= 0]).all()
    assert session.cut == value
    with pytest.raises(InputError, match="compact"):
        session.undo(mark)

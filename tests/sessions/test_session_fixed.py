"""Vertices that batches of a session fix to blocks and release."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import portpart
from portpart import generators
from portpart.algorithms.edits.batch import Batch
from portpart.errors import InputError
from tests import oracles
from tests.conftest import cuda_space
from tests.oracles import nets as net_oracles

GRID = generators.grid_2d(12)
NETS = generators.netlist(200, seed=3)

CASES = {"grid": (GRID, None), "grid, igkway": (GRID, "igkway"), "netlist": (NETS, None),
         "netlist, ihyperg": (NETS, "ihyperg")}


def session_of(case: str, k: int = 3, **options: Any) -> portpart.Session:
    graph, algorithm = CASES[case]
    return portpart.Session(graph, k, algorithm=algorithm, imbalance="10%", **options)


def value_of(session: portpart.Session) -> int:
    """The objective, counted by plain loops."""
    graph, part = session.graph(), session.part[session.ids]
    if session.objective == "km1":
        return net_oracles.values(graph, part)["km1"]
    return oracles.cut(graph, part)


def applied(session: portpart.Session, *fixings: tuple[Any, Any],
            effort: str = "auto") -> portpart.SessionUpdate:
    """What a batch comes to that fixes vertices."""
    batch = session.batch()
    for ids, blocks in fixings:
        batch.set_fixed(ids, blocks)
    return session.apply(batch, effort)


@pytest.mark.parametrize("case", CASES)
def test_fixed_vertices_are_where_they_are_fixed_whatever_else_is_edited(case: str) -> None:
    """A model in a dict says where; then all of it is undone, state by state."""
    rng, session = np.random.default_rng(7), session_of(case)
    fixed: dict[int, int] = {}
    states: list[tuple[Any, dict[int, int], np.ndarray, int]] = []
    for effort in ("local", "none", "local", "cycle", "local", "full", "auto", "local"):
        states.append((session.mark(), dict(fixed), session.part, value_of(session)))
        batch, ids = session.batch(), session.ids
        new = batch.insert_vertices([2, 1])
        some, free = rng.choice(ids, 4, replace=False), rng.choice(ids)
        if session.objective == "km1":
            batch.insert_nets([0, 3, 6], [new[0], some[0], some[1], new[1], some[2], some[3]])
        else:
            batch.insert_edges(np.repeat(new, 2), some)
        blocks = rng.integers(3, size=4)
        batch.set_fixed(some, blocks)
        batch.set_fixed([int(new[0]), int(free)], [1, -1])
        gone = int(rng.choice(ids))
        batch.delete_vertices(gone)
        fixed.update(zip(some.tolist(), blocks.tolist()))
        fixed[int(new[0])] = 1
        for id in (int(free), gone):
            fixed.pop(id, None)
        update = session.apply(batch, effort)
        part = session.part
        assert {id: int(part[id]) for id in fixed} == fixed
        assert {id: block for id, block in enumerate(session.fixed.tolist()) if block >= 0} == fixed
        assert update.value == value_of(session)
        weights = oracles.block_weights(session.graph(), part[session.ids], 3)
        assert update.block_weights.tolist() == weights
        assert update.feasible == oracles.is_balanced(weights, "10%")
        before = np.full(len(part), -1)
        before[: len(states[-1][2])] = states[-1][2]
        assert update.moved == int(((before >= 0) & (part >= 0) & (before != part)).sum())
    for mark, known, part, value in reversed(states):
        session.undo(mark)
        assert np.array_equal(session.part[: len(part)], part)
        assert {id: block for id, block in enumerate(session.fixed.tolist())
                if block >= 0} == known
        assert session.apply(session.batch(), "none").value == value_of(session) == value


@pytest.mark.parametrize("case", CASES)
def test_a_fixed_vertex_stays_until_it_is_released(case: str) -> None:
    """It is alone among vertices of another block, which all refinement would undo."""
    session = session_of(case, migration=0)
    corner = int(np.flatnonzero(session.part == 0)[0])
    assert applied(session, (corner, 1)).moved >= 1
    for effort in ("local", "cycle", "full"):
        assert session.apply(session.batch(), effort).feasible
        assert session.part[corner] == 1
    applied(session, (corner, -1))
    assert (session.fixed == -1).all()


def test_a_session_without_fixed_vertices_is_as_if_none_had_ever_been_fixed() -> None:
    """Blocks are numbered as most vertices have them only where nothing is fixed."""
    one, other = session_of("grid"), session_of("grid")
    here = int(one.part[17])
    applied(one, (17, here), effort="none")
    applied(one, (17, -1), effort="none")
    for effort in ("local", "full"):
        one.apply(one.batch(), effort)
        other.apply(other.batch(), effort)
        assert np.array_equal(one.part, other.part)


def test_the_last_call_about_a_vertex_counts() -> None:
    session = session_of("grid")
    applied(session, ([3, 4], 2), (3, 0), ([4, 4], [-1, 1]))
    assert session.fixed.tolist()[3:5] == session.part.tolist()[3:5] == [0, 1]


def test_more_than_a_block_may_weigh_is_fixed_as_asked() -> None:
    """As by `fixed=`: the limits are broken, and the update says so."""
    session = session_of("grid")
    heavy = np.arange(100)
    update = applied(session, (heavy, 2))
    assert not update.feasible
    assert update.block_weights[2] == 100
    assert (session.part[heavy] == 2).all()
    with pytest.warns(UserWarning, match="fixed to block 2 weigh 100"):
        fresh = portpart.partition(GRID, 3, imbalance="10%", fixed=dict.fromkeys(heavy.tolist(), 2))
    assert fresh.block_weights[2] == 100
    assert applied(session, (heavy, -1)).feasible


@pytest.mark.parametrize("case", ["grid", "netlist, ihyperg"])
def test_files_keep_what_is_fixed(case: str, tmp_path: Path) -> None:
    session = session_of(case)
    applied(session, ([1, 2, 3], [0, 1, 2]))
    session.save(tmp_path / "session.npz")
    loaded = portpart.Session.load(tmp_path / "session.npz")
    for each in (session, loaded):
        applied(each, (1, -1), (9, 2))
        each.apply(each.batch(), "full")
    assert np.array_equal(session.part, loaded.part)
    assert np.array_equal(session.fixed, loaded.fixed)
    assert session.part.tolist()[2:4] == [1, 2]


def test_compact_renumbers_what_is_fixed() -> None:
    session = session_of("grid")
    batch = session.batch()
    batch.delete_vertices([0, 1, 2])
    batch.set_fixed([10, 20], [1, 2])
    session.apply(batch)
    session.compact()
    assert np.flatnonzero(session.fixed >= 0).tolist() == [7, 17]
    applied(session, (7, 0))
    assert session.part[[7, 17]].tolist() == [0, 2]


@pytest.mark.parametrize(("ids", "blocks", "message"), [
    ([0, 1], [0, 3], r"set_fixed: blocks\[1\] is 3; blocks must lie in 0 ... 2, or be -1"),
    (0, -2, r"blocks\[0\] is -2"), ([0, 1, 2], [0, 1], "2 blocks for 3 ids"),
    (999, 0, "set_fixed.0. is 999"), (0, 1.5, "must be integers"),
    (np.ma.array([0, 1], mask=[0, 1]), 0, "masked"), ("a", 0, "have no names"),
])
def test_what_cannot_be_fixed_is_refused_at_once(ids: Any, blocks: Any, message: str) -> None:
    batch = session_of("grid").batch()
    with pytest.raises(InputError, match=message):
        batch.set_fixed(ids, blocks)
    assert not batch.fixings


def test_a_vertex_that_is_not_alive_is_not_fixed() -> None:
    """Deleted before, or by an earlier entry of the batch; nothing of that batch is applied."""
    session = session_of("grid")
    before = session.part
    for order in ("delete, fix", "fix, delete"):
        batch = session.batch()
        batch.insert_edges(0, 143)
        if order == "fix, delete":
            batch.set_fixed(5, 1)
        batch.delete_vertices(5)
        if order == "delete, fix":
            batch.set_fixed([4, 5], 1)
            with pytest.raises(InputError, match=r"set_fixed\[1\] \(call 3 of the batch\): id 5 "):
                session.apply(batch)
            assert np.array_equal(session.part, before)
            assert (session.fixed == -1).all()
        else:
            session.apply(batch)
    with pytest.raises(InputError, match="id 5 does not exist"):
        applied(session, (5, 1))
    late = session.batch()
    new = late.insert_vertices()
    with pytest.raises(InputError, match="does not exist"):
        applied(session, (new, 1))  # of another batch, which has not been applied


def test_a_batch_that_fails_halfway_fixes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    session = session_of("grid")
    applied(session, (3, int(session.part[3])))
    part, fixed = session.part, session.fixed
    batch = session.batch()
    batch.insert_edges(0, 143)
    batch.set_fixed([3, 60, 61], [-1, 0, 1])

    def out_of_memory(*_: Any) -> None:
        raise MemoryError

    for name in ("misplaced", "restart", "refine_near"):
        with monkeypatch.context() as patched:
            patched.setattr(session._rounds.incremental, name, out_of_memory)
            with pytest.raises(portpart.OutOfMemory):
                session.apply(batch)
        assert np.array_equal(session.part, part)
        assert np.array_equal(session.fixed, fixed)
    run = session._rounds.incremental._run

    def out_of_memory_around(*given: Any, activated: Any = None, **options: Any) -> None:
        run(*given, **options)
        if activated is not None:
            raise MemoryError

    with monkeypatch.context() as patched:
        patched.setattr(session._rounds.incremental, "_run", out_of_memory_around)
        with pytest.raises(portpart.OutOfMemory):
            session.apply(batch)
    assert np.array_equal(session.part, part)
    assert np.array_equal(session.fixed, fixed)
    session.apply(batch)
    assert session.part[[60, 61]].tolist() == [0, 1]


TIED = 9


def tied(kind: str) -> tuple[Any, np.ndarray]:
    """Vertex 0 with nine others of its block, which nothing ties but it, and other vertices."""
    blocks = np.repeat([0, 1, 0], [TIED + 1, 140, 140])
    others = np.arange(TIED + 1, len(blocks))
    if kind == "graph":
        far = [(int(v), int(v) + 1) for v in others[:-1] if v != TIED + 140]
        return portpart.from_edges([(0, v) for v in range(1, TIED + 1)] + far), blocks
    far = [[int(v), int(v) + 1] for v in others[:-1] if v != TIED + 140]
    if kind == "large nets":  # each has one of the nine, and all of another block
        near = [[0, v, *range(TIED + 1, TIED + 141)] for v in range(1, TIED + 1)]
    else:
        near = [[0, v] for v in range(1, TIED + 1)]
    return portpart.as_hypergraph([*near, *far]), blocks


@pytest.mark.parametrize("effort", ["local", "auto"])
@pytest.mark.parametrize("kind", ["graph", "nets", "large nets"])
def test_neighbours_follow_a_vertex_that_is_fixed_elsewhere(kind: str, effort: str) -> None:
    """All of them gain by that; they, not those far away, are looked at, and all can be undone."""
    graph, blocks = tied(kind)
    session = portpart.Session(graph, 2, initial=blocks, imbalance=0.3, migration=0,
                               escalate="never")
    mark, value = session.mark(), value_of(session)
    update = applied(session, (0, 1), effort=effort)
    assert session.part[: TIED + 1].tolist() == [1] * (TIED + 1)
    assert update.moved == update.migration == TIED + 1
    assert update.value == value_of(session) == 0
    assert update.affected < 20
    assert session.part[TIED + 1 :].tolist() == blocks[TIED + 1 :].tolist()
    session.undo(mark)
    assert session.part.tolist() == blocks.tolist()
    assert session.apply(session.batch(), "none").value == value
    left = applied(session, (0, 1), effort="none")
    assert left.moved == 1
    assert session.part[1 : TIED + 1].tolist() == [0] * TIED


def tying(session: portpart.Session, seed: int) -> Batch:
    """A batch that ties vertices of block 0 to some of block 1."""
    rng, batch, ids = np.random.default_rng(seed), session.batch(), session.ids
    pairs = np.stack([rng.choice(ids[session.part[ids] == block], 30) for block in (0, 1)], 1)
    if session.objective == "km1":
        batch.insert_nets(np.arange(31) * 2, pairs.ravel(), np.full(30, 9))
    else:
        batch.insert_edges(*pairs.T, np.full(30, 9))
    return batch


@pytest.mark.parametrize("case", CASES)
def test_a_batch_that_was_broken_off_changes_nothing_about_later_ones(case: str) -> None:
    """Though it moved vertices, and fixed more to a block than that may weigh otherwise."""
    def stop(phase: str, level: int, levels: int) -> None:
        raise KeyboardInterrupt

    session, untouched = session_of(case), session_of(case)
    for seed in range(2):
        batch = tying(session, seed)
        batch.set_fixed(session.ids[::2], 0)
        with pytest.raises(KeyboardInterrupt):
            session.apply(batch, "cycle", progress=stop)
        values = [each.apply(tying(each, seed + 2), "local").value for each in (session, untouched)]
        assert np.array_equal(session.part, untouched.part)
        assert values == [value_of(session)] * 2


@pytest.mark.gpu
@pytest.mark.parametrize("case", CASES)
def test_a_gpu_fixes_the_same_vertices_and_has_the_same_blocks(case: str) -> None:
    cuda_space()
    rng = np.random.default_rng(2)
    host, device = session_of(case), session_of(case, device="cuda")
    marks = []
    for effort in ("local", "auto", "none", "cycle", "full", "local"):
        ids, blocks = rng.choice(host.ids, 5, replace=False), rng.integers(-1, 3, size=5)
        for session in (host, device):
            marks.append(session.mark())
            batch = session.batch()
            new = batch.insert_vertices(count=2)
            batch.set_fixed(ids, blocks)
            batch.set_fixed(new, [2, 0])
            batch.delete_vertices(ids[:1])
            session.apply(batch, effort)
        assert np.array_equal(oracles.host(device.part), host.part)
        assert np.array_equal(oracles.host(device.fixed), host.fixed)
    device.undo(marks[1])
    host.undo(marks[0])
    assert np.array_equal(oracles.host(device.part), host.part)
    assert np.array_equal(oracles.host(device.fixed), host.fixed)

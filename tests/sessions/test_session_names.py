"""Sessions of graphs and hypergraphs whose vertices and nets have names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest

import portpart
from portpart import generators
from portpart.errors import InputError
from portpart.graphs.blocks import blocks_of
from tests.conftest import cuda_space

DESIGN = {"n1": ["a", "b"], "n2": ["b", "c"], "n3": ["c", "d"]}


def design(**options: Any) -> portpart.Session:
    """A chain of four named cells in two blocks."""
    return portpart.Session(portpart.as_hypergraph(DESIGN), 2, **options)


def named_session(n: int) -> portpart.Session:
    """A ring of named vertices, numbered in the order that NetworkX has."""
    graph = networkx.relabel_nodes(networkx.cycle_graph(n), {v: f"u{v}/ff" for v in range(n)})
    return portpart.Session(graph, 2)


def applied(session: portpart.Session, edit: Callable[[Any], Any]) -> portpart.SessionUpdate:
    """What a batch of some calls comes to."""
    batch = session.batch()
    edit(batch)
    return session.apply(batch)


def test_a_session_keeps_names_of_vertices_and_nets() -> None:
    session = design()
    assert session.labels == session.graph().names == ["a", "b", "c", "d"]
    assert session.net_labels == session.graph().net_names == ["n1", "n2", "n3"]
    part = dict(zip(session.labels, session.part.tolist()))
    assert [sorted(names) for names in session.blocks()] == [
        sorted(name for name in part if part[name] == block) for block in range(2)]
    plain = portpart.Session(generators.grid_2d(4), 2)
    assert plain.labels is None
    assert plain.net_labels is None
    assert np.array_equal(np.sort(np.concatenate(plain.blocks())), np.arange(16))


def test_edits_by_name_are_the_same_edits_as_by_id() -> None:
    """Beside a session without names, and a model of the names in a dict."""
    rng = np.random.default_rng(4)
    named, plain = named_session(60), portpart.Session(networkx.cycle_graph(60), 2)
    ids = {f"u{v}/ff": v for v in range(60)}
    for round_number in range(12):
        by_name, by_id = named.batch(), plain.batch()
        new = [f"x{round_number}_{i}" for i in range(3)]
        given = by_name.insert_vertices([2, 1, 3], names=new)
        assert given.tolist() == by_id.insert_vertices([2, 1, 3]).tolist()
        ids.update(zip(new, given.tolist()))
        ends = [list(ids)[at] for at in rng.integers(len(ids) - 3, size=3)]
        by_name.insert_edges(ends, new)
        by_id.insert_edges([ids[end] for end in ends], given)
        by_name.set_vertex_weights(ends[0], 4)
        by_id.set_vertex_weights(ids[ends[0]], 4)
        gone = list(ids)[int(rng.integers(len(ids)))]
        by_name.delete_vertices(gone)
        by_id.delete_vertices(ids.pop(gone))
        one, other = named.apply(by_name), plain.apply(by_id)
        assert (one.value, one.moved) == (other.value, other.moved)
        assert np.array_equal(named.part, plain.part)
        assert {name: id for id, name in enumerate(named.labels) if name is not None} == ids
        assert named.graph().names == sorted(ids, key=ids.__getitem__)
        assert named.ids_of(list(ids)).tolist() == list(ids.values())


def test_nets_are_named_like_vertices() -> None:
    session = design()

    def edit(batch: Any) -> None:
        batch.insert_vertices(names=["buffer"])
        batch.delete_pins("n2", "c")
        batch.insert_pins("n2", "buffer")
        batch.insert_nets([0, 2], ["buffer", "c"], names="n4")
        batch.set_net_weights("n1", 7)

    applied(session, edit)
    graph = session.graph()
    nets = {net: {graph.names[pin] for pin in graph.net_pins[begin:end]} for net, begin, end in zip(
        graph.net_names, graph.net_offsets[:-1], graph.net_offsets[1:])}
    assert nets == {"n1": {"a", "b"}, "n2": {"b", "buffer"}, "n3": {"c", "d"},
                    "n4": {"buffer", "c"}}
    assert graph.net_weights.tolist() == [7, 1, 1, 1]
    assert session.ids_of(["n4", "n1"], nets=True).tolist() == [3, 0]


def test_a_number_is_always_an_id_and_anything_else_may_be_a_name() -> None:
    """Nodes of NetworkX are often tuples."""
    session = portpart.Session(networkx.grid_2d_graph(3, 3), 2)
    batch = session.batch()
    new = batch.insert_vertices(names=[(9, 9)])
    batch.insert_edges([(0, 0), 4, (2, 2)], int(new[0]))
    batch.set_vertex_weights([0, 1], 3)
    session.apply(batch)
    grid = session.graph()
    assert grid.to_scipy()[[9]].nonzero()[1].tolist() == [0, 4, 8]
    assert grid.vertex_weights.tolist() == [3, 3, *[1] * 8]


def test_a_vertex_without_a_name_stands_by_its_id() -> None:
    session = design()
    applied(session, lambda batch: batch.insert_vertices(count=2))
    assert session.labels == session.graph().names == ["a", "b", "c", "d", None, None]
    assert {name for block in session.blocks() for name in block} == {"a", "b", "c", "d", 4, 5}


def test_calls_take_the_blocks_of_a_session_by_name() -> None:
    """Of the vertices that exist; and those of another order find theirs."""
    session = design()
    applied(session, lambda batch: (batch.delete_vertices("a"), batch.insert_vertices(),
                                    batch.insert_vertices(names="e")))
    part = session.part[session.ids]
    assert blocks_of(session, 5, names=session.graph().names)[0].tolist() == part.tolist()
    again = portpart.Session(session.graph(), 2, initial=session)
    assert np.array_equal(again.part, part)
    turned = portpart.as_hypergraph([["e", "d"], ["c", "b"]])
    blocks = dict(zip(session.labels, session.part.tolist()))
    found = portpart.partition(turned, 2, fixed=session, imbalance=1)
    assert {name: blocks[name] for name in "edcb"} == dict(zip(found.labels, found.part.tolist()))


REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "unknown": (lambda batch: batch.delete_vertices(["a", "u_alu/ff4"]),
                r"delete_vertices: no vertex is called 'u_alu/ff4'; did you mean 'u_alu/ff3'\?"),
    "unknown net": (lambda batch: batch.insert_pins("n_clk", "a"), "no net is called 'n_clk'"),
    "taken": (lambda batch: batch.insert_vertices(names=["new", "a"]),
              "a vertex is called 'a' already, id 0; delete it before"),
    "taken by this batch": (lambda batch: (batch.insert_vertices(names="x"),
                                           batch.insert_vertices(names="x")), "'x' already"),
    "twice": (lambda batch: batch.insert_vertices(names=["x", "y", "x"]), "have 'x' twice"),
    "no name": (lambda batch: batch.insert_vertices(names=["x", None]), "which is not a name"),
    "wrong number": (lambda batch: batch.insert_vertices(names=["x", "y"], count=3), "2 names for"),
    "wrong weights": (lambda batch: batch.insert_vertices([1, 2, 3], names=["x", "y"]),
                      "3 weights for 2 ids"),
    "nets": (lambda batch: batch.insert_nets([0, 1], ["a"], names=["n1"]), "a net is called 'n1'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_name_that_cannot_be_is_refused_before_anything_is_applied(case: str) -> None:
    act, message = REFUSED[case]
    session = portpart.Session(
        portpart.as_hypergraph({**DESIGN, "n4": ["d", "u_alu/ff3"]}), 2)
    with pytest.raises(InputError, match=message):
        act(session.batch())
    assert session.graph().names == ["a", "b", "c", "d", "u_alu/ff3"]


def test_sessions_without_names_take_none() -> None:
    session = portpart.Session(generators.grid_2d(4), 2)
    for act in (lambda: session.batch().delete_vertices("a"),
                lambda: session.batch().insert_edges([0, 1], ["a", "b"])):
        with pytest.raises(InputError, match="is a name, but vertices have no names here; use ids"):
            act()
    with pytest.raises(InputError, match="leave names= out"):
        session.batch().insert_vertices(names=["a"])
    with pytest.raises(InputError, match="have no names"):
        session.ids_of("a")
    with pytest.raises(InputError, match="a graph has no nets"):
        session.ids_of("a", nets=True)


def test_ids_are_asked_for_by_names_alone() -> None:
    session = design()
    assert session.ids_of([]).tolist() == []
    assert session.ids_of(np.array(["d", "a"])).tolist() == [3, 0]
    for names in ([0], ["a", 1.5], 3, [["a"]]):
        with pytest.raises(InputError, match="are not names"):
            session.ids_of(names)
    with pytest.raises(InputError, match="must be integers"):
        session.batch().delete_vertices(["a", 1.5])


def test_names_that_tell_nothing_apart_are_shown_but_not_looked_up() -> None:
    graph = portpart.as_graph([[0, 1], [1, 2]])
    session = portpart.Session(replace(graph, names=["a", "b", "a"]), 2)
    assert session.labels == ["a", "b", "a"]
    with pytest.raises(InputError, match="3 vertices have 2 different names"):
        session.batch().delete_vertices("b")
    applied(session, lambda batch: batch.delete_vertices(0))
    assert session.labels == [None, "b", "a"]


def test_the_name_of_a_deleted_vertex_is_free() -> None:
    """Also in the same batch, behind the deletion."""
    session = design()
    batch = session.batch()
    batch.delete_vertices("a")
    new = batch.insert_vertices(names=["a"])
    batch.insert_pins("n3", "a")
    session.apply(batch)
    assert session.ids_of("a").tolist() == new.tolist() == [4]
    assert session.labels == [None, "b", "c", "d", "a"]
    applied(session, lambda batch: batch.delete_vertices("a"))
    with pytest.raises(InputError, match=r"delete_vertices\[0\].*id 4 \('a'\) does not exist"):
        applied(session, lambda batch: batch.delete_vertices("a"))
    update = applied(session, lambda batch: batch.delete_vertices("a", missing="ignore"))
    assert update.missing == 1
    with pytest.raises(InputError, match="ids_of: vertex 'a' does not exist"):
        session.ids_of("a")
    applied(session, lambda batch: batch.insert_vertices(names="a"))
    assert session.ids_of("a").tolist() == [5]


def test_a_name_that_another_batch_has_given_meanwhile_is_refused_as_a_whole() -> None:
    session = design()
    late, early = session.batch(), session.batch()
    for batch in (late, early):
        batch.insert_vertices(names=["x"])
        batch.insert_pins("n1", "x")
    session.apply(early)
    before = session.graph().net_pins.tolist()
    with pytest.raises(InputError, match="a vertex is called 'x' already, id 5"):
        session.apply(late)
    assert session.graph().net_pins.tolist() == before
    assert not late.applied


def test_undo_gives_names_back_to_what_had_them() -> None:
    session = design()
    start = session.mark()
    applied(session, lambda batch: (batch.delete_vertices("a"), batch.insert_vertices(names="a")))
    middle = session.mark()
    applied(session, lambda batch: (batch.delete_vertices(["a"]), batch.insert_vertices(names="a"),
                                    batch.insert_nets([0, 0], [], names="n9")))
    assert session.ids_of("a").tolist() == [5]
    session.undo(middle)
    assert session.ids_of("a").tolist() == [4]
    session.undo(start)
    assert session.ids_of("a").tolist() == [0]
    assert session.labels == ["a", "b", "c", "d", None, None]
    with pytest.raises(InputError, match="no net is called 'n9'"):
        session.batch().delete_nets("n9")
    applied(session, lambda batch: batch.insert_nets([0, 2], ["a", "d"], names="n9"))
    assert session.graph().net_names == ["n1", "n2", "n3", "n9"]


def test_compact_keeps_the_names_of_the_living() -> None:
    session = design()
    applied(session, lambda batch: (batch.delete_vertices("b"), batch.insert_vertices(names="e"),
                                    batch.delete_nets("n1")))
    cells, nets = session.labels, session.net_labels
    vertices, of_nets = session.compact()
    for new, old_names, now in ((vertices, cells, session.labels), (of_nets, nets,
                                                                    session.net_labels)):
        assert {name: int(id) for name, id in zip(old_names, new) if name is not None} == {
            name: id for id, name in enumerate(now)}
    with pytest.raises(InputError, match="no vertex is called 'b'"):
        session.batch().delete_vertices("b")
    applied(session, lambda batch: batch.insert_vertices(names="b"))
    assert session.graph().names == ["a", "c", "d", "e", "b"]


def test_a_batch_that_fails_halfway_gives_no_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be tried again."""
    session = design()
    batch = session.batch()
    batch.insert_vertices(names=["x"])
    batch.insert_pins("n1", "x")

    def out_of_memory(*_: Any) -> None:
        raise MemoryError

    with monkeypatch.context() as patched:
        patched.setattr(session._rounds, "_improve", out_of_memory)
        with pytest.raises(portpart.OutOfMemory):
            session.apply(batch)
    with pytest.raises(InputError, match="no vertex is called 'x'"):
        session.batch().delete_vertices("x")
    session.apply(batch)
    assert session.ids_of("x").tolist() == [4]


def test_files_keep_names(tmp_path: Path) -> None:
    """The loaded session goes on as the one that was saved: a name that is gone is still known."""
    session = design()
    applied(session, lambda batch: (
        batch.delete_vertices(["a", "b"]), batch.insert_vertices(names=["a"]),
        batch.insert_vertices(), batch.insert_nets([0, 1], ["a"], names=["\udc80 n"])))
    session.save(tmp_path / "session.npz")
    loaded = portpart.Session.load(tmp_path / "session.npz")
    for each in (session, loaded):
        assert each.labels == [None, None, "c", "d", "a", None]
        assert each.graph().net_names == ["n1", "n2", "n3", "\udc80 n"]
        update = applied(each, lambda batch: batch.delete_vertices("b", missing="ignore"))
        assert update.missing == 1
        with pytest.raises(InputError, match="'a' already, id 4"):
            each.batch().insert_vertices(names=["a"])
        applied(each, lambda batch: batch.insert_vertices(names=["b"]))
        assert each.ids_of(["a", "b"]).tolist() == [4, 6]


def test_names_that_are_tuples_and_numbers_are_kept_in_files(tmp_path: Path) -> None:
    graph = networkx.Graph([((0, "x"), 7), (7, 1.5), (1.5, (0, ("y", 2)))])
    session = portpart.Session(graph, 2)
    session.save(tmp_path / "session.npz")
    assert portpart.Session.load(tmp_path / "session.npz").labels == list(graph)


def test_a_name_that_no_file_can_hold_is_told_before_anything_is_written(tmp_path: Path) -> None:
    session = portpart.Session(networkx.Graph([(frozenset({1}), "b")]), 1)
    with pytest.raises(InputError, match=r"there is a name frozenset\(\{1\}\)"):
        session.save(tmp_path / "session.npz")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("names", ['["a", "b"]', '{"a": 1}', "[1, 2", "[" * 100_000, "\xff",
                                   '["a", "b", "c", {}]', '["a", "b", "c", "d", "e"]'])
def test_a_file_with_other_names_is_refused(names: str, tmp_path: Path) -> None:
    path = tmp_path / "session.npz"
    design().save(path)
    with np.load(path) as archive:
        arrays = dict(archive)
    np.savez(path, **{**arrays, "vertices_names": np.frombuffer(names.encode("latin1"), np.uint8)})
    with pytest.raises(portpart.GraphFormatError, match="vertices_names hold"):
        portpart.Session.load(path)


@pytest.mark.gpu
def test_names_are_the_same_on_a_gpu() -> None:
    """They are data of the host; ids may be arrays of the device, among them those that die."""
    space = cuda_space()
    session = design(device="cuda")
    mark, batch = session.mark(), session.batch()
    batch.delete_vertices(space.asarray(np.array([0, 1])))
    new = batch.insert_vertices(names=["a", "e"])
    batch.insert_pins("n1", ["a", "e"])
    batch.insert_pins(space.asarray(np.array([2])), "e")
    session.apply(batch)
    assert session.labels == [None, None, "c", "d", "a", "e"]
    assert session.ids_of(["a", "e"]).tolist() == new.tolist()
    assert {name for block in session.blocks() for name in block} == {"a", "c", "d", "e"}
    assert session.graph().names == ["c", "d", "a", "e"]
    with pytest.raises(InputError, match="'a' already, id 4"):
        session.batch().insert_vertices(names="a")
    session.undo(mark)
    assert session.ids_of(["a", "b"]).tolist() == [0, 1]
    session.compact()
    assert session.labels == ["a", "b", "c", "d"]

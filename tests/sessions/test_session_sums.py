"""Sessions whose weights come near 2^62: batches may bring them as far as constructors go."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import portpart
from portpart.algorithms.edits.editable import EditableGraph, EditableHypergraph
from portpart.errors import InputError

RING = portpart.from_edges([(v, (v + 1) % 8) for v in range(8)])
NETS = portpart.as_hypergraph([[v, (v + 1) % 8, (v + 3) % 8] for v in range(8)])

Ways = dict[str, tuple[Any, dict[str, Any], Callable[[Any, int], Any]]]


def insert_and_join(batch: Any, weight: int) -> None:
    batch.insert_edges(batch.insert_vertices(count=2), [0, 1], weight)


def several(batch: Any, weight: int) -> None:
    """None of them comes near the limit on its own."""
    batch.insert_edges(0, 3, weight // 2)
    batch.set_edge_weights(1, 2, weight - weight // 2)
    batch.delete_edges(4, 5)
    batch.insert_edges(0, 3, 1)


def widen(batch: Any, weight: int) -> None:
    """The heaviest net is not the one of most pins."""
    batch.set_net_weights(0, weight)
    batch.insert_pins(1, np.arange(7))


def exchange(batch: Any, weight: int) -> None:
    """One net that is heavy in place of another that was to be."""
    new = batch.insert_nets([0, 2], [0, 1], 2**40)
    batch.set_net_weights(new, 1)
    batch.delete_nets(2)
    batch.set_net_weights(3, weight)


WAYS: Ways = {
    "edge": (RING, {}, lambda batch, weight: batch.insert_edges(0, 4, weight)),
    "edge, no price": (RING, {"migration": 0},
                       lambda batch, weight: batch.insert_edges(0, 4, weight)),
    "edge, never escalates": (RING, {"escalate": "never"},
                              lambda batch, weight: batch.insert_edges(0, 1, weight)),
    "edge, follows as published": (RING, {"algorithm": "igkway"},
                                   lambda batch, weight: batch.insert_edges(0, 1, weight)),
    "weight of an edge": (RING, {}, lambda batch, weight: batch.set_edge_weights(6, 7, weight)),
    "edges of new vertices": (RING, {}, insert_and_join),
    "several edges": (RING, {"migration": 2}, several),
    "vertex": (RING, {}, lambda batch, weight: batch.insert_vertices(weight)),
    "weight of a vertex": (RING, {}, lambda batch, weight: batch.set_vertex_weights(3, weight)),
    "vertex of nets": (NETS, {}, lambda batch, weight: batch.insert_vertices([weight, 1])),
    "net": (NETS, {}, lambda batch, weight: batch.insert_nets([0, 2], [0, 1], weight)),
    "net, no price": (NETS, {"migration": 0},
                      lambda batch, weight: batch.insert_nets([0, 3], [0, 1, 4], weight)),
    "weight of a net": (NETS, {}, lambda batch, weight: batch.set_net_weights(3, weight)),
    "pins": (NETS, {}, widen),
    "a net for another": (NETS, {"migration": "1/7"}, exchange),
}


def refusal(call: Callable[[], Any]) -> str | None:
    """What an error says, None if there is none."""
    try:
        call()
    except InputError as problem:
        return str(problem)
    return None


def made_anew(way: str, weight: int) -> str | None:
    """What the constructor says of the graph that the edits of a way come to."""
    graph, options, edit = WAYS[way]
    edited = (EditableGraph if graph is RING else EditableHypergraph)(graph)

    def make() -> Any:
        batch = edited.batch()
        edit(batch, weight)
        edited.apply(batch)
        after = edited.graph() if graph is RING else edited.hypergraph()
        portpart.Session(after, 2, imbalance=10, initial=np.arange(after.num_vertices) % 2,
                         **options)

    return refusal(make)


def applied(way: str, session: Any, weight: int) -> str | None:
    """What a session says of the edits of a way."""
    def apply() -> Any:
        batch = session.batch()
        WAYS[way][2](batch, weight)
        session.apply(batch, "local")

    return refusal(apply)


def heaviest(fits: Callable[[int], bool]) -> int:
    """The largest weight that fits, by bisection."""
    low, high = 1, 2**62
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def state(session: Any) -> tuple[Any, ...]:
    arrays = session.graph().arrays
    return (session.part[session.ids].tolist(), getattr(session, session.objective),
            session.block_weights.tolist(), session.ids.tolist(),
            [None if array is None else array.tolist() for array in arrays.values()])


@pytest.mark.filterwarnings("ignore:.*imbalance")
@pytest.mark.parametrize("way", WAYS)
def test_a_batch_is_refused_exactly_where_the_constructor_refuses(
        way: str, tmp_path: Path) -> None:
    """With the same words; then nothing has changed, and what was saved can be read."""
    graph, options, _ = WAYS[way]
    most = heaviest(lambda weight: made_anew(way, weight) is None)
    session = portpart.Session(graph, 2, imbalance=10, initial=np.arange(8) % 2, **options)
    mark, before = session.mark(), state(session)
    for weight in (most + 1, most):
        said = applied(way, session, weight)
        assert said == made_anew(way, weight)
        if weight > most:
            assert said is not None
            assert state(session) == before
        session.save(tmp_path / "session.npz")
        loaded = portpart.Session.load(tmp_path / "session.npz")
        assert state(loaded) == state(session)
        assert loaded.apply(loaded.batch(), "none").value == getattr(session, session.objective)
    session.undo(mark)
    assert state(session)[:3] == before[:3]
    session.apply(session.batch(), "cycle")


@pytest.mark.filterwarnings("ignore:.*imbalance")
def test_a_session_takes_edits_of_the_largest_total_that_it_begins_with() -> None:
    weights = np.full(8, 2**59)
    session = portpart.Session(RING, 2, vertex_weights=weights, imbalance=10)
    batch = session.batch()
    batch.insert_edges(0, 4)
    batch.set_vertex_weights([2, 3], [2**59 - 5, 2**59 + 5])
    session.apply(batch, "local")
    assert int(session.block_weights.sum()) == 2**62
    batch = session.batch()
    batch.set_vertex_weights(3, 2**59 + 6)
    with pytest.raises(InputError, match=rf"vertex weights add up to {2**62 + 1}, above"):
        session.apply(batch)


@pytest.mark.filterwarnings("ignore:.*imbalance")
def test_nets_that_undo_makes_long_again_count_as_long() -> None:
    """What is known of the longest net must not outlive an undo."""
    options: dict[str, Any] = {"migration": 0, "imbalance": 10, "initial": np.arange(8) % 2}
    long = portpart.as_hypergraph([list(range(8)), [0, 1], [2, 3]])
    session = portpart.Session(long, 2, **options)
    mark = session.mark()
    batch = session.batch()
    batch.delete_pins(0, np.arange(2, 8))
    batch.set_net_weights(1, 2**60)  # so heavy that all nets are looked at
    session.apply(batch)
    session.undo(mark)
    batch = session.batch()
    batch.set_net_weights(1, 2**60)
    with pytest.raises(InputError, match="costs may exceed"):
        session.apply(batch)


def test_sizes_of_deleted_vertices_do_not_keep_a_file_from_being_read(tmp_path: Path) -> None:
    sizes = np.ones(8, np.int64)
    sizes[3] = 2**59
    session = portpart.Session(RING, 2, vertex_sizes=sizes, migration=1)
    for _ in range(7):
        batch = session.batch()
        batch.delete_vertices(3, missing="ignore")
        batch.insert_vertices(count=1)
        session.apply(batch)
    batch = session.batch()
    batch.set_edge_weights(6, 7, 2**60)
    session.apply(batch, "local")
    session.save(tmp_path / "session.npz")
    assert portpart.Session.load(tmp_path / "session.npz").cut == session.cut

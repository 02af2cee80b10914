"""Sessions that were saved and loaded go on bit for bit as those that were not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import portpart
from portpart import generators
from tests import oracles
from tests.conftest import cuda_space
from tests.helpers.nets import circuit
from tests.oracles import nets as net_oracles

N = 24 * 24

ROUNDS, BEFORE = 16, 5

GRID = {
    "portpart": {"imbalance": "1/20", "migration": "1/3", "target": [1, "2.5", 10**17 + 1, 3e17]},
    "igkway": {"algorithm": "igkway", "imbalance": 0.5, "min_block_weight": 143},
    "gkway": {"preset": portpart.GkwayConfig(), "seed": np.int64(7)},
    "never": {"escalate": "never", "migration": 2},
    "full block": {"fixed": np.where(np.arange(N) < 240, 2, -1)},
    "fixed": {"fixed": np.where(np.arange(N) % 9, -1, np.arange(N) % 4),
              "vertex_sizes": np.arange(N) % 6},
}
NETS = {
    "portpart": {"objective": "soed", "preset": "fast", "vertex_sizes": np.arange(N) % 6},
    "ihyperg": {"algorithm": "ihyperg", "migration": 1,
                "fixed": np.where(np.arange(N) % 30, -1, 3)},
    "hyperg": {"preset": portpart.HypergConfig(), "objective": "cut"},
}
CASES = [pytest.param(nets, options, id=f"{'nets' if nets else 'grid'}-{name}")
         for nets, cases in enumerate((GRID, NETS)) for name, options in cases.items()]


@pytest.mark.parametrize(("nets", "options"), CASES)
@pytest.mark.filterwarnings("ignore:the vertices fixed to block 2 weigh:UserWarning")
def test_a_loaded_session_goes_on_bit_for_bit(nets: bool, options: dict[str, Any],
                                              tmp_path: Path) -> None:
    """Many rounds, saved and loaded now and then, with undo and compaction on the way."""
    options = {"escalate": "auto", "imbalance": 0.05, **options}
    given = circuit(N, 2, large=30) if nets else generators.grid_2d(24)
    one: Any = portpart.Session(given, 4, **options)
    for turn in range(BEFORE):
        play(one, turn)
    other, efforts = reloaded(one, tmp_path), []
    for turn in range(ROUNDS):
        rounds = [state_after(each, turn) for each in (one, other)]
        assert rounds[0] == rounds[1]
        efforts.append(rounds[0][1])
        if turn % 7 == 3:
            other = reloaded(other, tmp_path)
    check_values(other)
    assert set(efforts) == {"local"} if options["escalate"] == "never" else len(set(efforts)) > 1


@pytest.mark.gpu
@pytest.mark.parametrize(("nets", "name"), [(False, "fixed"), (True, "ihyperg")])
def test_a_session_saved_on_a_cpu_goes_on_on_a_gpu(nets: bool, name: str, tmp_path: Path) -> None:
    cuda_space()
    given = circuit(N, 2, large=30) if nets else generators.grid_2d(24)
    one = portpart.Session(given, 4, device="cpu", **(NETS if nets else GRID)[name])
    play(one, 0)
    other = reloaded(one, tmp_path, device="cuda")
    for turn in range(6):
        assert state_after(one, turn) == state_after(other, turn)


def reloaded(session: Any, folder: Path, **options: Any) -> Any:
    session.save(folder / "session.npz")
    return portpart.Session.load(folder / "session.npz", **options)


def state_after(session: Any, turn: int) -> list[Any]:
    """A round, some of which are undone and some followed by compaction, and all that is told."""
    mark = session.mark()
    told = play(session, 100 + turn)
    if turn % 5 == 2:
        session.undo(mark)
    if turn == 13:
        new = session.compact()
        told += [each.tolist() for each in (new if isinstance(new, tuple) else (new,))]
    graph, rounds = session.graph(), session._rounds
    rows = [None if array is None else oracles.host(array).tolist()
            for array in graph.arrays.values()]
    return [*told, oracles.host(session.part).tolist(), session.block_weights.tolist(), rows,
            session.cut, rounds.ledger, rounds.edited.num_pairs, rounds.edited.pair_weight]


def play(session: Any, seed: int) -> list[Any]:
    """A batch that follows from the session and a seed; what it came to."""
    rng, batch, ids = np.random.default_rng(seed), session.batch(), session.ids
    new = batch.insert_vertices(rng.integers(1, 3, 2))
    gone = rng.choice(ids, 2, replace=False)
    batch.delete_vertices(gone)
    left = np.setdiff1d(ids, gone)
    batch.set_vertex_weights(rng.choice(left, 2), rng.integers(1, 4, 2))
    if hasattr(batch, "insert_nets"):
        batch.insert_nets([0, 3, 5], [*rng.choice(left, 3), *new])
        batch.delete_pins(rng.integers(0, 20, 3), rng.choice(left, 3), missing="ignore")
    else:
        batch.insert_edges([*new, *rng.choice(left, 2)], rng.choice(left, 4),
                           rng.integers(1, 4, 4))
        batch.delete_edges(rng.choice(left, 3), rng.choice(left, 3), missing="ignore")
    if seed % 4 == 2:
        batch.set_fixed([*rng.choice(left, 2, replace=False), new[0]], rng.integers(-1, 4, 3))
    update = session.apply(batch)
    return [update.value, update.effort, update.feasible, update.moved, update.migration,
            update.affected, update.imbalance]


def check_values(session: Any) -> None:
    """The cut and the weights of blocks are those of the graph."""
    graph, part = session.graph(), oracles.host(session.part)[session.ids]
    cut = (oracles.cut(graph, part) if isinstance(graph, portpart.Graph)
           else net_oracles.values(graph, part)["cut"])
    assert session.cut == cut
    assert session.block_weights.tolist() == oracles.block_weights(graph, part, 4)


@pytest.mark.parametrize("nets", [False, True], ids=["graph", "hypergraph"])
def test_edits_before_a_file_was_written_count_for_what_is_done_later(nets: bool,
                                                                      tmp_path: Path) -> None:
    """Edits of three come to 2.5 % of 80 edges or 100 pins, wherever a file comes between them."""
    nets_given = [range(at, at + 10) for at in range(0, 100, 10)]
    given: Any = (portpart.as_hypergraph(nets_given) if nets
                  else portpart.from_edges([(v, (v + 1) % 80) for v in range(80)]))
    for saved_before in range(4):
        session, efforts = portpart.Session(given, 2), []
        part = session.part.tolist()
        for turn in range(3):
            if turn == saved_before:
                session = reloaded(session, tmp_path)
            batch = session.batch()
            if nets:  # a pin of another net of the same block
                here = [net for net in range(10) if part[10 * net] == part[0]]
                batch.insert_pins([here[turn]], [10 * here[turn + 1]])
            else:  # an edge inside of a block
                inner = [v for v in range(78) if part[v] == part[v + 2]]
                batch.insert_edges([inner[10 * turn]], [inner[10 * turn] + 2])
            efforts.append(session.apply(batch).effort)
        assert efforts == ["local", "local", "cycle"]


@pytest.mark.parametrize("nets", [False, True], ids=["graph", "hypergraph"])
@pytest.mark.parametrize("k", [1, 3])
def test_sessions_of_hardly_anything_are_saved(nets: bool, k: int, tmp_path: Path) -> None:
    """Of no vertex, of ids that were never born, and of none that is left."""
    session: Any = portpart.Session(portpart.as_hypergraph([]) if nets else
                                    portpart.from_edges([], num_vertices=0), k)
    for turn in range(4):
        session = reloaded(session, tmp_path)
        session.batch().insert_vertices(count=2)  # nobody applies it
        batch = session.batch()
        if turn == 1:
            new = batch.insert_vertices(count=3)
            if nets:
                batch.insert_nets([0, 0, 3], new)
            else:
                batch.insert_edges(new[:2], new[1:])
        elif turn == 2:
            batch.delete_vertices(session.ids)
        session.apply(batch)
        assert len(session.part) == 2 * turn + 2 + 3 * (turn > 0)
        assert len(session.ids) == session.block_weights.sum() == 3 * (turn == 1)


def test_weight_scales_are_kept(tmp_path: Path) -> None:
    graph = portpart.as_graph(generators.grid_2d(4), edge_weights=np.full(48, 0.25),
                              weights="round", weight_scale=100)
    session = portpart.Session(graph, 2)
    for each in (session, reloaded(session, tmp_path)):
        assert each.graph().weight_scale == 100
        assert each.graph().weights.tolist() == [25] * 48

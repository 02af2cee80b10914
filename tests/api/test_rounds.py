"""`rounds=`: rounds of a population after the search of the preset "best"."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import portpart
from portpart import generators
from portpart.algorithms.multilevel.trace import Trace
from portpart.cli import main
from portpart.errors import InputError
from portpart.options import changed
from tests.helpers import checked
from tests.helpers.each import looped
from tests.oracles import nets

MESH = generators.delaunay(600)
NETS = generators.netlist(500)
OBJECTIVES = {"cut": MESH, "volume": MESH, "km1": NETS, "soed": NETS, "cut of nets": NETS}
SMALL = changed(portpart.PortpartConfig(), {"search.population": 3})
"""Rounds of this preset are fast, and full soon."""

SMALL_OF_NETS = changed(portpart.HypergraphConfig(), {"search.population": 3})
GRID = generators.grid_2d(12)


def best(graph: Any, k: int, rounds: int | str | None, **options: Any) -> portpart.PartitionResult:
    return portpart.partition(graph, k, **{"preset": "best", "rounds": rounds, **options})


def values(result: portpart.PartitionResult) -> list[int]:
    """The best after each round."""
    return [each["best"] for each in result.stats["rounds"]]


@pytest.mark.parametrize("name", OBJECTIVES)
@pytest.mark.parametrize("k", [2, 5])
def test_rounds_are_never_worse_and_more_of_them_go_on_where_fewer_ended(name: str, k: int) -> None:
    graph, objective = OBJECTIVES[name], name.split()[0]
    none, few, more = (best(graph, k, rounds, objective=objective, seed=3)
                       for rounds in (None, 6, 12))
    assert getattr(few, objective) <= getattr(none, objective)
    assert getattr(more, objective) <= getattr(few, objective)
    assert values(more)[:6] == values(few)
    assert few.stats["cuts"][: len(none.stats["cuts"])] == none.stats["cuts"]
    assert len(more.stats["cuts"]) == len(none.stats["cuts"]) + 12
    assert more.stats["ended"] == "rounds"
    assert "rounds" not in none.stats


@pytest.mark.parametrize("graph", [MESH, NETS], ids=["graph", "hypergraph"])
def test_rounds_find_the_same_on_any_number_of_threads(graph: Any) -> None:
    """Of a population that is full, so that similarity decides too."""
    preset = SMALL if graph is MESH else SMALL_OF_NETS
    one, two = (best(graph, 3, 25, threads=threads, preset=preset) for threads in (1, 2))
    assert np.array_equal(one.part, two.part)
    assert [(each["kind"], each["cut"]) for each in one.stats["rounds"]] == [
        (each["kind"], each["cut"]) for each in two.stats["rounds"]]
    assert {each["kind"] for each in one.stats["rounds"]} == {"start", "combination", "cycle"}


def test_at_the_time_limit_the_rounds_so_far_count() -> None:
    """As many rounds without a clock find the same partition."""
    best(MESH, 3, 1, preset=SMALL)
    timed = best(MESH, 3, "until_limit", time_limit=0.7, preset=SMALL)
    done = len(timed.stats["rounds"])
    assert timed.stats["ended"] == "time"
    assert done > 0
    assert np.array_equal(timed.part, best(MESH, 3, done, preset=SMALL).part)
    short = best(MESH, 3, 10**6, time_limit=0, preset=SMALL)
    assert short.feasible
    assert (short.stats["ended"], short.stats["rounds"]) == ("time", [])
    whole = best(MESH, 3, 5, time_limit=1e9, preset=SMALL)
    assert np.array_equal(whole.part, best(MESH, 3, 5, preset=SMALL).part)


@pytest.fixture
def usual_interrupt() -> Iterator[None]:
    """Ctrl-C raises, as in a process in the foreground."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt(*_: Any) -> None:
    os.kill(os.getpid(), signal.SIGINT)


no_signals = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT to send")


@no_signals
@pytest.mark.usefixtures("usual_interrupt")
@pytest.mark.parametrize("name", ["graph", "hypergraph", "edges"])
def test_ctrl_c_ends_the_rounds_and_the_best_partition_is_returned(name: str) -> None:
    def press(phase: str, level: int, levels: int) -> None:
        if phase.startswith("round 4,"):
            interrupt()

    calls: dict[str, tuple[Any, ...]] = {
        "graph": (portpart.partition, MESH, SMALL),
        "hypergraph": (portpart.partition, NETS, SMALL_OF_NETS),
        "edges": (portpart.partition_edges, GRID, SMALL_OF_NETS)}
    call, graph, preset = calls[name]
    stopped = call(graph, 3, preset=preset, rounds=10**6, progress=press)
    assert stopped.stats["ended"] == "interrupt"
    assert len(stopped.stats["rounds"]) == 4
    assert np.array_equal(stopped.part, call(graph, 3, preset=preset, rounds=4).part)


@no_signals
@pytest.mark.usefixtures("usual_interrupt")
@pytest.mark.parametrize(("phase", "rounds"), [("coarsening", 9), ("finish", 9), ("search", None)])
def test_ctrl_c_is_raised_before_the_first_partition_and_while_a_call_finishes(
    phase: str, rounds: int | None
) -> None:
    preset = changed(SMALL, {"search.cycles": 1})
    expected = best(MESH, 3, 2, preset=preset).part
    with pytest.raises(KeyboardInterrupt):
        best(MESH, 3, rounds, preset=preset,
             progress=lambda now, *_: interrupt() if now == phase else None)
    assert np.array_equal(best(MESH, 3, 2, preset=preset).part, expected)


@no_signals
@pytest.mark.usefixtures("usual_interrupt")
@pytest.mark.parametrize("of_edges", [False, True])
def test_ctrl_c_on_the_command_line_writes_the_best_partition(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    of_edges: bool,
) -> None:
    file, output, walked = tmp_path / "mesh.graph", tmp_path / "part", Trace.walked
    graph, name = (GRID, "partition-edges") if of_edges else (MESH, "partition")
    call: Any = portpart.partition_edges if of_edges else portpart.partition
    portpart.io.write(graph, file)

    def press(trace: Trace, cut: int) -> None:
        walked(trace, cut)
        if len(trace.rounds or []) == 3:
            interrupt()

    monkeypatch.setattr(Trace, "walked", press)
    command = [name, str(file), "-k", "2", "--preset", "best", "-o", str(output)]
    assert main([*command, "--rounds", "until_limit", "--time-limit", "600", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["rounds"], report["rounds_done"], report["ended"]) == (
        "until_limit", 3, "interrupt")
    expected = call(graph, 2, preset="best", rounds=3).part
    assert np.array_equal(np.loadtxt(output, np.int32), expected)
    assert main([*command, "--rounds", "500"]) == 0
    assert "3, ended by Ctrl-C" in capsys.readouterr().out


def test_progress_tells_each_round_with_the_best_cut() -> None:
    told: list[str] = []
    result = best(MESH, 3, 5, preset=SMALL, progress=lambda phase, *_: told.append(phase))
    rounds = list(dict.fromkeys(phase for phase in told if phase.startswith("round")))
    assert rounds == [f"round {number}, best {value}"
                      for number, value in enumerate(values(result), 1)]
    assert told[-2:] == ["finish", "done"]


WISHES: dict[str, dict[str, Any]] = {
    "target": {"target": [1, 2, 3]},
    "fixed": {"fixed": np.where(np.arange(600) % 20 == 0, np.arange(600) % 3, -1)},
    "initial": {"initial": np.arange(600) % 3},
    "weights": {"vertex_weights": np.arange(600) % 7},
    "macro": {"vertex_weights": [300] + [1] * 599},
    "least": {"min_block_weight": 200},
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", WISHES)
def test_rounds_do_what_else_is_wanted(name: str) -> None:
    options = WISHES[name]
    result = checked.partition(MESH, 3, preset=SMALL, rounds=12, **options)
    assert result.cut <= portpart.partition(MESH, 3, preset=SMALL, **options).cut


@looped("n", range(6))
@looped("k", [1, 2, 4])
def test_graphs_smaller_than_the_population(n: int, k: int) -> None:
    path = portpart.from_edges([(v, v + 1) for v in range(n - 1)], num_vertices=n)
    result = checked.partition(path, k, preset="best", rounds=30)
    assert result.cut == portpart.partition(path, k, preset="best").cut
    assert result.stats["ended"] in ("rounds", "optimum")


def test_nothing_is_searched_for_where_nothing_is_cut() -> None:
    pairs = portpart.from_edges([(2 * v, 2 * v + 1) for v in range(200)])
    result = best(pairs, 4, "until_limit", time_limit=600)
    assert (result.cut, result.stats["ended"]) == (0, "optimum")


@pytest.mark.parametrize(("options", "message"), [
    ({}, "preset 'default' has no population; pass algorithm='portpart', preset='best'"),
    ({"preset": "strong"}, "preset 'strong' has no population"),
    ({"preset": portpart.PortpartConfig()}, "a configuration with search.population"),
    ({"algorithm": "jet"}, "preset 'default' of 'jet' has no population"),
    ({"algorithm": "gpmetis", "preset": "strong"}, "preset 'strong' of 'gpmetis'"),
    ({"preset": "best", "rounds": -1}, "rounds is -1"),
    ({"preset": "best", "rounds": 1.5}, "rounds is 1.5; it must be an integer"),
    ({"preset": "best", "rounds": [3]}, "rounds is"),
    ({"preset": "best", "rounds": True}, "rounds is True; it must be a number of rounds or"),
    ({"preset": "best", "rounds": 2**31}, "rounds is 2147483648; it must be between 1 and"),
    ({"preset": "best", "rounds": "until_limit"}, "time_limit is missing"),
    ({"preset": "best", "devices": ["cpu", "cpu"]}, "rounds is not for graphs of several ranks"),
])
def test_rounds_that_cannot_be_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message.replace("[", r"\[")):
        portpart.partition(MESH, 2, **{"rounds": 3, **options})


@pytest.mark.parametrize("call", [
    lambda: portpart.repartition(MESH, np.zeros(600, np.int32), 2, rounds=3),  # type: ignore[call-arg]
    lambda: portpart.map_processes(MESH, "2:2", rounds=3),  # type: ignore[call-arg]
    lambda: portpart.Session(MESH, 2, rounds=3)])  # type: ignore[call-arg]
def test_calls_without_rounds_have_no_such_option(call: Any) -> None:
    with pytest.raises(TypeError, match="rounds"):
        call()


def test_values_of_hypergraphs_are_true() -> None:
    result = best(NETS, 4, 8)
    assert {name: getattr(result, name) for name in ("cut", "km1", "soed")} == nets.values(
        NETS, result.part)
    assert result.feasible
    assert values(result)[-1] == result.km1


AT_ANY_MOMENT = """
import _thread, random, signal, threading, time
import numpy as np, portpart
from portpart.options import changed
signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background ignore it
mesh = portpart.generators.delaunay(3000)
preset = changed(portpart.PortpartConfig(), {"search.population": 3})
call = lambda rounds: portpart.partition(mesh, 4, threads=2, preset=preset, rounds=rounds)
call(12)
start = time.perf_counter()
expected = {rounds: call(rounds).part for rounds in range(1, 13)}
duration = (time.perf_counter() - start) / 6
random.seed(1)
ends = []
for _ in range(20):
    timer = threading.Timer(random.random() * duration, _thread.interrupt_main)
    try:
        timer.start()
        found = call(12)
        done = len(found.stats["rounds"])
        ends.append(found.stats["ended"])
        assert done == 0 or np.array_equal(found.part, expected[done]), done
        timer.join()
        time.sleep(0.01)
    except KeyboardInterrupt:
        ends.append("raised")
print("usable", set(ends) >= {"interrupt"})
"""


def test_an_interrupt_at_any_moment_leaves_a_partition_of_the_rounds_before_it() -> None:
    done = subprocess.run([sys.executable, "-c", AT_ANY_MOMENT], capture_output=True, text=True,
                          env={**os.environ, "NUMBA_NUM_THREADS": "2"}, timeout=300)
    assert done.stdout.strip() == "usable True", done.stderr


def test_edges_have_rounds_too() -> None:
    none, some = (portpart.partition_edges(GRID, 4, preset=SMALL_OF_NETS, rounds=rounds)
                  for rounds in (None, 12))
    assert some.feasible
    assert some.copies.sum() <= none.copies.sum()
    assert values(some)[-1] == some.km1
    estimate = portpart.memory_estimate(like=GRID, k=4, edges=True, preset=SMALL_OF_NETS,
                                        rounds=12)
    assert estimate.peak >= portpart.memory_estimate(like=GRID, k=4, edges=True,
                                                     preset=SMALL_OF_NETS).peak
    with pytest.raises(InputError, match="no population"):
        portpart.partition_edges(GRID, 4, rounds=12)

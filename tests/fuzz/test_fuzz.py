"""A minute of fuzzing, and that fuzzing notices what it has to notice."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from portpart import backends
from portpart.errors import InputError
from portpart.graphs.graph import Graph
from tests.fuzz import campaign, cases, judge, samples, targets
from tests.fuzz.campaign import HANGS, counts_of, report, run
from tests.fuzz.cases import bytes_of
from tests.fuzz.keep import keep_all
from tests.fuzz.minimise import shortest
from tests.fuzz.worker import Settings

CASES = 4000
SECONDS = 20.0
MEMORY = 2 << 30


@pytest.mark.slow
def test_no_mutated_input_has_an_unclean_outcome(tmp_path: Path) -> None:
    settings = Settings(1, SECONDS, MEMORY)  # make fuzz draws other seeds
    # one process: each imports and compiles everything first
    found = run(counts_of(CASES, list(targets.TARGETS)), settings, jobs=1)
    print(report(found))
    assert not found.unclean, "\n".join(keep_all(found.unclean, settings, tmp_path))
    assert all(found.counts[name][cases.ACCEPTED] for name in targets.TARGETS)


@pytest.mark.parametrize("target", ["packed", "npz"])
def test_a_case_is_the_same_at_any_time(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Packed files may hold the time they were made at; a case is told by its number alone."""
    made = [bytes_of(target, 1, number) for number in range(60)]
    for name in ("time", "localtime", "gmtime"):
        late = getattr(time, name)(86400.0) if name != "time" else 86400.0
        monkeypatch.setattr(time, name, lambda *_, late=late: late)
    assert [bytes_of(target, 1, number) for number in range(60)] == made


def unclean(data: bytes, folder: Path) -> None:
    """Go wrong in the way that the first of some letters tells."""
    kind = next((letter for letter in data if letter in b"rcmsh"), 0)
    if kind == ord("r"):
        raise InputError("refused")
    if kind == ord("c"):
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == ord("m"):
        np.ones(1 << 34)
    if kind == ord("s"):
        time.sleep(60)
    if kind == ord("h"):
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        time.sleep(60)
    if b"x" in data and b"y" in data:
        raise KeyError("both")


@pytest.fixture
def trial(monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings for a target of which the cases 0 to 6 are these."""
    made = [b"fine", b"r", b"..c..", b"m", b"s", b"h", b"a-x-b-y-"]
    target = targets.Target(lambda random: made[random.randrange(7)], unclean)
    monkeypatch.setitem(targets.TARGETS, "trial", target)
    monkeypatch.setattr(campaign, "GRACE", 1.0)
    monkeypatch.setattr("tests.fuzz.worker._warm", lambda *_: None)
    monkeypatch.setattr("tests.fuzz.worker.bytes_of", lambda _t, _s, number: made[number])
    monkeypatch.setattr("tests.fuzz.keep.bytes_of", lambda _t, _s, number: made[number])
    return Settings(1, 0.5, 1 << 30, start="fork")


def test_every_kind_of_failure_is_told_and_attributed(trial: Settings, tmp_path: Path) -> None:
    found = run({"trial": 7}, trial, jobs=2)
    told = {case.number: case.what for case in found.unclean}
    assert "MemoryError" in told.pop(3)
    assert told == {2: "crashes with exit code -9", 4: "too slow", 5: HANGS, 6: "KeyError"}
    assert found.counts["trial"] == {cases.ACCEPTED: 1, cases.REFUSED: 1}
    some = [case for case in found.unclean if case.number in (2, 6)]
    kept = list(keep_all(some, trial, tmp_path))
    assert len(kept) == 2
    assert (tmp_path / "trial-1-2.min").read_bytes() == b"c"
    assert (tmp_path / "trial-1-6.min").read_bytes() == b"xy"
    assert (tmp_path / "trial-1-6").read_bytes() == b"a-x-b-y-"
    assert "--target trial" in (tmp_path / "trial-1-6.txt").read_text()


def test_a_case_is_the_same_each_time() -> None:
    for name in targets.TARGETS:
        assert cases.bytes_of(name, 5, 3) == cases.bytes_of(name, 5, 3)
    assert len({cases.bytes_of("metis", 5, number) for number in range(50)}) > 40


def test_the_shortest_failing_input_is_found() -> None:
    data = bytes(range(200))
    assert shortest(data, lambda some: 17 in some and 180 in some) == bytes([17, 180])
    assert shortest(b"", lambda some: True) == b""


def graph(offsets: list[int], targets: list[int], weights: list[int] | None = None) -> Graph:
    return Graph(np.array(offsets, np.int32), np.array(targets, np.int32),
                 None if weights is None else np.array(weights), None, backends.space("cpu"))


@pytest.mark.parametrize(("wrong", "what"), [
    (([0, 1, 1], [1], None), "not symmetric"),
    (([0, 1, 2], [1, 0], [1, 2]), "not symmetric"),
    (([0, 1, 2], [0, 1], None), "a loop"),
    (([0, 1, 2], [1, 2], None), "not a vertex"),
    (([0, 2, 1, 2], [1, 0], None), "decrease"),
    (([0, 1], [], None), "ends of the offsets"),
    (([0, 1, 2], [1, 0], [-1, -1]), "weights"),
    (([0, 1, 2], [1, 0], [2**62, 2**62]), "above 2"),
])
def test_graphs_that_are_none_are_noticed(wrong: tuple[list[int], list[int], list[int] | None],
                                          what: str) -> None:
    with pytest.raises(judge.Wrong, match=what):
        judge.check_graph(graph(*wrong))
    judge.check_graph(graph([0, 1, 2], [1, 0], [3, 3]))


@pytest.mark.parametrize(("change", "what"), [
    ({"part": [0, 0, 2]}, "a block that is none"),
    ({"edges": [[0, 1], [0, 2], [2, 1]]}, "ends of the edges"),
    ({"km1": 3}, "km1"), ({"cut": 1}, "cut"), ({"replication_factor": 1.5}, "replication factor"),
    ({"block_weights": [1, 2]}, "block weights"), ({"copy_blocks": [0, 1, 0, 1, 1]}, "of copies"),
    ({"block_weight_limits": np.array([3, 3])}, "limits"),
    ({"block_weight_limits": np.array([2, 0])}, "feasible, but above"),
])
def test_partitions_of_edges_that_are_wrong_are_noticed(change: dict[str, Any], what: str) -> None:
    triangle = graph([0, 2, 4, 6], [1, 2, 0, 2, 0, 1])
    right = {"part": [0, 0, 1], "k": 2, "edges": [[0, 1], [0, 2], [1, 2]], "km1": 2, "cut": 2,
             "copies": np.array([1, 2, 2]), "replication_factor": 5 / 3, "block_weights": [2, 1],
             "copy_blocks": [0, 0, 1, 0, 1], "block_weight_limits": np.array([2, 2]),
             "feasible": True}
    options = {"fixed": {(1, 2): 1}, "imbalance": 0}

    def judged(**changed: Any) -> None:
        result = SimpleNamespace(**right | changed)
        judge.check_edge_partition(triangle, result)
        judge.check_wishes(result, options, [(0, 1), (0, 2), (1, 2)])

    judged()
    with pytest.raises(judge.Wrong, match=what):
        judged(**change)
    with pytest.raises(judge.Wrong, match="a fixed block"):
        judge.check_wishes(SimpleNamespace(**right), {"fixed": [1, -1, -1]}, [])


@pytest.mark.parametrize("name", ["metis", "matrix_market", "edge_list", "dimacs", "dense", "npy"])
def test_the_samples_are_valid(name: str, tmp_path: Path) -> None:
    suffix = {"metis": ".graph", "matrix_market": ".mtx", "edge_list": ".txt", "dimacs": ".gr",
              "dense": ".txt", "npy": ".npy"}[name]
    made = getattr(samples, name)()
    outcomes = []
    for data in made:
        with contextlib.suppress(InputError):
            targets.read_file(suffix, data, tmp_path)
            outcomes.append(data)
    assert len(outcomes) >= 0.5 * len(made)

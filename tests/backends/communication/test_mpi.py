"""Ranks of MPI against ranks of one process, and faults: no rank waits for one that has failed."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

pytest.importorskip("mpi4py", reason="mpi4py is not installed")

from portpart import backends
from portpart.backends.communication import Local
from tests.helpers.ranks import rank_steps
from tests.helpers.ranks.mpi_jobs import MPIEXEC, answers_of
from tests.helpers.ranks.rank_steps import WANTED

SECONDS = 10
"""A fault is known to all ranks within so many."""

pytestmark = pytest.mark.skipif(MPIEXEC is None, reason="there is no mpiexec")


def launched(size: int, case: str) -> tuple[int, dict[int, Any]]:
    """The exit code of a job, and what each rank has printed."""
    return answers_of(size, "tests.helpers.ranks.mpi_ranks", case)


def few_steps(comm: Any) -> Any:
    return rank_steps.few_steps(comm, backends.space("cpu", threads=1))


@pytest.mark.parametrize("size", [1, 3])
def test_steps_are_those_of_ranks_in_one_process_and_arrays_of_a_gpu_go_by_the_host(
    size: int
) -> None:
    code, answers = launched(size, "steps")
    assert code == 0
    expected = Local(size).run(rank_steps.all_steps)
    assert [answers[rank][0] for rank in range(size)] == as_read(expected)
    for *_, differing_offsets, differing_targets in (each[2] for each in expected):
        assert (differing_offsets, differing_targets) == (0, 0)
    assert [answers[rank][1] for rank in range(size)] == as_read(Local(size).run(few_steps))


def as_read(answer: Any) -> Any:
    """An answer as JSON brings it."""
    return json.loads(json.dumps(answer))


@pytest.fixture(scope="module")
def faulty() -> dict[int, Any]:
    """What three ranks tell of faults: of steps by MPI, by NCCL, and of a rank that is late."""
    code, answers = launched(3, "faults")
    assert code == 0
    return answers


def test_ranks_of_nccl_exchange_what_ranks_of_one_process_do_and_fail_together(
    faulty: dict[int, Any]
) -> None:
    expected = as_read(Local(3).run(few_steps))
    for rank in range(3):
        found = faulty[rank][1]
        assert found["steps"] == expected[rank]
        assert found["profile"] == [["all_reduce (state)", 3], ["all_to_all (send)", 1]]
        for name, (kind, text) in {**WANTED, "waits": ["InputError", "rank 2: k is 0"]}.items():
            assert found[name][:2] == [kind, text]
            assert found[name][2] < SECONDS
        assert found["shared"].startswith("rank 1: GPU the only GPU of here is rank 0's already")


def test_a_fault_of_one_rank_is_raised_on_all(faulty: dict[int, Any]) -> None:
    for rank in range(3):
        found = faulty[rank][0]
        for name, (kind, text) in WANTED.items():
            (found_kind, found_text, seconds), working = found[name]
            assert (found_kind, found_text) == (kind, text)
            assert seconds < SECONDS
            assert working == 3
        assert "it has been freed" in found["freed"]
        assert "it has been freed" in found["none"]
        assert "an mpi4py.MPI.Intracomm, or a torch" in found["no communicator"]


def test_ranks_do_not_wait_for_ever(faulty: dict[int, Any]) -> None:
    for rank in range(3):
        kind, text, _ = faulty[rank][2]
        assert kind == "CommunicatorLost"
        assert text[5:] in [f"{who}: no other rank has gone on for 1 seconds" for who in (0, 2)]


def test_a_job_ends_when_a_rank_is_killed() -> None:
    begin = time.monotonic()
    code, answers = launched(3, "killed")
    assert code != 0
    assert not answers
    assert time.monotonic() - begin < SECONDS

"""MPI ranks on GPUs come to the partition of one device, and fail together.

Two GPUs are used where they are; everywhere else a stand-in.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Iterator
from typing import Any

import pytest

import portpart
from tests.helpers.emulation.host_cuda import COMPILER, NO_COMPILER
from tests.helpers.gpu import require_cupy
from tests.helpers.ranks.mpi_jobs import MPIEXEC, answers_of

if MPIEXEC is None:
    pytest.skip("there is no mpiexec", allow_module_level=True)
pytest.importorskip("mpi4py")

SECONDS = 10

CALLS = {"mesh": (5, "default"), "weighted": (2, "fast")}


@pytest.fixture(params=["stand-in", pytest.param("gpu", marks=pytest.mark.gpu)])
def where(request: pytest.FixtureRequest) -> Iterator[tuple[str, ...]]:
    """What a job is told of where to run: two GPUs, or stand-ins."""
    if request.param == "stand-in":
        if COMPILER is None:
            pytest.skip(NO_COMPILER)
        yield ()
    else:
        require_two_gpus()
        yield ("gpu",)


def require_two_gpus() -> None:
    count = require_cupy().cuda.runtime.getDeviceCount()
    if count < 2:
        pytest.skip(f"two GPUs are needed, and there is {count}")


TOGETHER = ("whole_calls", "faults", "interrupted")
"""Cases of one job; those of stand-ins are all in one, as ranks take a second to start."""


@functools.cache
def job(cases: str, *where: str) -> dict[int, Any]:
    code, answers = answers_of(2, "tests.helpers.ranks.gpu_ranks", cases, *where, seconds=250)
    assert code == 0
    return answers


def launched(case: str, *where: str) -> list[Any]:
    cases = TOGETHER if where else (*TOGETHER, "shared")
    answers = job(",".join(cases) if case in cases else case, *where)
    return [answers[rank][case] for rank in range(2)]


def of_one_device(name: str) -> list[Any]:
    """What `tests.helpers.ranks.gpu_ranks.found` has to find."""
    from tests.helpers.ranks.gpu_ranks import SMALL
    from tests.helpers.ranks.process_calls import facts_of

    k, preset = CALLS[name]
    result = portpart.partition(SMALL[name](), k, preset=preset)
    return facts_of(result, result.part)


def test_ranks_on_gpus_come_to_the_partition_of_one_device(where: tuple[str, ...]) -> None:
    expected = {name: of_one_device(name) for name in CALLS}
    for answer in launched("whole_calls", *where):
        for found in answer:
            for name in CALLS:
                kind = "cupy" if where else "tests"
                assert found[f"{name} there"] == [kind, *expected[name]]
                assert found[f"{name} copied"] == ["numpy", *expected[name]]


def test_what_goes_wrong_on_a_rank_is_told_on_all_and_the_next_call_works(
        where: tuple[str, ...]) -> None:
    for (found,) in launched("faults", *where):
        for name, text in (
                ("kinds", "rank 1: this rank works on the CPU, and rank 0 on a GPU"),
                ("target", "rank 1: 1000000, a neighbour of vertex"),
                ("k", "rank 0: k is 1000000000"), ("amid", "rank 1: not today"),
                ("device", "rank 0: device is 'cpu', and the rows of this rank are on cuda:0")):
            kind, message, seconds = found[name]
            assert kind == "InputError"
            assert message.startswith(text)
            assert seconds < SECONDS
        assert found["then"][1:] == of_one_device("mesh")


def test_ranks_that_share_a_gpu_exchange_through_the_host_and_say_so(
        where: tuple[str, ...]) -> None:
    for rank, (found,) in enumerate(launched("shared", *where)):
        facts, warned = found
        assert facts[1:] == of_one_device("mesh")
        assert len(warned) == (rank == 0)
        assert all("ranks 0 and 1 have the same GPU" in each for each in warned)


def test_interrupts_and_lack_of_memory_end_a_call_on_all_ranks(where: tuple[str, ...]) -> None:
    for (found,) in launched("interrupted", *where):
        assert found["interrupted"][0] == "KeyboardInterrupt"
        assert found["interrupted"][2] < SECONDS
        for name in ("memory 10", "memory 50", "memory 90"):
            kind, text, seconds = found[name]
            assert (kind, text) == ("OutOfMemory", "rank 1: 8 MiB were needed")
            assert seconds < SECONDS
        for name in ("then", "in the end"):
            assert found[name][1:] == of_one_device("mesh")


@pytest.mark.gpu
def test_a_job_on_gpus_ends_when_a_rank_is_killed() -> None:
    require_two_gpus()
    begin = time.monotonic()
    code, answers = answers_of(2, "tests.helpers.ranks.gpu_ranks", "killed", "gpu")
    assert code != 0
    assert not answers
    assert time.monotonic() - begin < 3 * SECONDS  # importing and compiling among them

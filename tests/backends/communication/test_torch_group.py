"""Ranks of a process group of PyTorch: steps, whole calls and faults, as ranks of MPI have them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch.distributed", reason="PyTorch is not installed")

import portpart
from portpart import generators
from portpart.backends.communication import Local
from tests.helpers.ranks import rank_faults, rank_steps
from tests.helpers.ranks.mpi_faults import write_files
from tests.helpers.ranks.mpi_jobs import FILES, GRAPHS, ROOT
from tests.helpers.ranks.process_calls import facts, wanted_partitions
from tests.helpers.ranks.torch_jobs import ENVIRONMENT, answers_of

SECONDS = 10
"""A fault is known to all ranks within so many."""


@pytest.mark.parametrize("size", [1, 2, 3])
def test_ranks_of_a_group_do_what_one_device_does(size: int, tmp_path: Path) -> None:
    for file in FILES:
        portpart.io.write(GRAPHS[file.partition(".")[0]](), tmp_path / file)
    code, answers = answers_of(size, "calls", str(tmp_path))
    assert code == 0
    steps = json.loads(json.dumps(Local(size).run(rank_steps.all_steps)))
    grid = portpart.partition(generators.grid_2d(30), 4, preset="fast")
    for rank in range(size):
        in_rounds, at_once, partitions, files, tensors, with_mpi = answers[rank]
        kind, dtype, part, members = tensors
        assert in_rounds == at_once == steps[rank]
        assert partitions == wanted_partitions()
        assert [each[0] for each in files.values()] == [
            facts(file.partition(".")[0], 4, "fast") for file in files]
        assert all(found[0] == saved for found, _, saved in files.values())
        assert (kind, dtype, part) == ("Tensor", "torch.int32", grid.part.tolist())
        assert [part[vertex] for vertex in members[1]] == len(members[1]) * [1]
        assert not with_mpi


def test_a_fault_of_one_rank_is_raised_on_all_and_the_group_works(tmp_path: Path) -> None:
    write_files(tmp_path)
    names = [name for name in rank_faults.BY_NAME if name != "freed"]  # a group is not freed
    code, answers = answers_of(rank_faults.RANKS, "faults", str(tmp_path), "1", *names)
    assert code == 0
    for rank in range(rank_faults.RANKS):
        for name, wanted in rank_steps.WANTED.items():
            (kind, text, seconds), working = answers[rank][0][name]
            assert [kind, text] == wanted
            assert seconds < SECONDS
            assert working == rank_faults.RANKS
    told = {rank: answer[1] for rank, answer in answers.items()}
    assert rank_faults.as_wanted(1, names, told) == dict.fromkeys(names, 1)


def test_ranks_do_not_wait_for_ever() -> None:
    code, answers = answers_of(2, "late")
    assert code == 0
    assert answers[0][:2] == answers[1][:2]
    assert answers[0][0] == "CommunicatorLost"


@pytest.mark.parametrize("victim", [0, 1])
def test_ranks_notice_when_one_of_them_is_killed(victim: int) -> None:
    code, answers = answers_of(3, "killed", str(victim))
    assert code != 0
    assert set(answers) == {0, 1, 2} - {victim}
    for kind, text, seconds in answers.values():
        assert (kind, text) == ("CommunicatorLost", "the connection to another rank is lost; its "
                                                    "process may have ended")
        assert seconds < SECONDS


def test_groups_have_some_of_the_processes() -> None:
    code, answers = answers_of(3, "groups")
    assert code == 0
    nothing = "comm is {}, which torch.distributed has for no group: it is not initialized, or " \
              "this process is none of the ranks"
    assert [answers[rank][0] for rank in range(3)] == [
        [0, 2], ["CommunicationError", nothing.format(-100)], [1, 2]]
    for rank in range(3):
        assert answers[rank][1] == ["CommunicationError", nothing.format(None)]
        assert answers[rank][2][0] in ("CommunicationError", "DeviceUnavailable")


SCRIPT = """
import torch.distributed as dist
import portpart

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
grid = portpart.generators.shares.grid_2d(30)
own = grid.rows(900 * rank // size, 900 * (rank + 1) // size)
with portpart.distributed_graph(own.offsets, own.targets, comm=dist.group.WORLD) as rows:
    result = portpart.partition(rows, 4, preset="fast")
    if rank == 1:
        print("cut", result.cut)
    if LEAVES and rank == 0:
        raise SystemExit(7)
    portpart.partition(rows, 5)
dist.destroy_process_group()
"""


@pytest.mark.parametrize("leaves", [False, True])
def test_the_launcher_of_pytorch_starts_ranks(leaves: bool, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.replace("LEAVES", str(leaves)))
    done = subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2",
         str(script)], cwd=ROOT, capture_output=True, text=True, timeout=240,
        env={**os.environ, **ENVIRONMENT})
    cut = portpart.partition(generators.grid_2d(30), 4, preset="fast").cut
    assert f"cut {cut}" in done.stdout
    assert (done.returncode != 0) == leaves, done.stderr
    if leaves:
        assert "RankFailed: rank 0 has left the block of the graph by SystemExit: 7" in done.stderr

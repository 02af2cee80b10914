"""Coarsening over several ranks sends little, and what is counted is what is sent."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner

from bench import communication, rank_refinement
from portpart.backends.communication import One
from portpart.backends.programs.steps import Parcel
from portpart.generators import shares
from tests.helpers.ranks.mpi_jobs import MPIEXEC, run_job

MAX_BYTES = 60
"""For each ghost of a level, on meshes."""

MAX_STEPS = 40
"""Votes are steps, too."""


@pytest.mark.parametrize("large", [shares.grid_3d(18), shares.jittered_mesh(90)])
def test_levels_of_meshes_take_few_bytes_and_steps(large):
    ranks = communication.counts_of(large, 3)
    assert len(ranks[0]) > 2
    for counts in zip(*ranks):
        assert len({(each.vertices, each.steps, each.votes) for each in counts}) == 1
        assert counts[0].steps + counts[0].votes <= MAX_STEPS
        assert sum(each.bytes for each in counts) <= MAX_BYTES * sum(
            each.ghosts for each in counts)


def test_labels_cost_one_push_a_level():
    for large in (shares.jittered_mesh(90), shares.rmat(11, 5)):
        plain, labelled = (communication.counts_of(large, 3, each) for each in (False, True))
        for here, there in zip(zip(*plain), zip(*labelled), strict=True):
            for without, given in zip(here, there, strict=True):
                assert (without.vertices, without.ghosts) == (given.vertices, given.ghosts)
                assert given.steps - without.steps == (without.level >= 0)
            ghosts = sum(each.ghosts for each in here if each.level >= 0)
            more = sum(each.bytes for each in there) - sum(each.bytes for each in here)
            assert 4 * ghosts <= more <= 8 * ghosts  # and those of vertices that are grouped


@pytest.mark.parametrize("large", [shares.grid_3d(24), shares.jittered_mesh(120)])
def test_refinement_of_meshes_sends_little(large):
    ranks = rank_refinement.counts_of(large, 3, 8)
    levels = [each for counts in ranks for each in counts]
    assert len(ranks[0]) > 1
    assert sum(each.bytes for each in levels) <= sum(
        each.ghosts * each.iterations for each in levels)


def test_what_a_rank_sends_itself_is_not_counted():
    counted = communication.Counted(One())
    counted.all_to_all(Parcel(send=np.arange(3), send_counts=np.array([3]),
                              recv=np.zeros(3, np.int64), recv_counts=np.zeros(1, np.int64)))
    counted.all_reduce(np.zeros(1, np.int64), 0, 1, "sum")
    counted.post(np.arange(3), np.array([[3, 1]]), np.empty)
    counted.vote(None)
    assert (counted.steps, counted.votes, counted.bytes) == (3, 1, 0)


def test_the_command_prints_a_table_for_each_graph(monkeypatch):
    monkeypatch.setitem(communication.GRAPHS, "mesh", lambda: shares.jittered_mesh(40))
    done = CliRunner().invoke(communication.main, ["--graphs", "mesh", "--ranks", "2"])
    assert done.exit_code == 0, done.output
    assert done.output.startswith("mesh, 2 ranks\n| level | vertices | ghosts |")


def test_ranks_are_timed_beside_one_process():
    pytest.importorskip("mpi4py")
    if MPIEXEC is None:
        pytest.skip("mpiexec is missing")
    done = run_job(2, "-m", "bench.distributed", "--graphs", "mesh_900,permuted_cube_8^3",
                   "--k", "4", "--calls", "1")
    assert done.returncode == 0, done.stderr
    assert "2 ranks of 1 threads, k = 4, default" in done.stdout
    for name in ("mesh_900", "permuted_cube_8^3"):
        assert f"| {name} |" in done.stdout

"""Traffic of ranks from profiles of Open MPI, recorded and made anew."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import portpart
from portpart.cli import main
from portpart.errors import GraphFormatError, InputError
from tests import oracles
from tests.helpers.ranks.mpi_jobs import ENVIRONMENT, MPIEXEC

RECORDED = Path(__file__).parents[1] / "io" / "recorded"
RING = {(0, 1): 1068, (0, 2): 50068, (0, 3): 1018, (1, 2): 1018, (1, 3): 38, (2, 3): 1043}
"""Bytes between ranks that the recorded job has sent: lines E and I of both ranks, added up."""

JOB = """
from mpi4py import MPI
comm = MPI.COMM_WORLD
if comm.rank < 2:
    comm.sendrecv(bytes(5000), dest=1 - comm.rank, source=1 - comm.rank)
"""


def edges(graph: portpart.Graph) -> dict[tuple[int, int], int]:
    return {(u, v): w for u, v, w in oracles.arcs(graph) if u < v}


def copied(folder: Path) -> Path:
    for rank in range(4):
        (folder / f"ring.{rank}.prof").write_bytes(
            (RECORDED / f"ring.{rank}.prof").read_bytes())
    return folder / "ring.0.prof"


@pytest.mark.parametrize("rank", [0, 2])
def test_the_file_of_a_rank_stands_for_all(rank: int) -> None:
    assert edges(portpart.io.read(RECORDED / f"ring.{rank}.prof")) == RING


def test_one_text_may_have_the_lines_of_all_ranks(tmp_path: Path) -> None:
    text = b"".join((RECORDED / f"ring.{rank}.prof").read_bytes() for rank in (2, 0, 3, 1))
    (tmp_path / "all").write_bytes(text)
    assert edges(portpart.io.read(tmp_path / "all")) == RING


def test_one_sided_messages_count_and_silent_ranks_are_vertices(tmp_path: Path) -> None:
    text = "# POINT TO POINT\n# OSC\n{}# COLLECTIVES\nO2A\t{}\t0 bytes\t0 msgs sent\n"
    for rank, lines in enumerate((
            "S\t0\t1\t8 bytes\t1 msgs sent\nR\t0\t1\t2 bytes\t1 msgs sent\n", "", "")):
        (tmp_path / f"a.{rank}.prof").write_text(text.format(lines, rank))
    graph = portpart.io.read(tmp_path / "a.0.prof")
    assert (graph.num_vertices, edges(graph)) == (3, {(0, 1): 10})


@pytest.mark.parametrize(("rank", "change", "message"), [
    (1, None, r"ring.1.prof is missing, and there is one of rank 2"),
    (3, None, r"nothing of rank 3, which is one of 4"),
    (2, lambda text: text[:200], r"ring.2.prof: ends before # COLLECTIVES; was the job stopped"),
    (2, lambda text: "", r"ring.2.prof: does not begin with # POINT TO POINT"),
    (2, lambda text: text.replace("E\t2\t3\t1018 bytes", "E\t2\t3\tmany"),
     r"ring.2.prof:3: 'E\\t2\\t3\\tmany.* is no line of two ranks, bytes and messages"),
    (0, lambda text: text.replace("C\t0\t1", "X\t0\t1"), r"ring.0.prof:\d+: 'X' begins no line"),
    (0, lambda text: text.replace("E\t0\t1\t", "E\t0\t999999999\t"), r"1000000000 vertices in"),
    (0, lambda text: text.replace("1018 bytes", "999999999999999999 bytes").replace(
        "50018", "999999999999999999").replace("I\t0\t1\t25", "I\t0\t1\t" + "9" * 18).replace(
        "I\t0\t2\t25", "I\t0\t2\t" + "9" * 18).replace("I\t0\t3\t0", "I\t0\t3\t" + "9" * 18),
     "add up to .*, above the limit of 2..62"),
], ids=["missing", "last missing", "cut off", "empty", "no bytes", "another line", "many ranks",
        "too heavy"])
def test_profiles_with_holes_are_refused_by_file_and_line(
    rank: int, change: object, message: str, tmp_path: Path,
) -> None:
    first = copied(tmp_path)
    path = tmp_path / f"ring.{rank}.prof"
    if callable(change):
        path.write_text(change(path.read_text()))
    else:
        path.unlink()
    with pytest.raises(GraphFormatError, match=message):
        portpart.io.read(first)


def test_options_of_other_formats_do_not_apply() -> None:
    with pytest.raises(InputError, match="weights does not apply to mpi-profile files"):
        portpart.io.read(RECORDED / "ring.0.prof", weights="ignore")


def test_a_square_table_of_traffic_may_be_the_only_array_of_an_npz_file(tmp_path: Path) -> None:
    table = np.arange(9).reshape(3, 3)
    np.savez(tmp_path / "traffic.npz", sent=table)
    with pytest.raises(GraphFormatError, match='pass symmetrize="sum" to add them up'):
        portpart.io.read(tmp_path / "traffic.npz")
    graph = portpart.io.read(tmp_path / "traffic.npz", symmetrize="sum")
    assert edges(graph) == {(0, 1): 4, (0, 2): 8, (1, 2): 12}
    for wrong in ({"sent": table[:2]}, {"sent": table, "other": table}, {"sent": table[0]}):
        np.savez(tmp_path / "wrong.npz", **wrong)
        with pytest.raises(GraphFormatError, match="or one square table"):
            portpart.io.read(tmp_path / "wrong.npz")


@pytest.mark.skipif(MPIEXEC is None, reason="there is no mpiexec")
def test_a_profile_that_is_made_now_is_read_and_mapped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("mpi4py", reason="mpi4py is not installed")
    done = subprocess.run(
        [str(MPIEXEC), "-n", "3", "--mca", "pml_monitoring_enable", "2", "--mca",
         "pml_monitoring_enable_output", "3", "--mca", "pml_monitoring_filename", "traffic",
         sys.executable, "-c", JOB],
        cwd=tmp_path, env={**os.environ, **ENVIRONMENT}, capture_output=True, text=True)
    if not (tmp_path / "traffic.0.prof").exists():
        pytest.skip(f"this MPI does not monitor: {done.stderr}")
    found = edges(portpart.io.read(tmp_path / "traffic.0.prof"))
    assert 10000 <= found[0, 1] < 12000
    assert max(found.values()) == found[0, 1]
    assert main(["map", str(tmp_path / "traffic.1.prof"), "-H", "2:2", "-D", "1:10", "-q", "-o",
                 "-"]) == 0
    part = [int(line) for line in capsys.readouterr().out.split()]
    assert part[0] // 2 == part[1] // 2

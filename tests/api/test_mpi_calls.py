"""Public calls of several MPI ranks: arrays, files, the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mpi4py", reason="mpi4py is not installed")

import portpart
from portpart import generators
from portpart.io import read_partition
from tests.helpers.ranks.mpi_jobs import FILES, GRAPHS, MPIEXEC, REFUSED, answers_of, run_job
from tests.helpers.ranks.process_calls import facts, wanted_partitions

pytestmark = pytest.mark.skipif(MPIEXEC is None, reason="there is no mpiexec")


def test_three_mpi_ranks_find_the_partition_of_one_device_and_read_and_write_files(
    tmp_path: Path
) -> None:
    for file in FILES:
        portpart.io.write(GRAPHS[file.partition(".")[0]](), tmp_path / file)
    code, answers = answers_of(3, "tests.helpers.ranks.mpi_calls", "files", str(tmp_path))
    assert code == 0
    wanted = wanted_partitions()
    for rank in range(3):
        partitions, files = answers[rank]
        assert partitions == wanted
        assert set(files) == set(FILES)
        for file, (found, warned, saved) in files.items():
            expected = facts(file.partition(".")[0], 4, "fast")
            assert (found, saved) == (expected, expected[0])
            if rank == 0 and file.endswith(".gz"):
                assert len(warned) == 1
                assert "rank 0 has read" in warned[0]
            else:
                assert not warned


@pytest.fixture
def mesh(tmp_path: Path) -> Path:
    portpart.io.write(generators.delaunay(1500), tmp_path / "mesh.parhip")
    return tmp_path / "mesh.parhip"


def command(size: int, folder: Path, *arguments: str, **variables: str) -> tuple[int, str, str]:
    """Exit code, output and messages of ``portpart`` on several ranks, without mpiexec's own."""
    done = run_job(size, "-m", "portpart", *arguments, cwd=folder, **variables)
    said = [line for line in done.stderr.splitlines() if line.startswith("portpart:")]
    return done.returncode, done.stdout, "\n".join(said)


def test_the_command_line_partitions_on_all_ranks(mesh: Path) -> None:
    fixed, initial = [(1400, 3), (5, 7), (700, 0)], [vertex % 8 for vertex in range(1500)]
    for suffix, lines in ((".fix", [f"{vertex + 1} {block}" for vertex, block in fixed]),
                          (".initial", initial)):
        mesh.with_suffix(suffix).write_text("".join(f"{line}\n" for line in lines))
    code, out, said = command(3, mesh.parent, "partition", "mesh.parhip", "-k", "8", "-o",
                              "mesh.part", "--json", "--preset", "strong", "--fixed", "mesh.fix",
                              "--initial", "mesh.initial")
    assert (code, said) == (0, "")
    told = json.loads(out)  # one line, of rank 0
    whole = portpart.partition(generators.delaunay(1500), 8, preset="strong", fixed=dict(fixed),
                               initial=initial)
    assert (told["fixed"], told["initial"]) == ("mesh.fix", "mesh.initial")
    assert (told["cut"], told["ranks"], told["num_vertices"]) == (whole.cut, 3, 1500)
    assert read_partition(mesh.with_name("mesh.part")).tolist() == whole.part.tolist()
    assert {path.suffix for path in mesh.parent.iterdir()} == {".parhip", ".part", ".fix",
                                                               ".initial"}


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Any]:
    """Of two ranks of one job: partitions, and what commands print and exit with."""
    folder = tmp_path_factory.mktemp("pair")
    portpart.io.write(generators.delaunay(1500), folder / "mesh.parhip")
    (folder / "heavy.graph").write_text("3 2 10\n9 2\n1 1 3\n1 2\n")
    code, answers = answers_of(2, "tests.helpers.ranks.mpi_calls", "commands", str(folder))
    assert code == 0
    return answers


def test_two_mpi_ranks_find_the_partition_of_one_device(pair: dict[int, Any]) -> None:
    assert [pair[rank][0] for rank in range(2)] == 2 * [wanted_partitions()]


def test_rank_0_writes_standard_output(pair: dict[int, Any]) -> None:
    (code, out, _), (other_code, nothing, _) = (pair[rank][1]["-o -"] for rank in range(2))
    part = portpart.partition(generators.delaunay(1500), 2).part.tolist()
    assert [*map(int, out.split())] == part
    assert (code, other_code, nothing) == (0, 0, "")


def test_without_mpi_each_process_does_all_of_the_work(pair: dict[int, Any]) -> None:
    for rank in range(2):
        code, out, _ = pair[rank][1]["--no-mpi"]
        assert code == 0
        assert json.loads(out).get("ranks") is None


@pytest.mark.parametrize("name", REFUSED)
def test_all_ranks_have_the_code_that_rank_0_explains(name: str, pair: dict[int, Any]) -> None:
    _, expected, message = REFUSED[name]
    (code, _, said), (other_code, _, nothing) = (pair[rank][1][name] for rank in range(2))
    assert (code, other_code) == (expected, expected)
    assert message in said[0]
    assert (len(said), nothing) == (1, [])


def test_all_processes_exit_with_the_code_that_rank_0_explains(mesh: Path) -> None:
    code, _, said = command(2, mesh.parent, "partition", "none.parhip", "-k", "2")
    assert code == 2
    assert said.splitlines() == [said]
    assert "rank 0: none.parhip cannot be read" in said


def test_a_launcher_without_mpi4py_is_told_of_the_extra(mesh: Path) -> None:
    mesh.with_name("mpi4py.py").write_text("raise ImportError('none')\n")
    done = run_job(2, "-c", "import sys; sys.path.insert(0, '.'); from portpart.cli import main; "
                   "sys.exit(main(['partition', 'mesh.parhip', '-k', '2']))", cwd=mesh.parent)
    assert done.returncode == 3
    assert "pip install 'portpart[mpi]'" in done.stderr


def test_one_process_needs_no_mpi(mesh: Path) -> None:
    found = "import sys; from portpart.cli import main; " \
            "code = main(['partition', 'mesh.parhip', '-k', '2']); " \
            "sys.exit('mpi4py' in sys.modules or code)"
    assert run_job(1, "-c", found, cwd=mesh.parent).returncode == 0

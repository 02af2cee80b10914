"""Faults of MPI ranks, many times each: ``python -m tests.helpers.ranks.mpi_faults --runs 20``.

Every fault must end as the same typed error on all ranks within ten seconds, leave nothing half
written and the caller's communicator in working order.  Where a rank is killed the job must end.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import portpart
from portpart import generators
from tests.helpers.ranks.mpi_jobs import answers_of, run_job
from tests.helpers.ranks.rank_faults import BY_NAME, RANKS, SECONDS, as_wanted, on_rank


def write_files(folder: Path) -> None:
    """Files that are whole, that end too early, and that have one bad number."""
    whole = generators.delaunay(4000)
    for suffix in ("parhip", "npz", "graph"):
        portpart.io.write(whole, folder / f"whole.{suffix}")
        data = (folder / f"whole.{suffix}").read_bytes()
        (folder / f"short.{suffix}").write_bytes(data[: len(data) * 2 // 3])
    text, binary = ((folder / f"whole.{suffix}").read_bytes() for suffix in ("graph", "parhip"))
    targets = 24 + 4 * (whole.num_vertices + 1)
    for rank in range(RANKS):
        middle = len(text) * (2 * rank + 1) // (2 * RANKS)
        line = text.index(b"\n", middle) + 1
        (folder / f"word{rank}.graph").write_bytes(text[:line] + b"x" + text[line + 1 :])
        arc = whole.num_arcs * (2 * rank + 1) // (2 * RANKS)
        place = targets + 4 * arc
        (folder / f"target{rank}.parhip").write_bytes(
            binary[:place] + b"\xff\xff\xff\x7f" + binary[place + 4 :])


def survived(runs: int, names: list[str] | None = None) -> dict[str, int]:
    """How many runs of each fault end as they must."""
    names = [*BY_NAME] if names is None else names
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder))
        code, answers = answers_of(RANKS, "tests.helpers.ranks.mpi_faults", "--rank", folder,
                                   "--runs", str(runs), *names,
                                   seconds=60 + SECONDS * runs * len(names))
        assert code == 0, f"the job ends with {code}"
    return as_wanted(runs, names, answers)


def killed(folder: Path, number: int) -> bool:
    """Whether a job ends as it must in which a rank is killed amid a partition that is saved."""
    code = ("import os, sys, threading, portpart; from mpi4py import MPI\n"
            "def kill():\n    open('killed', 'w').close()\n    os.kill(os.getpid(), 9)\n"
            f"rows = portpart.read_distributed('whole.parhip', comm=MPI.COMM_WORLD)\n"
            f"if rows.rank == {number % RANKS}:\n"
            f"    threading.Timer({(number + 1) * 0.03:.2f}, kill).start()\n"
            "while True:\n    portpart.partition(rows, 4).save('killed.part')")
    try:
        done = run_job(RANKS, "-c", code, cwd=folder, PORTPART_MARK=str(folder), seconds=60)
    except subprocess.TimeoutExpired:
        return False
    seconds = time.time() - (folder / "killed").stat().st_mtime
    part = folder / "killed.part"
    whole = not part.exists() or len(part.read_text().splitlines()) == 4000
    left = orphans(str(folder))
    good = done.returncode != 0 and seconds < SECONDS and whole and not left
    if not good:
        print(f"killed, run {number}: code {done.returncode}, {seconds:.1f} s, whole {whole}, "
              f"left {left}", file=sys.stderr)
    return good


def orphans(mark: str) -> list[int]:
    """Processes of a job that have not ended, by a variable of their environment."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                if f"PORTPART_MARK={mark}\0".encode() in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def survived_killing(runs: int) -> int:
    """How many jobs end as they must in which a rank is killed."""
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder))
        return sum(killed(Path(folder), number) for number in range(runs))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--rank", metavar="FOLDER", type=Path, help="be a rank of a job")
    parser.add_argument("names", nargs="*", metavar="FAULT")
    given = parser.parse_args()
    if given.rank is not None:
        from mpi4py import MPI

        answers = on_rank(given.names, given.runs, given.rank, MPI.COMM_WORLD)
        print(json.dumps([MPI.COMM_WORLD.rank, answers]), flush=True)
        return
    for name, count in survived(given.runs, given.names or None).items():
        print(f"{name:<16} {count} of {given.runs}")
    if not given.names:
        print(f"{'killed':<16} {survived_killing(given.runs)} of {given.runs}")


if __name__ == "__main__":
    main()

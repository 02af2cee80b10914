"""Jobs of several MPI ranks, for tests."""

from __future__ import annotations

import faulthandler
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from portpart import generators
from tests.helpers.plain_graphs import random_graph

ROOT = Path(__file__).parents[3]
MPIEXEC = (shutil.which("mpiexec", path=Path(sys.executable).parent.as_posix())
           or shutil.which("mpiexec"))
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",  # ranks share cores
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",  # the first ranks of all jobs get the same cores
    "PRTE_MCA_hwloc_default_binding_policy": "none",
    "NUMBA_NUM_THREADS": "1",
}

GRAPHS = {
    "mesh": lambda: generators.delaunay(1500),
    "weighted": lambda: random_graph(600, 2000, 1, weighted=True, vertex_weighted=True),
    "skewed": lambda: generators.rmat(9, 5),
}
"""Graphs that jobs partition."""

FILES = ("mesh.parhip", "mesh.graph", "weighted.parhip", "weighted.npz", "weighted.graph",
         "weighted.graph.gz", "skewed.graph")
"""Files of them that jobs read."""


REFUSED = {
    "missing file": (("none.parhip", "-k", "2"), 2, "rank 0: none.parhip cannot be read"),
    "algorithm": (("mesh.parhip", "-k", "2", "--algorithm", "jet"), 2,
                  "algorithm 'jet' is not for"),
    "damaged blocks": (("mesh.parhip", "-k", "2", "--fixed", "heavy.graph"), 2,
                       "heavy.graph:1: expected one block"),
    "hypergraph": (("mesh.hgr", "-k", "2"), 2,
                   "mesh.hgr is a hypergraph, which is not for several MPI ranks"),
    "no folder": (("mesh.parhip", "-k", "2", "-o", "mesh.parhip/x"), 2, "cannot be written"),
    "heavy vertex": (("heavy.graph", "-k", "2"), 1, "warning: vertex 0 weighs 9"),
}
"""Arguments of ``portpart partition``, the exit code of all ranks, and what rank 0 says."""


def tell_hangs() -> None:
    """Have this rank print where its threads are, and end, shortly before its job has to."""
    seconds = os.environ.get("PORTPART_TEST_HANGS")
    if seconds is not None:
        faulthandler.dump_traceback_later(float(seconds), exit=True)


def run_job(size: int, *arguments: str, cwd: Path = ROOT,
            seconds: float = 120, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run Python on so many ranks."""
    assert MPIEXEC is not None
    variables = {"PORTPART_TEST_HANGS": str(0.8 * seconds), **variables}
    folders = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, **ENVIRONMENT, "PYTHONPATH": folders, **variables}
    return subprocess.run([MPIEXEC, "-n", str(size), sys.executable, *arguments], cwd=cwd,
                          env=environment, capture_output=True, text=True, timeout=seconds)


def answers_of(size: int, module: str, *arguments: str, cwd: Path = ROOT,
               seconds: float = 120) -> tuple[int, dict[int, Any]]:
    """The exit code of a job, and what each rank has printed: a line of JSON with its number."""
    done = run_job(size, "-m", module, *arguments, cwd=cwd, seconds=seconds)
    print(done.stderr)
    lines = [line for line in done.stdout.splitlines() if line.startswith("[")]
    assert lines or done.returncode != 0, done.stderr
    return done.returncode, dict(each for line in lines for each in documents(line))


def documents(line: str) -> Iterator[Any]:
    """The documents of a line: two ranks that print at the same time may end up on one."""
    begin = 0
    while begin < len(line):
        found, begin = json.JSONDecoder().raw_decode(line, begin)
        yield found

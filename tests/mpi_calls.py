"""Public calls of MPI ranks, for tests: ``mpiexec -n 3 python -m tests.mpi_calls CASE``.

Each rank prints a line of JSON.
"""

from __future__ import annotations

import json
import sys

from mpi4py import MPI

from portpart.algorithms import portpart_ranks
from portpart.algorithms.coarsening.rank_hierarchy import Fold
from tests.process_calls import files, partitions

WORLD = MPI.COMM_WORLD


def main(case: str, *arguments: str) -> None:
    portpart_ranks.fold_for = lambda space: Fold(0, 0)  # small levels belong to ranks, too
    answer = files(WORLD, *arguments) if case == "files" else partitions(WORLD)
    print(json.dumps([WORLD.rank, answer]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Public calls of MPI ranks, for tests.

``mpiexec -n 3 python -m tests.helpers.ranks.mpi_calls CASE``: each rank prints a line of JSON.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from tempfile import TemporaryFile
from typing import Any

from mpi4py import MPI

from portpart.algorithms.coarsening.ranks.hierarchy import Fold
from portpart.algorithms.recipes import portpart_ranks
from portpart.cli import main as portpart_command
from tests.helpers.ranks.mpi_jobs import REFUSED
from tests.helpers.ranks.process_calls import files, partitions

WORLD = MPI.COMM_WORLD


def commands(folder: str) -> Any:
    """What ``portpart partition`` returns, prints and says in a folder."""
    os.chdir(folder)
    asked = {"-o -": ("mesh.parhip", "-k", "2", "-o", "-"),
             "--no-mpi": ("mesh.parhip", "-k", "2", "--json", "--no-mpi"),
             **{name: arguments for name, (arguments, *_) in REFUSED.items()}}
    return {name: printed(lambda given=arguments: portpart_command(["partition", *given]))
            for name, arguments in asked.items()}


def printed(call: Callable[[], int]) -> tuple[int, str, list[str]]:
    """What a function returns, and what goes to standard output and to standard error."""
    streams = sys.stdout, sys.stderr
    kept = [os.dup(stream.fileno()) for stream in streams]
    with TemporaryFile("w+") as out, TemporaryFile("w+") as error:
        for stream, file in zip(streams, (out, error)):
            stream.flush()
            os.dup2(file.fileno(), stream.fileno())
        try:
            code = call()
        finally:
            for stream, descriptor in zip(streams, kept):
                stream.flush()
                os.dup2(descriptor, stream.fileno())
                os.close(descriptor)
        out.seek(0), error.seek(0)
        said = [line for line in error.read().splitlines() if line.startswith("portpart:")]
        return code, out.read(), said


def main(case: str, folder: str) -> None:
    portpart_ranks.fold_for = lambda space: Fold(0, 0)  # small levels belong to ranks, too
    answer = [partitions(WORLD), files(WORLD, folder) if case == "files" else commands(folder)]
    print(json.dumps([WORLD.rank, answer]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

"""What ranks of MPI do in tests: ``mpiexec -n 3 python -m tests.helpers.ranks.mpi_ranks CASE``.

Each rank prints a line of JSON.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from mpi4py import MPI

from portpart.backends.communication import CommunicationError
from portpart.backends.communication.mpi import Mpi
from portpart.errors import InputError
from tests.helpers.emulation.stand_in_gpu import StandInGpu
from tests.helpers.emulation.stand_in_nccl import stand_in_nccl
from tests.helpers.ranks.mpi_jobs import tell_hangs
from tests.helpers.ranks.profiled_program import profiled
from tests.helpers.ranks.rank_steps import FAULTS, all_steps, few_steps, is_late, waits

WORLD = MPI.COMM_WORLD


def outcome(main: Callable[[Any], Any], make: Callable[..., Any] = Mpi, **options: Any) -> Any:
    """What a rank returns, or the class and the text of what it raises.

    A rank that still makes its communicator may hear there what another one has raised since.
    """
    begin = time.monotonic()
    try:
        comm = make(WORLD, **options)
        result: Any = comm.run(main)
    except BaseException as problem:
        return [type(problem).__name__, str(problem), time.monotonic() - begin]
    comm.free()
    return result


def every_fault() -> Any:
    """The outcome of each fault; in between the caller's communicator works."""
    found = {}
    for name, main in FAULTS.items():
        found[name] = [outcome(main), WORLD.allreduce(1)]
    freed = WORLD.Dup()
    freed.Free()
    for name, comm in (("freed", freed), ("none", MPI.COMM_NULL), ("no communicator", 7)):
        try:
            Mpi(comm)
        except CommunicationError as problem:
            found[name] = str(problem)
    return found


def by_nccl() -> Any:
    """The same steps by NCCL, and faults of a rank."""
    space = StandInGpu()
    with stand_in_nccl(space.cupy, f"GPU {WORLD.rank}") as make:
        found = {"steps": outcome(lambda comm: few_steps(comm, space), make)}
        for name, fault in FAULTS.items():
            found[name] = outcome(lambda comm, main=fault: (few_steps(comm, space), main(comm)),
                                  make)
        space.profiling = True
        executable, run = profiled(space)
        assert outcome(run, make) is None
        found["profile"] = [row[:2] for row in executable.profile() if row[2] > 0]
        found["waits"] = outcome(lambda comm: waits_by_nccl(comm, space), make)
    with stand_in_nccl(space.cupy, "the only GPU") as make:
        try:
            make(WORLD)
        except CommunicationError as problem:
            found["shared"] = str(problem)
    return found


def waits_by_nccl(comm: Any, space: Any) -> None:
    """One rank raises an error while others are in a step of NCCL."""
    if comm.rank == comm.size - 1:
        raise InputError("k is 0")
    comm.all_reduce(space.zeros(1, np.int64), 0, 1, "sum")


def main(case: str) -> None:
    tell_hangs()
    if case == "steps":
        space = StandInGpu()
        answer = [outcome(all_steps, max_count=4),
                  outcome(lambda comm: few_steps(comm, space), max_count=4)]
    elif case == "faults":
        answer = [every_fault(), by_nccl(), outcome(is_late)]
    else:
        if WORLD.rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        answer = outcome(waits)
    print(json.dumps([WORLD.rank, answer]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])

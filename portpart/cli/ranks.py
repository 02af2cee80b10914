"""Several processes that an MPI launcher has started for one command."""

from __future__ import annotations

import os
import sys
from typing import Any

SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
"""Variables in which launchers set the number of processes; Slurm's is set in a batch shell, too.
"""

ALONE = "--no-mpi"


def is_launched() -> bool:
    """Whether an MPI launcher has started this process, and perhaps others."""
    sizes = [size for name in SIZES if (size := os.environ.get(name))]
    return any(size != "1" for size in sizes) if sizes else "PMIX_RANK" in os.environ


def is_silent() -> bool:
    """Whether rank 0 prints what there is to say; what goes wrong before MPI runs all may say."""
    mpi = sys.modules.get("mpi4py.MPI")
    return mpi is not None and mpi.COMM_WORLD.rank > 0


def world() -> Any:
    """The communicator of all processes; None if there is one process only.

    Raises
    ------
    DeviceUnavailable
        If mpi4py cannot be imported.
    """
    from portpart.backends.communication.calls import require_mpi

    comm = require_mpi().COMM_WORLD
    return comm if comm.size > 1 else None

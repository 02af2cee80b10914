"""NCCL on a GPU, as far as one goes: a rank that is alone, and ranks that share it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from portpart.backends.communication import CommunicationError, Local
from tests.helpers.gpu import require_cupy
from tests.helpers.ranks.rank_rows import space_of

pytestmark = pytest.mark.gpu


def ranks() -> Any:
    """What MPI's tests do on a rank; skips where there is no MPI, or no NCCL."""
    require_cupy()
    from cupy.cuda import nccl

    if not nccl.available:
        pytest.skip("CuPy finds no NCCL")
    try:
        from tests.helpers.ranks import mpi_ranks
    except Exception as problem:
        pytest.skip(f"there is no MPI: {problem}")
    return mpi_ranks


def test_a_rank_that_is_alone_exchanges_by_nccl() -> None:
    mpi_ranks = ranks()
    from portpart.backends.cuda.nccl import Nccl

    comm = Nccl(mpi_ranks.MPI.COMM_SELF)
    space = space_of("cuda walk")
    found = comm.run(lambda comm: mpi_ranks.few_steps(comm, space))
    comm.free()
    assert found == Local(1).run(lambda comm: mpi_ranks.few_steps(comm, space_of("cpu-1")))[0]


def test_wrong_numbers_end_a_step_of_nccl() -> None:
    mpi_ranks = ranks()
    from portpart.backends.cuda.nccl import Nccl
    from portpart.backends.programs.steps import Parcel

    comm, space = Nccl(mpi_ranks.MPI.COMM_SELF), space_of("cuda walk")
    with pytest.raises(CommunicationError, match="9 elements arrive at an array of 5"):
        comm.all_to_all(Parcel(
            send=space.zeros(9, np.int64), send_counts=space.full(1, 9, np.int64),
            recv=space.zeros(5, np.int64), recv_counts=space.zeros(1, np.int64)))

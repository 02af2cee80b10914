"""Faults of MPI ranks, a few times each.

``python -m tests.helpers.ranks.mpi_faults`` does so more often.
"""

from __future__ import annotations

import pytest

pytest.importorskip("mpi4py", reason="mpi4py is not installed")

from tests.helpers.ranks import mpi_faults
from tests.helpers.ranks.mpi_jobs import MPIEXEC

pytestmark = pytest.mark.skipif(MPIEXEC is None, reason="there is no mpiexec")


def test_a_fault_of_one_rank_is_the_same_typed_error_on_all_and_leaves_nothing_behind() -> None:
    assert mpi_faults.survived(1) == dict.fromkeys(mpi_faults.BY_NAME, 1)


def test_a_job_ends_when_a_rank_is_killed_and_files_are_whole() -> None:
    assert mpi_faults.survived_killing(1) == 1

"""Jobs of several processes with a process group of PyTorch, for tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from typing import Any

from tests.helpers.ranks.mpi_jobs import ROOT

ENVIRONMENT = {"PYTHONPATH": str(ROOT), "NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def answers_of(size: int, *arguments: str, seconds: float = 240,
               store: str = "file") -> tuple[int, dict[int, Any]]:
    """The first exit code that is not 0, and what each rank of ``torch_ranks`` prints."""
    with tempfile.TemporaryDirectory() as folder:
        jobs = [subprocess.Popen(
            [sys.executable, "-m", "tests.helpers.ranks.torch_ranks", str(rank), str(size),
             f"{store}://{folder}/store", *arguments], cwd=ROOT, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, env={**os.environ, **ENVIRONMENT})
            for rank in range(size)]
        end = time.monotonic() + seconds
        try:
            told = [job.communicate(timeout=max(1, end - time.monotonic())) for job in jobs]
        finally:
            for job in jobs:
                job.kill()
    codes = [job.returncode for job in jobs]
    lines = [line for out, _ in told for line in out.splitlines() if line.startswith("[")]
    if any(codes):
        print(*(said for _, said in told), file=sys.stderr)
    assert lines or any(codes), told
    return next((code for code in codes if code), 0), dict(map(json.loads, lines))

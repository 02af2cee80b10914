"""Style and types of the code, beside the other tests: `make lint` alone says the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.parametrize("command", ["ruff check .", "mypy"])
def test_the_code_is_clean(command):
    pytest.importorskip(command.split()[0])
    done = subprocess.run([sys.executable, "-m", *command.split()], cwd=ROOT, text=True,
                          capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr

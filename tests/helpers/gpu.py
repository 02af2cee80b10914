"""Skips tests that need a GPU where there is none."""

from __future__ import annotations

from typing import Any

import pytest


def require_cupy() -> Any:
    """CuPy, if it is installed and sees a device; else the test is skipped."""
    cupy = pytest.importorskip("cupy")
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as problem:
        pytest.skip(f"no CUDA device: {problem}")
    if count == 0:
        pytest.skip("no CUDA device")
    return cupy

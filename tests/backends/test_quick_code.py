"""Quickly compiled code and the code that takes its place give the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import portpart
from portpart import generators
from portpart.backends import cache_folder
from tests.gpu import require_cupy


@pytest.fixture
def fresh(monkeypatch, tmp_path) -> Any:
    """A GPU for which nothing has been compiled."""
    require_cupy()
    from portpart.backends.cuda.space import CudaSpace

    monkeypatch.setenv("PORTPART_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(cache_folder, "cache_folders", cache_folder.cache_folders.__wrapped__)
    return CudaSpace()


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["mesh", "circuit"])
def test_better_code_gives_the_same_partition(fresh, name):
    graph = generators.delaunay(30_000) if name == "mesh" else generators.netlist(10_000)
    wanted = portpart.partition(graph, 16, device="cpu").part
    working = graph.to(fresh)
    first = portpart.partition(working, 16).part
    codes = fresh.kernels.modules.asked()
    quick = [code for code in codes if not code.is_best]
    assert len(quick) > 3
    for code in quick:
        code.improve().result()
    kernels = [executable._kernel for _, executable in fresh._executables.values()
               if executable._kernel is not None and not executable._kernel.is_best]
    assert kernels
    for kernel in kernels:
        kernel._left = 0
    second = portpart.partition(working, 16).part
    assert all(kernel.is_best for kernel in kernels)
    for part in (first, second):
        assert np.array_equal(fresh.to_host(part), wanted)

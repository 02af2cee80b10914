"""Programs that walk until their resident kernels are compiled give the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import portpart
from portpart import generators
from portpart.backends.cuda.compile import request_resident
from portpart.base import cache_folder
from tests.helpers.gpu import require_cupy


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
def test_resident_kernels_give_the_same_partition(fresh, name):
    graph = generators.delaunay(30_000) if name == "mesh" else generators.netlist(10_000)
    wanted = portpart.partition(graph, 16, device="cpu").part
    working = graph.to(fresh)
    first = portpart.partition(working, 16)
    assert first.stats["launches"] > 500  # each by itself
    modules = fresh.kernels.modules
    modules.quick = False
    programs = [executable for _, executable in fresh._executables.values()]
    for executable in programs:
        request_resident(modules, executable.text)
        executable._kernel._waits = True
    second = portpart.partition(working, 16)
    assert all(executable._resident is not None for executable in programs)
    assert second.stats["launches"] < first.stats["launches"]
    for result in (first, second):
        assert np.array_equal(fresh.to_host(result.part), wanted)

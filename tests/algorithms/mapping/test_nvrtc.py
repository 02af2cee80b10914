"""What a mapping launches compiles to PTX, for the oldest and the newest architecture."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest

import portpart
from portpart import backends
from portpart.backends.cuda.translate import PACKED, translate
from portpart.backends.cuda.words import CUDA_PRELUDE
from portpart.backends.language.team_arrays import BLOCK, bytes_of, bytes_per_team
from portpart.backends.language.types import type_of
from portpart.generators import grid_2d, rmat
from portpart.graphs.topology import Topology
from tests.backends import nvrtc
from tests.helpers.emulation import host_cuda

LINE = Topology.from_matrix(abs(np.subtract.outer(np.arange(6), np.arange(6))))


@pytest.fixture(scope="module")
def seen() -> tuple[list, dict]:
    """What mapping on all sorts of machines launches: kernels, and resident programs."""
    nvrtc.architectures()
    if host_cuda.COMPILER is None:
        pytest.skip(host_cuda.NO_COMPILER)
    host_cuda.seen.clear()
    host_cuda.residents.clear()
    with mock.patch.object(backends, "space", return_value=host_cuda.HostCudaSpace()):
        portpart.map_processes(grid_2d(50), "3:2", "1:9", preset="strong")
        portpart.map_processes(rmat(11, 8), "2:3", "1:9", algorithm="im")
        portpart.map_processes(grid_2d(50), "2:300", "1:9", algorithm="im", preset="paper")
        portpart.map_processes(rmat(11, 8), "4:200", "1:9", algorithm="im")
        portpart.map_processes(rmat(11, 8), topology=LINE)
    return list(host_cuda.seen), dict(host_cuda.residents)


@pytest.mark.parametrize("end", [0, -1], ids=["oldest", "newest"])
def test_kernels_compile(seen: tuple[list, dict], end: int) -> None:
    """As wide as they are launched and at other widths, each for one architecture."""
    translations = [
        translate(kernel, tuple(map(type_of, tags)), width, (PACKED,))
        for kernel, tags, team in seen[0]
        for width in (sorted({team, 32, 256}) if kernel.uses_team_words else {team})
        if BLOCK // width * bytes_of(kernel.team_arrays) <= bytes_per_team(width)
    ]
    assert any(translation.symbol.startswith("propose_swap") for translation in translations)
    nvrtc.compile_quickly(translations[end % 2 :: 2], nvrtc.architectures()[end])


def test_programs_compile(seen: tuple[list, dict]) -> None:
    """For one architecture; tests/backends/cuda/test_nvrtc.py has programs on both."""
    residents = seen[1]
    assert len(residents) >= 8
    for symbol, text in residents.items():
        ptx = nvrtc.ptx(CUDA_PRELUDE + text, nvrtc.architectures()[0], quick=True)
        assert f".entry {symbol}(" in ptx

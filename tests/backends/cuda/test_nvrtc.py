"""Every kernel of the library compiles to PTX, for the oldest and the newest architecture."""

from __future__ import annotations

from unittest import mock

import pytest

import portpart
from portpart import backends
from portpart.algorithms.initial.options import InitialOptions
from portpart.algorithms.recipes.portpart_nets import PRESETS, ConstrainedOptions
from portpart.backends.cuda.translate import DIRECT, PACKED, packed_name, translate
from portpart.backends.cuda.words import CUDA_PRELUDE
from portpart.backends.language.team_arrays import BLOCK, bytes_of, bytes_per_team
from portpart.backends.language.types import type_of
from portpart.backends.programs.program import TEAM_WIDTHS
from portpart.generators import grid_2d, netlist
from portpart.options import changed
from tests.backends import nvrtc
from tests.backends.sample_kernels import SAMPLES
from tests.helpers.emulation import host_cuda

ENDS = [0, -1]
IDS = ["oldest", "newest"]


@pytest.mark.parametrize("end", ENDS, ids=IDS)
def test_every_word_compiles_at_every_width(end):
    translations = [
        translate(kernel, tuple(map(type_of, tags)), team, (DIRECT, PACKED))
        for kernel, tags in SAMPLES for team in TEAM_WIDTHS
    ]
    text = nvrtc.ptx(nvrtc.module_text(translations), nvrtc.architectures()[end])
    for translation in translations:
        assert f".entry {translation.symbol}(" in text
        assert f".entry {packed_name(translation.symbol)}(" in text


def constrained() -> portpart.HypergraphConfig:
    """A configuration whose last pass keeps all limits."""
    return changed(PRESETS["fast"], {"constrained": ConstrainedOptions()})


@pytest.fixture(scope="module")
def seen() -> tuple[list, dict]:
    """What partitioning graphs and hypergraphs launches: kernels, and resident programs."""
    nvrtc.architectures()
    if host_cuda.COMPILER is None:
        pytest.skip(host_cuda.NO_COMPILER)
    host_cuda.seen.clear()
    host_cuda.residents.clear()
    with mock.patch.object(backends, "space", return_value=host_cuda.HostCudaSpace()):
        portpart.partition(grid_2d(80, 80), 5, seed=1)
        grown = portpart.JetConfig(initial=InitialOptions("grown"))
        portpart.partition(grid_2d(80, 80), 5, preset=grown, seed=1)
        portpart.partition(grid_2d(80, 80), 5, algorithm="gkway", seed=1)
        portpart.partition(grid_2d(80, 80), 5, algorithm="gpmetis", seed=1)
        portpart.partition(netlist(1500), 5, preset="fast", seed=1)
        portpart.partition(netlist(1500), 5, preset=constrained(), seed=1)
        portpart.partition(netlist(1500), 5, algorithm="hyperg", seed=1)
    return list(host_cuda.seen), dict(host_cuda.residents)


@pytest.mark.parametrize("end", ENDS, ids=IDS)
def test_the_kernels_of_a_partition_compile(seen, end):
    """As wide as they are launched and at other widths, each for one architecture.

    What differs between architectures is in words, which compile for both.
    """
    translations = [
        translate(kernel, tuple(map(type_of, tags)), width, (PACKED,))
        for kernel, tags, team in seen[0]
        for width in (sorted({team, 32, 256}) if kernel.uses_team_words else {team})
        if BLOCK // width * bytes_of(kernel.team_arrays) <= bytes_per_team(width)
    ]
    assert len(translations) > 40
    nvrtc.compile_quickly(translations[end % 2 :: 2], nvrtc.architectures()[end])


@pytest.mark.parametrize("end", ENDS, ids=IDS)
def test_the_resident_programs_of_a_partition_compile(seen, end):
    """Each for one architecture."""
    residents = list(seen[1].items())
    assert len(residents) >= 5
    for symbol, text in residents[end % 2 :: 2]:
        ptx = nvrtc.ptx(CUDA_PRELUDE + text, nvrtc.architectures()[end], quick=True)
        assert f".entry {symbol}(" in ptx

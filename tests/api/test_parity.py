"""One partition for each graph, k, seed and preset, whatever runs it."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import portpart
from portpart import backends, generators
from portpart.algorithms.final_balance.overload import repaired
from portpart.algorithms.multilevel.problem import Problem
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.recipes.gpmetis import PRESETS
from portpart.algorithms.recipes.partitioners import lookup
from portpart.api.call_options import CallOptions
from portpart.api.device import graph_on_device
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.graph import Graph
from portpart.options import changed
from tests import oracles
from tests.conftest import cuda_space, host_cuda_space
from tests.helpers.refining import balance_of

ROOT = Path(__file__).parents[2]


def weighted_mesh() -> Graph:
    """Meshes with drawn weights of vertices and edges."""
    mesh = generators.delaunay(3000, seed=9)
    weights = np.random.default_rng(1).integers(0, 20, 3000)
    sources = np.repeat(np.arange(3000), np.diff(mesh.offsets))
    return portpart.as_graph(mesh, vertex_weights=weights,
                             edge_weights=(sources + mesh.targets) % 13)


GRAPHS: dict[str, Callable[[], Graph]] = {
    "mesh": functools.cache(lambda: generators.delaunay(4000)),
    "weighted": functools.cache(weighted_mesh),
    "rmat": functools.cache(lambda: generators.rmat(11, 8)),
    "grid": functools.cache(lambda: generators.grid_3d(14)),
}
CASES = [(name, k, algorithm, preset) for name in GRAPHS for k in (2, 24)
         for algorithm in ("jet", "portpart") for preset in ("fast", "default")]
CASES += [(name, k, "gkway", "default") for name in GRAPHS for k in (2, 24)]
CASES += [("mesh", 24, "igkway", "default"), ("weighted", 7, "igkway", "paper"),
          ("rmat", 24, "igkway", "default"), ("grid", 2, "igkway", "paper")]
CASES += [(name, k, "gpmetis", "default") for name in GRAPHS for k in (2, 24)]
CASES += [("weighted", 7, "gpmetis", "strong")]
CASES += [(name, k, "jet", "paper") for name in GRAPHS for k in (2, 24)]
CASES += [("weighted", 7, "jet", "paper-ultra")]
CASES += [(name, k, "jet", "code") for name in GRAPHS for k in (2, 24)]
CASES += [(name, k, "gkway", "paper") for name in GRAPHS for k in (2, 24)]
CASES += [(name, k, "gpmetis", "paper, far") for name in GRAPHS for k in (2, 24)]
CONFIGS = {"paper, far": changed(PRESETS["paper"], {
    "handoff_vertices": 500, "coarsening.min_coarsest": 500})}
"""The paper's method on graphs that METIS would get at once."""
CASES += [("weighted", 7, "jet", "ultra"), ("weighted", 7, "portpart", "strong"),
          ("weighted", 7, "gkway", "strong"), ("rmat", 5, "portpart", "best"),
          ("mesh", 60, "portpart", "best")]


def on_threads(threads: int, name: str, k: int, algorithm: str, preset: str) -> np.ndarray:
    return portpart.partition(GRAPHS[name](), k, algorithm=algorithm, seed=4,
                              preset=CONFIGS.get(preset, preset), threads=threads).part


@functools.cache
def on_one_thread(*case: Any) -> np.ndarray:
    return on_threads(1, *case)


def in_space(space: ExecutionSpace, name: str, k: int, algorithm: str, preset: str) -> np.ndarray:
    """What `portpart.partition` does, in any space."""
    graph = GRAPHS[name]().to(space)
    balance = balance_of(graph, k)
    run, config = lookup(algorithm, CONFIGS.get(preset, preset))
    part = run(Problem(graph, balance, 4, Trace(space, graph, None)), config)
    return oracles.host(repaired(graph, part, balance)[0])


@pytest.mark.parametrize("case", CASES[::2], ids=lambda case: "-".join(map(str, case)))
def test_two_threads(case: Any) -> None:
    assert np.array_equal(on_threads(2, *case), on_one_thread(*case))


@pytest.mark.parametrize(("algorithm", "preset"), [
    ("jet", "default"), ("portpart", "default"), ("gkway", "default"), ("gpmetis", "default"),
    ("gkway", "paper"), ("gpmetis", "paper, far")])
def test_two_threads_often(algorithm: str, preset: str) -> None:
    """A race shows now and then only."""
    graph, config = generators.rmat(12, 16), CONFIGS.get(preset, preset)
    one = portpart.partition(graph, 16, algorithm=algorithm, preset=config, threads=1).part
    for _ in range(5):
        two = portpart.partition(graph, 16, algorithm=algorithm, preset=config, threads=2).part
        assert np.array_equal(two, one)


def test_three_threads(tmp_path: Path) -> None:
    """Of the cases that two threads have not had."""
    cases = CASES[1::2]
    code = (
        "import sys, numpy as np\n"
        "from tests.api.test_parity import CASES, on_threads\n"
        "from tests.helpers.threads import use_threads_at_once\n"
        "use_threads_at_once()\n"
        "parts = [on_threads(3, *case) for case in CASES[1::2]]\n"
        "np.savez(sys.argv[1], *parts)\n"
    )
    result = tmp_path / "parts.npz"
    environment = {**os.environ, "NUMBA_NUM_THREADS": "3", "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", code, str(result)], cwd=ROOT, env=environment,
                   check=True, timeout=300)
    for case, part in zip(cases, np.load(result).values()):
        assert np.array_equal(part, on_one_thread(*case)), case


@pytest.fixture(scope="module")
def host() -> ExecutionSpace:
    """The space that runs generated CUDA C++; programs are prepared once for all cases."""
    return host_cuda_space()


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
def test_generated_cuda_source_on_the_host(host: ExecutionSpace, case: Any) -> None:
    assert np.array_equal(in_space(host, *case), on_one_thread(*case))


def test_a_process_of_its_own_finds_the_same(tmp_path: Path) -> None:
    """Neither the order of a hash table nor an address in memory may decide."""
    code = ("from tests.api.test_parity import on_one_thread\n"
            "import hashlib\n"
            "part = on_one_thread('rmat', 24, 'portpart', 'default')\n"
            "print(hashlib.sha256(part.tobytes()).hexdigest())")
    outputs = {
        subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, text=True,
                       capture_output=True,
                       env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


@pytest.fixture(params=["resident", "walk"])
def gpu(request: pytest.FixtureRequest) -> Any:
    """The GPU, running programs in every way."""
    shared: Any = cuda_space()
    if request.param not in shared.program_modes():
        pytest.skip(f"programs do not run in the mode {request.param!r} here")
    space: Any = type(shared)(shared.device_id)
    space.program_mode = request.param
    return space


@pytest.mark.gpu
@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
def test_cuda(gpu: Any, case: Any) -> None:
    expected = on_one_thread(*case)
    for _ in range(2):
        assert np.array_equal(in_space(gpu, *case), expected)


@pytest.mark.gpu
def test_cuda_through_the_public_function() -> None:
    cuda_space()
    for name, k, algorithm, preset in CASES[:4]:
        part = portpart.partition(GRAPHS[name](), k, algorithm=algorithm, preset=preset, seed=4,
                                  device="cuda").part
        assert np.array_equal(part, on_one_thread(name, k, algorithm, preset))


def test_a_graph_keeps_its_space_unless_a_device_or_threads_are_named() -> None:
    graph = GRAPHS[CASES[0][0]]().to(backends.space("cpu", threads=1))
    for options, space in ((CallOptions(2), graph.space),
                           (CallOptions(2, device="cpu"), backends.space("cpu")),
                           (CallOptions(2, threads=2), backends.space("cpu", threads=2))):
        assert graph_on_device(graph, options).space is space


def test_the_spaces_of_these_tests_differ() -> None:
    assert backends.space("cpu", threads=1) is not backends.space("cpu", threads=2)

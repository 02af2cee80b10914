"""Fixtures of all tests: execution spaces, and the folder of real graphs."""

from __future__ import annotations

import gc
import importlib
import os
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

# Two threads everywhere, also on one core: results must not depend on their number.
os.environ.setdefault("NUMBA_NUM_THREADS", str(max(2, os.cpu_count() or 1)))
# Matrices are small, and idle threads of OpenBLAS keep cores busy that have tests to run.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from portpart import backends
from portpart.backends.programs.interface import ExecutionSpace
from portpart.errors import DeviceUnavailable
from tests.helpers import data_folder as real_graphs
from tests.helpers.threads import compile_here, use_threads_at_once

use_threads_at_once()
compile_here()

NEW_OBJECTS = 100_000
"""New objects before Python looks for garbage. Kernels and their programs are many objects that
stay: with Python's own 700, the collector takes a twentieth of the time of some tests.
"""


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, Any, Any]:
    """Collect tests without looking for garbage, which would take as long again.

    What is collected stays until the end, so nobody looks for garbage in it later either.
    """
    gc.disable()
    try:
        if session.config.args_source is pytest.Config.ArgsSource.TESTPATHS:
            import_from_the_end()
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(NEW_OBJECTS)
        gc.enable()


def import_from_the_end() -> None:
    """Import all tests, if every other process does so from the first on.

    In a fresh clone each then reads of half of the files what the other has compiled.
    """
    if int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]) % 2 == 0:
        return
    root = Path(__file__).parents[1]
    for file in sorted(root.glob("tests/**/test_*.py"), reverse=True):
        with suppress(pytest.skip.Exception):  # what it needs is not installed
            importlib.import_module(".".join(file.relative_to(root).with_suffix("").parts))


def pytest_sessionfinish() -> None:
    """Look for garbage once; pytest would do so five times, which takes seconds."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Slow tests first, so that no process is left with one in the end."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


SPACES: dict[str, Any] = {
    "cpu-1": lambda: backends.space("cpu", threads=1),
    "cpu-2": lambda: backends.space("cpu", threads=2),
    "host-cuda": lambda: host_cuda_space(),
    "cuda": lambda: cuda_space(),
}


def host_cuda_space() -> ExecutionSpace:
    """The space that runs generated CUDA C++ on the host; skips without a compiler."""
    from tests.helpers.emulation import host_cuda

    if host_cuda.COMPILER is None:
        pytest.skip(host_cuda.NO_COMPILER)
    return host_cuda.HostCudaSpace()


def cuda_space() -> ExecutionSpace:
    """The current GPU, with the code that runs in the long run; skips without one."""
    try:
        found: Any = backends.space("cuda")
    except DeviceUnavailable as error:
        pytest.skip(str(error))
    found.kernels.modules.quick = False
    return found  # type: ignore[no-any-return]


@pytest.fixture(
    params=[pytest.param(name, marks=[pytest.mark.gpu] if name == "cuda" else [])
            for name in SPACES],
    scope="session",
)
def space(request: pytest.FixtureRequest) -> ExecutionSpace:
    """Every execution space; the tests of a primitive or an algorithm are written once."""
    made: ExecutionSpace = SPACES[request.param]()
    return made


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real graphs; skips if there is none."""
    return real_graphs.require(real_graphs.DATA)

"""Options of the piece benchmarks."""

from __future__ import annotations

import pytest

from portpart.backends.cpu.driver_module import WORK, WORK_BEFORE_THREADS, state

DEFAULT_SPACES = ("cpu", "cuda")
DEFAULT_SIZES = (100, 100_000, 10_000_000)


state[WORK] = WORK_BEFORE_THREADS  # threads from the first launch on


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--space", action="append", metavar="NAME",
        help="space to measure: cpu, cpu-1 (one thread), cuda, cuda:1 ...; may be repeated",
    )
    parser.addoption(
        "--size", action="append", type=int, metavar="N", help="number of elements; may be repeated"
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    option = metafunc.config.getoption
    if "space_name" in metafunc.fixturenames:
        names = option("--space") or DEFAULT_SPACES
        metafunc.parametrize("space_name", names, scope="session")
    if "size" in metafunc.fixturenames:
        sizes = option("--size") or DEFAULT_SIZES
        metafunc.parametrize("size", sizes, ids=[f"n={size}" for size in sizes])

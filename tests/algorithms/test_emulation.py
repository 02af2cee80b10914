"""Whole partitions and mappings come out alike whatever the order of work items and their lanes."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from portpart.algorithms.recipes.partitioners import ALGORITHMS
from portpart.algorithms.refinement import by_degree
from portpart.backends.language import Kernel
from tests.helpers.emulation.emulated import Case, cases, outcome
from tests.helpers.emulation.written_kernels import kernels_as_written, name_of

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

CASES = cases()
FOR_MANY = "portpart.primitives."
"""Kernels for long arrays, and those of primitives that others use: tests/primitives has them."""


class Ran(NamedTuple):
    """A kernel that has run: where it is written, with how many lanes, and whether it has teams.

    Of a kernel by degree also what it is called and does, and for which objective.
    """

    name: str
    lanes: int
    has_teams: bool
    by_degree: tuple[str, ...]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of this run of pytest share."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.mark.parametrize("case", CASES, ids=str)
def test_lanes_and_order_decide_nothing(case: Case, folder: Path) -> None:
    found = blocks_of(case, folder)
    expected, _ = outcome(case, 0)
    assert np.array_equal(found, expected)


def blocks_of(case: Case, folder: Path) -> np.ndarray:
    """The blocks; one process of this run of pytest runs the case, and writes down the kernels."""
    path = path_of(case, folder)
    with locked(path):
        if not path.exists():
            run(case, path)
    return np.load(path.with_suffix(".npy"))


def run(case: Case, path: Path) -> None:
    """Write the blocks, then which kernels have run."""
    blocks, kernels = outcome(case, CASES[case])
    ran = [Ran(name_of(kernel), lanes, kernel.uses_team_words, by_degree_of(kernel))
           for kernel, lanes in kernels.items()]
    np.save(path.with_suffix(".npy"), blocks)
    unfinished = path.with_suffix(f".{os.getpid()}")
    unfinished.write_text(json.dumps(ran))
    unfinished.replace(path)


@contextmanager
def locked(path: Path, waits: bool = True) -> Iterator[bool]:
    """No other process runs the case meanwhile; without `waits`, yield whether that is so.

    The lock of a process that is killed ends with it.
    """
    if fcntl is None:
        yield True
        return
    with path.with_suffix(".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
        else:
            yield True


def path_of(case: Case, folder: Path) -> Path:
    return folder / f"emulated-{[*CASES].index(case)}.json"


def by_degree_of(kernel: Kernel) -> tuple[str, ...]:
    if kernel.function.__module__ != by_degree.__name__:
        return ()
    body = kernel.values["job"].body
    values = {**body.values, **({"search": body.values["rating"].search}
                                if "rating" in body.values else {})}
    distance = values["search"].rules.distance.name if "search" in values else "any"
    return kernel.name, body.name, distance


def kernels_that_ran(folder: Path) -> Iterator[Ran]:
    """In all cases; those that no process has begun are run, the last one first."""
    for case in reversed(CASES):
        path = path_of(case, folder)
        with locked(path, waits=False) as is_free:
            if is_free and not path.exists():
                run(case, path)
    for case in CASES:
        blocks_of(case, folder)
        for name, lanes, has_teams, by_degree_ in json.loads(path_of(case, folder).read_text()):
            yield Ran(name, lanes, has_teams, tuple(by_degree_))


def test_every_kernel_of_the_algorithms_has_run(folder: Path) -> None:
    most: dict[str, int] = {}
    teams = set()
    for ran in kernels_that_ran(folder):
        most[ran.name] = max(ran.lanes, most.get(ran.name, 0))
        if ran.has_teams:
            teams.add(ran.name)
    wanted = {name for name in kernels_as_written() if not name.startswith(FOR_MANY)}
    assert wanted - set(most) == set()
    assert {name for name in wanted & teams if most[name] == 1} == set()


def test_vertices_of_all_degrees_have_been_valued_in_every_way(folder: Path) -> None:
    """Those with few neighbours, with many, and hubs."""
    ran = {ran.by_degree for ran in kernels_that_ran(folder) if ran.by_degree}
    distances = ("one_distance", "tree_distance", "matrix_distance")
    ways = {*product(("refresh_gain", "rate"), distances), ("find_legal", "one_distance"),
            ("propose_other", "one_distance")}
    assert ran == {(kind, *way) for kind in ("of_low_degree", "of_high_degree", "of_hub") for way
                   in ways} | {
        (kind, "find_block", "any") for kind
        in ("of_low_degree", "of_high_degree")}  # around edits are no hubs


def test_every_algorithm_has_one_two_and_three_lanes() -> None:
    for algorithm in ALGORITHMS:
        assert {lanes for case, lanes in CASES.items() if case.algorithm == algorithm} == {1, 2, 3}

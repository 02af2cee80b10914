"""Partitions of edges that every machine and every device must reproduce, kept as digests.

``python -m tests.golden.test_golden_edges`` writes them anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import portpart
from portpart import generators
from portpart.graphs.graph import Graph
from tests.conftest import cuda_space
from tests.golden.cases import weighted
from tests.oracles import host

FILE = Path(__file__).with_name("edges.json")

GRAPHS: dict[str, Callable[[], Graph]] = {
    "grid": lambda: generators.grid_3d(9),
    "rmat": lambda: generators.rmat(10),
    "weighted": lambda: weighted(generators.grid_2d(30), 4, vertices=9, edges=5),
}
CASES = ["grid 2 default", "grid 64 fast", "rmat 8 default", "rmat 64 default", "rmat 8 strong",
         "rmat 2 best", "weighted 8 default", "weighted 130 fast"]


def outcome_of(case: str, device: str) -> list[Any]:
    """The cost, and digests of the blocks of edges and of the copies of vertices."""
    name, k, preset = case.split()
    result = portpart.partition_edges(GRAPHS[name](), int(k), preset=preset, device=device)
    arrays = (result.part, result.copy_offsets, result.copy_blocks)
    return [result.km1, *(hashlib.sha256(host(array).astype("<i8").tobytes()).hexdigest()[:16]
                          for array in arrays)]


def load() -> dict[str, list[Any]]:
    """The recorded digests."""
    known: dict[str, list[Any]] = json.loads(FILE.read_text())
    return known


@pytest.mark.parametrize("case", CASES)
def test_the_cpu_reproduces(case: str) -> None:
    assert outcome_of(case, "cpu") == load()[case]


@pytest.mark.gpu
@pytest.mark.parametrize("case", CASES)
def test_the_gpu_reproduces(case: str) -> None:
    cuda_space()
    assert outcome_of(case, "cuda") == load()[case]


def test_every_case_is_recorded_and_no_other() -> None:
    assert list(load()) == CASES


if __name__ == "__main__":
    rows = (f'  "{case}": {json.dumps(outcome_of(case, "cpu"))}' for case in CASES)
    FILE.write_text("{\n" + ",\n".join(rows) + "\n}\n")

"""Mappings that every machine and every device must reproduce, kept as digests.

``python -m tests.golden.test_golden_mappings`` writes them anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from portpart import generators
from portpart.algorithms.mapping.integrated_mapping import PRESETS as PRESETS_OF_IM
from portpart.algorithms.mapping.multisection import PUBLISHED
from portpart.algorithms.refinement.options import RefinementOptions
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.graph import Graph
from portpart.options import changed
from tests.algorithms.mapping import test_parity as parity
from tests.golden.cases import weighted
from tests.golden.record import load, why_metis_differs
from tests.helpers.metis_calls import watching_metis
from tests.helpers.spaces import reference

FILE = Path(__file__).with_name("mappings.json")

GRAPHS: dict[str, Callable[[], Graph]] = {
    "grid": lambda: generators.grid_3d(17),
    "rgg": lambda: generators.random_geometric(2**12),
    "rmat": lambda: generators.rmat(12, 8),
    "weighted": lambda: weighted(generators.grid_2d(60), 4, vertices=2**40, edges=5),
}
CASES = [f"{graph} {machine} {algorithm} {preset}"
         for graph in GRAPHS for machine, algorithm, preset in (
             ("tree", "hm", "default"), ("tree", "hm-ultra", "default"), ("deep", "hm", "fast"),
             ("tree", "im", "default"), ("deep", "im", "fast"), ("tree", "im", "paper"),
             ("line", "im", "strong"), ("tree", "two-phase", "default"))]
CASES += ["rgg tree hm best", "weighted tree hm best"]
CASES += [f"{graph} tree im weak-again" for graph in GRAPHS]
CASES += [f"{graph} tree im published" for graph in GRAPHS]
CASES += [f"{graph} tree hm paper" for graph in GRAPHS]
CASES += ["grid deep hm paper", "rgg tree hm-ultra paper", "weighted tree hm-ultra paper"]
CASES += [f"{graph} tree hm released" for graph in GRAPHS]
CASES += ["rgg tree hm-ultra released", "weighted tree hm-ultra released"]

WITH_SWAPS = changed(PRESETS_OF_IM["paper"], {
    "swaps": True, "refinement.coarse": RefinementOptions()})

PRESETS = {
    ("im", "paper"): WITH_SWAPS,
    ("im", "weak-again"): changed(WITH_SWAPS, {"refinement.coarse.weak_again": True}),
    ("im", "published"): "paper",
    ("hm", "paper"): replace(PUBLISHED, preset="paper"),
    ("hm-ultra", "paper"): replace(PUBLISHED, preset="paper-ultra"),
    ("hm", "released"): "paper",
    ("hm-ultra", "released"): "paper",
}
"""What the names of cases stand for, if for no preset of that name: `paper` of `im` was recorded
with swaps, slack and eviction by weight, and first before weak rebalancings followed a strong one;
that of `hm` when Jet was the one that was released."""


def digest(space: ExecutionSpace, case: str) -> str:
    name, machine, algorithm, preset = case.split()
    part = parity.mapped_in(space, GRAPHS[name]().to(space), machine, algorithm,
                            PRESETS.get((algorithm, preset), preset))
    return hashlib.sha256(np.asarray(part, "<i4").tobytes()).hexdigest()[:16]


RUNS = [*((f"cpu-{1 + i % 2}", case) for i, case in enumerate(CASES)),
        *(pytest.param("cuda", case, marks=pytest.mark.gpu) for case in CASES)]
"""tests/algorithms/mapping/test_parity.py compares numbers of threads, and generated source."""


@pytest.mark.parametrize(("space", "case"), RUNS, indirect=["space"])
def test_mappings_are_those_that_were_recorded(space: ExecutionSpace, case: str) -> None:
    recorded = json.loads(FILE.read_text())[case]
    with watching_metis() as asked:
        found = digest(space, case)
    different = why_metis_differs(load()) if asked and found != recorded else None
    if different:
        pytest.skip(different)
    assert found == recorded


def test_no_two_of_them_are_the_same() -> None:
    """Else one of them would tell nothing."""
    recorded = json.loads(FILE.read_text())
    assert list(recorded) == CASES
    assert len(set(recorded.values())) == len(CASES)


if __name__ == "__main__":
    rows = (f'  "{case}": "{digest(reference(), case)}"' for case in CASES)
    FILE.write_text("{\n" + ",\n".join(rows) + "\n}\n")

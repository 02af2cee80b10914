"""What judges a result shares no code with what made it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.sources import source_of

TESTS = Path(__file__).resolve().parents[1]
FILES = [path for path in sorted(TESTS.rglob("*.py")) if path != Path(__file__)]

ORACLES = ("oracles/[!t]*.py", "fuzz/truth.py")
GIVEN = ("portpart.graphs.graph", "portpart.graphs.hypergraph", "tests.helpers.graphs",
         "tests.helpers.plain_graphs")
"""What oracles may use besides each other: arrays of graphs, and graphs made for tests."""

METRICS = {
    "metrics/test_metrics.py": "tests of metrics",
    "metrics/test_holders.py": "tests of what metrics take",
    "metrics/test_net_metrics.py": "tests of metrics of hypergraphs",
    "metrics/test_edge_metrics.py": "tests of metrics of partitions of edges",
    "metrics/test_mapping_costs.py": "tests of metrics of mappings",
    "metrics/test_rank_metrics.py": "tests of metrics of several ranks",
    "api/test_rank_calls.py": "which metrics take no graph of several ranks",
    "helpers/ranks/gpu_ranks.py": "metrics of several ranks, beside what one device finds",
    "helpers/ranks/process_calls.py": "the same",
    "helpers/ranks/torch_ranks.py": "the same",
    "repository/test_dead_code.py": "only names them",
    "api/test_exact.py": "which numbers metrics take",
    "api/test_notebooks.py": "how evaluations are shown",
    "graphs/test_shared_memory.py": "metrics share and check arrays as other calls do",
    "fuzz/calls.py": "calls metrics with odd objects",
    "fuzz/targets.py": "gives odd numbers to what reads targets",
}
LIMITS = {
    "algorithms/initial/test_growing.py": "what starts are given",
    "algorithms/initial/test_grown_around.py": "the same",
    "algorithms/final_balance/test_exact_packing.py": "what the last resort is given",
    "algorithms/multilevel/test_population.py": "what a search is given",
    "algorithms/incremental/test_incremental_nets.py": "what follows edits is given",
    "algorithms/incremental/test_pseudo.py": "the same",
    "algorithms/refinement/test_flows.py": "what flow refinement is given",
    "algorithms/refinement/test_net_flows.py": "the same",
    "api/test_map_processes.py": "what a mapper is given",
}
"""Why files use a judge of the package though it judges nothing there."""


def imported(path: Path) -> Iterator[str]:
    """Yield what a file imports anywhere: modules, and names with their module before them."""
    for node in source_of(path).imports:
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        else:
            yield from (f"{node.module}.{name.name}" for name in node.names)


@pytest.mark.parametrize("path", [path for glob in ORACLES for path in sorted(TESTS.glob(glob))],
                         ids=lambda path: path.relative_to(TESTS).as_posix())
def test_oracles_use_arrays_of_graphs_and_each_other(path: Path) -> None:
    oracles = [".".join(["tests", *oracle.relative_to(TESTS).with_suffix("").parts])
               for glob in ORACLES for oracle in TESTS.glob(glob)]
    allowed = tuple(f"{module}." for module in [*oracles, "tests.oracles", *GIVEN])
    assert not [name for name in imported(path)
                if name.startswith(("portpart", "tests", "bench"))
                and not f"{name}.".startswith(allowed)]


def users(judge: str, among: str) -> set[str]:
    """Return the files of which the text has what `among` finds, and which use a judge."""
    return {path.relative_to(TESTS).as_posix() for path in FILES
            if re.search(among, text := path.read_text())
            and (judge in text or judge in imported(path))}


def test_nothing_but_metrics_is_judged_by_metrics() -> None:
    assert users("portpart.metrics", "") == set(METRICS)


def test_calls_of_the_library_are_not_judged_by_limits_of_its_pieces() -> None:
    assert users("portpart.algorithms.objectives.limits",
                 r"\b(portpart|checked)\.(partition|map_processes)\(") == set(LIMITS)

"""What runs under compute-sanitizer, and how its verdicts are read; the tool itself needs a GPU."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import portpart
from bench import sanitize
from bench.sanitized import FEW, GROUPS
from bench.sanitized_graphs import kinds_of_graphs
from portpart.backends import spaces
from portpart.backends.cpu.driver_module import ITEM_WEIGHT
from portpart.backends.cpu.space import CpuSpace, _launch as launch
from portpart.backends.language import Kernel
from portpart.backends.programs.interface import Executable
from portpart.backends.programs.program import Program
from tests.helpers.emulation.lanes import Walker
from tests.helpers.emulation.written_kernels import kernels_as_written, name_of

FAKE = """#!{python}
import sys, time
words = " ".join(sys.argv[1:])
if "cupy.arange" in words:
    print(6)
elif "jet" in words:
    print("========= ERROR SUMMARY: 2 errors")
    sys.exit(1)
elif "gkway" in words:
    print("all done")
elif "wishes" in words:
    time.sleep(0.5)
    print("========= ERROR SUMMARY: 3 errors")
else:
    print("all done")
    print("========= ERROR SUMMARY: 0 errors")
"""
"""A tool that finds errors in Jet, says nothing of G-kway, takes its time with wishes and finds all
else clean."""


@pytest.fixture
def fake_tool(tmp_path: Path) -> str:
    tool = tmp_path / "fake-sanitizer"
    tool.write_text(FAKE.format(python=sys.executable))
    tool.chmod(0o755)
    return str(tool)


class Recording(CpuSpace):
    """The CPU, doing what only spaces with teams do, and noting which kernels have had work."""

    widest_team = 256

    def __init__(self) -> None:
        super().__init__()
        self.kernels: set[Kernel] = set()

    def parallel_for(self, n: int, kernel: Kernel, *args: Any, team: int = 1) -> None:
        self.run_flat(n, kernel, kernel.flattened(args), team)

    def run_flat(self, n: int, kernel: Kernel, args: tuple[Any, ...], team: int) -> None:
        if n > 0:
            self.kernels.add(kernel)
            launch(n, kernel, args, ITEM_WEIGHT[team], 1)

    def executable(self, program: Program) -> Executable:
        return Walker(self, program)


def verdicts(patterns: str, tool: str, logs: Path, *more: str) -> tuple[int, str]:
    options = ["--pieces", patterns, "--sanitizer", tool, "--logs", str(logs), *more]
    result = CliRunner().invoke(sanitize.main, options)
    return result.exit_code, result.output


def test_every_algorithm_is_run_under_the_tool() -> None:
    space, graphs = portpart.space("cpu"), kinds_of_graphs(50)
    named = " ".join(name for group in GROUPS.values() for name, _ in group.runs(space, graphs))
    missing = {name for name in portpart.list_algorithms() if f"{name}, " not in f"{named}, "}
    assert not missing


FIRST = (
    "nets: refined nets, both weights, km1, 3, True", "rare: flows, 160, None",
    "primitives: radix sort, 20001, uint64", "edits: pseudo block, skewed",
    "nets: empty blocks, both weights, Hypergraph", "nets: nets, skewed",
    "nets: groups of nets, both weights", "wishes: hm, default, fixed",
    "rare: linked groups, hub", "edits: ihyperg, skewed", "rare: pairs, both weights",
    "rare: rounds of pairs, both weights", "edits: edits of nets, both weights",
    "edits: edits, hub", "ranks: ranks, both weights", "nets: starts of nets, both weights",
    "primitives: histogram, many bins", "rare: flows, 40, km1",
    "rare: constrained groups, both weights", "rare: homes, both weights", "rare: large",
    "rare: little scratch, grid", "wishes: portpart, fixed", "wishes: hm, paper, fixed",
    "ranks: ranks, path", "rare: wide hub", "nets: rounds on nets, hub",
    "searches: skewed, search",
)
"""Cases that had all kernels when this was written, with the fewest types of arguments."""


def cases_of(space: CpuSpace) -> Iterator[Callable[[], Any]]:
    """What is done in all cases, those of `FIRST` first."""
    graphs = {kind: graph for kind, graph in kinds_of_graphs(700).items() if kind in FEW}
    for first in (True, False):
        for group in ("primitives", "inputs", "nets", "edits", "ranks", "rare", "wishes", "im",
                      "searches"):
            for name, work in GROUPS[group].runs(space, graphs):
                if (f"{group}: {name}" in FIRST) == first:
                    yield work


@pytest.mark.slow
def test_every_kernel_is_run_under_the_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    space = Recording()
    monkeypatch.setitem(spaces._spaces, ("cpu", None), space)
    missing = kernels_as_written()
    for work in cases_of(space):
        work()
        missing -= set(map(name_of, space.kernels))
        if not missing:
            return
    assert not missing


@pytest.mark.parametrize("group", ["inputs", "gkway", "rows"])
def test_runs_work_without_a_gpu(group: str) -> None:
    for _, work in GROUPS[group].runs(portpart.space("cpu"), kinds_of_graphs(60)):
        work()


def test_errors_are_counted_and_end_with_a_code(fake_tool: str, tmp_path: Path) -> None:
    code, output = verdicts("memcheck-jet,memcheck-portpart", fake_tool, tmp_path)
    assert code == 1
    assert "1 of 2 pieces clean" in output
    assert "2 errors" in output


def test_a_piece_without_a_summary_is_no_clean_one(fake_tool: str, tmp_path: Path) -> None:
    code, output = verdicts("memcheck-gkway", fake_tool, tmp_path)
    assert code == 1
    assert "FAILED" in output


def test_what_a_piece_found_until_its_limit_is_told(fake_tool: str, tmp_path: Path) -> None:
    code, output = verdicts("memcheck-wishes", fake_tool, tmp_path, "--limit", "0.2")
    assert code == 1
    assert "3 errors" in output
    assert "TOOK TOO LONG" in output


def test_runs_end_at_their_limit() -> None:
    command = [sys.executable, "-m", "bench.sanitized", "jet", "--device", "cpu"]
    done = subprocess.run([*command, "--limit", "0.1"], stdout=subprocess.PIPE, text=True)
    assert done.returncode == -signal.SIGALRM
    assert "all done" not in done.stdout


def test_clean_pieces_end_with_zero(fake_tool: str, tmp_path: Path) -> None:
    code, output = verdicts("*-portpart", fake_tool, tmp_path)
    assert code == 0
    assert "5 of 5 pieces clean" in output  # four tools walked, memcheck resident too


def test_a_missing_tool_is_one_line(tmp_path: Path) -> None:
    code, output = verdicts("memcheck-jet", str(tmp_path / "none"), tmp_path)
    assert code == 1
    assert "is not installed" in output

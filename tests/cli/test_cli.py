"""The command line: outputs, exit codes and error lines, with a stand-in for the partitioner."""

from __future__ import annotations

import errno
import io
import json
import os
import shlex
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import portpart.api
from portpart import errors
from portpart.api.progress import phase_display
from portpart.cli import main

CYCLE = "4 4\n2 4\n1 3\n2 4\n1 3\n"  # 0 - 1 - 2 - 3 - 0 in METIS format


@pytest.fixture
def cycle(tmp_path: Path) -> str:
    path = tmp_path / "cycle.graph"
    path.write_text(CYCLE)
    return str(path)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Replace the partitioner by one that puts vertex v in block v * k // n; returns its calls."""
    made: list[dict[str, Any]] = []

    def partition(graph: Any, k: int, **options: Any) -> SimpleNamespace:
        made.append({"k": k, **options})
        part = (np.arange(graph.num_vertices) * k // graph.num_vertices).astype(np.int32)
        return SimpleNamespace(
            part=part, k=k, cut=2, imbalance=0.0, feasible=True, seconds=0.25,
            block_weights=np.bincount(part, minlength=k),
            stats={"phases": {"coarsening": 0.125, "refinement": 0.125}, "levels": [{}, {}]},
            km1=None, soed=None, volume=None,
        )  # fmt: skip

    monkeypatch.setattr(portpart.api, "partition", partition)
    return made


def raising(error: BaseException) -> Callable[..., Any]:
    def partition(*_: Any, **__: Any) -> Any:
        raise error

    return partition


def test_partition_writes_one_block_a_line_and_prints_facts(
    cycle: str, calls: list, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    output = tmp_path / "cycle.part"
    assert main(["partition", cycle, "-k", "2", "-o", str(output)]) == 0
    assert output.read_text().split() == ["0", "0", "1", "1"]
    printed = capsys.readouterr().out
    assert "4 vertices, 4 edges" in printed
    assert "coarsening 0.125" in printed


def test_options_carry_the_names_of_the_api(cycle: str, calls: list) -> None:
    arguments = ["--imbalance", "5%", "--preset", "strong", "--device", "cpu", "--seed", "7",
                 "--threads", "2", "--algorithm", "jet", "--objective", "cut"]  # fmt: skip
    assert main(["partition", cycle, "-k", "3", *arguments]) == 0
    assert calls == [
        {"k": 3, "imbalance": 0.05, "preset": "strong", "device": "cpu", "seed": 7, "threads": 2,
         "algorithm": "jet", "objective": "cut", "progress": None, "target": None, "fixed": None,
         "initial": None, "min_block_weight": None, "starts": None, "time_limit": None,
         "rounds": None, "devices": None}
    ]  # fmt: skip


def test_wishes_come_from_options_and_files(
    cycle: str, calls: list, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    fixed, initial, target = (tmp_path / name for name in ("fixed.fix", "initial.part", "target"))
    fixed.write_text("-1\n0\n-1\n1\n")
    initial.write_text("1\n0\n1\n1\n")
    target.write_text("0.25, 0.5\n0.25\n")
    arguments = ["--fixed", str(fixed), "--initial", str(initial), "--min-block-weight", "1",
                 "--starts", "3", "--time-limit", "2.5", "--json"]  # fmt: skip
    assert main(["partition", cycle, "-k", "3", "--target", "1,2, 1", *arguments]) == 0
    call = calls[0]
    assert call["fixed"].tolist() == [-1, 0, -1, 1]
    assert call["initial"].tolist() == [1, 0, 1, 1]
    assert call["target"] == ["1", "2", "1"]
    assert (call["min_block_weight"], call["starts"], call["time_limit"]) == (1, 3, 2.5)
    report = json.loads(capsys.readouterr().out)
    assert report["fixed"] == str(fixed)
    assert report["target"] == ["1", "2", "1"]
    assert main(["partition", cycle, "-k", "3", "--target", f"@{target}"]) == 0
    assert calls[1]["target"] == ["0.25", "0.5", "0.25"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "1,x"], "target[1] is 'x'"),
        (["--target", "1,1,1"], "target holds 3 numbers for 2 blocks"),
        (["--target", "@nowhere"], "nowhere"),
        (["--fixed", "part"], "part:2: -2 is not a block number"),
        (["--initial", "part"], "part:1: -1 is not a block number"),
        (["--min-block-weight", "3"], "min_block_weight is 3"),
        (["--time-limit", "-1"], "time_limit is -1"),
        (["--rounds", "0"], "rounds is 0"),
        (["--rounds", "some"], "rounds is 'some'; it must be a number of rounds or 'until_limit'"),
        (["--rounds", "until_limit", "--preset", "best"], "time_limit is missing"),
        (["--rounds", "3"], "preset 'default' has no population; pass"),
    ],
)
def test_wishes_that_cannot_be_are_refused(
    cycle: str, arguments: list[str], message: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture,
) -> None:  # fmt: skip
    (tmp_path / "part").write_text("-1\n-2\n0\n1\n")
    monkeypatch.chdir(tmp_path)
    assert main(["partition", cycle, "-k", "2", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_partition_is_evaluated_against_its_target(
    cycle: str, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    part = tmp_path / "part"
    part.write_text("0\n1\n1\n1\n")
    assert main(["evaluate", cycle, str(part)]) == 1
    assert main(["evaluate", cycle, str(part), "--target", "1,3", "--json"]) == 0
    report = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert report["feasible"]
    assert report["imbalance"] == 0
    assert report["target"] == ["1", "3"]


def test_json_prints_one_object_and_nothing_else(
    cycle: str, calls: list, capsys: pytest.CaptureFixture
) -> None:
    assert main(["partition", cycle, "-k", "2", "--json"]) == 0
    printed = capsys.readouterr()
    report = json.loads(printed.out)
    assert printed.err == ""
    expected = {"cut": 2, "imbalance": 0.0, "feasible": True, "k": 2, "seconds": 0.25,
                "num_vertices": 4, "num_edges": 4, "seed": 0, "requested_imbalance": 0.03,
                "block_weights": [2, 2], "num_levels": 2}  # fmt: skip
    assert expected.items() <= report.items()


def test_part_on_standard_output_moves_the_facts_to_stderr(
    cycle: str, calls: list, capsys: pytest.CaptureFixture
) -> None:
    assert main(["partition", cycle, "-k", "2", "-o", "-"]) == 0
    printed = capsys.readouterr()
    assert printed.out.split() == ["0", "0", "1", "1"]
    assert "cut" in printed.err


def test_json_and_part_cannot_share_standard_output(cycle: str) -> None:
    assert main(["partition", cycle, "-k", "2", "-o", "-", "--json"]) == 2


def test_graph_comes_from_standard_input(
    calls: list, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(CYCLE.encode())))
    assert main(["partition", "-", "-k", "2"]) == 0
    assert "standard input, 4 vertices" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.InputError("k is 9"), 2),
        (FileNotFoundError(2, "No such file", "x"), 2),
        (errors.DeviceUnavailable("no CUDA driver"), 3),
        (errors.OutOfMemory("needs 3 GiB"), 3),
        (errors.InternalError("a promise was broken"), 70),
        (ZeroDivisionError("division by zero"), 70),
        (KeyboardInterrupt(), 130),
    ],
)
def test_each_kind_of_error_has_its_exit_code_and_one_line(
    cycle: str, error: BaseException, code: int,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture,
) -> None:  # fmt: skip
    monkeypatch.setattr(portpart.api, "partition", raising(error))
    assert main(["partition", cycle, "-k", "2"]) == code
    lines = [line for line in capsys.readouterr().err.splitlines() if line]
    assert len(lines) == 1
    assert str(error) in lines[0]


def test_traceback_is_shown_on_request(cycle: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORTPART_TRACEBACK", "1")
    monkeypatch.setattr(portpart.api, "partition", raising(ZeroDivisionError()))
    with pytest.raises(ZeroDivisionError):
        main(["partition", cycle, "-k", "2"])


def test_missing_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    assert main(["info", str(tmp_path / "nowhere.graph")]) == 2
    assert "nowhere.graph" in capsys.readouterr().err


def test_malformed_file_is_named_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    path = tmp_path / "bad.graph"
    path.write_text("3 2\n2\n1 x\n2\n")
    assert main(["info", str(path)]) == 2
    assert "bad.graph:3" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["-0.1", "much", "nan", "inf"])
def test_imbalance_must_be_a_finite_fraction(cycle: str, text: str) -> None:
    assert main(["partition", cycle, "-k", "2", f"--imbalance={text}"]) == 2


def test_infeasible_result_exits_with_one(
    cycle: str, calls: list, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    stand_in = portpart.api.partition

    def infeasible(*arguments: Any, **options: Any) -> Any:
        warnings.warn("vertex 3 weighs 9, more than a block may", UserWarning, stacklevel=2)
        result = stand_in(*arguments, **options)
        result.feasible = False
        return result

    monkeypatch.setattr(portpart.api, "partition", infeasible)
    assert main(["partition", cycle, "-k", "2"]) == 1
    assert capsys.readouterr().err == (
        "portpart: warning: vertex 3 weighs 9, more than a block may\n"
    )


@pytest.mark.parametrize(("blocks", "code"), [("0 0 1 1", 0), ("0 0 0 1", 1)])
def test_evaluate_judges_the_balance(
    cycle: str, blocks: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    part = tmp_path / "cycle.part"
    part.write_text(blocks.replace(" ", "\n") + "\n")
    assert main(["evaluate", cycle, str(part), "--json"]) == code
    report = json.loads(capsys.readouterr().out)
    assert report["cut"] == 2
    assert report["k"] == 2
    assert report["feasible"] is (code == 0)
    assert main(["evaluate", cycle, str(part), "--imbalance", "0.5"]) == 0
    assert "balance" in capsys.readouterr().out


def test_evaluate_refuses_a_part_of_another_length(
    cycle: str, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    part = tmp_path / "short.part"
    part.write_text("0\n1\n")
    assert main(["evaluate", cycle, str(part)]) == 2
    assert "short.part: 2 lines for 4 vertices" in capsys.readouterr().err


def test_info_describes_the_graph(cycle: str, capsys: pytest.CaptureFixture) -> None:
    assert main(["info", cycle, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    expected = {"num_vertices": 4, "num_edges": 4, "min_degree": 2, "max_degree": 2,
                "components": 1, "isolated_vertices": 0, "edge_weights": None}  # fmt: skip
    assert expected.items() <= report.items()
    assert main(["info", cycle]) == 0
    assert "mean 2.00" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["c.mtx", "c.npz", "c.graph.xz", "c.gr.gz", "c.parhip"])
def test_convert_and_back_keeps_the_graph(
    cycle: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    other = str(tmp_path / name)
    assert main(["convert", cycle, other]) == 0
    assert main(["convert", other, "-"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines] == [line.split() for line in CYCLE.splitlines()]


@pytest.mark.parametrize(("kind", "size"), [
    (["grid", "3", "4"], (12, 17)), (["road", "20"], (20, 19)),
])  # fmt: skip
def test_generate_writes_a_graph(
    kind: list[str], size: tuple[int, int], tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    path = str(tmp_path / "made.graph")
    assert main(["generate", *kind, "-o", path]) == 0
    assert main(["info", path, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["num_vertices"], report["num_edges"]) == size


def test_version_is_that_of_the_package(capsys: pytest.CaptureFixture) -> None:
    assert main(["--version"]) == 0
    assert portpart.__version__ in capsys.readouterr().out


def test_unknown_command_and_no_command_are_usage_errors() -> None:
    assert main(["fly"]) == 2
    assert main([]) in (0, 2)


def test_progress_is_drawn_on_a_terminal_and_gone_afterwards() -> None:
    screen = io.StringIO()
    with phase_display(quiet=False, console=Console(file=screen, force_terminal=True)) as report:
        assert report is not None
        report("coarsening", 3, 0)
        report("refinement", 1, 4)
    assert "refinement" in screen.getvalue()


def test_progress_is_silent_where_nobody_looks() -> None:
    with phase_display(quiet=True) as report:
        assert report is None


def test_a_reader_that_goes_away_has_its_own_exit_code(
    cycle: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    def write(*_: Any) -> None:
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    monkeypatch.setattr("sys.stdout", SimpleNamespace(write=write, flush=lambda: None))
    monkeypatch.setattr("sys.stderr", io.StringIO())  # click replaces it here
    for options in ([], ["--json"]):
        assert main(["info", cycle, *options]) == 141


@pytest.mark.slow
def test_commands_work_in_a_pipe_of_processes(tmp_path: Path) -> None:
    portpart_command = [sys.executable, "-m", "portpart.cli"]
    made = subprocess.run(
        [*portpart_command, "generate", "grid", "30", "30", "-o", "-"],
        capture_output=True, check=True,
    )  # fmt: skip
    answer = subprocess.run(
        [*portpart_command, "partition", "-", "-k", "4", "--json"],
        input=made.stdout, capture_output=True, check=True,
    )  # fmt: skip
    report = json.loads(answer.stdout)
    assert report["feasible"]
    assert 60 <= report["cut"] <= 80
    assert answer.stderr == b""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="streams are closed by a shell")
@pytest.mark.parametrize("closed", ["2>&-", ">&-", ">&- 2>&-"])
def test_commands_work_where_a_stream_is_closed(cycle: str, tmp_path: Path, closed: str) -> None:
    """Daemons and schedulers start programs without standard output or standard error."""
    part = tmp_path / "part"
    command = shlex.join([sys.executable, "-m", "portpart.cli", "partition", cycle, "-k", "2",
                          "-o", str(part)])
    run = subprocess.run(f"{command} {closed}", shell=True, stdout=subprocess.PIPE, check=True)
    assert sorted(part.read_text().split()) == ["0", "0", "1", "1"]
    assert (b"cut" in run.stdout) == (closed == "2>&-")


@pytest.mark.parametrize("command", [["partition", "-k", "2"], ["map", "-H", "2:2", "-D", "1:10"]])
def test_the_scale_of_rounded_weights_is_told(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    path = tmp_path / "ring.txt"
    path.write_text("".join(f"{v} {(v + 1) % 8} 0.25\n" for v in range(8)))
    rounded = [*command, str(path), "-q", "--weights", "round", "--weight-scale", "8"]
    assert main([*rounded, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["weight_scale"] == 8
    assert report["cut"] % 2 == 0
    assert main(rounded) == 0
    assert "times 8, rounded" in capsys.readouterr().out

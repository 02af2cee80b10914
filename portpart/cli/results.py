"""Progress and results of the commands that partition: text for people, or an object."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from portpart.api import Report, phase_display
from portpart.cli import files, output

if TYPE_CHECKING:
    from portpart.api import PartitionResult
    from portpart.options import Json


ENDS = {"rounds": "their number", "time": "the time limit", "interrupt": "Ctrl-C",
        "optimum": "a partition that cannot be better"}
"""Reasons for the end of the rounds of a population."""


@dataclass
class Shown:
    """Progress of a command, which begins with reading.

    Attributes
    ----------
    progress : callable or None
    begin, read_seconds : float
        Start and duration of reading.
    """

    progress: Report | None
    begin: float = field(default_factory=time.perf_counter)
    read_seconds: float = 0.0

    @contextmanager
    def calling(self) -> Iterator[Report | None]:
        """Context in which the library works; yields the object that it reports progress to."""
        self.read_seconds = time.perf_counter() - self.begin
        with output.libraries_on_stderr():
            yield self.progress


@contextmanager
def shown(quiet: bool) -> Iterator[Shown]:
    """Context in which progress is drawn; the first phase is reading."""
    with phase_display(quiet) as progress:
        if progress:
            progress("reading", 0, 0)
        yield Shown(progress)


def print_result(result: PartitionResult, report: Mapping[str, Any], as_json: bool, blocks: str,
                own: dict[str, Any], facts: dict[str, str], *, to_stderr: bool = False,
                advice: dict[str, str] | None = None) -> int:
    """Print a result, and return the exit code.

    Parameters
    ----------
    result : PartitionResult
    report : dict
        The options of the call.
    as_json : bool
        Whether to print one object.
    blocks : str
        The command's name of blocks.
    own, facts : dict
        Other fields of the object, and other facts for people.
    to_stderr : bool
        Whether standard output is used for the partition.
    advice : dict, optional
        Facts for people that are printed last.
    """
    if as_json:
        output.print_json(as_object(result, report, **own))
    else:
        output.print_facts(as_facts(result, report, blocks, **facts) | (advice or {}), to_stderr)
    return output.OK if result.feasible else output.INFEASIBLE


def as_object(result: PartitionResult, report: Mapping[str, Any], **own: Any) -> dict[str, Json]:
    """Return the object of --json: the fields of the result, then the options of the call."""
    requested = {f"requested_{name}" if name == "imbalance" else name: value
                 for name, value in report.items()}  # fmt: skip
    return {
        "k": result.k,
        **own,
        "cut": result.cut,
        **_objectives(result),
        "imbalance": result.imbalance,
        "feasible": result.feasible,
        "seconds": result.seconds,
        "phases": result.stats.get("phases", {}),
        "block_weights": result.block_weights,
        "weight_scale": result.stats.get("weight_scale", 1),
        **_rounds_of(result),
        **requested,
    }


def _objectives(result: PartitionResult) -> dict[str, int]:
    """Return the objectives of a result besides the cut."""
    found = {"km1": result.km1, "soed": result.soed, "volume": result.volume}
    return {name: value for name, value in found.items() if value is not None}


def _rounds_of(result: PartitionResult) -> dict[str, Any]:
    """Return the number of completed rounds and why they ended, if rounds were requested."""
    rounds = result.stats.get("rounds")
    return {} if rounds is None else {"rounds_done": len(rounds), "ended": result.stats["ended"]}


def as_facts(result: PartitionResult, report: Mapping[str, Any], blocks: str,
             **own: str) -> dict[str, str]:
    """Return the facts for people; `blocks` is the command's name of blocks."""
    name = Path(report["graph"]).name if report["graph"] != files.STANDARD else "standard input"
    weights = result.block_weights
    facts = {
        "graph": f"{name}, {output.sizes_text(report)} (read in {report['read_seconds']:.2f} s)",
        blocks: f"{output.grouped(result.k)}, weights {output.grouped(weights.min())} to "
                f"{output.grouped(weights.max())}",
        **own,
        "cut": output.grouped(result.cut),
        **{name: output.grouped(value) for name, value in _objectives(result).items()},
        "imbalance": f"{result.imbalance:.4f} (at most {report['imbalance']:g})",
        "time": output.timings(result.seconds, result.stats.get("phases", {})),
    }  # fmt: skip
    if result.stats.get("weight_scale", 1) != 1:
        facts["weights"] = f"times {result.stats['weight_scale']:g}, rounded"
    if done := _rounds_of(result):
        facts["rounds"] = f"{output.grouped(done['rounds_done'])}, ended by {ENDS[done['ended']]}"
    if not result.feasible:
        facts["balance"] = "NOT KEPT: see the warning"
    written = [report[name] for name in ("output", "rankfile", "slurm_hostfile", "rank_order")
               if report.get(name)]
    if written:
        facts["written"] = ", ".join(written)
    return facts

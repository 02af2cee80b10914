"""Reports of a result by the commands that partition: text for people, an object for programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from portpart.cli import files
from portpart.cli.output import grouped, sizes_text, timings

if TYPE_CHECKING:
    from portpart.api.results import PartitionResult


def as_object(result: PartitionResult, report: dict[str, Any], **own: Any) -> dict[str, Any]:
    """Return the object of --json: the fields of the result, then what was asked for."""
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
        **requested,
    }


def _objectives(result: PartitionResult) -> dict[str, int]:
    """Return the objectives of a result besides the cut."""
    found = {"km1": result.km1, "soed": result.soed, "volume": result.volume}
    return {name: value for name, value in found.items() if value is not None}


def as_facts(result: PartitionResult, report: dict[str, Any], blocks: str,
             **own: str) -> dict[str, str]:
    """Return what people want to see; `blocks` is what the command calls the parts."""
    name = Path(report["graph"]).name if report["graph"] != files.STANDARD else "standard input"
    weights = result.block_weights
    facts = {
        "graph": f"{name}, {sizes_text(report)} (read in {report['read_seconds']:.2f} s)",
        blocks: f"{grouped(result.k)}, weights {grouped(weights.min())} to "
                f"{grouped(weights.max())}",
        **own,
        "cut": grouped(result.cut),
        **{name: grouped(value) for name, value in _objectives(result).items()},
        "imbalance": f"{result.imbalance:.4f} (at most {report['imbalance']:g})",
        "time": timings(result.seconds, result.stats.get("phases", {})),
    }  # fmt: skip
    if result.stats.get("weight_scale", 1) != 1:
        facts["weights"] = f"times {result.stats['weight_scale']:g}, rounded"
    if not result.feasible:
        facts["balance"] = "NOT KEPT: see the warning"
    written = [report[name] for name in ("output", "rankfile", "slurm_hostfile", "rank_order")
               if report.get(name)]
    if written:
        facts["written"] = ", ".join(written)
    return facts

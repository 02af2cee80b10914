"""The Markdown of bench.gpu."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bench import traffic
from bench.report import table

Record = dict[str, Any]
MIB = 2**20


def markdown(report: Record) -> str:
    """Return the whole report; steps that have not run yet are left out."""
    sections = [
        "# portpart on a device\n\n" + "\n".join(
            f"- {name}: {value}" for name, value in report.get("device", {}).items()),
        *(_command(report[step], step) for step in ("golden", "tests") if step in report),
        _parity(report.get("parity", [])),
        _programs(report.get("programs", [])),
        _primitives(report.get("primitives", [])),
        _partitions(report.get("table", [])),
        _beside(report.get("table", []), report.get("reference", [])),
        *map(_levels, report.get("table", [])),
        *(["## Bytes moved"] if report.get("traffic") else []),
        *map(traffic.markdown, report.get("traffic", [])),
        *(f"## {step} failed\n\n```\n{text}```" for step, text in report.get("errors", {}).items()),
        _steps(report.get("step_seconds", {})),
    ]  # fmt: skip
    return "\n\n".join(section for section in sections if section) + "\n"


def _command(record: Record, step: str) -> str:
    lines = "\n".join(record["last_lines"])
    return f"## {step}: {record['outcome']}\n\n`{record['command']}`\n\n```\n{lines}\n```"


def _parity(rows: list[Record]) -> str:
    if not rows:
        return ""
    same = sum(row["differing"] == 0 for row in rows)
    graphs = len({row["graph"] for row in rows})
    body = [
        [row["graph"], str(row["k"]), row["preset"], str(row["differing"]),
         " / ".join(map(str, row["cuts"])),
         " / ".join(f"{1e3 * seconds:.1f}" for seconds in row["seconds"]),
         row["digest"], row.get("first_difference", "")]
        for row in rows
    ]  # fmt: skip
    head = ["graph", "k", "preset", "vertices that differ", "cut CPU / device",
            "ms CPU / device (compiling included)", "digest", "first difference"]  # fmt: skip
    title = f"## Parity with the CPU: {same} of {len(rows)} partitions of {graphs} graphs agree"
    return f"{title}\n\n{table(head, body)}"


def _programs(rows: list[Record]) -> str:
    body = [
        [row["way"], row.get("grid", ""), f"{row['us_per_kernel']:.2f}",
         *(f"{row[name]:.1f}" if name in row else "" for name in ("us_per_start", "first_ms"))]
        for row in rows
    ]  # fmt: skip
    head = ["tiny kernels", "grid", "us a kernel", "us to start a program", "first run ms"]
    return f"## Launches\n\n{table(head, body)}" if rows else ""


def _primitives(rows: list[Record]) -> str:
    sizes = sorted({row["size"] for row in rows})
    cells = {(row["primitive"], row["size"]): f"{row['us']:.4g} us, {row['GB/s']:.4g} GB/s"
             for row in rows}  # fmt: skip
    names = dict.fromkeys(row["primitive"] for row in rows)
    body = [[name, *(cells.get((name, size), "") for size in sizes)] for name in names]
    head = ["primitive", *(f"{size:,} elements" for size in sizes)]
    note = "GB/s count the bytes that an ideal implementation moves."
    return f"## Primitives\n\n{table(head, body)}\n\n{note}" if rows else ""


def _partitions(records: list[Record]) -> str:
    head = ["graph", "n / m", "k", "preset", "cut", "imb", "ms (min-max)", "phases ms", "first s",
            "levels", "launches", "syncs", "kernels", "peak MiB / estimate"]  # fmt: skip
    note = ("Medians over the seeds after a warm-up; imbalance is the worst. Launches and "
            "synchronisations of the host; a program counts as one launch. kernels: those inside "
            "programs counted too. Peak: bytes in use at once, the graph included.")
    title = f"## Partitions\n\n{table(head, map(_partition_row, records))}\n\n{note}"
    return title if records else ""


def _partition_row(record: Record) -> list[str]:
    phases = ", ".join(f"{name} {1e3 * value:.1f}" for name, value in record["phases"].items())
    marks = "" if record["feasible"] else " too heavy"
    marks += f" {record['wrong_cuts']} cuts reported wrong" if record["wrong_cuts"] else ""
    low, high = (1e3 * bound(record["all_seconds"]) for bound in (min, max))
    memory = " / ".join(f"{record[name] / MIB:.0f}" if record[name] else "-"
                        for name in ("peak_bytes", "estimated_bytes"))  # fmt: skip
    return [
        record["graph"], f"{record['n']:,} / {record['m']:,}", str(record["k"]), record["preset"],
        f"{record['cut']:.0f}{marks}", f"{record['imbalance']:.4f}",
        f"{1e3 * record['seconds']:.1f} ({low:.0f}-{high:.0f})", phases,
        f"{record['first_seconds']:.2f}", str(len(record["levels"])), str(record["launches"]),
        str(record["synchronizations"]), str(record.get("kernels") or ""), memory,
    ]  # fmt: skip


def _beside(records: list[Record], reference: list[Record]) -> str:
    """Our figures beside those given with --compare."""
    body = []
    for record in records:
        for other in reference:
            if (other["graph"], other["k"]) == (record["graph"], record["k"]):
                body.append([
                    record["graph"], str(record["k"]), record["preset"], other["name"],
                    f"{record['cut']:.0f} / {other['cut']:.0f}",
                    f"{record['cut'] / other['cut']:.3f}",
                    f"{1e3 * record['seconds']:.1f} / {1e3 * other['seconds']:.1f}",
                    f"{record['seconds'] / other['seconds']:.2f}",
                ])  # fmt: skip
    head = ["graph", "k", "preset", "beside", "cut", "ratio", "ms", "ratio"]
    return f"## Beside reference figures\n\n{table(head, body)}" if body else ""


def _levels(record: Record) -> str:
    """What each level took, for the records whose kernels were counted."""
    if not record["levels"] or "kernels" not in record:
        return ""
    body = [
        [str(depth), f"{level['vertices']:,}", f"{level['arcs']:,}",
         *(str(level.get(name, "")) for name in ("iterations", "cut")), *_work(level, "coarsening"),
         *_work(level, "refinement")]
        for depth, level in enumerate(record["levels"])
    ]  # fmt: skip
    head = ["level", "vertices", "arcs", "iterations", "cut"]
    for phase in ("coarsening", "refinement"):
        head += [f"{phase} launches", "syncs", "ms"]
    title = f"### Levels of {record['graph']}, k = {record['k']}, {record['preset']}"
    return f"{title}\n\n{table(head, body)}"


def _work(level: Record, phase: str) -> list[str]:
    work = level.get(phase)
    if not work:
        return ["", "", ""]
    return [str(work["launches"]), str(work["synchronizations"]), f"{1e3 * work['seconds']:.2f}"]


def _steps(seconds: dict[str, float]) -> str:
    parts: Iterable[str] = (f"{step} {value:.0f} s" for step, value in seconds.items())
    return f"Time of the steps: {', '.join(parts)}." if seconds else ""

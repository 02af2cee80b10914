"""Every algorithm under NVIDIA's compute-sanitizer, in pieces of some minutes: ``make sanitize``.

    python -m bench.sanitize                        all pieces, a summary at the end
    python -m bench.sanitize --list                 their names
    python -m bench.sanitize --pieces 'memcheck-*'  some of them

A piece is a tool, a way to run programs and a group of cases of `bench.sanitized`.  Programs are
walked, launch by launch, so that an error comes with the kernel's name; memcheck also sees them
resident, as they run otherwise.  CUDA graphs are left out: with conditional nodes in them the tool
itself ends with illegal addresses, where the same runs without it end well.  The exit code is 1 if
a piece finds an error, fails or takes longer than its limit.
"""

from __future__ import annotations

import fnmatch
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import click

from bench.sanitized import GROUPS

TOOLS = ("memcheck", "initcheck", "synccheck", "racecheck")
SLOW_TOOLS = ("synccheck", "racecheck")
"""Tools that look at few graphs: what they check does not depend on types of weights."""

WALKED, RESIDENT = "walk", "resident"

SUMMARY = re.compile(r"(?:ERROR|RACECHECK) SUMMARY: (\d+)")

PATIENCE = 30.0
"""Seconds that a tool gets to sum up what it found, once what it watches has reached its limit."""

PROBE = "import cupy; print(int(cupy.arange(4).sum()))"
"""A run so small that it only tells whether the tool works on this machine."""


@dataclass(frozen=True)
class Piece:
    """One run of a tool."""

    tool: str
    programs: str
    group: str

    @property
    def name(self) -> str:
        """Tool, mode where it is not walked, and group."""
        mode = [] if self.programs == WALKED else [self.programs]
        return "-".join([self.tool, *mode, self.group])


def pieces() -> Iterator[Piece]:
    """All pieces, the cheapest tool first."""
    for tool in TOOLS:
        for group in GROUPS:
            yield Piece(tool, WALKED, group)
    for group, cases in GROUPS.items():
        if cases.programs:
            yield Piece("memcheck", RESIDENT, group)


@dataclass(frozen=True)
class Outcome:
    """What became of a piece."""

    piece: Piece
    seconds: float
    errors: int | None
    verdict: str


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--pieces", "patterns", default="*", show_default=True,
              help="Names, with * and commas.")
@click.option("--sanitizer", default="compute-sanitizer", show_default=True)
@click.option("--limit", default=480.0, show_default=True, help="Seconds for one piece.")
@click.option("--minutes", default=float("inf"), help="Begin no piece after so many.")
@click.option("--jobs", default=1, show_default=True, help="Pieces at a time, on one device.")
@click.option("--logs", type=click.Path(path_type=Path), default=Path("bench/results/sanitize"),
              show_default=True, help="Folder of what the tools print.")
@click.option("--list", "listed", is_flag=True, help="Print the names of the pieces and stop.")
def main(patterns: str, sanitizer: str, limit: float, minutes: float, jobs: int, logs: Path,
         listed: bool) -> None:  # fmt: skip
    chosen = [piece for piece in pieces()
              if any(fnmatch.fnmatch(piece.name, pattern) for pattern in patterns.split(","))]
    if not chosen:
        raise click.BadParameter(f"no piece is called {patterns!r}; --list names them")
    if listed:
        click.echo("\n".join(piece.name for piece in chosen))
        return
    check_tool(sanitizer)
    logs.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + 60 * minutes

    def begun(piece: Piece) -> Outcome | None:
        if time.monotonic() >= deadline:
            return None
        outcome = run(piece, sanitizer, limit, logs)
        click.echo(line_of(outcome))
        return outcome

    begin = time.monotonic()
    with ThreadPoolExecutor(jobs) as pool:
        outcomes = [outcome for outcome in pool.map(begun, chosen) if outcome]
    good = [outcome for outcome in outcomes if outcome.verdict == "clean"]
    click.echo(f"{len(good)} of {len(chosen)} pieces clean, {len(chosen) - len(outcomes)} not run, "
               f"{time.monotonic() - begin:.0f} s")
    sys.exit(len(good) < len(chosen))


def check_tool(sanitizer: str) -> None:
    """Stop with one line where the tool is missing or refuses the device, as on some hosts."""
    if shutil.which(sanitizer) is None:
        raise click.ClickException(f"{sanitizer} is not installed; it comes with the CUDA toolkit")
    probe = subprocess.run([sanitizer, sys.executable, "-c", PROBE], capture_output=True, text=True)
    if probe.returncode or "6" not in probe.stdout.split():
        reason = (probe.stdout + probe.stderr).strip().splitlines() or ["no output"]
        raise click.ClickException(f"{sanitizer} does not work on this machine: {reason[-1]}")


def run(piece: Piece, sanitizer: str, limit: float, logs: Path) -> Outcome:
    """Run one piece; its output goes to a file of its name."""
    command = [sanitizer, "--tool", piece.tool, "--error-exitcode", "1", sys.executable, "-m",
               "bench.sanitized", piece.group, "--programs", piece.programs, "--limit", str(limit)]
    command += ["--few"] if piece.tool in SLOW_TOOLS else []
    begin = time.perf_counter()
    log = logs / f"{piece.name}.txt"
    try:
        with log.open("w") as file:
            code = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT,
                                  timeout=limit + PATIENCE).returncode
    except subprocess.TimeoutExpired:
        code = None
    seconds = time.perf_counter() - begin
    text = log.read_text(errors="replace")
    counts = [int(count) for count in SUMMARY.findall(text)]
    errors = sum(counts) if counts else None
    complete = code == 0 and errors == 0 and "all done" in text
    verdict = "TOOK TOO LONG" if seconds > limit else "clean" if complete else "FAILED"
    return Outcome(piece, seconds, errors, verdict)


def line_of(outcome: Outcome) -> str:
    """Return one line of the summary."""
    errors = "?" if outcome.errors is None else str(outcome.errors)
    return (f"{outcome.piece.name:<32} {errors:>6} errors {outcome.seconds:7.1f} s  "
            f"{outcome.verdict}")  # fmt: skip


if __name__ == "__main__":
    main()

"""What a first call costs: `portpart partition` as a whole process, cold and warm.

    python -m bench.first_call                           # a mesh of 100,000 vertices, k = 64, CPU
    python -m bench.first_call --device cuda --json first_call.json
    python -m bench.first_call --tree before=../other    # beside another checkout, alternately

Cold: nothing is compiled, the caches (`PORTPART_CACHE_DIR`, `CUPY_CACHE_DIR`) are fresh folders.
Warm: the same call again, in a process of its own.  Processor time is that of all processes of the
call; on a machine with other work it is the figure to compare.  Medians over the rounds.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import click

import portpart
from bench.instances import ROOT
from bench.report import table
from portpart import generators

SECONDS = ("wall", "processor", "outside", "reading", "coarsening", "initial", "refinement",
           "finish")  # fmt: skip
"""What is shown of each call; outside: the process but for reading and partitioning."""

CACHES = ("PORTPART_CACHE_DIR", "CUPY_CACHE_DIR")
Call = dict[str, Any]


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--device", default="cpu", show_default=True)
@click.option("--vertices", default=100_000, show_default=True)
@click.option("-k", "k", default=64, show_default=True)
@click.option("--options", default="", help="More options of portpart partition.")
@click.option("--rounds", default=3, show_default=True, help="Cold calls of each tree.")
@click.option("--warm", default=3, show_default=True, help="Warm calls after each cold one.")
@click.option("--tree", "trees", multiple=True, metavar="NAME=PATH", help="Another checkout.")
@click.option("--json", "output", type=click.Path(), help="Write all calls to this file.")
def main(device: str, vertices: int, k: int, options: str, rounds: int, warm: int,
         trees: tuple[str, ...], output: str | None) -> None:
    """Measure every tree in every round, and report."""
    folders = {"here": ROOT} | {
        name: Path(path) for name, _, path in (tree.partition("=") for tree in trees)}
    calls: list[Call] = []
    with tempfile.TemporaryDirectory() as scratch:
        graph = Path(scratch) / "mesh.graph"
        portpart.io.write(generators.delaunay(vertices), graph)
        arguments = ["partition", str(graph), "-k", str(k), "--device", device, *options.split()]
        for number in range(rounds):
            for name, folder in folders.items():
                with tempfile.TemporaryDirectory(dir=scratch) as caches:
                    for state in ["cold"] + ["warm"] * warm:
                        call = measured(folder, arguments, caches)
                        calls.append({"tree": name, "round": number, "state": state, **call})
    print(f"`portpart {' '.join(arguments).replace(str(graph), f'mesh_{vertices}')}`, seconds:\n")
    print(report(calls))
    if output:
        Path(output).write_text(json.dumps(calls, indent=1) + "\n")


def measured(tree: Path, arguments: list[str], caches: str) -> Call:
    """Run the command line of a checkout once."""
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    environment |= {name: str(Path(caches) / name) for name in CACHES}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode
    command = [sys.executable, "-m", "portpart.cli", *arguments, "--json"]
    before, begin = processor_seconds(), time.perf_counter()
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True,
                          check=False)  # fmt: skip
    wall, processor = time.perf_counter() - begin, processor_seconds() - before
    if done.returncode not in (0, 1):
        raise click.ClickException(done.stderr.strip())
    answer = json.loads(done.stdout)
    phases = answer["phases"]
    outside = wall - answer["seconds"] - answer["read_seconds"]
    return {"wall": wall, "processor": processor, "outside": outside,
            "reading": answer["read_seconds"], **phases, "cut": answer["cut"]}  # fmt: skip


def processor_seconds() -> float:
    """Return the processor time of all processes that have been waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def report(calls: list[Call]) -> str:
    """Return a Markdown table: medians of the cold and of the warm calls of each tree."""
    groups: dict[tuple[str, str], list[Call]] = {}
    for call in calls:
        groups.setdefault((call["state"], call["tree"]), []).append(call)
    body = [
        [state, tree, str(len(group)),
         *(f"{median(call[name] for call in group):.2f}" for name in SECONDS),
         " ".join(sorted({f"{call['cut']:,}" for call in group}))]
        for (state, tree), group in sorted(groups.items())
    ]  # fmt: skip
    return table(["caches", "tree", "calls", *SECONDS, "cut"], body)


if __name__ == "__main__":
    main()

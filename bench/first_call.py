"""What a first call costs: whole processes, with caches that are empty, filled ahead, and warm.

    python -m bench.first_call                           # 100 vertices and 100,000, on the CPU
    python -m bench.first_call --device cuda --json first_call.json
    python -m bench.first_call --tree before=../other    # beside another checkout, alternately

Cold: nothing is compiled, the caches are fresh folders: `PORTPART_CACHE_DIR`, `CUPY_CACHE_DIR` and
`CUDA_CACHE_PATH`, where NVRTC keeps code since CUDA 12.9.
Compiled: `portpart compile` has filled one, which is copied for each call (with a GPU, else if
`--compiled`).  Warm: the same call again, in a process of its own.  The ring of 100 vertices is
divided into 4 blocks, the mesh into `-k`.  Two kinds of process are measured: the command line, and
Python that calls `portpart.partition` twice.  Processor time is that of all processes of the call;
on a machine with other work it is the figure to compare.  Medians over the rounds.
"""

from __future__ import annotations

import itertools
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
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
"""What is shown of each command; outside: the process but for reading and partitioning."""

IN_PYTHON = ("wall", "processor", "importing", "reading", "first", "second")
"""What is shown of each process of Python."""

CALLS = """
import json, sys, time
begin = time.perf_counter()
import portpart
from portpart import io, partition
imported = time.perf_counter()
graph = io.read(sys.argv[1])
marks = [begin, imported, time.perf_counter()]
for _ in range(2):
    result = partition(graph, int(sys.argv[2]), device=sys.argv[3])
    marks.append(time.perf_counter())
names = ("importing", "reading", "first", "second")
print(json.dumps({"cut": result.cut, **{
    name: after - before for name, before, after in zip(names, marks, marks[1:])}}))
"""

CACHES = ("PORTPART_CACHE_DIR", "CUPY_CACHE_DIR", "CUDA_CACHE_PATH")
RING = 4
"""Blocks of the ring."""

Call = dict[str, Any]


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--device", default="cpu", show_default=True)
@click.option("--vertices", default=100_000, show_default=True, help="Of the mesh.")
@click.option("-k", "k", default=64, show_default=True, help="Blocks of the mesh.")
@click.option("--graphs", "names", default="ring,mesh", show_default=True)
@click.option("--options", default="", help="More options of portpart partition.")
@click.option("--rounds", default=3, show_default=True, help="Cold calls of each tree.")
@click.option("--warm", default=3, show_default=True, help="Warm calls after each cold one.")
@click.option("--compiled", is_flag=True, help="Measure caches that are filled ahead.")
@click.option("--tree", "trees", multiple=True, metavar="NAME=PATH", help="Another checkout.")
@click.option("--json", "output", type=click.Path(), help="Write all calls to this file.")
def main(device: str, vertices: int, k: int, names: str, options: str, rounds: int, warm: int,
         compiled: bool, trees: tuple[str, ...], output: str | None) -> None:
    """Measure every tree in every round, and report."""
    folders = {"here": ROOT} | {
        name: Path(path) for name, _, path in (tree.partition("=") for tree in trees)}
    calls: list[Call] = []
    with tempfile.TemporaryDirectory() as scratch:
        graphs = graphs_in(Path(scratch), names.split(","), vertices, k)
        ahead = {tree: filled(folder, device, Path(scratch) / f"ahead-{tree}")
                 for tree, folder in folders.items() if compiled or device.startswith("cuda")}
        for number, asked, (kind, measure), (tree, folder) in itertools.product(
                range(rounds), graphs, KINDS.items(), folders.items()):
            for state, caches in states(Path(scratch), ahead.get(tree), warm):
                call = measure(folder, caches, *asked, device, options.split())
                calls.append({"tree": tree, "round": number, "state": state, "kind": kind,
                              "graph": asked[0].stem, **call})
    print(report(calls))
    if output:
        Path(output).write_text(json.dumps(calls, indent=1) + "\n")


def graphs_in(folder: Path, names: list[str], vertices: int, k: int) -> list[tuple[Path, int]]:
    """Write the graphs; return their files and numbers of blocks."""
    made = {"ring": lambda: portpart.from_edges([(v, (v + 1) % 100) for v in range(100)]),
            "mesh": lambda: generators.delaunay(vertices)}
    for name in names:
        portpart.io.write(made[name](), folder / f"{name}.graph")
    return [(folder / f"{name}.graph", RING if name == "ring" else k) for name in names]


def states(scratch: Path, ahead: Path | None, warm: int) -> Iterator[tuple[str, Path]]:
    """Yield what the caches hold before each call, and their folder."""
    with tempfile.TemporaryDirectory(dir=scratch) as name:
        yield "cold", Path(name)
        for _ in range(warm):
            yield "warm", Path(name)
    if ahead is not None:
        with tempfile.TemporaryDirectory(dir=scratch) as name:
            yield "compiled", Path(shutil.copytree(ahead, Path(name) / "copy"))


def filled(tree: Path, device: str, caches: Path) -> Path:
    """Fill caches by `portpart compile` of a checkout."""
    run(tree, caches, ["-m", "portpart.cli", "compile", "--device", device, "-q"])
    return caches


def of_command(tree: Path, caches: Path, graph: Path, k: int, device: str,
               options: list[str]) -> Call:
    """Run the command line of a checkout once."""
    call, answer = run(tree, caches, ["-m", "portpart.cli", "partition", str(graph), "-k", str(k),
                                      "--device", device, *options, "--json"])  # fmt: skip
    told = json.loads(answer)
    outside = call["wall"] - told["seconds"] - told["read_seconds"]
    return {**call, "outside": outside, "reading": told["read_seconds"], **told["phases"],
            "cut": told["cut"]}  # fmt: skip


def of_python(tree: Path, caches: Path, graph: Path, k: int, device: str,
              _options: list[str]) -> Call:
    """Run Python once, with presets as they are."""
    call, answer = run(tree, caches, ["-c", CALLS, str(graph), str(k), device])
    return {**call, **json.loads(answer)}


KINDS = {"command": of_command, "python": of_python}


def run(tree: Path, caches: Path, arguments: list[str]) -> tuple[Call, str]:
    """Run a process; return its times and its output."""
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    environment |= {name: str(caches / name) for name in CACHES}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode
    before, begin = processor_seconds(), time.perf_counter()
    done = subprocess.run([sys.executable, *arguments], cwd=tree, env=environment,
                          capture_output=True, text=True, check=False)  # fmt: skip
    wall, processor = time.perf_counter() - begin, processor_seconds() - before
    if done.returncode not in (0, 1):
        raise click.ClickException(done.stderr.strip())
    return {"wall": wall, "processor": processor}, done.stdout


def processor_seconds() -> float:
    """Return the processor time of all processes that have been waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def report(calls: list[Call]) -> str:
    """Return Markdown tables: medians of the calls of each kind, graph, state and tree."""
    kinds = {"command": ("The command line, seconds:", SECONDS),
             "python": ("In Python, `portpart.partition` twice, seconds:", IN_PYTHON)}
    return "\n\n".join(
        f"{title}\n\n{rows([call for call in calls if call['kind'] == kind], shown)}"
        for kind, (title, shown) in kinds.items())


def rows(calls: list[Call], shown: tuple[str, ...]) -> str:
    """Return a table of calls of one kind."""
    groups: dict[tuple[str, str, str], list[Call]] = {}
    for call in calls:
        groups.setdefault((call["graph"], call["state"], call["tree"]), []).append(call)
    body = [
        [*key, str(len(group)), *(f"{median(call[name] for call in group):.3f}" for name in shown),
         " ".join(sorted({f"{call['cut']:,}" for call in group}))]
        for key, group in sorted(groups.items())
    ]  # fmt: skip
    return table(["graph", "caches", "tree", "calls", *shown, "cut"], body)


if __name__ == "__main__":
    main()

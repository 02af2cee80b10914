"""Everything that wants a GPU, in one call within a time budget.

    python -m bench.gpu --minutes 9 --output results
    python -m bench.gpu --steps table --graphs 'delaunay_2^20,grid_*' --k 64 --presets default

Steps: golden (recorded digests), parity (the same partitions as on the CPU), programs and
primitives (what launches and primitives cost), table (time, work, memory and cut of whole
partitions, the graph lying in device memory before the call), traffic (bytes moved by phase, level
and kernel, of the same graphs, numbers of blocks and presets; only on request, for it compiles for
a minute: see bench.traffic), tests (pytest -m gpu).  After each result report.md and results.json
are written anew, so that nothing is lost when time runs out.
"""

from __future__ import annotations

import json
import os
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import click

from bench import gpu_checks, gpu_costs, traffic
from bench.device_runs import Record, Resident, device_facts, kernels_run, measure
from bench.gpu_report import markdown
from bench.gpu_session import Session
from bench.instances import Instance, cached, prepare, select

RESULTS = Path(__file__).parent / "results"
TABLE_GRAPHS = "delaunay_2^20,grid_2000x4000,rmat_2^18,rgg_2^20,cube_200,rgg_2^22"
PARITY_GRAPHS = ("delaunay_2^13,delaunay_2^15,rgg_2^13,rgg_2^15,rmat_2^12,rmat_2^14,"
                 "grid_300x300,cube_20,real")
Making = dict[Instance, "Future[None]"]
"""Graphs in the order of work, with the process that makes each."""

SLOW = ("strong", "best", "jet-ultra")

SHARES = {"golden": 0.35, "parity": 0.35, "programs": 0.2, "primitives": 0.3, "table": 1.0,
          "traffic": 1.0, "tests": 1.0}
"""Share of the time left that each step may take."""


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--steps", default="golden,parity,programs,primitives,table,tests",
              show_default=True, help="In the order of work.")
@click.option("--graphs", default=TABLE_GRAPHS, show_default=True,
              help="Of the table, in the order of work; names, families or the set real.")
@click.option("--k", "ks", default="64,8,2,192", show_default=True, help="Numbers of blocks.")
@click.option("--presets", default="default,fast,strong,best,jet-default,jet-ultra",
              show_default=True,
              help="Slow ones run with k = 64 only, or whatever comes first in --k.")
@click.option("--seeds", default="1,2,3,4,5", show_default=True)
@click.option("--parity-graphs", default=PARITY_GRAPHS, help="Patterns as in --graphs.")
@click.option("--parity-k", default="2,8,64", show_default=True)
@click.option("--parity-edges", default=700_000, show_default=True, help="Leave out larger ones.")
@click.option("--sizes", default="100,100000,100000000", show_default=True, help="Of primitives.")
@click.option("--device", default="cuda", show_default=True, help="cpu works too, for a dry run.")
@click.option("--minutes", default=9.0, show_default=True, help="For everything.")
@click.option("--compare", type=click.Path(exists=True, path_type=Path),
              help="JSON list of reference figures: graph, k, name, cut, seconds.")
@click.option("--output", type=click.Path(path_type=Path), default=RESULTS / "gpu",
              show_default=True, help="Folder of the report.")
def main(
    steps: str, graphs: str, ks: str, presets: str, seeds: str, parity_graphs: str, parity_k: str,
    parity_edges: int, sizes: str, device: str, minutes: float, compare: Path | None, output: Path,
) -> None:  # fmt: skip
    wanted = steps.split(",")
    unknown = set(wanted) - set(SHARES)
    if unknown:
        raise click.BadParameter(f"unknown step {unknown.pop()}; known: {', '.join(SHARES)}")
    session = Session(device, time.monotonic() + 60 * minutes, output)
    session.report["device"] = device_facts(device)
    session.report["reference"] = json.loads(compare.read_text()) if compare else []
    chosen = {}
    if {"table", "traffic"} & set(wanted):
        chosen = ahead_of_time(in_order(graphs.split(",")))
    to_do: dict[str, Callable[[], Iterator[str]]] = {
        "golden": lambda: gpu_checks.golden(session),
        "parity": lambda: gpu_checks.parity(
            session, select(parity_graphs.split(","), parity_edges), numbers(parity_k)),
        "programs": lambda: gpu_costs.programs(session),
        "primitives": lambda: gpu_costs.primitives(session, numbers(sizes)),
        "table": lambda: table(session, chosen, numbers(ks), presets.split(","), numbers(seeds)),
        "traffic": lambda: traffic.step(session, chosen, numbers(ks), presets.split(",")),
        "tests": lambda: gpu_checks.tests(session),
    }
    for step in wanted:
        run_step(session, step, to_do[step])
    click.echo(f"\n{(output / 'report.md').read_text()}")


def numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def in_order(patterns: list[str]) -> list[Instance]:
    """Return the instances of each pattern in turn."""
    found = {instance.name: instance for name in patterns for instance in select([name])}
    return list(found.values())


def run_step(session: Session, step: str, work: Callable[[], Iterator[str]]) -> None:
    """Run one step; what goes wrong in it is reported and does not stop the others."""
    begin = time.monotonic()
    session.allow(SHARES[step])
    try:
        for line in work():
            session.save(markdown)
            click.echo(f"[{step} {time.monotonic() - begin:.0f} s] {line}", err=True)
    except Exception:
        session.report.setdefault("errors", {})[step] = traceback.format_exc(limit=-6)
        click.echo(session.report["errors"][step], err=True)
    session.report.setdefault("step_seconds", {})[step] = round(time.monotonic() - begin, 1)
    session.save(markdown)


def ahead_of_time(instances: list[Instance]) -> Making:
    """Begin to make the graphs in other processes while this one works on the device."""
    executor = ProcessPoolExecutor(min(3, os.cpu_count() or 1), mp_context=get_context("spawn"))
    return {instance: executor.submit(prepare, instance.name) for instance in instances}


def table(session: Session, making: Making, ks: list[int], presets: list[str],
          seeds: list[int]) -> Iterator[str]:
    """Measure the first k of each graph first, then the rest."""
    space = session.space()
    here: dict[str, Resident] = {}
    for instance, k, preset in in_turn(list(making), ks, presets):
        if session.is_late():
            yield "the time is up"
            return
        if instance.name not in here:
            making[instance].result(timeout=max(1.0, session.seconds_left()))
            here[instance.name] = Resident.of(instance.name, cached(instance), space)
            yield f"{instance.name} made and brought to the device"
        resident = here[instance.name]
        record: Record = measure(resident, k, preset, seeds)
        if k == ks[0] and preset == presets[0]:
            record["kernels"] = kernels_run(resident, k, preset, seeds[-1])
        record["upload_seconds"] = resident.upload_seconds
        session.report.setdefault("table", []).append(record)
        yield (f"{instance.name} k={k} {preset}: cut {record['cut']:.0f}, "
               f"{1e3 * record['seconds']:.1f} ms")


def in_turn(instances: list[Instance], ks: list[int],
            presets: list[str]) -> Iterator[tuple[Instance, int, str]]:
    """All combinations, most wanted first; the slow preset with the first k only."""
    for k in ks:
        for preset in presets:
            if preset not in SLOW or k == ks[0]:
                yield from ((instance, k, preset) for instance in instances)


if __name__ == "__main__":
    main()

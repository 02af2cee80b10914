"""Bytes that a partition moves, by phase, level and kernel, and at what share of the bandwidth.

    python -m bench.traffic --graphs 'delaunay_2^20,cube_200' --k 64 --device cuda

The bytes are counted, not estimated: the recipe runs once more on one CPU core with kernels that
mark every element they access (`bench.touching`).  A launch moves 32 bytes for each aligned 32-byte
sector that it reads and 32 for each that it writes, however often: what is gathered at random costs
a sector, what lies side by side its size, and what a launch needs twice is in a cache the second
time.  Nothing stays there until the next launch.  So this is what a launch has to move if the level
does not fit the caches; where it does, the share can be above one.  Not counted: scratch memory of
teams (on chip), the state of refinement, and copies of whole arrays outside kernels.

Results do not depend on the device, so the same launches with the same work run there.  What they
take there is measured inside resident programs by `space.profiling`, what Python launches with the
launch and the wait for its end, and on a CPU by walking the programs on one thread.  A GPU may
give vertices of high degree to a kernel of their own, whose bytes stand with another one here:
sums of a program are exact, single kernels nearly.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

from bench import recipes
from bench.gpu_costs import device_copy, seconds_of
from bench.gpu_session import Session
from bench.instances import Instance, cached, prepare, select
from bench.metered_spaces import (
    Meter,
    MeteredCpuSpace,
    TracedSpace,
    Work,
    profiled_cuda_space,
)
from bench.peers import algorithm_and_preset
from bench.report import table
from portpart.algorithms.multilevel.trace import WALK, Outcome, Trace
from portpart.backends.interface import ExecutionSpace
from portpart.graphs.graph import Graph

COPIED = {"cpu": 1 << 26, "cuda": 1 << 28}
"""Elements of int32 that are copied to measure the bandwidth."""

MOST_KERNELS = 24

Record = dict[str, Any]


@dataclass(frozen=True)
class Place:
    """Where in a partition a launch is made; level None: in several."""

    phase: str
    level: int | None
    program: str
    kernel: str


class Ledger(Trace):
    """A trace that knows what every kernel did in each phase of each level."""

    def __init__(self, space: ExecutionSpace, graph: Graph, meter: Meter) -> None:
        super().__init__(space, graph, None)
        self.meter = meter
        self.works: dict[Place, Work] = defaultdict(Work)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        searching = bool(self.cuts) and name in WALK
        with super().phase(name):
            yield
        last = 0 if name == "refinement" else len(self.levels) - 1
        self._book("search" if searching else name, None if searching else last)

    def coarse_level(self, graph: Graph) -> None:
        if not self.cuts:
            self._book("coarsening", len(self.levels) - 1)
        super().coarse_level(graph)

    def refined_level(self, depth: int, graph: Graph, outcome: Outcome) -> None:
        if not self.cuts:
            self._book("refinement", depth)
        super().refined_level(depth, graph, outcome)

    def _book(self, phase: str, level: int | None) -> None:
        for (program, kernel), work in self.meter.take().items():
            self.works[Place(phase, level, program, kernel)] += work


def measure(host: Graph, k: int, preset: str, seed: int, device: str) -> Record:
    """Partition three times: for the wall time, for the time of launches, and for their bytes."""
    import portpart

    algorithm, name = algorithm_and_preset(preset)
    space = portpart.space(device)
    graph = recipes.copied(host, space)
    for _ in range(2):  # the first call compiles
        plain = Trace(space, graph, None)
        recipes.run(graph, k, algorithm, name, seed, plain)
    timed_space, meter = _timed_space(device)
    timed = ledger_of(timed_space, meter, host, k, preset, seed, calls=2)
    traced_space = TracedSpace()
    traced = ledger_of(traced_space, traced_space.meter, host, k, preset, seed)
    if plain.cuts != traced.cuts or plain.cuts != timed.cuts:
        raise AssertionError(f"cuts differ: {plain.cuts}, {timed.cuts}, {traced.cuts}")
    return {
        "k": k, "preset": preset, "seed": seed, "device": space.name, "cut": plain.cuts[-1],
        "copy_bandwidth": copy_bandwidth(space), "phases": plain.seconds, "levels": plain.levels,
        "rows": [_row(place, timed.works[place], traced.works[place])
                 for place in dict.fromkeys([*traced.works, *timed.works])],
    }  # fmt: skip


def ledger_of(space: ExecutionSpace, meter: Meter, host: Graph, k: int, preset: str, seed: int,
              calls: int = 1) -> Ledger:
    """Partition in a metered space; the ledger of the last call."""
    algorithm, name = algorithm_and_preset(preset)
    graph = recipes.copied(host, space)
    for _ in range(calls):
        meter.take()
        ledger = Ledger(space, graph, meter)
        recipes.run(graph, k, algorithm, name, seed, ledger)
    return ledger


def _timed_space(device: str) -> tuple[ExecutionSpace, Meter]:
    if device.startswith("cuda"):
        return profiled_cuda_space(device)
    space = MeteredCpuSpace()
    return space, space.meter


def _row(place: Place, timed: Work, traced: Work) -> Record:
    return {
        **vars(place), "launches": timed.launches, "items": traced.items,
        "bytes_read": traced.bytes_read, "bytes_written": traced.bytes_written,
        "seconds": timed.seconds,
    }  # fmt: skip


def copy_bandwidth(space: Any) -> float:
    """Bytes a second that a copy of a large array reads and writes."""
    work, moved = device_copy(space, COPIED[space.kind])
    return moved / seconds_of(space, work)


def markdown(record: Record) -> str:
    """Tables by phase and program, by level, and of the kernels that take longest."""
    bandwidth = record["copy_bandwidth"]
    wall = ", ".join(f"{name} {1e3 * value:.1f}" for name, value in record["phases"].items())
    levels = record["levels"]

    def lines(rows: Iterable[Record], *names: str) -> list[list[str]]:
        return [[*key, *_sums(group, bandwidth)] for key, group in _grouped(rows, names).items()]

    def of_levels(phase: str) -> list[list[str]]:
        found = []
        for cells in lines((row for row in record["rows"] if row["phase"] == phase), "level"):
            level = levels[int(cells[0])]
            found.append([phase, cells[0], f"{level['vertices']:,}", f"{level['arcs']:,}",
                          str(level.get("iterations", "")) if phase == "refinement" else "",
                          str(level.get(phase, {}).get("synchronizations", 0)), *cells[1:]])
        return found

    by_kernel = sorted(_grouped(record["rows"], ("phase", "program", "kernel")).items(),
                       key=lambda item: -sum(row["seconds"] for row in item[1]))
    sums = ["launches", "MB read", "MB written", "ms", "GB/s", "of a copy"]
    return "\n\n".join([
        f"### {record.get('graph', 'graph')}, k = {record['k']}, {record['preset']}, "
        f"{record['device']}",
        f"Cut {record['cut']:,}; a copy moves {bandwidth / 1e9:.4g} GB/s; wall time in ms: {wall}.",
        table(["phase", "program", *sums], lines(record["rows"], "phase", "program")),
        table(["phase", "level", "vertices", "arcs", "iterations", "syncs", *sums],
              [*of_levels("coarsening"), *of_levels("refinement")]),
        table(["phase", "program", "kernel", *sums],
              [[*key, *_sums(rows, bandwidth)] for key, rows in by_kernel[:MOST_KERNELS]]),
    ])  # fmt: skip


def _grouped(rows: Iterable[Record], names: tuple[str, ...]) -> dict[tuple[str, ...], list[Record]]:
    groups: dict[tuple[str, ...], list[Record]] = defaultdict(list)
    for row in rows:
        groups[tuple(str(row[name]) for name in names)].append(row)
    return groups


def _sums(rows: list[Record], bandwidth: float) -> list[str]:
    read, written, seconds = (sum(row[name] for row in rows)
                              for name in ("bytes_read", "bytes_written", "seconds"))
    speed = (read + written) / seconds if seconds else float(np.nan)
    return [f"{sum(row['launches'] for row in rows):,}", f"{read / 1e6:.2f}",
            f"{written / 1e6:.2f}", f"{1e3 * seconds:.3f}", f"{speed / 1e9:.4g}",
            f"{speed / bandwidth:.3f}"]  # fmt: skip


def step(session: Session, making: dict[Instance, Any], ks: list[int],
         presets: list[str]) -> Iterator[str]:
    """The step of bench.gpu: a record for each graph, k and preset."""
    records = session.report.setdefault("traffic", [])
    for instance, made in making.items():
        made.result(timeout=max(1.0, session.seconds_left()))
        host = cached(instance).portable
        for k in ks:
            for preset in presets:
                if session.is_late():
                    yield "the time is up"
                    return
                record = measure(host, k, preset, 1, session.device)
                records.append({"graph": instance.name} | record)
                yield f"{instance.name} k={k} {preset}"


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--graphs", default="delaunay_2^17", show_default=True)
@click.option("--k", "ks", default="64", show_default=True)
@click.option("--presets", default="default", show_default=True)
@click.option("--seed", default=1, show_default=True)
@click.option("--device", default="cpu", show_default=True)
@click.option("--output", type=click.Path(path_type=Path), help="Folder for the records as JSON.")
def main(graphs: str, ks: str, presets: str, seed: int, device: str, output: Path | None) -> None:
    for instance in select(graphs.split(",")):
        prepare(instance.name)
        for k in ks.split(","):
            for preset in presets.split(","):
                record = {"graph": instance.name} | measure(
                    cached(instance).portable, int(k), preset, seed, device)
                print(markdown(record), "\n")
                if output:
                    output.mkdir(parents=True, exist_ok=True)
                    name = f"traffic-{instance.name}-{k}-{preset}-{device.replace(':', '')}.json"
                    (output / name).write_text(json.dumps(record, indent=1))


if __name__ == "__main__":
    main()

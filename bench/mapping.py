"""Process mapping: cost J, time and phases of algorithms and presets, on any device.

    python -m bench.mapping --graphs real --max-edges 200000 --hierarchies 4:8:1,4:8:2,4:8:4
    python -m bench.mapping --graphs real --hierarchies 4:8:1,4:8:2,4:8:3,4:8:4,4:8:5,4:8:6 \
        --device cuda --output mapping.jsonl --time-limit 540 --readers 8
    python -m bench.mapping_report mapping.jsonl --classes

Graphs come smallest first, algorithms in the order that is given.  A line for each graph, machine
and algorithm is printed and added to the output at once; what is there already is not run again,
so a run that was stopped goes on where it ended.  At the end: means (bench/mapping_report.py).

J counts each edge once; papers and GPU-HeiProMap count it twice.  The graph is on the device before
the clock starts, a call that had to compile something is repeated and counts from then on, and J is
recomputed by `portpart.metrics`.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any

from bench.device_runs import Resident
from bench.instances import Instance, cached, prepare, select
from bench.mapping_report import Record, print_means, read_records
from bench.peers import HostGraph, Stopwatch

ALGORITHMS = "identity,identity:jet,two-phase,im:paper,im:fast,im,hm,im:strong,hm-ultra"
RESERVED = 2**32
"""Bytes of device memory that are taken at first, so that no call has to ask for them."""


def main() -> int:
    """Run from the command line."""
    options = _parse()
    known = read_records(options.output) if options.output else []
    done = {_key(record) for record in known}
    records = list(known)
    for record in _measured(options, done):
        records.append(record)
        print(_line(record), flush=True)
        if options.output:
            with options.output.open("a") as file:
                file.write(json.dumps(record) + "\n")
    print_means(records, options.reference)
    return int(any("error" in record or not record["true"] for record in records))


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", default="real", help="names, families, real, generated or all")
    parser.add_argument("--max-edges", type=int)
    parser.add_argument("--hierarchies", default="4:8:6", help="comma-separated")
    parser.add_argument("--distances", default="1:10:100")
    parser.add_argument("--algorithms", default=ALGORITHMS, help="NAME or NAME:PRESET, by commas")
    parser.add_argument("--reference", default="hm-ultra", help="what means are relative to")
    parser.add_argument("--imbalance", default="0.03")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--repeat", type=int, default=1, help="seeds; medians are shown")
    parser.add_argument("--output", type=Path, help="add a JSON object a line, and go on from it")
    parser.add_argument("--time-limit", type=float, default=float("inf"),
                        help="seconds after which no further call begins")
    parser.add_argument("--readers", type=int, default=0,
                        help="processes that read graphs ahead; default: none, read in between")
    options = parser.parse_args()
    options.deadline = time.perf_counter() + options.time_limit
    return options


def _key(record: Record) -> tuple[Any, ...]:
    """What makes two measurements the same."""
    return tuple(record[name] for name in ("graph", "hierarchy", "distances", "algorithm",
                                           "imbalance", "device", "repeat"))


def _measured(options: argparse.Namespace, done: set[tuple[Any, ...]]) -> Iterator[Record]:
    """Measure what is not done, until time is up."""
    import portpart

    instances = [instance for instance in select(options.graphs.split(","), options.max_edges)
                 if _left(instance, options, done)]
    for instance in instances:
        prepare(instance.name)
    space = None
    for instance, host in zip(instances, _read(instances, options.readers)):
        if space is None:  # after the readers have been started
            space = portpart.space(options.device)
            _reserve(space)
        if time.perf_counter() > options.deadline:
            return
        resident = Resident.of(instance.name, host, space)
        for task in _left(instance, options, done):
            if time.perf_counter() > options.deadline:
                return
            machine = portpart.Topology(task["hierarchy"], task["distances"])
            if machine.num_elements <= resident.graph.num_vertices:
                yield task | _mapped(resident, machine, task)


def _left(instance: Instance, options: argparse.Namespace,
          done: set[tuple[Any, ...]]) -> list[Record]:
    """What there is to do on a graph."""
    tasks = [{"graph": instance.name, "class": instance.family, "hierarchy": hierarchy,
              "distances": options.distances, "algorithm": algorithm,
              "imbalance": options.imbalance, "device": options.device, "repeat": options.repeat}
             for hierarchy in options.hierarchies.split(",")
             for algorithm in options.algorithms.split(",")]
    return [task for task in tasks if _key(task) not in done]


def _read(instances: list[Instance], readers: int) -> Iterator[HostGraph]:
    """The graphs one after the other; with `readers`, the next ones are read meanwhile."""
    if readers == 0:
        yield from map(cached, instances)
        return
    context = multiprocessing.get_context("spawn")  # CUDA does not survive a fork
    with ProcessPoolExecutor(readers, context) as pool:
        try:
            yield from pool.map(_cached, [instance.name for instance in instances])
        finally:
            pool.shutdown(cancel_futures=True)


def _cached(name: str) -> HostGraph:
    return cached(select([name])[0])


def _reserve(space: Any) -> None:
    if space.kind == "cuda":
        space.empty(RESERVED, "uint8")


def _mapped(resident: Resident, machine: Any, task: Record) -> Record:
    """Measure one algorithm; an error of the library is a result too."""
    import portpart

    name, _, preset = task["algorithm"].partition(":")
    settings = {"topology": machine, "imbalance": task["imbalance"], "algorithm": name,
                "preset": preset or "default"}
    costs, seconds, phases, true, feasible = [], [], defaultdict(list), True, True
    for seed in range(task["repeat"]):
        try:
            result, duration = _timed(resident.graph, settings | {"seed": seed})
        except portpart.PortpartError as error:
            return {"error": f"{type(error).__name__}: {error}"}
        costs.append(result.cost)
        seconds.append(duration)
        for phase, time_of_phase in result.stats["phases"].items():
            phases[phase].append(time_of_phase)
        cost = portpart.metrics.mapping_cost(resident.host.portable, result.part, machine)
        true, feasible = true and cost == result.cost, feasible and result.feasible
    return {
        "cost": median(costs), "costs": costs, "cut": result.cut, "seconds": median(seconds),
        "true": true, "feasible": feasible,
        "phases": {phase: median(times) for phase, times in phases.items()},
    }


def _timed(graph: Any, settings: dict[str, Any]) -> tuple[Any, float]:
    """A mapping and its seconds, nothing compiled in between."""
    import portpart

    while True:
        before = graph.space.num_compiled
        with warnings.catch_warnings(), Stopwatch() as watch:
            warnings.simplefilter("ignore", UserWarning)  # the result tells
            result = portpart.map_processes(graph, **settings)
        if graph.space.num_compiled == before:
            return result, watch.seconds


def _line(record: Record) -> str:
    head = f"{record['graph']:<20} {record['hierarchy']:<8} {record['algorithm']:<12} "
    if "error" in record:
        return head + record["error"]
    phases = ", ".join(f"{name} {1000 * seconds:.0f}" for name, seconds in record["phases"].items())
    return (f"{head}J {record['cost']:>12,.0f}  {1000 * record['seconds']:>9,.1f} ms ({phases})"
            f"{'' if record['true'] else '  WRONG'}{'' if record['feasible'] else '  UNBALANCED'}")


if __name__ == "__main__":
    sys.exit(main())

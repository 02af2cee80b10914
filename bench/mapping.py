"""Process mapping: cost J, time and phases of algorithms and presets, on any device.

    python -m bench.mapping --graphs real --max-edges 200000 --hierarchies 4:8:1,4:8:2,4:8:4
    python -m bench.mapping --device cuda --output mapping.jsonl --time-limit 540

Graphs come smallest first, algorithms in the order that is given.  A line for each graph, machine
and algorithm is printed and added to the output at once; what is there already is not run again,
so a run that was stopped goes on where it ended.  At the end: geometric means by kind of graph and
machine, over all graphs on which both algorithms have a cost above 0.

J counts each edge once; papers and GPU-HeiProMap count it twice.  The graph is on the device before
the clock starts, a call that had to compile something is repeated and counts from then on, and J is
recomputed by `portpart.metrics`.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import click

from bench.device_runs import Resident
from bench.graph_files import GraphFiles
from bench.instances import Instance, select
from bench.peers import HostGraph, Stopwatch
from bench.report import read_records, summary
from bench.spaces import space_of

ALGORITHMS = "identity,identity:jet,two-phase,im:paper,im:fast,im,hm,im:strong,hm-ultra"
KEY = ("graph", "k", "distances", "algorithm", "imbalance", "device", "repeat")
"""What makes two measurements the same; `k` is the hierarchy."""

Record = dict[str, Any]


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--graphs", default="real", show_default=True, help="Names, families or sets.")
@click.option("--max-edges", type=int, help="Leave out larger graphs.")
@click.option("--hierarchies", default="4:8:6", show_default=True, help="Comma-separated.")
@click.option("--distances", default="1:10:100", show_default=True)
@click.option("--algorithms", default=ALGORITHMS, help="NAME or NAME:PRESET, comma-separated.")
@click.option("--reference", default="hm-ultra", help="What means are relative to.")
@click.option("--imbalance", default="0.03", show_default=True)
@click.option("--device", default="cpu", show_default=True)
@click.option("--repeat", default=1, help="Seeds; medians are shown.")
@click.option("--output", type=click.Path(path_type=Path), help="JSON Lines, to go on from.")
@click.option("--time-limit", default=float("inf"), help="Seconds after which no call begins.")
def main(graphs: str, max_edges: int | None, hierarchies: str, algorithms: str, reference: str,
         output: Path | None, time_limit: float, **settings: Any) -> None:
    deadline = time.monotonic() + time_limit
    records = read_records(output)
    done = {tuple(record[name] for name in KEY) for record in records}
    tasks: dict[Instance, list[Record]] = {
        instance: [task for k in hierarchies.split(",") for name in algorithms.split(",")
                   if tuple((task := {"graph": instance.name, "family": instance.family, "k": k,
                                      "algorithm": name, **settings})[each] for each in KEY)
                   not in done]
        for instance in select(graphs.split(","), max_edges)
    }  # fmt: skip
    for record in measured(tasks, settings["device"], deadline):
        records.append(record)
        click.echo(_line(record))
        if output:
            with output.open("a") as file:
                file.write(json.dumps(record) + "\n")
    click.echo(means(records, reference))
    raise SystemExit(any("error" in record or not record["true"] for record in records))


def means(records: list[Record], reference: str) -> str:
    """Tables of J and time over the reference."""
    good = [record for record in records if "error" not in record]
    algorithms = list(dict.fromkeys(record["algorithm"] for record in good))
    return "\n\n".join(summary(f"{title} over {reference}", good, algorithms, name, reference)
                       for title, name in (("J", "cost"), ("Time", "seconds")))


def measured(tasks: dict[Instance, list[Record]], device: str,
             deadline: float) -> Iterator[Record]:
    """Measure until time is up."""
    import portpart

    with GraphFiles([instance for instance in tasks if tasks[instance]]) as files:
        space = space_of(device)  # after the readers have been started
        for instance in files.instances:
            resident = Resident.of(instance.name, HostGraph.load(files.path(instance)), space)
            for task in tasks[instance]:
                if time.monotonic() > deadline:
                    return
                machine = portpart.Topology(task["k"], task["distances"])
                if machine.num_elements <= resident.graph.num_vertices:
                    yield task | {"num_vertices": resident.graph.num_vertices} | _mapped(
                        resident, machine, task)


def _mapped(resident: Resident, machine: Any, task: Record) -> Record:
    """Measure one algorithm; an error of the library is a result too."""
    import portpart

    name, _, preset = task["algorithm"].partition(":")
    settings = {"topology": machine, "imbalance": task["imbalance"], "algorithm": name,
                "preset": preset or "default"}
    try:
        calls = [_timed(resident.graph, settings | {"seed": seed})
                 for seed in range(task["repeat"])]
    except portpart.PortpartError as error:
        return {"error": f"{type(error).__name__}: {error}"}
    results = [result for result, _ in calls]
    return {
        "cost": median(result.cost for result in results),
        "costs": [result.cost for result in results],
        "cut": results[-1].cut, "seconds": median(seconds for _, seconds in calls),
        "true": all(result.cost == portpart.metrics.mapping_cost(
            resident.host.portable, result.part, machine) for result in results),
        "feasible": all(result.feasible for result in results),
        "phases": {phase: median(result.stats["phases"][phase] for result in results)
                   for phase in results[-1].stats["phases"]},
    }  # fmt: skip


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
    head = f"{record['graph']:<20} {record['k']:<8} {record['algorithm']:<12} "
    if "error" in record:
        return head + record["error"]
    phases = ", ".join(f"{name} {1000 * seconds:.0f}" for name, seconds in record["phases"].items())
    return (f"{head}J {record['cost']:>12,.0f}  {1000 * record['seconds']:>9,.1f} ms ({phases})"
            f"{'' if record['true'] else '  WRONG'}{'' if record['feasible'] else '  UNBALANCED'}")


if __name__ == "__main__":
    main()

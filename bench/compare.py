"""Compare partitioners: graphs x k x algorithms x seeds, one evaluator for all.

    python -m bench.compare --graphs real --max-edges 500000 --k 8,64
    python -m bench.compare --report-only

Every result is appended to a JSON Lines file at once, and a run skips what the file has, so an
interrupted comparison goes on where it stopped.  Graphs come one after the other, smallest first.
Times are those of the partition call alone, the graph being in the partitioner's own form and on
its device; portpart's first call for each graph and k, which compiles, is kept apart.
With --side-by-side N, for a machine with a GPU and more cores than that, N processes run the
partitioners of one thread (METIS, KaHIP) and N read graphs ahead, beside all others.
"""

from __future__ import annotations

import functools
import json
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

from bench.graph_files import GraphFiles
from bench.instances import Instance, select
from bench.lanes import Limits, Task, work
from bench.peers import ALGORITHMS, HostGraph
from bench.report import markdown, read_records

DEFAULT_OUTPUT = Path(__file__).parent / "results" / "compare.jsonl"
DEFAULT_ALGORITHMS = "portpart,portpart-cuda,pymetis,kaminpar,kaminpar-eco,mtkahypar,kahip-eco"
Record = dict[str, Any]


@dataclass
class Plan:
    """What to measure, and how long."""

    ks: list[int]
    algorithms: list[str]
    seeds: list[int]
    imbalance: float
    threads: int
    beside: int


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--graphs", default="delaunay_2^15,rgg_2^15,grid_300x300,rmat_2^14,cube_20",
              help="Names, families or the sets real, generated, all; comma-separated patterns.")
@click.option("--k", "ks", default="2,8,64,192", help="Numbers of blocks.")
@click.option("--algorithms", default=DEFAULT_ALGORITHMS,
              help=f"Of {', '.join(ALGORITHMS)}; portpart and portpart-cuda stand for one column "
                   "a preset.")
@click.option("--preset", "presets", default="fast,default,strong,best", show_default=True,
              help="Of portpart and portpart-cuda.")
@click.option("--seeds", default="1,2,3", help="The same for every algorithm.")
@click.option("--imbalance", default=0.03, show_default=True)
@click.option("--threads", default=2, show_default=True)
@click.option("--max-edges", type=int, help="Leave out larger graphs.")
@click.option("--side-by-side", "beside", default=0, show_default=True,
              help="Processes for partitioners of one thread, beside the others.")
@click.option("--time-limit", default=120.0, show_default=True, help="Seconds for one call.")
@click.option("--budget", default=3600.0, show_default=True, help="Seconds for everything.")
@click.option("--output", type=click.Path(path_type=Path), default=DEFAULT_OUTPUT)
@click.option("--report-only", is_flag=True, help="Print the tables of the results on file.")
def main(
    graphs: str, ks: str, algorithms: str, presets: str, seeds: str, imbalance: float, threads: int,
    max_edges: int | None, beside: int, time_limit: float, budget: float, output: Path,
    report_only: bool,
) -> None:  # fmt: skip
    plan = Plan(
        ks=[int(k) for k in ks.split(",")],
        algorithms=_columns(algorithms.split(","), presets.split(",")),
        seeds=[int(seed) for seed in seeds.split(",")],
        imbalance=imbalance,
        threads=threads,
        beside=beside,
    )
    limits = Limits(time_limit, time.monotonic() + budget, threads, {})
    if not report_only:
        output.parent.mkdir(parents=True, exist_ok=True)
        _measure_all(select(graphs.split(","), max_edges), plan, limits, output)
    print(markdown(read_records(output)))


def _columns(algorithms: list[str], presets: list[str]) -> list[str]:
    """Return keys of `ALGORITHMS`, one a preset where portpart is given without one."""
    columns = []
    for name in algorithms:
        without_preset = name in ("portpart", "portpart-cuda")
        columns += [f"{name}-{preset}" for preset in presets] if without_preset else [name]
    unknown = [name for name in columns if name not in ALGORITHMS]
    if unknown:
        raise click.BadParameter(f"unknown algorithm {unknown[0]}; known: {', '.join(ALGORITHMS)}")
    return columns


def _measure_all(instances: list[Instance], plan: Plan, limits: Limits, output: Path) -> None:
    if not instances:
        raise click.UsageError("no graph matches; is PORTPART_DATA set?")
    have = {_key(record) for record in read_records(output)}
    tasks = [task for instance in instances
             if any((task := _task(instance, plan, have)).jobs.values())]  # fmt: skip
    files, deadline = GraphFiles([task.instance for task in tasks], plan.beside), limits.deadline

    @functools.lru_cache(plan.beside + 2)
    def graph_of(instance: Instance) -> HostGraph:
        return HostGraph.load(files.path(instance))

    lock = threading.Lock()

    def put(instance: Instance, record: Record) -> None:
        with lock:
            if "part" in record:
                part = record.pop("part")
                record |= evaluate(graph_of(instance), part, record["k"], record["imbalance"])
            file.write(json.dumps(record) + "\n")
            file.flush()
            click.echo(_progress_line(record), err=True)

    with files, output.open("a") as file:
        work(tasks, files, limits, plan.beside, put)
    if time.monotonic() > deadline:
        click.echo("the time budget is spent; run again to go on", err=True)


def _task(instance: Instance, plan: Plan, have: set[tuple]) -> Task:
    """What is still to be measured on a graph."""
    return Task(instance, {
        algorithm: [
            job for k in plan.ks for seed in plan.seeds
            if _key(job := _job(instance, plan, algorithm, k, seed)) not in have
        ]
        for algorithm in plan.algorithms
    })  # fmt: skip


def _job(instance: Instance, plan: Plan, algorithm: str, k: int, seed: int) -> Record:
    return {
        "graph": instance.name,
        "family": instance.family,
        "algorithm": algorithm,
        "k": k,
        "seed": seed,
        "imbalance": plan.imbalance,
        "threads": plan.threads,
        "side_by_side": plan.beside,
    }


def _key(record: Record) -> tuple:
    return tuple(
        record[name] for name in ("graph", "algorithm", "k", "seed", "imbalance", "threads")
    )


def evaluate(graph: HostGraph, part: np.ndarray, k: int, imbalance: float) -> Record:
    """Measure any partitioner's answer with `portpart.metrics`."""
    import portpart

    result = portpart.metrics.evaluate(graph.portable, part, k)
    return {
        "num_vertices": result.num_vertices,
        "num_edges": result.num_edges,
        "cut": result.cut,
        "reached_imbalance": result.imbalance,
        "feasible": result.is_balanced(imbalance),
        "empty_blocks": result.empty_blocks,
    }


def _progress_line(record: Record) -> str:
    head = f"{record['graph']:<22} {record['algorithm']:<20} k={record['k']:<4}"
    head += f" seed={record['seed']}"
    if "error" in record:
        return f"{head}  failed: {record['error']}"
    return f"{head}  cut {record['cut']:>10}  {record['seconds']:8.3f} s"


if __name__ == "__main__":
    main()

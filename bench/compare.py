"""Compare partitioners: graphs x k x algorithms x seeds, one evaluator for all.

    python -m bench.compare --graphs real --max-edges 500000 --k 8,64
    python -m bench.compare --report-only

Every result is appended to a JSON Lines file at once, and a run skips what the file has, so an
interrupted comparison goes on where it stopped.  Times are those of the partition call alone, the
graph being in the partitioner's own form; portpart's first call, which compiles, is kept apart.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import numpy as np

from bench.instances import Instance, select
from bench.peers import ALGORITHMS, HostGraph
from bench.report import markdown
from bench.worker import Worker

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
    time_limit: float
    deadline: float
    unavailable: dict[str, str] = field(default_factory=dict)


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
@click.option("--time-limit", default=120.0, show_default=True, help="Seconds for one call.")
@click.option("--budget", default=3600.0, show_default=True, help="Seconds for everything.")
@click.option("--output", type=click.Path(path_type=Path), default=DEFAULT_OUTPUT)
@click.option("--report-only", is_flag=True, help="Print the tables of the results on file.")
def main(
    graphs: str, ks: str, algorithms: str, presets: str, seeds: str, imbalance: float, threads: int,
    max_edges: int | None, time_limit: float, budget: float, output: Path, report_only: bool,
) -> None:  # fmt: skip
    plan = Plan(
        ks=[int(k) for k in ks.split(",")],
        algorithms=_columns(algorithms.split(","), presets.split(",")),
        seeds=[int(seed) for seed in seeds.split(",")],
        imbalance=imbalance,
        threads=threads,
        time_limit=time_limit,
        deadline=time.monotonic() + budget,
    )
    if not report_only:
        output.parent.mkdir(parents=True, exist_ok=True)
        _measure_all(select(graphs.split(","), max_edges), plan, output)
    print(markdown(read_records(output)))


def read_records(path: Path) -> list[Record]:
    """Return all records of a results file, an empty list if there is none."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines()]


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


def _measure_all(instances: list[Instance], plan: Plan, output: Path) -> None:
    if not instances:
        raise click.UsageError("no graph matches; is PORTPART_DATA set?")
    have = {_key(record) for record in read_records(output)}
    with output.open("a") as file:
        for instance in instances:
            for record in _measure_graph(instance, plan, have):
                file.write(json.dumps(record) + "\n")
                file.flush()
                click.echo(_progress_line(record), err=True)
            if time.monotonic() > plan.deadline:
                click.echo("the time budget is spent; run again to go on", err=True)
                return


def _measure_graph(instance: Instance, plan: Plan, have: set[tuple]) -> Iterator[Record]:
    jobs = {
        algorithm: [
            job for k in plan.ks for seed in plan.seeds
            if (job := _job(instance, plan, algorithm, k, seed)) and _key(job) not in have
        ]
        for algorithm in plan.algorithms if algorithm not in plan.unavailable
    }  # fmt: skip
    if not any(jobs.values()):
        return
    graph = instance.make()
    with tempfile.TemporaryDirectory() as folder:
        graph_file = Path(folder) / "graph.npz"
        graph.save(graph_file)
        for algorithm, pending in jobs.items():
            with Worker(algorithm, graph_file, plan.threads) as worker:
                yield from _run_jobs(worker, pending, graph, plan)


def _run_jobs(worker: Worker, jobs: list[Record], graph: HostGraph, plan: Plan) -> Iterator[Record]:
    slow: set[int] = set()  # a k that ran out of time once does so for every seed
    for job in jobs:
        if time.monotonic() > plan.deadline or job["algorithm"] in plan.unavailable:
            return
        if job["k"] > graph.num_vertices or job["k"] in slow:
            continue
        answer = worker.run(job["k"], job["imbalance"], job["seed"], plan.time_limit)
        if "unavailable" in answer:
            plan.unavailable[job["algorithm"]] = answer["unavailable"]
            click.echo(f"left out: {job['algorithm']}: {answer['unavailable']}", err=True)
            return
        if "seconds" not in answer:
            slow.add(job["k"])
            yield job | {"error": answer.get("died") or answer["error"]}
            continue
        part = answer.pop("part")
        yield job | answer | evaluate(graph, part, job["k"], job["imbalance"])


def _job(instance: Instance, plan: Plan, algorithm: str, k: int, seed: int) -> Record:
    return {
        "graph": instance.name,
        "family": instance.family,
        "algorithm": algorithm,
        "k": k,
        "seed": seed,
        "imbalance": plan.imbalance,
        "threads": plan.threads,
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

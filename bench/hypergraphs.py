"""Compare partitioners of hypergraphs: names x k x algorithms x seeds, one evaluator for all.

    python -m bench.hypergraphs --files 'ibm*,neuron' --k 2,8 --algorithms portpart-default
    python -m bench.hypergraphs --set wide --half report --output results/wide.jsonl
    python -m bench.hypergraphs --set drawn --algorithms mtkahypar,portpart-default
    python -m bench.hypergraphs --report-only

`bench.hypergraph_instances` says what the wide set is, `bench.drawn_hypergraphs` what is drawn.
Every result is appended to a JSON Lines file at once, and a run skips what the file has.  Times are
those of the partition call alone, the hypergraph being in the partitioner's own form and on its
device; the library's first call for each hypergraph and k, which compiles, is not counted.  Each
hypergraph has a process of its own for each algorithm, for peers end it on some inputs.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import time
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatch
from itertools import pairwise
from pathlib import Path
from typing import Any

import click
import numpy as np

from bench.drawn_hypergraphs import drawn
from bench.hypergraph_instances import NetInstance, class_of, half_of, shared, wide
from bench.report import read_records, summary, table
from bench.spaces import space_of

DEFAULT_OUTPUT = Path(__file__).parent / "results" / "hypergraphs.jsonl"
BASE = "mtkahypar"
PEERS = {"mtkahypar": "DEFAULT", "mtkahypar-quality": "QUALITY",
         "mtkahypar-deterministic": "DETERMINISTIC"}
VALUES = ("km1", "cut", "seconds", "cpu_seconds")
SETS: dict[str, Callable[[], Iterable[NetInstance]]] = {
    "shared": shared, "wide": wide, "drawn": drawn}

Record = dict[str, Any]
Solver = Callable[[int, float, int], np.ndarray]


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--files", default="*", show_default=True, help="Patterns of names.")
@click.option("--set", "wanted", type=click.Choice(list(SETS)), default="shared",
              show_default=True)
@click.option("--half", type=click.Choice(["choose", "report"]), help="Of the sources.")
@click.option("--k", "ks", default="2,8,64", show_default=True)
@click.option("--algorithms", default="mtkahypar,portpart-default", show_default=True,
              help=f"{', '.join(PEERS)}, portpart-PRESET, hyperg-PRESET.")
@click.option("--seeds", default="1,2,3", show_default=True)
@click.option("--objective", default="km1", show_default=True)
@click.option("--imbalance", default=0.03, show_default=True)
@click.option("--threads", default=2, show_default=True)
@click.option("--device", default="cpu", show_default=True, help="Of the library.")
@click.option("--time-limit", default=600.0, show_default=True, help="For a file and an algorithm.")
@click.option("--output", type=click.Path(path_type=Path), default=DEFAULT_OUTPUT)
@click.option("--report-only", is_flag=True, help="Print the tables of the results on file.")
def main(files: str, wanted: str, half: str | None, ks: str, algorithms: str, seeds: str,
         time_limit: float, output: Path, report_only: bool, **setting: Any) -> None:  # fmt: skip
    if not report_only:
        output.parent.mkdir(parents=True, exist_ok=True)
        have = {_key(record) for record in read_records(output)}
        for instance in _chosen(files.split(","), wanted, half):
            for algorithm in algorithms.split(","):
                jobs = [
                    job for k in ks.split(",") for seed in seeds.split(",")
                    if _key(job := {"graph": instance.name, "algorithm": algorithm,
                                    "k": int(k), "seed": int(seed), **setting}) not in have
                ]
                if jobs:
                    _measure(instance, jobs, output, time_limit)
    click.echo(report(read_records(output)))


def _chosen(patterns: list[str], wanted: str, which: str | None) -> list[NetInstance]:
    found = list(SETS[wanted]())
    found = found if which is None else half_of(found, which)
    return [each for each in found if any(fnmatch(each.name, pattern) for pattern in patterns)]


def _key(record: Record) -> tuple:
    return tuple(record[name] for name in (
        "graph", "algorithm", "k", "seed", "objective", "imbalance", "threads", "device"))


def _measure(instance: NetInstance, jobs: list[Record], output: Path, time_limit: float) -> None:
    """Run the jobs of one file and one algorithm in a process of their own."""
    process = multiprocessing.get_context("spawn").Process(
        target=_work, args=(instance, jobs, output), daemon=True)
    process.start()
    process.join(time_limit)
    if process.is_alive():
        process.kill()
    if process.exitcode != 0:
        click.echo(f"{jobs[0]['graph']} {jobs[0]['algorithm']}: ended by {process.exitcode}",
                   err=True)


def _work(instance: NetInstance, jobs: list[Record], output: Path) -> None:

    os.environ.setdefault("NUMBA_NUM_THREADS", str(jobs[0]["threads"]))
    hypergraph = instance.make()
    class_ = class_of(instance, hypergraph)
    solve = peer(hypergraph, jobs[0]) if jobs[0]["algorithm"] in PEERS else _own(hypergraph,
                                                                                  jobs[0])
    warm = set(PEERS) & {jobs[0]["algorithm"]}
    for job in jobs:
        if not warm & {job["k"], job["algorithm"]}:
            solve(job["k"], job["imbalance"], job["seed"])
            warm.add(job["k"])
        begin, used = time.perf_counter(), time.process_time()
        part = solve(job["k"], job["imbalance"], job["seed"])
        times = {"seconds": time.perf_counter() - begin, "cpu_seconds": time.process_time() - used}
        record = {**job, **times, "class": class_, **evaluated(hypergraph, part, job)}
        with output.open("a") as file:
            file.write(json.dumps(record) + "\n")
        click.echo(f"{job['graph']:<24} {job['algorithm']:<20} k={job['k']:<3} "
                   f"seed={job['seed']} km1 {record['km1']:>8} cut {record['cut']:>8} "
                   f"{times['seconds']:7.3f} s", err=True)


def evaluated(hypergraph: Any, part: np.ndarray, job: Record) -> Record:
    """What a partition is worth, whoever made it."""
    import portpart

    weights = portpart.metrics.block_weights(hypergraph, part, job["k"])
    limit = portpart.metrics.block_weight_limit(hypergraph.total_vertex_weight, job["k"],
                                                job["imbalance"])
    heaviest = 1 if hypergraph.vertex_weights is None else int(hypergraph.vertex_weights.max())
    return {
        "cut": portpart.metrics.cut(hypergraph, part),
        "km1": portpart.metrics.km1(hypergraph, part),
        "num_vertices": hypergraph.num_vertices, "family": "hypergraph",
        "feasible": bool(weights.max() <= limit), "fits": heaviest <= limit,
        "reached_imbalance": float(weights.max() * job["k"] / hypergraph.total_vertex_weight - 1),
    }


def _own(hypergraph: Any, job: Record) -> Solver:
    """The library, the hypergraph being on its device."""
    import numba  # noqa: F401  (otherwise a later call loads it)

    import portpart

    algorithm, _, preset = job["algorithm"].partition("-")
    space = space_of(job["device"])
    there = hypergraph.to(space)

    def solve(k: int, imbalance: float, seed: int) -> np.ndarray:
        result = portpart.partition(
            there, k, imbalance=imbalance, seed=seed, algorithm=algorithm, preset=preset,
            objective=job["objective"], device=job["device"],
            threads=job["threads"] if job["device"] == "cpu" else None)
        return np.asarray(space.to_host(result.part))

    return solve


def peer(hypergraph: Any, job: Record) -> Solver:
    """Mt-KaHyPar with one of its presets."""
    import mtkahypar

    system = mtkahypar.initialize(job["threads"], False)
    context = system.context_from_preset(getattr(mtkahypar.PresetType, PEERS[job["algorithm"]]))
    context.logging = False
    offsets, pins = hypergraph.net_offsets.tolist(), hypergraph.net_pins.tolist()
    nets = [pins[begin:end] for begin, end in pairwise(offsets)]
    weights = ([1] * count if values is None else values.tolist() for count, values in (
        (hypergraph.num_vertices, hypergraph.vertex_weights),
        (hypergraph.num_nets, hypergraph.net_weights)))
    own = system.create_hypergraph(context, hypergraph.num_vertices, hypergraph.num_nets, nets,
                                   *weights)
    objective = getattr(mtkahypar.Objective, job["objective"].upper())

    def solve(k: int, imbalance: float, seed: int) -> np.ndarray:
        mtkahypar.set_seed(seed)
        context.set_partitioning_parameters(k, imbalance, objective)
        return np.asarray(own.partition(context).get_partition(), np.int32)

    return solve


def report(records: list[Record]) -> str:
    """Return tables of ratios to Mt-KaHyPar's default, and of every file."""
    records = [record for record in records if record["fits"]]
    if not records:
        return "no results yet"
    algorithms = sorted({record["algorithm"] for record in records})
    parts = [summary(f"{objective}: {name} over {BASE}", some, algorithms, name, BASE)
             for objective, some in _by_objective(records) for name in VALUES]
    head = ["", *(f"{algorithm} k={k}" for algorithm in algorithms
                  for k in sorted({record["k"] for record in records}))]
    body = []
    for graph in dict.fromkeys(record["graph"] for record in records):
        cells = []
        for column in head[1:]:
            algorithm, _, k = column.partition(" k=")
            found = [r for r in records if (r["graph"], r["algorithm"], r["k"]) == (
                graph, algorithm, int(k))]
            cells.append(f"{np.mean([r[r['objective']] for r in found]):.0f} / "
                         f"{np.mean([r['seconds'] for r in found]):.2f}" if found else "-")
        body.append([graph, *cells])
    return "\n\n".join([*parts, table(head, body)])


def _by_objective(records: list[Record]) -> Iterator[tuple[str, list[Record]]]:
    for objective in sorted({record["objective"] for record in records}):
        yield objective, [each for each in records if each["objective"] == objective]


if __name__ == "__main__":
    main()

"""Compare partitioners of edges: graphs x k x algorithms x seeds, one evaluator for all.

    python -m bench.edge_partitions --graphs 'wiki*,musae*' --k 8,64
    python -m bench.edge_partitions --report-only

Mt-KaHyPar partitions the hypergraph of the edges, as the library does; HDRF takes the edges one by
one in random order.  Seconds are those of the processor, of all threads together, unless a GPU
works.  Every result is appended to a JSON Lines file at once, and a run skips what
the file has.  The first call of the library for each graph and k, which compiles, does not count.
"""

from __future__ import annotations

import json
import time
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import click
import numpy as np

from bench.hypergraphs import PEERS, Record, Solver, peer
from bench.instances import Instance, select
from bench.report import geometric_mean, read_records, table

DEFAULT_OUTPUT = Path(__file__).parent / "results" / "edge_partitions.jsonl"
BASES = ("mtkahypar", "hdrf")
LAMBDA = 1.1
"""Weight of the balance in HDRF, as its authors choose it."""


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--graphs", default="*", show_default=True, help="Patterns of names.")
@click.option("--k", "ks", default="8,64", show_default=True)
@click.option("--algorithms", default="hdrf,mtkahypar,portpart-default", show_default=True,
              help=f"hdrf, {', '.join(PEERS)}, portpart-PRESET.")
@click.option("--seeds", default="1", show_default=True)
@click.option("--imbalance", default=0.03, show_default=True)
@click.option("--threads", default=2, show_default=True)
@click.option("--device", default="cpu", show_default=True, help="Of the library.")
@click.option("--output", type=click.Path(path_type=Path), default=DEFAULT_OUTPUT)
@click.option("--report-only", is_flag=True, help="Print the table of the results on file.")
def main(graphs: str, ks: str, algorithms: str, seeds: str, output: Path, report_only: bool,
         **setting: Any) -> None:  # fmt: skip
    if not report_only:
        output.parent.mkdir(parents=True, exist_ok=True)
        have = {_key(record) for record in read_records(output)}
        for instance in chosen(graphs.split(",")):
            jobs = [job for k in ks.split(",") for algorithm in algorithms.split(",")
                    for seed in seeds.split(",")
                    if _key(job := {"graph": instance.name, "algorithm": algorithm, "k": int(k),
                                    "seed": int(seed), **setting}) not in have]
            if jobs:
                measure(instance, jobs, output)
    click.echo(report(read_records(output)))


def chosen(patterns: list[str]) -> list[Instance]:
    """The social and web graphs whose names fit, small ones first."""
    return [each for each in select(["social", "web"])
            if any(fnmatch(each.name, pattern) for pattern in patterns)]


def _key(record: Record) -> tuple[Any, ...]:
    return tuple(record[name] for name in (
        "graph", "algorithm", "k", "seed", "imbalance", "threads", "device"))


def measure(instance: Instance, jobs: list[Record], output: Path) -> None:
    """Run the jobs of a graph, and append their records."""
    import portpart

    host = instance.make()
    graph = portpart.as_graph((host.offsets, host.targets))
    solvers: dict[str, Solver] = {}
    warm = set()
    for job in jobs:
        algorithm, k = job["algorithm"], job["k"]
        if algorithm not in solvers:
            solvers[algorithm] = solver(graph, job)
        if algorithm.startswith("portpart") and (algorithm, k) not in warm:
            solvers[algorithm](k, job["imbalance"], job["seed"])
            warm.add((algorithm, k))
        clock = time.process_time if job["device"] == "cpu" else time.perf_counter
        begin = clock()
        part = solvers[algorithm](k, job["imbalance"], job["seed"])
        seconds = clock() - begin
        found = portpart.metrics.evaluate_edges(graph, part, k)
        record = {**job, "seconds": seconds, "replication": found.replication_factor,
                  "km1": found.km1, "reached_imbalance": found.imbalance}
        with output.open("a") as file:
            file.write(json.dumps(record) + "\n")
        click.echo(f"{job['graph']:<20} {algorithm:<20} k={k:<3} seed={job['seed']} "
                   f"{found.replication_factor:.4f} {seconds:8.2f} s", err=True)


def solver(graph: Any, job: Record) -> Solver:
    """What partitions the edges of a graph."""
    import portpart
    from portpart.graphs.graph_models import edge_hypergraph

    if job["algorithm"] == "hdrf":
        ends = graph.space.to_host(edge_hypergraph(graph).vertex_nets).reshape(-1, 2)
        return lambda k, _, seed: hdrf(ends, graph.num_vertices, k, seed)
    if job["algorithm"] in PEERS:
        return peer(edge_hypergraph(graph), {**job, "objective": "km1"})
    preset = job["algorithm"].partition("-")[2]
    return lambda k, imbalance, seed: portpart.partition_edges(
        graph, k, imbalance=imbalance, seed=seed, preset=preset, device=job["device"],
        threads=job["threads"] if job["device"] == "cpu" else None).part


def hdrf(ends: np.ndarray, num_vertices: int, k: int, seed: int) -> np.ndarray:
    """High-degree replicated first (Petroni et al., CIKM 2015), edges in random order.

    A block scores for each end that it has already, more for the one of lower degree so far, and
    for being smaller than the largest block.
    """
    order = np.random.default_rng(seed).permutation(len(ends))
    degrees, sizes = [0] * num_vertices, np.zeros(k)
    has = np.zeros((num_vertices, k))
    part = np.empty(len(ends), np.int32)
    for edge, (u, v) in zip(order.tolist(), ends[order].tolist()):
        degrees[u] += 1
        degrees[v] += 1
        share = degrees[u] / (degrees[u] + degrees[v])
        most = sizes.max()
        score = (has[u] * (2 - share) + has[v] * (1 + share)
                 + LAMBDA * (most - sizes) / (1 + most - sizes.min()))
        block = int(score.argmax())
        part[edge] = block
        sizes[block] += 1
        has[u, block] = has[v, block] = 1
    return part


def report(records: list[Record]) -> str:
    """Return the replication of every graph, and geometric means of ratios."""
    if not records:
        return "no results yet"
    means: dict[tuple[str, int, str], list[Record]] = {}
    for record in records:
        means.setdefault((record["graph"], record["k"], record["algorithm"]), []).append(record)
    algorithms = sorted({key[2] for key in means}, key=lambda name: (name not in BASES, name))
    ks = sorted({key[1] for key in means})
    graphs = list(dict.fromkeys(record["graph"] for record in records))

    def mean(graph: str, k: int, algorithm: str, value: str) -> float | None:
        found = means.get((graph, k, algorithm))
        return None if found is None else float(np.mean([each[value] for each in found]))

    head = ["graph", *(f"{algorithm} k={k}" for k in ks for algorithm in algorithms)]
    columns = [(k, algorithm) for k in ks for algorithm in algorithms]
    body = [[graph, *("-" if (value := mean(graph, k, algorithm, "replication")) is None
                      else f"{value:.3f} / {mean(graph, k, algorithm, 'seconds'):.1f} s"
                      for k, algorithm in columns)] for graph in graphs]
    for base in BASES:
        for value in ("replication", "seconds"):
            row = [f"{value} over {base}"]
            for k, algorithm in columns:
                pairs = [(mean(graph, k, algorithm, value), mean(graph, k, base, value))
                         for graph in graphs]
                row.append(f"{geometric_mean(a / b for a, b in pairs if a and b):.3f}")
            body.append(row)
    return table(head, body)


if __name__ == "__main__":
    main()

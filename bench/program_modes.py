"""Refinement as one program against kernels launched one by one, on the same graphs.

    python -m bench.program_modes --graphs 'delaunay_2^20,road_2^20' --algorithms gkway,jet --k 2,64

A CUDA space runs a recorded program in one of three ways: resident, one cooperative kernel for all
of it; graph, a CUDA graph with conditional nodes; walk, a launch from the host for each step and a
wait for each test of a loop.  Uncoarsening a level is such a program, and coarsening and starts are
made of others.  Each way partitions with every seed, in turn; speed-ups are walk over the other,
medians over the seeds.  All have to give the same partition.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import click
import numpy as np

from bench.device_runs import Record, Resident, device_facts, timed_call
from bench.gpu_costs import running_programs
from bench.graph_files import GraphFiles
from bench.instances import Instance, select
from bench.peers import HostGraph
from bench.report import geometric_mean, table

ONE_BY_ONE = "walk"
PARTS = ("refinement", "whole")


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--graphs", default="delaunay_2^20,road_2^20,rgg_2^20", show_default=True,
              help="Names, families or sets, comma-separated.")
@click.option("--max-edges", type=int, help="Leave out larger graphs.")
@click.option("--algorithms", default="gkway", show_default=True,
              help="NAME or NAME-PRESET, comma-separated.")
@click.option("--k", "ks", default="2,64", show_default=True, help="Numbers of blocks.")
@click.option("--seeds", default="1,2,3", show_default=True)
@click.option("--device", default="cuda", show_default=True, help="cpu: one way only, a dry run.")
@click.option("--budget", default=540.0, show_default=True, help="Seconds for everything.")
@click.option("--output", type=click.Path(path_type=Path), help="Write the records as JSON.")
def main(graphs: str, max_edges: int | None, algorithms: str, ks: str, seeds: str, device: str,
         budget: float, output: Path | None) -> None:  # fmt: skip
    import portpart

    space, deadline = portpart.space(device), time.monotonic() + budget
    columns = [name if "-" in name else f"{name}-default" for name in algorithms.split(",")]
    instances = select(graphs.split(","), max_edges)
    records: list[Record] = []
    with GraphFiles(instances) as files:
        for found in measured(instances, files, space, columns, numbers(ks), numbers(seeds)):
            records += found
            _save(output, device, records)
            click.echo(_line(found), err=True)
            if time.monotonic() > deadline:
                click.echo("the time is up", err=True)
                break
    print(markdown(records))


def measured(instances: list[Instance], files: GraphFiles, space: Any, columns: list[str],
             ks: list[int], seeds: list[int]) -> Iterator[list[Record]]:
    """Yield the records of one graph, number of blocks and algorithm after the other."""
    for instance in instances:
        resident = Resident.of(instance.name, HostGraph.load(files.path(instance)), space)
        for k in ks:
            for name in columns:
                yield compared(resident, k, name, seeds)


def compared(resident: Resident, k: int, name: str, seeds: list[int]) -> list[Record]:
    """Partition in every way and with every seed; one record a way."""
    modes = ways(resident.graph.space)
    first = {mode: call(resident, k, name, seeds[0], mode)["seconds"] for mode in modes}
    calls: dict[str, list[Record]] = {mode: [] for mode in modes}
    for seed in seeds:
        for mode in modes:
            calls[mode].append(call(resident, k, name, seed, mode))
    return [
        {
            "graph": resident.name, "n": resident.graph.num_vertices,
            "m": resident.graph.num_edges, "k": k, "algorithm": name, "mode": mode,
            "refinement": median(each["stats"]["phases"]["refinement"] for each in runs),
            "whole": median(each["seconds"] for each in runs), "first_seconds": first[mode],
            "phases": [each["stats"]["phases"] for each in runs],
            "cuts": [each["cut"] for each in runs],
            "launches": runs[-1]["stats"]["launches"],
            "synchronizations": runs[-1]["stats"]["synchronizations"],
            "same": all(np.array_equal(each["part"], other["part"])
                        for each, other in zip(runs, calls[modes[0]])),
        }
        for mode, runs in calls.items()
    ]  # fmt: skip


def ways(space: Any) -> list[str]:
    """Return how the space can run programs, the fastest way first."""
    return list(space.program_modes()) if hasattr(space, "program_modes") else [ONE_BY_ONE]


def call(resident: Resident, k: int, name: str, seed: int, mode: str) -> Record:
    """Partition once."""
    with running_programs(resident.graph.space, mode):
        return timed_call(resident, k, name, seed)


def markdown(records: list[Record]) -> str:
    """Return a table an algorithm, and whether all ways agreed."""
    if not records:
        return "no results"
    differing = [f"{each['graph']}, k = {each['k']}, {each['algorithm']}, {each['mode']}"
                 for each in records if not each["same"]]  # fmt: skip
    verdict = "; ".join(differing) if differing else "none"
    names = dict.fromkeys(record["algorithm"] for record in records)
    sections = [_section(name, records) for name in names]
    return "\n\n".join([*sections, f"Partitions that differ from the first way's: {verdict}."])


def _section(name: str, records: list[Record]) -> str:
    own = [record for record in records if record["algorithm"] == name]
    modes = list(dict.fromkeys(record["mode"] for record in own))
    cases: dict[tuple[str, int], dict[str, Record]] = {}
    for record in own:
        cases.setdefault((record["graph"], record["k"]), {})[record["mode"]] = record
    faster = [mode for mode in modes if mode != ONE_BY_ONE]
    head = ["graph", "k", *(f"{mode}: refinement / whole, ms" for mode in modes),
            *(f"{part}, {mode} over {ONE_BY_ONE}" for mode in faster for part in PARTS)]
    body = [
        [graph, str(k),
         *(f"{1e3 * case[mode]['refinement']:.2f} / {1e3 * case[mode]['whole']:.2f}"
           for mode in modes),
         *(f"{speed_up(case, mode, part):.2f}" for mode in faster for part in PARTS)]
        for (graph, k), case in cases.items()
    ]  # fmt: skip
    series = [[speed_up(case, mode, part) for case in cases.values()]
              for mode in faster for part in PARTS]
    for title, summary in (("geometric mean", geometric_mean), ("best", max)) if faster else ():
        body.append([title, "", *("" for _ in modes), *(f"{summary(each):.2f}" for each in series)])
    return f"### {name}: speed-ups of programs\n{table(head, body)}"


def speed_up(case: dict[str, Record], mode: str, part: str) -> float:
    """Return how many times as long launches one by one take."""
    return float(case[ONE_BY_ONE][part] / case[mode][part])


def _line(records: list[Record]) -> str:
    first = records[0]
    times = ", ".join(f"{each['mode']} {1e3 * each['refinement']:.2f} of "
                      f"{1e3 * each['whole']:.2f} ms" for each in records)
    same = "" if all(each["same"] for each in records) else "  PARTITIONS DIFFER"
    return f"{first['graph']:<22} k={first['k']:<4} {first['algorithm']:<16} {times}{same}"


def _save(output: Path | None, device: str, records: list[Record]) -> None:
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(json.dumps({"device": device_facts(device), "records": records}))


def numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


if __name__ == "__main__":
    main()

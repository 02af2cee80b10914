"""What one parameter of an algorithm does: cut, time and phases for each of its values.

    python -m bench.sweep --algorithm gpmetis --parameter handoff_vertices --values 4096,16384,65536
    python -m bench.sweep --algorithm gkway-strong --parameter refinement.tolerance --values 1,.99
    python -m bench.sweep --algorithm gkway --parameter program_mode --values walk,resident

Names of parameters are those of `portpart algorithms NAME`, or `program_mode`: how a CUDA space
runs programs.  Values are Python literals, or words.  All other parameters are the preset's.  Each
value is called once to warm up, then the values take turns with every seed.  Means are relative to
the first value.
"""

from __future__ import annotations

import ast
import json
import time
from collections.abc import Iterator
from dataclasses import is_dataclass, replace
from pathlib import Path
from typing import Any

import click

from bench.device_runs import (
    IMBALANCE,
    Record,
    Resident,
    device_facts,
    judge,
    running_programs,
    timed_call,
)
from bench.graph_files import GraphFiles
from bench.instances import Instance, select
from bench.peers import HostGraph
from bench.report import graph_table, summary
from bench.spaces import space_of

PROGRAM_MODE = "program_mode"
Variant = tuple[Any, str | None]
"""A configuration, and how programs run if that is said."""


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--algorithm", default="gpmetis", show_default=True, help="NAME or NAME-PRESET.")
@click.option("--parameter", required=True, help="Dotted, if it is in nested options.")
@click.option("--values", required=True, help="Semicolon- or, without any, comma-separated.")
@click.option("--graphs", default="delaunay_2^15,rgg_2^15,road_2^15,rmat_2^14", show_default=True,
              help="Names, families or sets, comma-separated.")
@click.option("--max-edges", type=int, help="Leave out larger graphs.")
@click.option("--k", "ks", default="2,64", show_default=True, help="Numbers of blocks.")
@click.option("--seeds", default="1,2,3", show_default=True)
@click.option("--device", default="cpu", show_default=True)
@click.option("--budget", default=540.0, show_default=True, help="Seconds for everything.")
@click.option("--output", type=click.Path(path_type=Path), help="Write the records as JSON.")
def main(algorithm: str, parameter: str, values: str, graphs: str, max_edges: int | None, ks: str,
         seeds: str, device: str, budget: float, output: Path | None) -> None:  # fmt: skip

    deadline = time.monotonic() + budget
    configs = configurations(algorithm, parameter, values)
    instances = select(graphs.split(","), max_edges)
    space, records = space_of(device), []
    with GraphFiles(instances, processes=1) as files:
        for instance in instances:
            resident = Resident.of(instance.name, HostGraph.load(files.path(instance)), space)
            for k in map(int, ks.split(",")):
                for record in measured(instance, resident, k, configs, seeds.split(",")):
                    records.append(record)
                    click.echo(_line(record), err=True)
            _save(output, {"algorithm": algorithm, "parameter": parameter,
                           "device": device_facts(device), "records": records})
            if time.monotonic() > deadline:
                click.echo("the time is up", err=True)
                break
    print(markdown(f"{parameter} of {algorithm}", records))


def configurations(algorithm: str, parameter: str, values: str) -> dict[str, Variant]:
    """Return a configuration and a mode for each value, under the value as it was written."""
    import portpart

    name, _, preset = algorithm.partition("-")
    base = portpart.list_algorithms()[name].preset(preset or "default")
    texts = values.split(";" if ";" in values else ",")
    if parameter == PROGRAM_MODE:
        return {text: (base, text) for text in texts}
    return {text: (changed(base, parameter, literal(text)), None) for text in texts}


def changed(config: Any, parameter: str, value: Any) -> Any:
    """Return a configuration with another value of a parameter, which may be a nested one."""
    name, _, rest = parameter.partition(".")
    if not is_dataclass(config) or not hasattr(config, name):
        raise click.BadParameter(f"{type(config).__name__} has no parameter {name}")
    inner = changed(getattr(config, name), rest, value) if rest else value
    return replace(config, **{name: inner})  # type: ignore[type-var]


def literal(text: str) -> Any:
    """Return the number, tuple or truth value that is written, else the text."""
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text


def measured(instance: Instance, resident: Resident, k: int, configs: dict[str, Variant],
             seeds: list[str]) -> Iterator[Record]:
    """Yield a record for each value and seed, as the report of comparisons wants them."""
    if k > resident.graph.num_vertices:
        return
    for variant in configs.values():
        _call(resident, k, variant, int(seeds[0]))
    for seed in map(int, seeds):
        first = None
        for text, variant in configs.items():
            call = _call(resident, k, variant, seed)
            first = call["part"] if first is None else first
            cut, imbalance = judge(resident.host, call["part"], k)
            yield {
                "graph": resident.name, "family": instance.family, "algorithm": text, "k": k,
                "seed": seed, "num_vertices": resident.graph.num_vertices,
                "num_edges": resident.graph.num_edges, "cut": cut,
                "reached_imbalance": imbalance, "feasible": call["feasible"],
                "seconds": call["seconds"], "imbalance": IMBALANCE,
                "same": bool((call["part"] == first).all()), **call["stats"]["phases"],
            }  # fmt: skip


def _call(resident: Resident, k: int, variant: Variant, seed: int) -> Record:
    config, mode = variant
    with running_programs(resident.graph.space, mode):
        return timed_call(resident, k, config, seed)


def markdown(title: str, records: list[Record]) -> str:
    """Return means by class for cut, time and each phase, then all graphs."""
    if not records:
        return "no results"
    values = list(dict.fromkeys(record["algorithm"] for record in records))
    phases = [name for name in ("coarsening", "initial", "refinement", "search")
              if all(name in record for record in records)]  # fmt: skip
    sections = [summary(f"{name} over that of {values[0]}", records, values, name, values[0])
                for name in ("cut", "seconds", *phases)]  # fmt: skip
    tables = [graph_table(records, values, k) for k in sorted({each["k"] for each in records})]
    same = (f"{sum(record['same'] for record in records)} of {len(records)} partitions are those "
            f"of {values[0]}.")
    return "\n\n".join([f"## {title}", *sections, *tables, same])


def _line(record: Record) -> str:
    return (f"{record['graph']:<22} {record['algorithm']:<12} k={record['k']:<4} "
            f"seed={record['seed']}  cut {record['cut']:>10}  {1e3 * record['seconds']:10.2f} ms")


def _save(output: Path | None, content: dict[str, Any]) -> None:
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(json.dumps(content))


if __name__ == "__main__":
    main()

"""What partitions take on a device: time, work, memory and cut, the graph lying there before.

    python -m bench.gpu --minutes 9 --output results
    python -m bench.gpu --graphs 'delaunay_2^20,grid_*' --k 64 --presets default

After each result report.md and results.json are written anew, so that nothing is lost when time
runs out.  `pytest bench/pieces.py --space cuda` times launches, programs and primitives, and
`make gpu-test` checks answers.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import click

from bench.device_runs import Record, Resident, device_facts, kernels_run, measure
from bench.graph_files import GraphFiles
from bench.instances import Instance, select
from bench.peers import HostGraph
from bench.report import table
from bench.spaces import space_of

RESULTS = Path(__file__).parent / "results"
GRAPHS = "delaunay_2^20,grid_2000x4000,rmat_2^18,rgg_2^20,cube_200,rgg_2^22"
SLOW = ("strong", "best", "jet-ultra")
MIB = 2**20


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--graphs", default=GRAPHS, show_default=True,
              help="In the order of work; names, families or the set real.")
@click.option("--k", "ks", default="64,8,2,192", show_default=True, help="Numbers of blocks.")
@click.option("--presets", default="default,fast,strong,best,jet-default,jet-ultra",
              show_default=True,
              help="Slow ones run with k = 64 only, or whatever comes first in --k.")
@click.option("--seeds", default="1,2,3,4,5", show_default=True)
@click.option("--device", default="cuda", show_default=True, help="cpu works too, for a dry run.")
@click.option("--minutes", default=9.0, show_default=True, help="For everything.")
@click.option("--output", type=click.Path(path_type=Path), default=RESULTS / "gpu",
              show_default=True, help="Folder of the report.")
def main(graphs: str, ks: str, presets: str, seeds: str, device: str, minutes: float,
         output: Path) -> None:  # fmt: skip
    deadline = time.monotonic() + 60 * minutes
    report: Record = {"device": device_facts(device), "table": []}
    instances = [instance for name in graphs.split(",") for instance in select([name])]
    with GraphFiles(instances) as files:
        for record in measured(instances, files, numbers(ks), presets.split(","), numbers(seeds),
                               device):
            report["table"].append(record)
            _save(report, output)
            click.echo(f"{record['graph']} k={record['k']} {record['preset']}: cut "
                       f"{record['cut']:.0f}, {1e3 * record['seconds']:.1f} ms", err=True)
            if time.monotonic() > deadline:
                click.echo("the time is up", err=True)
                break
    click.echo(markdown(report))


def numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def measured(instances: list[Instance], files: GraphFiles, ks: list[int], presets: list[str],
             seeds: list[int], device: str) -> Iterator[Record]:
    """Measure the first k of each graph first, then the rest."""
    space = space_of(device)
    here: dict[str, Resident] = {}
    for instance, k, preset in in_turn(instances, ks, presets):
        if instance.name not in here:
            host = HostGraph.load(files.path(instance))
            here[instance.name] = Resident.of(instance.name, host, space)
        resident = here[instance.name]
        record = measure(resident, k, preset, seeds)
        if k == ks[0] and preset == presets[0]:
            record["kernels"] = kernels_run(resident, k, preset, seeds[-1])
        yield record | {"upload_seconds": resident.upload_seconds}


def in_turn(instances: list[Instance], ks: list[int],
            presets: list[str]) -> Iterator[tuple[Instance, int, str]]:
    """All combinations, most wanted first; the slow presets with the first k only."""
    for k in ks:
        for preset in presets:
            if preset not in SLOW or k == ks[0]:
                yield from ((instance, k, preset) for instance in instances)


def _save(report: Record, output: Path) -> None:
    """Write both files anew, each in one piece."""
    output.mkdir(parents=True, exist_ok=True)
    for name, text in (("results.json", json.dumps(report, indent=1)),
                       ("report.md", markdown(report))):
        draft = output / f".{name}"
        draft.write_text(text)
        draft.replace(output / name)


def markdown(report: Record) -> str:
    """Return the whole report; what each level took is in the records."""
    facts = "\n".join(f"- {name}: {value}" for name, value in report["device"].items())
    head = ["graph", "n / m", "k", "preset", "cut", "imb", "ms (min-max)", "phases ms", "first s",
            "levels", "launches", "syncs", "kernels", "peak MiB / estimate"]  # fmt: skip
    note = ("Medians over the seeds after a warm-up; imbalance is the worst. Launches and "
            "synchronisations of the host; a program counts as one launch. kernels: those inside "
            "programs counted too. Peak: bytes in use at once, the graph included.")
    rows = map(_partition_row, report["table"])
    return f"# portpart on a device\n\n{facts}\n\n{table(head, rows)}\n\n{note}\n"


def _partition_row(record: Record) -> list[str]:
    phases = ", ".join(f"{name} {1e3 * value:.1f}" for name, value in record["phases"].items())
    marks = "" if record["feasible"] else " too heavy"
    marks += f" {record['wrong_cuts']} cuts reported wrong" if record["wrong_cuts"] else ""
    low, high = (1e3 * bound(record["all_seconds"]) for bound in (min, max))
    memory = " / ".join(f"{record[name] / MIB:.0f}" if record[name] else "-"
                        for name in ("peak_bytes", "estimated_bytes"))  # fmt: skip
    return [
        record["graph"], f"{record['n']:,} / {record['m']:,}", str(record["k"]), record["preset"],
        f"{record['cut']:.0f}{marks}", f"{record['imbalance']:.4f}",
        f"{1e3 * record['seconds']:.1f} ({low:.0f}-{high:.0f})", phases,
        f"{record['first_seconds']:.2f}", str(len(record["levels"])), str(record["launches"]),
        str(record["synchronizations"]), str(record.get("kernels") or ""), memory,
    ]  # fmt: skip


if __name__ == "__main__":
    main()

"""What rounds of a population bring: the preset "best", then as many rounds as there is time for.

    python -m bench.rounds                          # Walshaw's archive: k = 2, 5 %, a minute each
    python -m bench.rounds --files 'ibm0*' --k 2,8,64 --imbalance 0.03
    python -m bench.rounds --report-only

Every result is appended to a JSON Lines file at once, and a run skips what the file has.  The first
call for each file and k, which compiles, is not counted.  Columns: the objective of "best", after
some numbers of rounds, and at the limit; for a graph of the archive the last one over the smallest
cut that is known.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import click

import portpart
from bench.instances import data_folder
from bench.report import geometric_mean, read_records, table

DEFAULT_OUTPUT = Path(__file__).parent / "results" / "rounds.jsonl"

KNOWN = {"add20": 536, "uk": 18, "3elt": 87, "whitaker3": 126, "fe_4elt2": 130, "4elt": 137,
         "cs4": 353, "cti": 318, "memplus": 5253, "wing": 770, "fe_body": 262, "finan512": 162,
         "bcsstk29": 2818}
"""Cuts of published partitions of Walshaw's archive into two blocks, none above 1.05 times the
average."""

ROUNDS = (10, 30, 100, 300, 1000)

Record = dict[str, Any]


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--files", default=",".join(KNOWN), help="Names or patterns, comma-separated.")
@click.option("--k", "ks", default="2", show_default=True)
@click.option("--imbalance", default=0.05, show_default=True)
@click.option("--seconds", default=60.0, show_default=True, help="Limit of each call.")
@click.option("--rounds", default="until_limit", show_default=True)
@click.option("--seeds", default="1", show_default=True)
@click.option("--threads", default=1, show_default=True)
@click.option("--output", type=click.Path(path_type=Path), default=DEFAULT_OUTPUT)
@click.option("--report-only", is_flag=True, help="Print the table of the file.")
def main(files: str, ks: str, imbalance: float, seconds: float, rounds: str, seeds: str,
         threads: int, output: Path, report_only: bool) -> None:  # fmt: skip
    output.parent.mkdir(parents=True, exist_ok=True)
    known = {_key(record) for record in read_records(output)}
    for path in [] if report_only else _chosen(files.split(",")):
        graph = (portpart.io.read_hypergraph if ".hgr" in path.suffixes else portpart.io.read)(path)
        for k in map(int, ks.split(",")):
            jobs = [{"graph": _name(path), "k": k, "imbalance": imbalance,
                     "seed": seed} for seed in map(int, seeds.split(","))]
            for job in [job for job in jobs if _key(job) not in known]:
                options: Record = {"preset": "best", "imbalance": imbalance, "threads": threads}
                if job is jobs[0]:
                    portpart.partition(graph, k, rounds=1, **options)
                result = portpart.partition(graph, k, rounds=rounds, time_limit=seconds,
                                            seed=job["seed"], **options)
                record = {**job, "cut": result.cut, "km1": result.km1, "feasible": result.feasible,
                          "seconds": result.seconds, "cuts": result.stats["cuts"],
                          "rounds": result.stats["rounds"]}
                with output.open("a") as file:
                    file.write(json.dumps(record) + "\n")
                click.echo(" ".join(_row(record)), err=True)
    print(report(read_records(output)))


def _chosen(patterns: Sequence[str]) -> list[Path]:
    files = [*(data_folder() / "graphs").iterdir(),
             *(data_folder() / "hypergraphs").iterdir()]
    return sorted(path for path in files if path.is_file() and any(
        fnmatch(_name(path), pattern) for pattern in patterns))


def _name(path: Path) -> str:
    return path.name.removesuffix(".xz").removesuffix(".graph").removesuffix(".hgr")


def _key(record: Record) -> tuple[Any, ...]:
    return tuple(record[name] for name in ("graph", "k", "imbalance", "seed"))


def _row(record: Record) -> list[str]:
    """The values of a call, the last one also over the smallest that is known."""
    best = [each["best"] for each in record["rounds"]]
    first = record["cuts"][-len(best) - 1]
    at = [f"{best[rounds - 1]:,}" if rounds <= len(best) else "" for rounds in ROUNDS]
    last = record["cut"] if record["km1"] is None else record["km1"]
    return [record["graph"], str(record["k"]), str(record["seed"]), f"{first:,}", *at, f"{last:,}",
            str(len(best)), f"{_ratio(record):.4f}", "" if record["feasible"] else "no"]


def _ratio(record: Record) -> float:
    """The last value over the smallest cut that is known, or over that of "best"."""
    name, k, imbalance, _ = _key(record)
    last = record["cut"] if record["km1"] is None else record["km1"]
    is_known = name in KNOWN and (k, imbalance) == (2, 0.05)
    base = KNOWN[name] if is_known else record["cuts"][-len(record["rounds"]) - 1]
    return float(last / base) if base else 1.0


def report(records: list[Record]) -> str:
    """A table of all calls, and the geometric mean of the ratios."""
    ratios = [_ratio(record) for record in records]
    head = ["graph", "k", "seed", "best", *map(str, ROUNDS), "end", "rounds", "ratio", "feasible"]
    mean = f"geometric mean {geometric_mean(ratios):.4f}, " if ratios else ""
    return f"{table(head, map(_row, records))}\n\n{mean}worst {max(ratios, default=1):.4f}"


if __name__ == "__main__":
    main()

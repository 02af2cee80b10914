"""Markdown tables of comparison records: every graph, and geometric means of ratios to METIS."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from statistics import mean
from typing import Any

Record = dict[str, Any]

BASE = "pymetis"
LARGE = 50_000
"""Vertices; means are also taken over graphs of more."""

# first word or words of a catalogue class -> class of the summary
GROUPS = {
    "FE": "mesh", "CFD": "mesh", "surface": "mesh", "Delaunay": "mesh", "delaunay": "Delaunay",
    "road": "road", "circuit": "circuit", "power": "circuit", "SAT": "SAT, optimisation",
    "optimisation": "SAT, optimisation", "social": "social, web", "web": "social, web",
    "co-authorship": "social, web", "citation": "social, web", "communication": "social, web",
    "knowledge": "social, web", "software": "social, web", "bio": "bio", "rgg": "geometric",
    "random": "geometric", "rmat": "RMAT", "grid": "lattice", "cube": "lattice",
}  # fmt: skip


def markdown(records: Iterable[Record]) -> str:
    """Return the whole report: summary by class, a table per k, failures."""
    records = list(records)
    good = [record for record in records if "error" not in record]
    if not good:
        return "no results yet"
    algorithms = sorted({record["algorithm"] for record in good}, key=_base_first)
    sections = [
        *(summary(f"{title} over METIS", good, algorithms, name)
          for title, name in (("Cut", "cut"), ("Time", "seconds"),
                              ("Processor time", "cpu_seconds")) if BASE in algorithms),
        shrinking(good),
        *(graph_table(good, algorithms, k) for k in sorted({record["k"] for record in good})),
        _failures(records),
    ]
    return "\n\n".join(section for section in sections if section)


def read_records(path: Path | None) -> list[Record]:
    """The records of a file; none if there is no file.  A line that was not finished is dropped."""
    records = []
    for line in path.read_text().splitlines() if path and path.exists() else []:
        try:
            records.append(json.loads(line))
        except ValueError:
            continue
    return records


def group_of(family: str) -> str:
    """Return the class of the summary that a catalogue class belongs to."""
    first = family.replace(",", " ").split()[0].split("/")[0]
    return GROUPS.get(first.split("-like")[0], "other")


def geometric_mean(values: Iterable[float]) -> float:
    """Return the geometric mean of positive values, NaN of none."""
    logarithms = [math.log(value) for value in values]
    return math.exp(sum(logarithms) / len(logarithms)) if logarithms else math.nan


def _base_first(algorithm: str) -> tuple[bool, bool, str]:
    return (algorithm != BASE, not algorithm.startswith("portpart"), algorithm)


def _means(records: list[Record], name: str) -> dict[tuple[str, int, str], float]:
    """Return the mean over seeds by (graph, k, algorithm)."""
    values = defaultdict(list)
    for record in records:
        values[record["graph"], record["k"], record["algorithm"]].append(record[name])
    return {key: sum(series) / len(series) for key, series in values.items()}


def summary(title: str, records: list[Record], algorithms: list[str], name: str,
            base: str = BASE) -> str:  # fmt: skip
    """Ratios to the base by class and k; count of pairs in brackets."""
    means = _means(records, name)
    rows_of = {record["graph"]: _rows(record) for record in records}
    ratios: dict[tuple[str, str], list[float]] = defaultdict(list)
    for (graph, k, algorithm), value in means.items():
        reference = means.get((graph, k, base), 0)
        if reference > 0 and value > 0:
            for row in rows_of[graph]:
                for name_of_row in (row, f"{row}, k = {k}"):
                    ratios[name_of_row, algorithm].append(value / reference)
    ks = sorted({k for _, k, _ in means})
    groups = sorted({row for rows in rows_of.values() for row in rows},
                    key=lambda row: (row.startswith("all"), row))  # fmt: skip
    body = [
        [row, *(_ratio(ratios.get((row, algorithm), [])) for algorithm in algorithms)]
        for group in groups for row in (*(f"{group}, k = {k}" for k in ks), group)
    ]  # fmt: skip
    return f"### {title} (geometric mean)\n{table(['', *algorithms], body)}"


def _rows(record: Record) -> list[str]:
    """The rows of a summary that a graph counts for."""
    rows = [record.get("class") or group_of(record["family"]), "all"]
    return rows + [f"{row}, n > {LARGE:,}" for row in rows
                   if record.get("num_vertices", 0) > LARGE]  # fmt: skip


def _ratio(values: list[float]) -> str:
    return f"{geometric_mean(values):.3f} ({len(values)})" if values else "-"


def shrinking(records: list[Record]) -> str:
    """By algorithm and k: levels, the second one's share of the vertices, vertices repaired.

    Shares are geometric means over the runs that have a second level, all else are means.
    """
    rows: dict[tuple[str, int], list[Record]] = defaultdict(list)
    for record in records:
        if "levels" in record:
            rows[record["algorithm"], record["k"]].append(record)
    body = []
    for (algorithm, k), found in sorted(rows.items()):
        shares = [each["levels"][1] / each["levels"][0] for each in found
                  if len(each["levels"]) > 1]
        body.append([algorithm, str(k), f"{mean(len(each['levels']) for each in found):.1f}",
                     f"{geometric_mean(shares):.2f} ({len(shares)})",
                     f"{mean(each['repaired'] / max(1, each['levels'][0]) for each in found):.3f}"])
    head = ["algorithm", "k", "levels", "second / finest", "repaired / n"]
    return f"### Levels\n{table(head, body)}" if body else ""


def graph_table(records: list[Record], algorithms: list[str], k: int) -> str:
    """One row per graph: mean cut / mean seconds, with a mark where the bound is broken."""
    chosen = [record for record in records if record["k"] == k]
    cuts, seconds = _means(chosen, "cut"), _means(chosen, "seconds")
    worst: dict[tuple[str, str], float] = defaultdict(float)
    for record in chosen:
        if not record["feasible"]:
            key = (record["graph"], record["algorithm"])
            worst[key] = max(worst[key], record["reached_imbalance"])

    def cell(graph: str, algorithm: str) -> str:
        key = (graph, k, algorithm)
        if key not in cuts:
            return "-"
        mark = f" imb {worst[graph, algorithm]:.3f}" if (graph, algorithm) in worst else ""
        return f"{cuts[key]:.0f} / {seconds[key]:.3g}{mark}"

    graphs = list(dict.fromkeys(record["graph"] for record in chosen))
    body = [[graph, *(cell(graph, algorithm) for algorithm in algorithms)] for graph in graphs]
    return f"### k = {k}: cut / seconds (means over seeds)\n{table(['graph', *algorithms], body)}"


def _failures(records: list[Record]) -> str:
    body = [
        [record["graph"], record["algorithm"], str(record["k"]), record["error"]]
        for record in records
        if "error" in record
    ]
    return f"### Failed\n{table(['graph', 'algorithm', 'k', 'reason'], body)}" if body else ""


def table(head: list[str], body: Iterable[list[str]]) -> str:
    """Return a Markdown table."""
    rows = [head, ["---"] * len(head), *body]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)

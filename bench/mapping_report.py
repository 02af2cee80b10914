"""Means of what `bench.mapping` has measured: J and time by machine, over all, by kind of graph.

    python -m bench.mapping_report mapping.jsonl [more.jsonl ...] [--reference hm-ultra] [--classes]

A mean is geometric, over all graphs on which both algorithms have a cost above 0.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from bench.report import geometric_mean, group_of

Record = dict[str, Any]
Key = tuple[str, str, str]
ALL = "all"


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--reference", default="hm-ultra")
    parser.add_argument("--classes", action="store_true", help="means of each kind of graphs too")
    options = parser.parse_args()
    records = [record for path in options.files for record in read_records(path)]
    print_means(records, options.reference)
    if options.classes:
        for group in sorted({group_of(record["class"]) for record in records}):
            print(f"\n{group}")
            print_means([each for each in records if group_of(each["class"]) == group],
                        options.reference)
    return 0


def read_records(path: Path) -> list[Record]:
    """The records of a file; none if there is no file.  A line that was not finished is dropped."""
    records = []
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            records.append(json.loads(line))
        except ValueError:
            continue
    return records


def print_means(records: list[Record], reference: str) -> None:
    """Means relative to the reference, a row for each algorithm; then what went wrong."""
    measured = {(each["graph"], each["hierarchy"], each["algorithm"]): each
                for each in records if "error" not in each}
    machines = sorted({machine for _, machine, _ in measured})
    print(f"\nJ (time) over {reference}, geometric means; seconds of all together")
    print("".join(f"{head:<16}" for head in ("", *machines, ALL, "graphs", "seconds")))
    for algorithm in dict.fromkeys(name for _, _, name in measured):
        pairs = _pairs(measured, algorithm, reference)
        cells = [_cell(pairs[machine]) for machine in (*machines, ALL)]
        seconds = sum(each["seconds"] for key, each in measured.items() if key[2] == algorithm)
        cells += [str(len({key[0] for key in measured if key[2] == algorithm})), f"{seconds:.2f}"]
        print("".join(f"{cell:<16}" for cell in (algorithm, *cells)))
    for each in records:
        if "error" in each or not each["true"] or not each["feasible"]:
            print(each["graph"], each["hierarchy"], each["algorithm"],
                  each.get("error") or ("UNBALANCED" if each["true"] else "WRONG"))


def _pairs(measured: dict[Key, Record], algorithm: str,
           reference: str) -> dict[str, list[tuple[float, float]]]:
    """Ratios of J and time by machine, and of all."""
    found = defaultdict(list)
    for (graph, machine, name), record in measured.items():
        base = measured.get((graph, machine, reference))
        if name == algorithm and base and min(base["cost"], record["cost"]) > 0:
            ratios = record["cost"] / base["cost"], record["seconds"] / base["seconds"]
            found[machine].append(ratios)
            found[ALL].append(ratios)
    return found


def _cell(pairs: list[tuple[float, float]]) -> str:
    if not pairs:
        return "-"
    costs, seconds = map(geometric_mean, zip(*pairs))
    return f"{costs:.3f} ({seconds:.2f})"


if __name__ == "__main__":
    sys.exit(main())

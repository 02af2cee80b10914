"""Write or check the digests: ``python -m tests.golden.record [--device cuda] [--check]``.

Record on any one device, check on all others.  Graphs that cannot be had here keep their entries,
and so do all but hypergraphs with ``--hypergraphs``.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.golden import cases
from tests.helpers.metis_calls import watching_metis

FILE = Path(__file__).with_name("digests.json")


def load() -> dict[str, Any]:
    """The recorded digests."""
    empty: dict[str, Any] = {"metis": {}, "graphs": {}, "partitions": {}}
    return json.loads(FILE.read_text()) if FILE.exists() else empty


def save(known: dict[str, Any]) -> None:
    """Write the digests, a case a line."""
    lines = []
    for name, table in known.items():
        rows = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}"
                          for key, value in table.items())
        lines.append(f"{json.dumps(name)}: {{\n{rows}\n}}")
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def why_not_comparable(known: dict[str, Any], case: cases.Case) -> str | None:
    """Why the outcome of `case` may rightly differ here, whatever METIS does."""
    if known["graphs"].get(case.graph) != cases.digest_of_graph(cases.graph_of(case.graph)):
        return f"{case.graph} is not the graph that was recorded (another version of SciPy?)"
    return None


def why_metis_differs(known: dict[str, Any]) -> str | None:
    """Why partitions that METIS takes part in may rightly differ here."""
    recorded, here = known["metis"], cases.metis_in_use()
    if recorded == here:
        return None
    return f"recorded with METIS of {recorded}, here is {here}"


def compared(known: dict[str, Any], case: cases.Case, device: str) -> tuple[Any, Any, str | None]:
    """What is recorded and what is found, and why the two may rightly differ.

    Whether METIS took part is found out by watching it: most cases do without.
    """
    reason = why_not_comparable(known, case)
    recorded = known["partitions"].get(str(case))
    if reason:
        return recorded, None, reason
    with watching_metis() as asked:
        outcome = cases.outcome_of(case, cases.graph_of(case.graph), device)
    if asked and outcome != recorded:
        reason = why_metis_differs(known)
    return recorded, outcome, reason


def record(known: dict[str, Any], device: str, chosen: list[cases.Case]) -> Counter[str]:
    """Replace the entries of the chosen cases whose graphs can be had."""
    tally: Counter[str] = Counter()
    known["metis"] = cases.metis_in_use()
    for case in chosen:
        try:
            graph = cases.graph_of(case.graph)
        except pytest.skip.Exception as missing:
            tally["kept"] += 1
            print(f"{case}: kept: {missing}")
            continue
        outcome = cases.outcome_of(case, graph, device)
        known["graphs"][case.graph] = cases.digest_of_graph(graph)
        tally["unchanged" if known["partitions"].get(str(case)) == outcome else "changed"] += 1
        known["partitions"][str(case)] = outcome
    for table, names in (("graphs", cases.ALL), ("partitions", map(str, cases.cases()))):
        known[table] = {name: known[table][name] for name in names if name in known[table]}
    return tally


def check(known: dict[str, Any], device: str, chosen: list[cases.Case]) -> Counter[str]:
    """Compare the chosen cases with their entries."""
    tally: Counter[str] = Counter()
    for case in chosen:
        try:
            recorded, outcome, reason = compared(known, case, device)
        except pytest.skip.Exception as missing:
            recorded, outcome, reason = None, None, str(missing)
        if reason:
            tally["skipped"] += 1
            print(f"{case}: skipped: {reason}")
            continue
        tally["reproduced" if outcome == recorded else "DIFFERENT"] += 1
        if outcome != recorded:
            print(f"{case}: DIFFERENT: recorded {recorded}, found {outcome}")
    return tally


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu", help="cpu (default), cuda or cuda:N")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    parser.add_argument("--hypergraphs", action="store_true", help="these alone")
    arguments = parser.parse_args()
    known, start = load(), time.perf_counter()
    chosen = [case for case in cases.cases() if case.objective or not arguments.hypergraphs]
    tally = (check if arguments.check else record)(known, arguments.device, chosen)
    if not arguments.check:
        save(known)
    counts = ", ".join(f"{count} {what}" for what, count in sorted(tally.items()))
    graphs = len({case.graph for case in chosen})
    print(f"golden on {arguments.device}: {len(chosen)} cases of {graphs} graphs: {counts}; "
          f"{time.perf_counter() - start:.1f} s")
    return int(tally["DIFFERENT"] > 0)


if __name__ == "__main__":
    sys.exit(main())

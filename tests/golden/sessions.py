"""Sessions of a hundred rounds: ``python -m tests.golden.sessions [--device cuda] [--check]``.

Their digests are recorded on one device and checked on all others.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import portpart
from bench.eco_edits import EcoEdits
from bench.random_edits import RandomEdits
from portpart import generators
from tests import oracles

FILE = Path(__file__).with_name("sessions.json")

ROUNDS = 100

CASES: dict[str, dict[str, Any]] = {
    "grid, k=8": {"k": 8},
    "grid, k=70, local": {"k": 70, "escalate": "never"},
    "rmat, k=8, dear": {"k": 8, "migration": 3, "imbalance": 0.1},
    "grid, k=8, igkway": {"k": 8, "algorithm": "igkway"},
    "netlist, k=8": {"k": 8},
    "netlist, k=70, soed": {"k": 70, "objective": "soed", "escalate": "never"},
    "netlist, k=2, ihyperg": {"k": 2, "algorithm": "ihyperg"},
}


def outcome_of(name: str, device: str) -> list[Any]:
    """The objective in the end, how often which effort was made, and a digest of all rounds."""
    kind = name.split(",")[0]
    graph = {"grid": lambda: generators.grid_2d(40, 40),
             "rmat": lambda: generators.rmat(9, seed=3),
             "netlist": lambda: generators.netlist(1200, seed=5)}[kind]()
    session = portpart.Session(graph, preset="fast" if "algorithm" not in CASES[name] else
                               "default", device=device, **CASES[name])
    edits = (EcoEdits(graph, seed=2) if kind == "netlist"
             else RandomEdits(graph, seed=2, ends="near", keep_size=False))
    digest, efforts = hashlib.sha256(), []
    for _ in range(ROUNDS):
        batch = session.batch()
        edits.play(batch, 10)
        update = session.apply(batch)
        digest.update(oracles.host(session.part).tobytes())
        efforts.append(update.effort)
    counts = {effort: efforts.count(effort) for effort in sorted(set(efforts))}
    return [update.value, counts, digest.hexdigest()[:16]]


def load() -> dict[str, Any]:
    """The recorded outcomes."""
    known: dict[str, Any] = json.loads(FILE.read_text())
    return known


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    found = {name: outcome_of(name, asked.device) for name in CASES}
    if asked.check:
        wrong = [name for name, outcome in found.items() if load()[name] != outcome]
        sys.exit(f"other outcomes: {', '.join(wrong)}" if wrong else 0)
    rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(each)}" for name, each in found.items())
    FILE.write_text("{\n" + rows + "\n}\n")


if __name__ == "__main__":
    main()

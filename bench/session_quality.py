"""What partitions that follow edits are worth, beside partitions from scratch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import portpart
from bench.instances import data_folder
from bench.random_edits import RandomEdits
from portpart import generators

EVERY = 10
"""Rounds from one comparison to the next."""

Record = dict[str, Any]


def drifted(graph: Any, k: int, edits: int, course: Record, settings: Record,
            beside: str | None) -> Record:
    """Ratios of values of a session to those from scratch, under random edits."""
    rounds = course["rounds"]
    session = portpart.Session(graph, k, escalate=course["escalate"], **settings)
    draw = RandomEdits(graph, 1, course["ends"], keep_size=False)
    scratch = {**settings, "algorithm": beside or settings["algorithm"]}
    updates, ratios = [], []
    for number in range(1, rounds + 1):
        batch = session.batch()
        draw.play(batch, edits)
        updates.append(session.apply(batch, effort=course["effort"]))
        if number % EVERY == 0 or number == rounds:
            result = portpart.partition(session.graph(), k, **scratch)
            ratios.append(_value(updates[-1]) / max(1, _value(result)))
    efforts = [update.effort for update in updates]
    return {"vertices": graph.num_vertices, "k": k, "edits": edits, **course,
            **settings, "mean": float(np.mean(ratios)), "worst": max(ratios), "ratios": ratios,
            "feasible": sum(update.feasible for update in updates),
            "efforts": {name: efforts.count(name) for name in sorted(set(efforts))},
            "moved": sum(update.moved for update in updates),
            "seconds": sum(update.seconds for update in updates)}


def _value(result: Any) -> int:
    """The objective by default: km1 of hypergraphs, the cut of graphs."""
    km1 = getattr(result, "km1", None)
    return int(result.cut if km1 is None else km1)


def replays(design: str, k: int, *, model: str, rounds: int, seeds: list[int], sessions: int,
            effort: str, **settings: Any) -> Iterator[Record]:
    """Replay a trace; partitions from scratch are made once for all sessions."""
    scratch: dict[int, float] = {}
    for seed in seeds[:sessions]:
        edits = _edits(design, model)
        session = portpart.Session(edits.graph(), k, seed=seed, **settings)
        start, updates, ends = _value(session), [], 0
        for number, lines in enumerate(edits.rounds(rounds), 1):
            batch = session.batch()
            edits.play(lines, batch)
            updates.append(session.apply(batch, effort=effort))
            ends += len(edits.touched(lines))
            if number % EVERY == 0 and number not in scratch:
                scratch[number] = _from_scratch(session.graph(), k, seeds, settings)
        yield {"design": design, "k": k, "model": model, "seed": seed, **settings, "start": start,
               **_beside(updates, scratch), "ends": ends}


def _edits(design: str, model: str) -> Any:
    paths = [data_folder() / "netlists" / f"{design}.v{packed}" for packed in ("", ".xz")]
    netlist = portpart.io.read_netlist(next(path for path in paths if path.exists()))
    trace = data_folder() / "traces" / f"{design}.ops.xz"
    return portpart.io.read_edits(trace, netlist, model=model)


def _from_scratch(graph: Any, k: int, seeds: list[int], settings: Record) -> float:
    return float(np.mean([_value(portpart.partition(graph, k, seed=seed, **settings))
                          for seed in seeds]))


def _beside(updates: list[Any], scratch: dict[int, float]) -> Record:
    """What the rounds of a session are beside partitions from scratch."""
    values = [_value(update) for update in updates]
    ratios = {number: values[number - 1] / value for number, value in scratch.items()}
    milliseconds = sorted(1e3 * update.seconds for update in updates)
    efforts = [update.effort for update in updates]
    return {
        "mean": float(np.mean(list(ratios.values()))), "worst": max(ratios.values()),
        "excess": max(values[number - 1] - max(1.03 * value, value + 3)
                      for number, value in scratch.items()),
        "feasible": sum(update.feasible for update in updates),
        "migration": sum(update.migration for update in updates),
        "most_moved": max(update.moved for update in updates),
        "efforts": {name: efforts.count(name) for name in sorted(set(efforts))},
        "milliseconds": milliseconds[len(milliseconds) // 2], "slowest": milliseconds[-1],
        "values": values, "scratch": scratch,
    }  # fmt: skip


def meshes(level: int, k: int, steps: int, prices: list[str], limit: str,
           settings: Record) -> Iterator[Record]:
    """Follow a moving front at several prices of moving, with and without a limit."""
    course = list(generators.moving_front(steps, max_level=level))
    base = _followed(course, k, {"migration": 0, **settings})
    for price in prices:
        for bound in (None, limit):
            found = _followed(course, k, {"migration": price, "max_migration": bound, **settings})
            yield {"level": level, "k": k, "price": price, "limit": bound, **settings,
                   "vertices": course[0].graph.num_vertices,
                   "cut": sum(found["cut"]) / sum(base["cut"]),
                   "worst_cut": max(a / b for a, b in zip(found["cut"], base["cut"])),
                   "migration": sum(found["migration"]) / sum(base["migration"]),
                   "share": float(np.mean(found["share"])), "most": max(found["share"]),
                   "scratch_share": float(np.mean(base["share"])),
                   "empty": found["empty"], "infeasible": found["infeasible"],
                   "seconds": found["seconds"] / (len(course) - 1)}


def _followed(course: list[generators.MeshStep], k: int, options: Record) -> Record:
    """Repartition in each step from the blocks that the cells come from."""
    settings = {name: options[name] for name in ("device", "threads", "preset")}
    part = portpart.partition(course[0].graph, k, **settings).part
    found: Record = {"cut": [], "migration": [], "share": [], "empty": 0, "infeasible": 0,
                     "seconds": 0.0}
    for step in course[1:]:
        result = portpart.repartition(step.graph, part[step.origins], k, **options)
        part = result.part
        found["cut"].append(result.cut)
        found["migration"].append(result.migration)
        found["share"].append(result.migration / step.graph.num_vertices)
        found["empty"] += int((result.block_weights == 0).any())
        found["infeasible"] += not result.feasible
        found["seconds"] += result.seconds
    return found

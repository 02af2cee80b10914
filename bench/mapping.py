"""Process mapping: cost J, time and phases of algorithms and presets, on any device.

    python -m bench.mapping --graphs real --max-edges 200000 --hierarchies 4:8:1,4:8:2,4:8:4
    python -m bench.mapping --graphs delaunay_2^20,rgg_2^20 --device cuda --repeat 3

One line for each graph, machine and algorithm, then means relative to ``hm-ultra``.  J counts each
edge once; papers and GPU-HeiProMap count it twice.  The graph is on the device before the clock
starts, the first call of a kind is not timed, and J is recomputed by `portpart.metrics`.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import Any

from bench.device_runs import Resident
from bench.instances import cached, prepare, select
from bench.peers import Stopwatch

REFERENCE = "hm-ultra"
ALGORITHMS = "hm-ultra,hm,im,im:fast,im:strong,two-phase,identity"
Record = dict[str, Any]


def main() -> int:
    """Run from the command line."""
    options = _parse()
    records = [record for name in _names(options) for record in _measured(name, options)]
    if options.output:
        options.output.write_text("\n".join(map(json.dumps, records)) + "\n")
    _print_means(records)
    return int(any(not record["true"] for record in records))


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", default="real", help="names, families, real, generated or all")
    parser.add_argument("--max-edges", type=int)
    parser.add_argument("--hierarchies", default="4:8:6", help="comma-separated")
    parser.add_argument("--distances", default="1:10:100")
    parser.add_argument("--algorithms", default=ALGORITHMS, help="NAME or NAME:PRESET, by commas")
    parser.add_argument("--imbalance", default="0.03")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--repeat", type=int, default=1, help="seeds; medians are shown")
    parser.add_argument("--output", type=Path, help="write a JSON object a line")
    return parser.parse_args()


def _names(options: argparse.Namespace) -> list[str]:
    return [instance.name for instance in select(options.graphs.split(","), options.max_edges)]


def _measured(name: str, options: argparse.Namespace) -> list[Record]:
    """All machines and algorithms on one graph."""
    import portpart

    prepare(name)
    instance = select([name])[0]
    resident = Resident.of(name, cached(instance), portpart.space(options.device))
    records = []
    for hierarchy in options.hierarchies.split(","):
        machine = portpart.Topology(hierarchy, options.distances)
        if machine.num_elements > resident.graph.num_vertices:
            continue
        for algorithm in options.algorithms.split(","):
            records.append(_mapped(resident, machine, algorithm, options))
            print(_line(records[-1]), flush=True)
    return records


def _mapped(resident: Resident, machine: Any, algorithm: str,
            options: argparse.Namespace) -> Record:
    import portpart

    name, _, preset = algorithm.partition(":")
    settings = {"topology": machine, "imbalance": options.imbalance, "algorithm": name,
                "preset": preset or "default"}
    portpart.map_processes(resident.graph, seed=10**6, **settings)  # compiles what there is to
    costs, seconds, phases, true = [], [], defaultdict(list), True
    for seed in range(options.repeat):
        with Stopwatch() as watch:
            result = portpart.map_processes(resident.graph, seed=seed, **settings)
        costs.append(result.cost)
        seconds.append(watch.seconds)
        for phase, duration in result.stats["phases"].items():
            phases[phase].append(duration)
        cost = portpart.metrics.mapping_cost(resident.host.portable, result.part, machine)
        true = true and result.feasible and cost == result.cost
    return {
        "graph": resident.name, "hierarchy": ":".join(map(str, machine.arities)),
        "algorithm": algorithm, "cost": median(costs), "costs": costs, "cut": result.cut,
        "seconds": median(seconds), "true": true,
        "phases": {phase: median(times) for phase, times in phases.items()},
    }


def _line(record: Record) -> str:
    phases = ", ".join(f"{name} {1000 * seconds:.0f}" for name, seconds in record["phases"].items())
    return (f"{record['graph']:<20} {record['hierarchy']:<8} {record['algorithm']:<12} "
            f"J {record['cost']:>12,.0f}  {1000 * record['seconds']:>9,.1f} ms ({phases})"
            f"{'' if record['true'] else '  WRONG OR UNBALANCED'}")


def _print_means(records: list[Record]) -> None:
    """Geometric means over the graphs of J and time relative to the reference."""
    found = {(r["graph"], r["hierarchy"], r["algorithm"]): r for r in records}
    table: dict[str, dict[str, list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
    for (graph, hierarchy, algorithm), record in found.items():
        base = found.get((graph, hierarchy, REFERENCE))
        if base and base["cost"] > 0 and record["cost"] > 0:
            ratios = record["cost"] / base["cost"], record["seconds"] / base["seconds"]
            table[algorithm][hierarchy].append(ratios)
    print(f"\nJ (time) over {REFERENCE}, geometric means")
    for algorithm, columns in table.items():
        cells = [f"{hierarchy} {_mean(pairs, 0):.3f} ({_mean(pairs, 1):.2f})"
                 for hierarchy, pairs in columns.items()]
        print(f"{algorithm:<12} {'   '.join(cells)}")


def _mean(pairs: list[tuple[float, float]], index: int) -> float:
    return math.exp(sum(math.log(pair[index]) for pair in pairs) / len(pairs))


if __name__ == "__main__":
    sys.exit(main())

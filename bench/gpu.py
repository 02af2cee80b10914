"""portpart on a CUDA device: phases, launches and synchronisations per level, peak memory.

    python -m bench.gpu --graphs delaunay_2^20,grid_2000x4000 --k 64

The graph lies in device memory before the call and the answer stays there, as in published GPU
timings.  The first call, which compiles, is shown apart.  Writes JSON and prints Markdown.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

import click

from bench.instances import Instance, select

DEFAULT_OUTPUT = Path(__file__).parent / "results" / "gpu.json"
Record = dict[str, Any]


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--graphs", default="delaunay_2^20,grid_2000x4000,rgg_2^20,rmat_2^18",
              help="Names, families or sets of graphs; comma-separated patterns.")
@click.option("--k", "ks", default="64", help="Numbers of blocks.")
@click.option("--presets", default="default", help="fast, default, ultra.")
@click.option("--device", default="cuda", show_default=True, help="cpu works too, for a dry run.")
@click.option("--runs", default=5, show_default=True, help="Timed calls, seeds 1, 2 ...")
@click.option("--budget", default=480.0, show_default=True, help="Seconds for everything.")
@click.option("--output", type=click.Path(path_type=Path), default=DEFAULT_OUTPUT)
def main(
    graphs: str, ks: str, presets: str, device: str, runs: int, budget: float, output: Path
) -> None:
    deadline = time.monotonic() + budget
    facts = device_facts(device)
    print("\n".join(f"- {name}: {value}" for name, value in facts.items()), flush=True)
    report: Record = {"device": facts, "results": []}
    output.parent.mkdir(parents=True, exist_ok=True)
    for instance in select(graphs.split(",")):
        for record in measure_graph(instance, ks, presets, device, runs, deadline):
            report["results"].append(record)
            output.write_text(json.dumps(report, indent=1))
            print(f"measured {record['graph']} k={record['k']}", file=sys.stderr, flush=True)
    print(f"\n{markdown(report['results'])}")


def device_facts(device: str) -> dict[str, str]:
    """Return what identifies the device and the software under it."""
    import portpart

    facts = {"portpart": portpart.__version__, "device": device}
    if device.startswith("cuda"):
        import cupy

        number = int(device.partition(":")[2] or cupy.cuda.runtime.getDevice())
        properties = cupy.cuda.runtime.getDeviceProperties(number)
        facts |= {
            "name": properties["name"].decode(),
            "memory": f"{properties['totalGlobalMem'] / 2**30:.0f} GiB",
            "multiprocessors": str(properties["multiProcessorCount"]),
            "compute capability": f"{properties['major']}.{properties['minor']}",
            "CuPy": cupy.__version__,
            "CUDA runtime": str(cupy.cuda.runtime.runtimeGetVersion()),
            "CUDA driver": str(cupy.cuda.runtime.driverGetVersion()),
        }
    return facts


def measure_graph(
    instance: Instance, ks: str, presets: str, device: str, runs: int, deadline: float
) -> Any:
    """Yield one record for each k and preset."""
    import portpart

    host = instance.make()
    graph = host.portable.to(portpart.space(device))
    for k in map(int, ks.split(",")):
        for preset in presets.split(","):
            if time.monotonic() > deadline:
                return
            result = measure(graph, k, preset, device, runs)
            evaluation = portpart.metrics.evaluate(host.portable, result.pop("part"), k)
            yield {
                "graph": instance.name, "n": graph.num_vertices, "m": graph.num_edges, "k": k,
                "preset": preset, "imbalance": evaluation.imbalance,
                "feasible": evaluation.is_balanced(0.03), **result,
            }  # fmt: skip


def measure(graph: Any, k: int, preset: str, device: str, runs: int) -> Record:
    """Partition `runs` times; medians of times, counters of the last run."""
    first = timed_call(graph, k, preset, device, seed=1)
    calls = [timed_call(graph, k, preset, device, seed=seed) for seed in range(1, runs + 1)]
    last = calls[-1]
    phases = {name: median(call["phases"][name] for call in calls) for name in last["phases"]}
    return {
        "cut": median(call["cut"] for call in calls),
        "cuts": [call["cut"] for call in calls],
        "seconds": median(call["seconds"] for call in calls),
        "first_seconds": first["seconds"],
        "phases": phases,
        "levels": last["levels"],
        "launches": last["launches"],
        "synchronizations": last["synchronizations"],
        "peak_bytes": max(call["peak_bytes"] for call in calls),
        "graph_bytes": graph_bytes(graph),
        "part": graph.space.to_host(last["part"]),
    }


def timed_call(graph: Any, k: int, preset: str, device: str, seed: int) -> Record:
    """Partition once; wall seconds with the device idle before and after."""
    import portpart

    space, counters = graph.space, graph.space.counters
    pool, used = memory_pool(device)
    before = (counters.launches, counters.synchronizations)
    space.synchronize()
    begin = time.perf_counter()
    result = portpart.partition(graph, k, preset=preset, device=device, seed=seed)
    space.synchronize()
    seconds = time.perf_counter() - begin
    return {
        "seconds": seconds,
        "cut": result.cut,
        "part": result.part,
        "phases": result.stats.get("phases", {}),
        "levels": result.stats.get("levels", []),
        "launches": counters.launches - before[0],
        "synchronizations": counters.synchronizations - before[1],
        "peak_bytes": pool.total_bytes() - used if pool else 0,
    }


def memory_pool(device: str) -> tuple[Any, int]:
    """Return CuPy's pool and its bytes in use; free blocks are given back: growth is the peak."""
    if not device.startswith("cuda"):
        return None, 0
    import cupy

    pool = cupy.get_default_memory_pool()
    pool.free_all_blocks()
    return pool, pool.used_bytes()


def graph_bytes(graph: Any) -> int:
    arrays = (graph.offsets, graph.targets, graph.weights, graph.vertex_weights)
    return sum(array.nbytes for array in arrays if array is not None)


def markdown(records: list[Record]) -> str:
    """Return the table of phases and the table of levels of every record."""
    head = ["graph", "n / m", "k", "preset", "cut", "imb", "total ms", "phases ms", "first call s",
            "levels", "launches", "syncs", "peak MiB"]  # fmt: skip
    rows = [head, ["---"] * len(head), *map(_row, records)]
    tables = ["\n".join(f"| {' | '.join(row)} |" for row in rows)]
    tables += [_level_table(record) for record in records if record["levels"]]
    return "\n\n".join(tables)


def _row(record: Record) -> list[str]:
    phases = " / ".join(f"{name} {1e3 * value:.1f}" for name, value in record["phases"].items())
    levels = len(record["levels"])
    per_level = f" ({record['launches'] / max(1, levels):.0f} a level)"
    return [
        record["graph"], f"{record['n']:,} / {record['m']:,}", str(record["k"]), record["preset"],
        f"{record['cut']:.0f}", f"{record['imbalance']:.4f}", f"{1e3 * record['seconds']:.1f}",
        phases, f"{record['first_seconds']:.2f}", str(levels), f"{record['launches']}{per_level}",
        f"{record['synchronizations']}", f"{record['peak_bytes'] / 2**20:.0f}",
    ]  # fmt: skip


def _level_table(record: Record) -> str:
    """Return all that the library says about each level."""
    names = list(dict.fromkeys(name for level in record["levels"] for name in level))
    rows = [names, ["---"] * len(names)]
    rows += [[_short(level.get(name, "")) for name in names] for level in record["levels"]]
    title = f"#### {record['graph']}, k = {record['k']}, {record['preset']}: levels"
    return title + "\n" + "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()

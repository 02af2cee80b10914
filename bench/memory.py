"""Memory that a partition takes, beside the library's estimate.

    python -m bench.memory --graphs 'delaunay_2^1[57],grid_1000x1000' --k 64

arrays: the most bytes that the graph and all arrays of the library take at once.  process: growth
of the resident set of a process that has partitioned a small graph before, in one call; it holds
the graph besides.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click

from bench.counting_space import bytes_of_arrays
from bench.device_runs import estimated_bytes, graph_bytes
from bench.instances import ROOT, cached, prepare, select
from bench.peers import algorithm_and_preset
from bench.report import table

MIB = 2**20
MESH_SHRINK = 0.5


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--graphs", default="delaunay_2^15,delaunay_2^17,grid_300x300", show_default=True)
@click.option("--k", "ks", default="64", show_default=True)
@click.option("--preset", default="default", show_default=True)
@click.option("--child", hidden=True, help="Name of a graph: print the growth for one.")
def main(graphs: str, ks: str, preset: str, child: str | None) -> None:
    if child:
        print(growth_of_process(child, int(ks), preset))
        return
    head = ["graph", "n", "arcs", "k", "graph MiB", "arrays MiB", "bytes per vertex",
            "estimate MiB", f"with arc_shrink={MESH_SHRINK}", "process MiB"]  # fmt: skip
    body = [
        row(name, int(k), preset) for k in ks.split(",")
        for name in (instance.name for instance in select(graphs.split(",")))
    ]  # fmt: skip
    print(table(head, body))


def row(name: str, k: int, preset: str) -> list[str]:
    """Measure one graph; the process in a process of its own."""
    instance = select([name])[0]
    prepare(name)
    graph = cached(instance).portable
    algorithm, name_of_preset = algorithm_and_preset(preset)
    used = bytes_of_arrays(graph, k, name_of_preset, algorithm)
    command = [sys.executable, "-m", "bench.memory", "--child", name, "--k", str(k), "--preset",
               preset]  # fmt: skip
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    estimates = (estimated_bytes(graph, k, preset),
                 estimated_bytes(graph, k, preset, arc_shrink=MESH_SHRINK))
    sizes = (used, *estimates, graph_bytes(graph))
    arrays, estimate, tight, own = (f"{size / MIB:.1f}" for size in sizes)
    return [
        name, f"{graph.num_vertices:,}", f"{graph.num_arcs:,}", str(k), own, arrays,
        f"{used / graph.num_vertices:.0f}", estimate, tight, f"{int(done.stdout) / MIB:.1f}",
    ]  # fmt: skip


def growth_of_process(name: str, k: int, preset: str) -> int:
    """Return how many bytes the process grows by in its first partition of a graph."""
    import portpart

    algorithm, preset = algorithm_and_preset(preset)
    portpart.partition(portpart.generators.delaunay(2000), 8, algorithm=algorithm, preset=preset)
    graph = cached(select([name])[0]).portable
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    portpart.partition(graph, k, algorithm=algorithm, preset=preset)
    return resident("VmHWM") - before


def resident(field: str) -> int:
    """Return a size of this process from Linux's table."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(field))


if __name__ == "__main__":
    main()

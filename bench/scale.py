"""A graph of more than a billion arcs, made on the device, into few and many blocks.

    python -m bench.scale                      # 590^3 vertices, 1.2 billion arcs, 64-bit offsets
    python -m bench.scale --side 100 --device cpu
    python -m bench.scale --k 64 --presets default --ranks 4   # four ranks on the device, too
    python -m bench.scale --k 64 --devices 0,1           # two GPUs of one process
    mpiexec -n 2 python -m bench.scale --k 64 --distributed   # a GPU for each rank of MPI

Prints one line per partition: time, balance, cut by the library's evaluator, memory beside the
formula.  With several ranks on the device there is a second line: their time, which must come to
the same blocks.  With several devices the lines have the seconds of each call, the largest peak of
a device and the digest of the blocks instead.
"""

from __future__ import annotations

import json
import time
from typing import Any

import click
import numpy as np

import portpart
from bench.device_runs import peak_memory
from bench.scale_of_several import Run, on_devices, on_ranks
from bench.spaces import space_of
from portpart import metrics
from portpart.backends.language import int32, int64, kernel
from portpart.backends.programs.interface import Array, ExecutionSpace
from portpart.graphs.graph import Graph
from portpart.primitives.scan import offsets_from_counts


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--side", default=590, show_default=True, help="Vertices along an edge.")
@click.option("--k", "ks", default="64,1024", show_default=True, help="Numbers of blocks.")
@click.option("--presets", default="fast,default", show_default=True)
@click.option("--device", default="cuda", show_default=True)
@click.option("--ranks", default=1, show_default=True, help="Ranks on the device.")
@click.option("--devices", help="GPUs of this process that work together: 0,1.")
@click.option("--distributed", is_flag=True, help="Ranks of MPI work together.")
@click.option("--permuted", is_flag=True, help="Vertices in random order, for several devices.")
@click.option("--calls", default=3, show_default=True, help="Calls on several devices.")
@click.option("--compiled", is_flag=True, help="Wait for all code before anything runs.")
def main(side: int, ks: str, presets: str, device: str, ranks: int, devices: str | None,
         distributed: bool, permuted: bool, calls: int, compiled: bool) -> None:
    if distributed or devices:
        cases = [(int(k), preset) for k in ks.split(",") for preset in presets.split(",")]
        run = Run(side, permuted, cases, calls, compiled)
        on_ranks(run, device) if distributed else on_devices(run, str(devices))
        return
    space = space_of(device)
    graph = cube(space, side)
    print(f"{graph.num_vertices:,} vertices, {graph.num_arcs:,} arcs, "
          f"offsets of type {graph.offsets.dtype}", flush=True)
    for k in map(int, ks.split(",")):
        for preset in presets.split(","):
            print(json.dumps(measured(space, graph, k, preset)), flush=True)
            if ranks > 1:
                print(json.dumps(beside_ranks(space, graph, k, preset, ranks)), flush=True)


def measured(space: ExecutionSpace, graph: Graph, k: int, preset: str) -> dict[str, Any]:
    """Partition once; kernels that were never compiled count for `seconds`, so look at phases."""
    with peak_memory(space) as peak:
        begin = time.perf_counter()
        result = portpart.partition(graph, k, preset=preset, seed=1)
        space.synchronize()
        seconds = time.perf_counter() - begin
    weights = metrics.block_weights(graph, result.part, k)
    estimate = portpart.memory_estimate(
        graph.num_vertices, graph.num_arcs, k, preset=preset,
        offset_bytes=graph.offsets.dtype.itemsize)
    limit = metrics.block_weight_limit(graph.num_vertices, k, "0.03")
    assert metrics.cut(graph, result.part) == result.cut
    assert int(weights.max()) <= limit
    assert int(weights.min()) > 0
    return {
        "k": k, "preset": preset, "seconds": round(seconds, 3), "cut": result.cut,
        "imbalance": round(result.imbalance, 4),
        "phases": {name: round(value, 3) for name, value in result.stats["phases"].items()},
        "peak GiB besides the graph": peak[0] and round(peak[0] / 2**30, 2),
        "estimated GiB with the graph": round(estimate.peak / 2**30, 2),
        "graph GiB": round(estimate.graph / 2**30, 2),
    }  # fmt: skip


def beside_ranks(space: ExecutionSpace, graph: Graph, k: int, preset: str,
                 ranks: int) -> dict[str, Any]:
    """Partition by one rank and by several in turns, after a call of each; the least seconds."""
    seconds: dict[int, list[float]] = {1: [], ranks: []}
    parts: dict[int, Any] = {}
    for _ in range(4):
        for count, found in seconds.items():
            begin = time.perf_counter()
            result = portpart.partition(graph, k, preset=preset, seed=1,
                                        devices=None if count == 1 else count * [space.name])
            space.synchronize()
            found.append(time.perf_counter() - begin)
            parts[count] = result.part
    assert bool((parts[1] == parts[ranks]).all())
    one, several = (min(found[1:]) for found in seconds.values())
    return {"k": k, "preset": preset, "ranks": ranks, "seconds of one": round(one, 3),
            "seconds": round(several, 3), "ratio": round(several / one, 3)}


def cube(space: ExecutionSpace, side: int) -> Graph:
    """The 7-point grid, vertices in row-major order, with 64-bit offsets."""
    n = side**3
    degrees = space.empty(n, np.int32)
    space.parallel_for(n, count_neighbours, side, degrees)
    offsets = offsets_from_counts(space, degrees, np.int64)
    targets: Array = space.empty(int(space.to_host(offsets[-1:])[0]), np.int32)
    space.parallel_for(n, list_neighbours, side, offsets, targets)
    return Graph(offsets, targets, None, None, space)


@kernel
def count_neighbours(v, side, degrees):
    """degrees[v] = number of neighbours of v."""
    degree = int64(0)
    step = int64(1)
    for _ in range(3):
        place = (v // step) % side
        degree += int64(place > 0) + int64(place < side - 1)
        step *= side
    degrees[v] = degree


@kernel
def list_neighbours(v, side, offsets, targets):
    """Write the neighbours of v."""
    place_in_row = offsets[v]
    step = int64(1)
    for _ in range(3):
        place = (v // step) % side
        if place > 0:
            targets[place_in_row] = int32(v - step)
            place_in_row += 1
        if place < side - 1:
            targets[place_in_row] = int32(v + step)
            place_in_row += 1
        step *= side


if __name__ == "__main__":
    main()

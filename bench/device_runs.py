"""Measured calls of `portpart.partition` on a device: time, work, memory, and the cut of each."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from bench.peers import HostGraph, algorithm_and_preset

IMBALANCE = 0.03
Record = dict[str, Any]


@dataclass
class Resident:
    """A graph on the host, where answers are judged, and on the device, where they are made."""

    name: str
    host: HostGraph
    graph: Any
    upload_seconds: float

    @staticmethod
    def of(name: str, host: HostGraph, space: Any) -> Resident:
        """Bring a graph to the device and check it there."""
        import portpart

        begin = time.perf_counter()
        arrays = [space.asarray(array) for array in (host.offsets, host.targets, host.weights)
                  if array is not None]
        graph = portpart.as_graph(tuple(arrays), vertex_weights=host.vertex_weights, space=space)
        space.synchronize()
        return Resident(name, host, graph, time.perf_counter() - begin)


def device_facts(device: str) -> dict[str, str]:
    """Return what identifies the device and the software under it."""
    import portpart

    facts = {"portpart": portpart.__version__, "NumPy": np.__version__, "device": device}
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
            "programs": portpart.space(device).program_mode,
        }
    return facts


def measure(resident: Resident, k: int, preset: str, seeds: list[int]) -> Record:
    """Partition once per seed after a warm-up: medians over the seeds, work of the last call."""
    space = resident.graph.space
    with peak_memory(space) as peak:
        first = timed_call(resident, k, preset, seeds[0])
    calls = [timed_call(resident, k, preset, seed) for seed in seeds]
    phases = {name: median(call["stats"]["phases"][name] for call in calls)
              for name in calls[-1]["stats"]["phases"]}
    judged = [judge(resident.host, call["part"], k) for call in calls]
    last = calls[-1]["stats"]
    return {
        "graph": resident.name, "n": resident.graph.num_vertices, "m": resident.graph.num_edges,
        "k": k, "preset": preset,
        "cut": median(cut for cut, _ in judged), "cuts": [cut for cut, _ in judged],
        "wrong_cuts": sum(call["cut"] != cut for call, (cut, _) in zip(calls, judged)),
        "imbalance": max(imbalance for _, imbalance in judged),
        "feasible": all(call["feasible"] for call in calls),
        "seconds": median(call["seconds"] for call in calls),
        "all_seconds": [call["seconds"] for call in calls],
        "first_seconds": first["seconds"], "phases": phases, "levels": last["levels"],
        "launches": last["launches"], "synchronizations": last["synchronizations"],
        "peak_bytes": peak[0] and peak[0] + graph_bytes(resident.graph),
        "estimated_bytes": estimated_bytes(resident.graph, k, preset),
    }  # fmt: skip


def timed_call(resident: Resident, k: int, preset: Any, seed: int) -> Record:
    """Partition once, by a name or a configuration; wall seconds between idle and idle device."""
    import portpart

    space = resident.graph.space
    space.synchronize()
    begin = time.perf_counter()
    algorithm, name = (algorithm_and_preset(preset) if isinstance(preset, str)
                       else (None, preset))
    result = portpart.partition(resident.graph, k, imbalance=IMBALANCE, algorithm=algorithm,
                                preset=name, seed=seed)
    space.synchronize()
    seconds = time.perf_counter() - begin
    return {"seconds": seconds, "cut": result.cut, "feasible": result.feasible,
            "part": space.to_host(result.part), "stats": result.stats}  # fmt: skip


def kernels_run(resident: Resident, k: int, preset: str, seed: int) -> int | None:
    """Return the kernels of one call, those inside programs too; None where only the walk counts.

    A program counts as one launch unless it is walked on the host, step by step.
    """
    if not hasattr(resident.graph.space, "program_mode"):
        return None
    with running_programs(resident.graph.space, "walk"):
        return int(timed_call(resident, k, preset, seed)["stats"]["launches"])


@contextmanager
def running_programs(space: Any, mode: str | None) -> Iterator[None]:
    """Run programs in this mode, if one is given and the space has the choice."""
    before = getattr(space, "program_mode", None)
    if mode is None or before is None:
        yield
        return
    space.program_mode = mode
    try:
        yield
    finally:
        space.program_mode = before


def judge(host: HostGraph, part: np.ndarray, k: int) -> tuple[int, float]:
    """Return cut and imbalance by `portpart.metrics`."""
    from portpart import metrics

    return metrics.cut(host.portable, part), metrics.imbalance(host.portable, part, k)


@contextmanager
def peak_memory(space: Any) -> Iterator[list[int]]:
    """Put the most bytes in use at once, beyond those in use before, into the list it yields."""
    peak = [0]
    if space.kind != "cuda":
        yield peak
        return
    import cupy

    pool = cupy.get_default_memory_pool()
    before = pool.used_bytes()

    class Watch(cupy.cuda.MemoryHook):
        name = "peak"

        def malloc_postprocess(self, **_: Any) -> None:
            peak[0] = max(peak[0], pool.used_bytes() - before)

    with Watch():
        yield peak


def graph_bytes(graph: Any) -> int:
    """Return the bytes of a graph's arrays."""
    return sum(array.nbytes for array in graph.arrays.values() if array is not None)


def estimated_bytes(graph: Any, k: int, preset: str, **options: float) -> int:
    """Return the peak that the library announces."""
    import portpart

    algorithm, name = algorithm_and_preset(preset)
    estimate = portpart.memory_estimate(
        graph.num_vertices, graph.num_arcs, k, algorithm=algorithm, preset=name,
        vertex_weights=graph.vertex_weights is not None,
        edge_weights=graph.weights is not None, **options,
    )  # fmt: skip
    return estimate.peak

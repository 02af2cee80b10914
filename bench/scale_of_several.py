"""Large graphs whose ranges several devices draw, and partition together."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np

import portpart
from bench.device_runs import peak_memory
from portpart.backends.programs.interface import ExecutionSpace
from portpart.generators import shares
from portpart.graphs.graph import Graph


@dataclass(frozen=True)
class Run:
    """What is partitioned, how often and into what.

    Attributes
    ----------
    side : int
        Vertices along an edge of a cube.
    permuted : bool
        Whether vertices are in random order.
    cases : list of (int, str)
        Numbers of blocks and presets.
    calls : int
    compiled : bool
        Whether calls wait for all code before anything runs.
    """

    side: int
    permuted: bool
    cases: list[tuple[int, str]]
    calls: int
    compiled: bool

    @property
    def graph(self) -> shares.LargeGraph:
        cube = shares.grid_3d(self.side)
        return shares.permuted(cube, 7) if self.permuted else cube

    def prepare(self, space: ExecutionSpace) -> None:
        """Have all code made before anything runs, if that is wanted."""
        if self.compiled and space.kind == "cuda":
            space.kernels.modules.quick = False  # type: ignore[attr-defined]


def on_ranks(run: Run, device: str) -> None:
    """Each rank of MPI draws its range on its device; rank 0 prints."""
    from mpi4py import MPI

    world, graph = MPI.COMM_WORLD, run.graph
    n, size = graph.num_vertices, world.size
    own = graph.rows(n * world.rank // size, n * (world.rank + 1) // size,
                     space_of_rank(world, device))
    space = own.space
    run.prepare(space)
    begin = time.perf_counter()
    with portpart.distributed_graph(own.offsets, own.targets, comm=world) as rows:
        space.synchronize()
        made = time.perf_counter() - begin
        del own

        def measured(k: int, preset: str) -> dict[str, Any]:
            seconds, peaks = [], []
            for _ in range(run.calls):
                world.barrier()
                with peak_memory(space) as peak:
                    begin = time.perf_counter()
                    result = portpart.partition(rows, k, preset=preset, seed=1)
                    space.synchronize()
                    seconds.append(time.perf_counter() - begin)
                peaks.append(peak[0] or 0)
            parts = parts_of_ranks(world, space.to_host(space.asarray(result.part)))
            return facts(result, parts, seconds, world.gather(max(peaks)),
                         made=round(made, 2), ranks=size)

        for k, preset in run.cases:
            found = measured(k, preset)
            if world.rank == 0:
                say(run, rows.num_arcs, k, preset, found)


def parts_of_ranks(world: Any, part: np.ndarray) -> list[np.ndarray] | None:
    """The blocks of all ranks, on rank 0; MPI counts the bytes of an object in 32 bits."""
    pieces = np.array_split(part, 1 + part.nbytes // 2**28)
    numbers = world.allgather(len(pieces))
    if world.rank:
        for piece in pieces:
            world.send(piece, 0)
        return None
    return [*pieces, *(world.recv(source=rank) for rank in range(1, world.size)
                       for _ in range(numbers[rank]))]


def space_of_rank(world: Any, device: str) -> ExecutionSpace:
    """The device of a rank, as `portpart.distributed_graph` counts them."""
    from portpart.backends.communication.mpi import MpiCalls
    from portpart.graphs.ranks.rank_graph import space_of_rank as chosen

    calls = MpiCalls(world)
    try:
        return calls.run(lambda comm: chosen(comm, device))
    finally:
        calls.free()


def on_devices(run: Run, devices: str) -> None:
    """Devices of this process work on a graph that the first one has."""
    numbers = [int(each) if each.isdigit() else each for each in devices.split(",")]
    spaces = [portpart.space(f"cuda:{each}" if isinstance(each, int) else each)
              for each in dict.fromkeys(numbers)]
    for space in spaces:
        run.prepare(space)
    large = run.graph
    own = large.rows(0, large.num_vertices, spaces[0])
    graph = Graph(own.offsets, own.targets, None, None, spaces[0])
    for k, preset in run.cases:
        seconds = []
        for _ in range(run.calls):
            begin = time.perf_counter()
            result = portpart.partition(graph, k, preset=preset, seed=1, devices=numbers)
            seconds.append(time.perf_counter() - begin)
        part = spaces[0].to_host(spaces[0].asarray(result.part))
        say(run, graph.num_arcs, k, preset, facts(
            result, [part], seconds, list(map(held, spaces)), devices=numbers))


def held(space: ExecutionSpace) -> int:
    """Bytes that CuPy's pool holds of a device: threads have no peaks."""
    if space.kind != "cuda":
        return 0
    import cupy

    with space.active():
        return int(cupy.get_default_memory_pool().total_bytes())


def facts(result: Any, parts: Any, seconds: list[float], peaks: Any, **more: Any) -> dict[str, Any]:
    """What is printed of the calls for one case."""
    if parts is None:
        return {}
    digest = sha256(np.concatenate(parts).astype(np.int32).tobytes()).hexdigest()[:16]
    peaks = [round(each / 2**30, 2) for each in peaks]
    return {"seconds": [round(each, 3) for each in seconds], "cut": result.cut,
            "feasible": result.feasible, "digest": digest,
            "phases": {name: round(value, 3) for name, value in result.stats["phases"].items()},
            "peaks beside the rows (of one process: held), GiB": peaks, **more}


def say(run: Run, num_arcs: int, k: int, preset: str, found: dict[str, Any]) -> None:
    print(json.dumps({"side": run.side, "permuted": run.permuted, "arcs": num_arcs, "k": k,
                      "preset": preset, **found}), flush=True)

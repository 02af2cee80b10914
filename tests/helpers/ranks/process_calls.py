"""Public calls of several ranks that are processes, for tests.

`world` is a communicator of MPI, or what `tests.helpers.ranks.torch_ranks` has in its place.
"""

from __future__ import annotations

import warnings
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

import portpart
from portpart import metrics
from portpart.algorithms.recipes.portpart import PRESETS
from portpart.graphs.graph import Graph
from portpart.graphs.ranks.rank_graph import RankGraph
from portpart.options import changed
from tests.helpers.ranks.cut_rows import borders
from tests.helpers.ranks.mpi_jobs import FILES, GRAPHS

WAYS = ((9, "default"), (2, "fast"))
"""Numbers of blocks, and presets."""


SEARCHED = "weighted"
"""The graph that is also searched by several walks."""


def search_of(num_vertices: int) -> dict[str, Any]:
    """Options by which ranks search with several walks, for five blocks."""
    numbers = np.arange(num_vertices)
    return {"preset": changed(PRESETS["best"], {"search.runs": 2, "search.cycles": 1}),
            "fixed": np.where(numbers % 11 == 0, numbers // 11 % 5, -1)}


def comm_of(world: Any) -> Any:
    """What portpart is given as communicator."""
    return getattr(world, "process_group", world)


def rows_of_rank(graph: Graph, first: list[int], world: Any) -> RankGraph:
    """The graph of ranks that have the rows between borders; the communicator is freed at once."""
    comm = world.Dup() if comm_of(world) is world else comm_of(world)
    begin, end = first[world.rank], first[world.rank + 1]
    offsets = np.asarray(graph.offsets[begin : end + 1]).astype(np.int64)
    arcs = slice(offsets[0], offsets[-1])
    rows = portpart.distributed_graph(
        offsets - offsets[0], graph.targets[arcs],
        None if graph.weights is None else graph.weights[arcs],
        None if graph.vertex_weights is None else graph.vertex_weights[begin:end], comm=comm)
    if comm_of(world) is world:
        comm.Free()
    return rows


def digest(part: Any) -> str:
    return sha256(np.asarray(part).astype(np.int32).tobytes()).hexdigest()


def facts_of(result: Any, part: Any) -> list[Any]:
    """What ranks and one device have to find alike."""
    return [digest(part), result.cut, result.imbalance, result.feasible,
            result.block_weights.tolist()]


def found(rows: RankGraph, k: int, **options: Any) -> list[Any]:
    """The partition of all ranks, on each of them."""
    result = portpart.partition(rows, k, **options)
    assert metrics.cut(rows, result) == result.cut
    return facts_of(result, result.gather(None))


def partitions(world: Any) -> Any:
    """Partitions of graphs whose rows ranks have, some of them none."""
    answers = {}
    for name, make in GRAPHS.items():
        graph = make()
        for seed in range(2):
            first = borders(graph.num_vertices, world.size, seed)
            first[1:-1] = [0] * (world.size - 1) if seed == 1 else first[1:-1]
            with rows_of_rank(graph, first, world) as rows:
                k, preset = WAYS[seed]
                answers[f"{name} {seed}"] = found(rows, k, preset=preset)
                if (name, seed) == (SEARCHED, 0):
                    options = search_of(graph.num_vertices)
                    options["fixed"] = options["fixed"][rows.first : rows.last]
                    answers[f"{name} search"] = found(rows, 5, **options)
    return answers


def files(world: Any, folder: str) -> Any:
    """Partitions of graphs of files, and what rank 0 has warned of."""
    answers = {}
    for file in FILES:
        path = Path(folder) / file
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            with portpart.read_distributed(path, comm=comm_of(world)) as rows:
                result = portpart.partition(rows, 4, preset="fast")
                result.save(path.with_suffix(".part"))
                whole = facts_of(result, result.gather(None))
        saved = digest(portpart.io.read_partition(path.with_suffix(".part")))
        answers[file] = [whole, [str(each.message) for each in warned], saved]
    return answers


@cache
def facts(name: str, k: int, preset: str) -> list[Any]:
    """What one device finds."""
    result = portpart.partition(GRAPHS[name](), k, preset=preset)
    return facts_of(result, result.part)


def wanted_partitions() -> dict[str, list[Any]]:
    """What `partitions` must find, on each rank."""
    graph = GRAPHS[SEARCHED]()
    searched = portpart.partition(graph, 5, **search_of(graph.num_vertices))
    return {f"{SEARCHED} search": facts_of(searched, searched.part),
            **{f"{name} {seed}": facts(name, k, preset) for name in GRAPHS
               for seed, (k, preset) in enumerate(WAYS)}}

"""Public calls of MPI ranks, for tests: ``mpiexec -n 3 python -m tests.mpi_calls CASE``.

Each rank prints a line of JSON.
"""

from __future__ import annotations

import json
import sys
import warnings
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

import portpart
from portpart import metrics
from portpart.algorithms import portpart_ranks
from portpart.algorithms.coarsening.rank_hierarchy import Fold
from portpart.graphs.graph import Graph
from portpart.graphs.rank_graph import RankGraph
from tests.mpi_jobs import FILES, GRAPHS
from tests.ranks import borders

WORLD = MPI.COMM_WORLD



def rows_of_rank(graph: Graph, first: list[int]) -> RankGraph:
    """The graph of ranks that have the rows between borders; the communicator is freed at once."""
    comm = WORLD.Dup()
    begin, end = first[WORLD.rank], first[WORLD.rank + 1]
    offsets = np.asarray(graph.offsets[begin : end + 1]).astype(np.int64)
    arcs = slice(offsets[0], offsets[-1])
    rows = portpart.distributed_graph(
        offsets - offsets[0], graph.targets[arcs],
        None if graph.weights is None else graph.weights[arcs],
        None if graph.vertex_weights is None else graph.vertex_weights[begin:end], comm=comm)
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


def partitions() -> Any:
    """Partitions of graphs whose rows ranks have, some of them none."""
    answers = {}
    for name, make in GRAPHS.items():
        graph = make()
        for seed in range(2):
            first = borders(graph.num_vertices, WORLD.size, seed)
            first[1:-1] = [0] * (WORLD.size - 1) if seed == 1 else first[1:-1]
            with rows_of_rank(graph, first) as rows:
                k, preset = ((9, "default"), (2, "fast"))[seed]
                answers[f"{name} {seed}"] = found(rows, k, preset=preset)
    return answers


def files(folder: str) -> Any:
    """Partitions of graphs of files, and what rank 0 has warned of."""
    answers = {}
    for file in FILES:
        path = Path(folder) / file
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            with portpart.read_distributed(path, comm=WORLD) as rows:
                result = portpart.partition(rows, 4, preset="fast")
                result.save(path.with_suffix(".part"))
                whole = facts_of(result, result.gather(None))
        saved = digest(portpart.io.read_partition(path.with_suffix(".part")))
        answers[file] = [whole, [str(each.message) for each in warned], saved]
    return answers


def main(case: str, *arguments: str) -> None:
    portpart_ranks.fold_for = lambda space: Fold(0, 0)  # small levels belong to ranks, too
    cases = {"partitions": partitions, "files": files}
    print(json.dumps([WORLD.rank, cases[case](*arguments)]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

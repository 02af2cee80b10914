"""Calls of MPI ranks on GPUs, for tests.

``mpiexec -n 2 python -m tests.helpers.ranks.gpu_ranks CASE,CASE``: each rank prints a line of
JSON.  A stand-in takes the place of each GPU; with the word ``gpu`` behind the cases ranks take the
GPUs of this machine.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import numpy as np
from mpi4py import MPI

import portpart
from portpart import backends, generators, metrics
from portpart.algorithms.coarsening.ranks.hierarchy import Fold
from portpart.algorithms.recipes import portpart_ranks
from portpart.backends.cuda import nccl
from portpart.errors import InputError, OutOfMemory
from portpart.graphs.ranks.rank_graph import RankGraph
from tests.helpers.emulation.stand_in_gpu import in_place
from tests.helpers.emulation.stand_in_nccl import made, stand_in_nccl
from tests.helpers.plain_graphs import random_graph
from tests.helpers.ranks.cut_rows import borders
from tests.helpers.ranks.mpi_jobs import tell_hangs
from tests.helpers.ranks.process_calls import facts_of

WORLD = MPI.COMM_WORLD

SMALL = {"mesh": lambda: generators.delaunay(700),
         "weighted": lambda: random_graph(300, 1000, 1, weighted=True, vertex_weighted=True)}


def arrays_of_rank(graph: Any, first: list[int]) -> list[Any]:
    """The rows of a rank, on the host."""
    begin, end = first[WORLD.rank], first[WORLD.rank + 1]
    offsets = np.asarray(graph.offsets[begin : end + 1]).astype(np.int64)
    arcs = slice(offsets[0], offsets[-1])
    return [offsets - offsets[0], graph.targets[arcs],
            None if graph.weights is None else graph.weights[arcs],
            None if graph.vertex_weights is None else graph.vertex_weights[begin:end]]


def on_device(space: Any, arrays: list[Any]) -> list[Any]:
    return [None if each is None else space.asarray(np.ascontiguousarray(each))
            for each in arrays]


def found(rows: RankGraph, k: int, preset: str) -> Any:
    result = portpart.partition(rows, k, preset=preset)
    assert metrics.cut(rows, result) == result.cut
    assert result.stats["ranks"] == WORLD.size
    return [type(result.part).__module__.split(".")[0], *facts_of(result, result.gather(None))]


def whole_calls(space: Any) -> Any:
    """Partitions of rows on GPUs, and of rows that are copied there."""
    answers = {}
    for seed, (name, make) in enumerate(SMALL.items()):
        graph = make()
        arrays = arrays_of_rank(graph, borders(graph.num_vertices, WORLD.size, seed))
        k, preset = ((5, "default"), (2, "fast"))[seed]
        with portpart.distributed_graph(*on_device(space, arrays), comm=WORLD) as rows:
            assert rows.space is space
            answers[f"{name} there"] = found(rows, k, preset)
            assert rows.calls._links.ranks is not None  # they outlive a call
        with portpart.distributed_graph(*arrays, comm=WORLD, device="cuda") as rows:
            answers[f"{name} copied"] = found(rows, k, preset)
    return answers


def refused(call: Callable[[], Any]) -> Any:
    begin = time.monotonic()
    try:
        call()
    except BaseException as problem:
        return [type(problem).__name__, str(problem), time.monotonic() - begin]
    return None


def faults(space: Any) -> Any:
    """Calls that go wrong, each with a good one behind it."""
    graph = SMALL["mesh"]()
    arrays = arrays_of_rank(graph, borders(graph.num_vertices, WORLD.size, 0))
    answers: dict[str, Any] = {"kinds": refused(lambda: portpart.distributed_graph(
        *(on_device(space, arrays) if WORLD.rank == 0 else arrays), comm=WORLD))}
    damaged = [each if each is None else each.copy() for each in arrays]
    if WORLD.rank == 1:
        damaged[1][3] = 10**6
    answers["target"] = refused(lambda: portpart.distributed_graph(
        *on_device(space, damaged), comm=WORLD))
    with portpart.distributed_graph(*on_device(space, arrays), comm=WORLD) as rows:
        links = rows.calls._links
        before = links.ranks
        answers["k"] = refused(lambda: portpart.partition(rows, 10**9))
        answers["device"] = refused(lambda: portpart.partition(rows, 2, device="cpu"))
        assert links.ranks is before  # all ranks have refused alike

        def raises(graph: Any) -> None:
            if WORLD.rank == 1:
                raise InputError("not today")
            graph.comm.all_reduce(space.zeros(1, np.int64), 0, 1, "sum")

        answers["amid"] = refused(lambda: rows.call(raises))
        assert links.ranks is None
        answers["then"] = found(rows, 5, "default")
        assert links.ranks is not None
    return answers


def shared(space: Any) -> Any:
    """Ranks that have the same GPU exchange through the host."""
    graph = SMALL["mesh"]()
    arrays = arrays_of_rank(graph, borders(graph.num_vertices, WORLD.size, 0))
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        with portpart.distributed_graph(*on_device(space, arrays), comm=WORLD) as rows:
            return [found(rows, 5, "default"), [str(each.message) for each in warned]]


def interrupted(space: Any) -> Any:
    """Ctrl-C, and memory that runs out, at one rank, while the other one waits for its GPU."""
    graph = SMALL["mesh"]()
    arrays = arrays_of_rank(graph, borders(graph.num_vertices, WORLD.size, 0))
    answers = {}
    with portpart.distributed_graph(*on_device(space, arrays), comm=WORLD) as rows:
        def waits(graph: Any) -> None:
            if WORLD.rank == 1:
                signal.signal(signal.SIGINT, signal.default_int_handler)
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(60)
            graph.comm.all_reduce(space.zeros(1, np.int64), 0, 1, "sum")

        answers["interrupted"] = refused(lambda: rows.call(waits))
        answers["then"] = found(rows, 5, "default")
        empty, asked = type(space).empty, [0, -1]

        def empty_or_not(space: Any, n: int, dtype: Any) -> Any:
            asked[0] += 1
            if asked[0] == asked[1]:
                raise OutOfMemory("8 MiB were needed")
            return empty(space, n, dtype)

        with mock.patch.object(type(space), "empty", empty_or_not):
            portpart.partition(rows, 5)
            often = asked[0]
            for share in (10, 50, 90):  # coarsening, and refinement
                asked[:] = 0, often * share // 100 if WORLD.rank else -1
                answers[f"memory {share}"] = refused(lambda: portpart.partition(rows, 5))
        answers["in the end"] = found(rows, 5, "default")
    return answers


def killed(space: Any) -> None:
    """A rank is killed while the other one waits for its GPU."""
    graph = SMALL["mesh"]()
    arrays = arrays_of_rank(graph, borders(graph.num_vertices, WORLD.size, 0))
    rows = portpart.distributed_graph(*on_device(space, arrays), comm=WORLD)

    def waits(graph: Any) -> None:
        if WORLD.rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        graph.comm.all_reduce(space.zeros(1, np.int64), 0, 1, "sum")

    rows.call(waits)


@contextlib.contextmanager
def devices(case: str, is_real: bool) -> Iterator[Any]:
    """The GPU of this rank; a stand-in, and NCCL, for one."""
    if is_real:
        number = 0 if case == "shared" else WORLD.rank
        yield backends.space(f"cuda:{number}")
        return
    name = "the only GPU" if case == "shared" else f"GPU {WORLD.rank}"
    with in_place() as (space,), stand_in_nccl(space.cupy, name):
        yield space
    assert all(each.aborted or each.comm == MPI.COMM_NULL for each in made)


CASES = {each.__name__: each for each in (whole_calls, faults, shared, interrupted, killed)}


def main(cases: str, *where: str) -> None:
    tell_hangs()
    portpart_ranks.fold_for = lambda space: Fold(0, 0)  # small levels belong to ranks, too
    answers = {}
    for case in cases.split(","):
        with devices(case, where == ("gpu",)) as space:
            answers[case] = [CASES[case](space)]
            if case == "whole_calls":
                with mock.patch.object(nccl, "LARGEST", 0):  # lengths are asked for
                    answers[case].append(whole_calls(space))
    print(json.dumps([WORLD.rank, answers]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

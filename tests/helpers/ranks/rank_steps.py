"""What ranks of any kind do in tests, and what goes wrong on one of them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from dataclasses import astuple
from typing import Any

import numpy as np

from portpart import backends, generators
from portpart.algorithms.coarsening.options import ClusteringOptions
from portpart.algorithms.coarsening.ranks.hierarchy import Fold, coarsen_ranks
from portpart.backends.programs.steps import Parcel
from portpart.errors import InputError
from portpart.graphs.ranks.distribution import distributed
from tests.helpers.ranks.cut_rows import borders, rows_of


def reduced(comm: Any, space: Any) -> Any:
    """Words of all ranks: their sums, minima and maxima."""
    rng = np.random.default_rng(comm.rank)
    given = rng.integers(-2**62 // comm.size, 2**62 // comm.size, 20)
    found = {}
    for op in ("sum", "min", "max"):
        words = space.asarray(given.copy())
        comm.all_reduce(words, 3, 11, op)
        found[op] = space.to_host(words).tolist()
    return found


def exchanged(comm: Any, space: Any) -> Any:
    """What arrives of parts of drawn lengths, many of them empty."""
    found = []
    for turn, kind in enumerate((np.int32, np.int64, np.uint8)):
        rng = np.random.default_rng(turn)
        counts = rng.integers(0, 30, (comm.size, comm.size)) * rng.integers(0, 2, (comm.size, 1))
        send = [rng.integers(0, 100, counts[s].sum()).astype(kind) for s in range(comm.size)]
        recv = space.full(int(counts[:, comm.rank].sum()) + 5, 77, kind)
        arriving = space.zeros(comm.size, np.int64)
        comm.all_to_all(Parcel(send=space.asarray(send[comm.rank]),
                               send_counts=space.asarray(counts[comm.rank].copy()),
                               recv=recv, recv_counts=arriving))
        found.append([space.to_host(recv).tolist(), space.to_host(arriving).tolist()])
        numbers = np.stack([counts[comm.rank], np.full(comm.size, comm.rank)], axis=1)
        came, told = comm.post(space.asarray(send[comm.rank]), numbers,
                               lambda length, kind=kind: space.empty(length, kind))
        found.append([space.to_host(came).tolist(), told.tolist()])
    return found


def gathered(comm: Any, space: Any) -> Any:
    """A graph of all ranks, put together again."""
    graph = generators.rmat(9, 5)
    first = borders(graph.num_vertices, comm.size, 3)
    made = distributed(comm, rows_of(graph, first[comm.rank], first[comm.rank + 1], space))
    whole = made.gather().to(backends.space("cpu", threads=1))
    return [made.num_ghosts, list(astuple(made.totals)),
            int(np.abs(whole.offsets - graph.offsets).sum()),
            int(np.abs(np.sort(whole.targets) - np.sort(graph.targets)).sum())]


def levels(comm: Any, space: Any) -> Any:
    """The clusters of each level, and the coarsest graph."""
    found = []
    for graph in (generators.delaunay(900), generators.rmat(9, 5)):
        first = borders(graph.num_vertices, comm.size, 4)
        made = coarsen_ranks(
            distributed(comm, rows_of(graph, first[comm.rank], first[comm.rank + 1], space)),
            50, 60, ClusteringOptions(), Fold(0, 0), stop_at=100, max_kept=0.95)
        whole = made[-1].graph.gather()
        found.append([*(level.cluster.tolist() for level in made[:-1]), whole.offsets.tolist(),
                      whole.targets.tolist(), whole.weights.tolist()])
    return found


def all_steps(comm: Any) -> Any:
    space = backends.space("cpu", threads=1)
    return [*few_steps(comm, space), levels(comm, space)]


def few_steps(comm: Any, space: Any) -> Any:
    return [each(comm, space) for each in (reduced, exchanged, gathered)]


def waits(comm: Any) -> None:
    """Wait for ranks that do not come."""
    comm.all_reduce(np.zeros(1, np.int64), 0, 1, "sum")


def raises_typed(comm: Any) -> None:
    if comm.rank == comm.size - 1:
        raise InputError("k is 0")
    waits(comm)


def raises_other(comm: Any) -> None:
    if comm.rank == 0:
        raise ZeroDivisionError("division by zero")
    waits(comm)


def votes(comm: Any) -> None:
    comm.vote(InputError(f"no {comm.rank}") if comm.rank > 0 else None)


def is_interrupted(comm: Any) -> None:
    if comm.rank == 1:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs ignore it
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(60)
    waits(comm)


def sends_too_much(comm: Any) -> None:
    """More arrives at rank 0 than it has room for."""
    counts = np.array([4] + [0] * (comm.size - 1))
    comm.all_to_all(Parcel(send=np.arange(4), send_counts=counts,
                           recv=np.zeros(5 if comm.rank == 0 else 9, np.int64),
                           recv_counts=np.zeros(comm.size, np.int64)))
    waits(comm)


def is_late(comm: Any) -> None:
    """One rank is gone for longer than the others wait."""
    comm._patience = 1.0
    if comm.rank == 1:
        time.sleep(3)
    waits(comm)


FAULTS: dict[str, Callable[[Any], None]] = {
    each.__name__: each
    for each in (raises_typed, raises_other, votes, is_interrupted, sends_too_much)}

WANTED = {
    "raises_typed": ["InputError", "rank 2: k is 0"],
    "raises_other": ["RankFailed", "rank 0: ZeroDivisionError: division by zero"],
    "votes": ["InputError", "rank 1: no 1"],
    "is_interrupted": ["KeyboardInterrupt", ""],
    "sends_too_much": ["CommunicationError", "rank 0: 12 elements arrive at an array of 5"],
}
"""What three ranks raise."""

"""What ranks of a process group of PyTorch do in tests: `torch_jobs` starts them.

Each rank prints a line of JSON.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist

import portpart
from portpart.algorithms.coarsening.ranks.hierarchy import Fold
from portpart.algorithms.recipes import portpart_ranks
from portpart.backends.communication.torch_group import TorchCalls
from tests.helpers.ranks import rank_faults
from tests.helpers.ranks.process_calls import files, partitions
from tests.helpers.ranks.rank_steps import FAULTS, all_steps, is_late, waits


class World:
    """The group of all processes, as tests of MPI use a communicator."""

    def __init__(self, rank: int, size: int, store: str) -> None:
        dist.init_process_group("gloo", init_method=store, rank=rank, world_size=size)
        self.rank, self.size, self.process_group = rank, size, dist.group.WORLD

    def allreduce(self, number: int) -> int:
        """The sum of the numbers of all ranks, by the group itself."""
        words = torch.tensor([number])
        dist.all_reduce(words, group=self.process_group)
        return int(words[0])

    def Barrier(self) -> None:
        dist.barrier(self.process_group)


def outcome(world: World, main: Callable[[Any], Any], **options: Any) -> Any:
    """What a rank returns, or the class and the text of what it raises."""
    begin, calls = time.monotonic(), TorchCalls(world.process_group, **options)
    try:
        return calls.run(main)
    except BaseException as problem:
        return [type(problem).__name__, str(problem), time.monotonic() - begin]


def whole_calls(world: World, folder: str) -> Any:
    """Steps, partitions, files."""
    portpart_ranks.fold_for = lambda space: Fold(0, 0)
    before = set(sys.modules)
    answers = [outcome(world, all_steps, max_count=4), outcome(world, all_steps),
               partitions(world), files(world, folder), tensors(world)]
    return [*answers, "mpi4py" in set(sys.modules) - before]


def faults(world: World, folder: str, runs: str, *names: str) -> Any:
    """The outcome of each fault of a step, after which the group works, and of whole calls."""
    steps = {name: [outcome(world, main), world.allreduce(1)] for name, main in FAULTS.items()}
    return steps, rank_faults.on_rank([*names], int(runs), Path(folder), world)


def groups(world: World) -> Any:
    """A group of some ranks, and what is none."""
    found = []
    some = dist.new_group([0, 2])
    for group in (some, None, 7):
        try:
            graph = portpart.distributed_graph([0], torch.zeros(0, dtype=torch.int64), comm=group)
            found.append([graph.rank, graph.size])
        except portpart.errors.PortpartError as problem:
            found.append([type(problem).__name__, str(problem)])
    return found


def tensors(world: World) -> Any:
    """Tensors come in without copies, and blocks are tensors."""
    grid = portpart.generators.shares.grid_2d(30)
    own = grid.rows(900 * world.rank // world.size, 900 * (world.rank + 1) // world.size)
    offsets, targets = (torch.from_numpy(np.array(each)) for each in (own.offsets, own.targets))
    before = targets.clone()
    with portpart.distributed_graph(offsets, targets, comm=world.process_group) as rows:
        result = portpart.partition(rows, 4, preset="fast")
        whole = result.gather(None)
        assert portpart.metrics.cut(rows, result) == result.cut
        members = [each.tolist() for each in result.blocks()]
    assert torch.equal(targets, before)
    return [type(result.part).__name__, str(result.part.dtype), whole.tolist(), members]


def is_killed(world: World, victim: str) -> Any:
    """One rank is killed between two steps, or two calls, of the others."""
    calls = TorchCalls(world.process_group)
    calls.run(lambda comm: comm.vote(None))
    if world.rank == int(victim):
        os.kill(os.getpid(), signal.SIGKILL)
    begin = time.monotonic()
    try:
        calls.run(waits)
    except portpart.errors.PortpartError as problem:
        print(json.dumps([world.rank, [type(problem).__name__, str(problem),
                                       time.monotonic() - begin]]), flush=True)
        raise


def main(rank: str, size: str, store: str, case: str, *arguments: str) -> None:
    world = World(int(rank), int(size), store)
    cases = {"calls": whole_calls, "faults": faults, "killed": is_killed, "groups": groups,
             "late": lambda world: outcome(world, is_late)}
    print(json.dumps([world.rank, cases[case](world, *arguments)]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

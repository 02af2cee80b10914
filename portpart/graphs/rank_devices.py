"""The device of each rank, and how arrays there reach other ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from portpart import backends
from portpart.backends.communication.calls import each_of_ranks
from portpart.backends.communication.cores import cores_of_rank, number_on_host
from portpart.backends.communication.plan import planned
from portpart.errors import InputError
from portpart.graphs.arrays import home_of
from portpart.options import shown

if TYPE_CHECKING:
    from portpart.backends.communication.protocol import Communicator
    from portpart.backends.interface import ExecutionSpace


def space_of_rank(comm: Communicator, device: Any, arrays: Sequence[Any] = ()) -> ExecutionSpace:
    """The space in which a rank works, of the same kind on all ranks.  All ranks call it.

    Parameters
    ----------
    comm : Communicator
    device : str
        ``"cpu"``; ``"cuda"``, the GPU with the number that the rank has among those of its host,
        modulo the number of GPUs; ``"cuda:N"``; or ``"auto"``, the GPU of an array, else the CPU.
    arrays : sequence
        What the rank has been given.

    Raises
    ------
    InputError
        On all ranks, if there is no such device, or if some work on GPUs and others do not.
    DeviceUnavailable
        On all ranks, if one cannot use its device.
    """
    cores, number = cores_of_rank(comm), number_on_host(comm)
    space = planned(comm, lambda: _space(device, arrays, cores, number))
    kinds = each_of_ranks(comm, space.kind == "cuda")

    def check() -> None:
        if kinds[comm.rank] != kinds[0]:
            here, there = ("a GPU", "on the CPU") if kinds[comm.rank] else ("the CPU", "on a GPU")
            raise InputError(f"this rank works on {here}, and rank 0 {there}; give all ranks "
                             "arrays of the same kind, or device='cuda' or device='cpu'")

    planned(comm, check)
    return space


def _space(device: Any, arrays: Sequence[Any], cores: int, number: int) -> ExecutionSpace:
    """The space of this rank, which has this many cores, and this number on its host."""
    if not isinstance(device, str):
        raise InputError(f"device is {shown(device)}; it must be 'auto', 'cpu', 'cuda' or "
                         "'cuda:N'")
    space_of_arrays = home_of(arrays) if device == "auto" else None
    if space_of_arrays is not None:
        return space_of_arrays
    if device in ("auto", "cpu", "cpu:0"):
        return backends.space("cpu", threads=cores)
    if device == "cuda":
        spaces = backends.gpus()
        return spaces[number % len(spaces)]
    return backends.space(device)


def calls_on(calls: Any, space: ExecutionSpace) -> tuple[Any, str]:
    """Calls of ranks that work in such a space, in place of those.  All ranks call it.

    Returns
    -------
    calls : Calls
    problem : str
        Why GPUs exchange through the memory of hosts, where they do.
    """
    if space.kind == "cpu" or calls.size == 1:
        return calls, ""
    if calls.mpi is None:
        return calls, ("ranks of a process group exchange what is on their GPUs through the memory "
                       "of the host, which takes longer; those of an mpi4py communicator use NCCL")
    from portpart.backends.cuda.nccl_calls import calls_between_gpus

    return calls_between_gpus(calls, space)

"""Calls that ranks with a GPU each make together, with NCCL if possible."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from types import ModuleType
from typing import TypeVar

from portpart.backends.communication import Communicator, Mpi, MpiCalls, ProcessCalls, each_of_ranks
from portpart.backends.cuda.nccl import Nccl, NcclLinks, nccl_of, place_of
from portpart.backends.cuda.space import import_cupy
from portpart.backends.programs import ExecutionSpace
from portpart.errors import DeviceUnavailable

Result = TypeVar("Result")


class NcclCalls(MpiCalls):
    """Calls of ranks with a GPU each. The first call makes connections, which later calls use.

    If a call has abandoned a step, the next one makes new connections.

    Parameters
    ----------
    calls : MpiCalls
        Calls whose duplicate of the communicator is used.
    space : CudaSpace
        The space of the GPU of this rank.
    """

    def __init__(self, calls: MpiCalls, space: ExecutionSpace) -> None:
        ProcessCalls.__init__(self, calls.rank, calls.size)
        self.mpi, self._space, self._links = calls.mpi, space, NcclLinks()

    def run(self, main: Callable[[Communicator], Result]) -> Result:
        """See `ProcessCalls`; the GPU is CuPy's current one during the call."""
        with self._space.active():
            return super().run(main)

    def _communicator(self) -> Mpi:
        return Nccl(self.mpi, links=self._links, look=self.end)

    def free(self) -> None:
        """See `ProcessCalls`."""
        if self.end() is None:
            self._links.close()
        else:
            self._links.abort()
        super().free()


def calls_between_gpus(calls: MpiCalls, space: ExecutionSpace) -> tuple[MpiCalls, str]:
    """Return the calls of ranks with a GPU each, which use NCCL if possible. All ranks call it.

    Returns
    -------
    calls : MpiCalls
    problem : str
        Why GPUs exchange through host memory, if they do.
    """
    with space.active():
        problem = calls.run(lambda comm: _problem_of_nccl(comm, import_cupy()))
    return (calls, problem) if problem else (NcclCalls(calls, space), "")


def _problem_of_nccl(comm: Communicator, cupy: ModuleType) -> str:
    """Return why these ranks cannot use NCCL; the same text on all of them."""
    place = sha256(" ".join(place_of(cupy)).encode()).digest()[:7]
    places = each_of_ranks(comm, int.from_bytes(place, "little")).tolist()
    own = None
    with suppress(DeviceUnavailable):
        own = nccl_of(cupy)
    found = each_of_ranks(comm, own is not None).tolist()
    slow = "GPUs exchange through the memory of the host, which takes longer"
    if 0 in found:
        return (f"CuPy finds no NCCL on rank {found.index(0)}, so {slow}; install the extra nccl13 "
                "(nvidia-nccl-cu13)")
    for rank, each in enumerate(places):
        if (first := places.index(each)) < rank:
            return (f"ranks {first} and {rank} have the same GPU, which NCCL does not allow, so "
                    f"{slow}; start as many ranks on a host as it has GPUs")
    return ""

"""Connections of NCCL between GPUs, and what they need: NCCL, and a GPU for each rank."""

from __future__ import annotations

import platform
from types import ModuleType
from typing import Any

from portpart.backends.communication.errors import CommunicationError
from portpart.backends.communication.mpi import Mpi
from portpart.errors import DeviceUnavailable

INSTEAD = f"{Mpi.__module__}.{Mpi.__name__}"
"""What exchanges arrays of GPUs through the host."""


class NcclLinks:
    """Connections of NCCL between ranks, which outlive the calls that use them.

    Attributes
    ----------
    ranks : cupy.cuda.nccl.NcclCommunicator or None
        None before they are made, and where they have been broken off.
    """

    def __init__(self) -> None:
        self.ranks: Any = None

    def abort(self) -> None:
        """Break them off, and with them what is going on; waits for no other rank."""
        ranks, self.ranks = self.ranks, None
        if ranks is not None:
            ranks.abort()

    def close(self) -> None:
        """Give them back.  All ranks call it."""
        ranks, self.ranks = self.ranks, None
        if ranks is not None:
            ranks.destroy()

    __del__ = abort  # unclosed links must not wait for others


def nccl_of(cupy: ModuleType) -> Any:
    """CuPy's NCCL.

    Raises
    ------
    DeviceUnavailable
        If there is none.
    """
    from cupy.cuda import nccl

    if not nccl.available:
        raise DeviceUnavailable(f"CuPy {cupy.__version__} finds no NCCL: install the extra nccl13 "
                                f"(nvidia-nccl-cu13), or use {INSTEAD}")
    return nccl


def place_of(cupy: ModuleType) -> tuple[str, str]:
    """The machine, and the place of its current GPU."""
    return platform.node(), str(cupy.cuda.Device().pci_bus_id)


def require_own_devices(places: list[tuple[str, str]], rank: int) -> None:
    """Raise CommunicationError if a rank has the GPU of one before it."""
    first = places.index(places[rank])
    if first < rank:
        machine, device = places[rank]
        raise CommunicationError(
            f"GPU {device} of {machine} is rank {first}'s already, and NCCL takes one rank a GPU: "
            "start no more ranks than there are GPUs and give each its own "
            f"(CUDA_VISIBLE_DEVICES), or use {INSTEAD}")

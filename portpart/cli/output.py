"""Results on standard output, and exit codes."""

from __future__ import annotations

import ctypes
import json
import math
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from portpart.errors import printable, writing
from portpart.graphs import aligned

if TYPE_CHECKING:
    from mpi4py import MPI

    from portpart.options import Json

# Results on standard output: aligned lines for people, one JSON object for programs ------------


STDOUT, STDERR = 1, 2
"""File descriptors."""


def print_json(values: Mapping[str, Json]) -> None:
    """Write `values` as one JSON object on one line of standard output.

    JSON has no infinite numbers: they become null.
    """
    print_text(json.dumps(_plain(values), allow_nan=False))


def print_facts(facts: Mapping[str, object], to_stderr: bool = False) -> None:
    """Write one aligned line per fact; to stderr if stdout has a file."""
    print_text(aligned(facts), to_stderr)


def print_text(text: str, to_stderr: bool = False) -> None:
    """Write lines of text to standard output, or to stderr, with control characters escaped.

    Raises
    ------
    InputError
        If the disk is full, for example; a closed pipe raises click's exception.
    """
    with writing("standard error" if to_stderr else "standard output", BrokenPipeError):
        click.echo(printable(text), err=to_stderr)


@contextmanager
def libraries_on_stderr() -> Iterator[None]:
    """Send output of C libraries, such as METIS, to stderr: stdout is for results."""
    if sys.stdout is None or sys.stderr is None:  # they are closed
        yield
        return
    sys.stdout.flush()
    stdout = os.dup(STDOUT)
    os.dup2(STDERR, STDOUT)
    try:
        yield
    finally:
        c_library = ctypes.cdll.msvcrt if sys.platform == "win32" else ctypes.CDLL(None)
        c_library.fflush(None)
        os.dup2(stdout, STDOUT)
        os.close(stdout)


def sizes_text(sizes: Mapping[str, Any]) -> str:
    """Return ``5 vertices, 6 edges`` for an object with `num_vertices`, `num_edges` and so on."""
    return ", ".join(f"{grouped(sizes[f'num_{what}'])} {what}" for what in
                     ("vertices", "edges", "nets", "pins") if f"num_{what}" in sizes)


def grouped(number: int | float) -> str:
    """Return an integer with thousands separators."""
    return f"{int(number):,}"


def timings(seconds: float, phases: Mapping[str, float]) -> str:
    """Return a total and its parts: ``0.412 s (coarsening 0.101, refinement 0.280)``."""
    parts = ", ".join(f"{name} {duration:.3f}" for name, duration in phases.items())
    return f"{seconds:.3f} s" + (f" ({parts})" if parts else "")


def _plain(value: Any) -> Any:
    """Convert values of Python and NumPy to values of JSON."""
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return _plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


# Meanings of the command line's exit codes -----------------------------------------------------


OK = 0
INFEASIBLE = 1
BAD_INPUT = 2
UNAVAILABLE = 3
DEFECT = 70
INTERRUPTED = 130
PIPE_CLOSED = 141


# Several processes that an MPI launcher has started for one command ----------------------------


SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
"""Variables for the number of processes; Slurm's is not used, as it is set in batch shells."""

ALONE = "--no-mpi"


def is_launched() -> bool:
    """Whether an MPI launcher has started this process, and perhaps others."""
    sizes = [size for name in SIZES if (size := os.environ.get(name))]
    return any(size != "1" for size in sizes) if sizes else "PMIX_RANK" in os.environ


def is_silent() -> bool:
    """Whether this process prints nothing: a rank of MPI other than 0. Before MPI runs, all may
    print.
    """
    mpi = sys.modules.get("mpi4py.MPI")
    return mpi is not None and mpi.COMM_WORLD.rank > 0


def world() -> MPI.Intracomm | None:
    """Return the communicator of all processes; None for a single process.

    Raises
    ------
    DeviceUnavailable
        If mpi4py cannot be imported.
    """
    from portpart.backends.communication import require_mpi

    comm = require_mpi().COMM_WORLD
    return comm if comm.size > 1 else None

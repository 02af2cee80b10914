"""Results on standard output: aligned lines for people, one JSON object for programs."""

from __future__ import annotations

import ctypes
import json
import math
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click
import numpy as np

from portpart.errors import InputError, printable
from portpart.graphs.html import aligned

STDOUT, STDERR = 1, 2
"""File descriptors."""


def print_json(values: Mapping[str, Any]) -> None:
    """Write `values` as one JSON object on one line of standard output.

    JSON knows no infinite numbers: they become null.
    """
    print_text(json.dumps(_plain(values), allow_nan=False))


def print_facts(facts: Mapping[str, object], to_stderr: bool = False) -> None:
    """Write one aligned line per fact; to stderr where stdout carries a file."""
    print_text(aligned(facts), to_stderr)


def print_text(text: str, to_stderr: bool = False) -> None:
    """Write lines of text to standard output, or to stderr, control characters escaped.

    Raises
    ------
    InputError
        If the disk is full, for example; a closed pipe raises what click ends with.
    """
    try:
        click.echo(printable(text), err=to_stderr)
    except BrokenPipeError:
        raise
    except OSError as problem:
        name = "standard error" if to_stderr else "standard output"
        raise InputError(f"{name} cannot be written: {problem.strerror or problem}") from problem


@contextmanager
def libraries_on_stderr() -> Iterator[None]:
    """Send what C libraries print, as METIS does, to stderr: stdout is for results."""
    if sys.stdout is None or sys.stderr is None:  # they are closed
        yield
        return
    sys.stdout.flush()
    stdout = os.dup(STDOUT)
    os.dup2(STDERR, STDOUT)
    try:
        yield
    finally:
        _c_library().fflush(None)
        os.dup2(stdout, STDOUT)
        os.close(stdout)


def _c_library() -> Any:
    return ctypes.cdll.msvcrt if sys.platform == "win32" else ctypes.CDLL(None)


def sizes_text(sizes: dict[str, Any]) -> str:
    """Return ``5 vertices, 6 edges`` of what has `num_vertices`, `num_edges` and the like."""
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
    """Turn what Python and NumPy return into what JSON knows."""
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return _plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value

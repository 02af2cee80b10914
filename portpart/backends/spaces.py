"""Execution spaces by the names of devices."""

from __future__ import annotations

import copyreg
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, overload

from portpart.base.interrupts import late_signals
from portpart.errors import InputError

if TYPE_CHECKING:
    from portpart.backends.cpu import CpuSpace
    from portpart.backends.programs import ExecutionSpace

# NumPy must not be imported here: `late_signals` must be imported before it.


_spaces: dict[tuple[str, int | None], ExecutionSpace] = {}


def _forget_gpus() -> None:
    """In a forked process, which cannot use a GPU of its parent, ask for devices again."""
    for known in [each for each in _spaces if each[0] != "cpu"]:
        del _spaces[known]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_gpus)


@overload
def space(device: Literal["cpu"] = "cpu", *, threads: int | None = None) -> CpuSpace: ...


@overload
def space(device: str, *, threads: int | None = None) -> ExecutionSpace: ...


def space(device: str = "cpu", *, threads: int | None = None) -> ExecutionSpace:
    """Return the execution space of `device`.

    Parameters
    ----------
    device : str
        ``"cpu"``, ``"cuda"`` (the current device) or ``"cuda:N"``.
    threads : int, optional
        Maximum number of threads of the CPU space; default: all cores.  Results do not depend on
        it.

    Returns
    -------
    ExecutionSpace
        The same object for the same device and number of threads.

    Raises
    ------
    DeviceUnavailable
        If the device cannot be used; the message gives the reason.

    Examples
    --------
    >>> import portpart
    >>> one_thread = portpart.space("cpu", threads=1)
    >>> portpart.generators.grid_2d(8).to(one_thread)
    <Graph: 64 vertices, 112 edges, on cpu>
    """
    kind, _, number = str(device).partition(":")
    if kind not in ("cpu", "cuda") or (number and not (kind == "cuda" and number.isdigit())):
        from portpart.errors import shown

        raise InputError(f"device must be 'cpu', 'cuda' or 'cuda:N', not {shown(device)}")
    if (made := _spaces.get((str(device), threads))) is not None:
        return made
    if kind == "cpu":
        with late_signals():
            from portpart.backends.cpu import CpuSpace

        return _known("cpu", threads, lambda: CpuSpace(threads))
    from portpart.backends.cuda import CudaSpace, usable_device

    chosen = usable_device(int(number) if number else None)
    return _known(f"cuda:{chosen}", None, lambda: CudaSpace(chosen))


def gpus() -> list[ExecutionSpace]:
    """Return the spaces of all GPUs of this machine, which must have at least one."""
    from portpart.backends.cuda import num_devices

    return [space(f"cuda:{number}") for number in range(num_devices())]


def as_space(given: ExecutionSpace | str) -> ExecutionSpace:
    """Return the space itself, or that of a device's name."""
    from portpart.backends.programs import ExecutionSpace

    return given if isinstance(given, ExecutionSpace) else space(given)


def host_of(here: ExecutionSpace) -> ExecutionSpace:
    """Return the CPU space that works with `here`: `here` if it is one, or in a dry run."""
    return here if here.kind == "cpu" or here.is_dry_run else space("cpu")


def _known(name: str, threads: int | None, make: Callable[[], ExecutionSpace]) -> ExecutionSpace:
    """Return one space per device (and number of threads), so that its compiled code is reused."""
    if (name, threads) not in _spaces:
        _spaces[name, threads] = made = make()
        copyreg.pickle(type(made), _by_name)
    return _spaces[name, threads]


def _by_name(made: ExecutionSpace) -> tuple[Callable[..., ExecutionSpace], tuple[str]]:
    """Pickle a space as a name: loading returns the other process's space of that name.

    Compiled code is not pickled, nor is the number of threads, on which no result depends.
    """
    return space, (made.name,)

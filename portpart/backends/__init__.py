"""Execution spaces: where kernels run.  The only place that imports Numba and CuPy."""

from __future__ import annotations

from portpart.backends.interface import ExecutionSpace
from portpart.errors import InputError

__all__ = ["ExecutionSpace", "space"]

_spaces: dict[tuple[str, int | None], ExecutionSpace] = {}


def space(device: str = "cpu", *, threads: int | None = None) -> ExecutionSpace:
    """The execution space of `device`.

    Parameters
    ----------
    device : str
        ``"cpu"``, ``"cuda"`` (the current device) or ``"cuda:N"``.
    threads : int, optional
        Threads of the CPU space; all by default.  Results do not depend on it.

    Raises
    ------
    DeviceUnavailable
        If the device cannot be used here; the message says why.
    """
    kind, _, number = device.partition(":")
    if kind not in ("cpu", "cuda") or (number and not (kind == "cuda" and number.isdigit())):
        raise InputError(f"device must be 'cpu', 'cuda' or 'cuda:N', not {device!r}")
    key = (device, threads if kind == "cpu" else None)
    if key not in _spaces:
        _spaces[key] = _make(kind, number, threads)
    return _spaces[key]


def _make(kind: str, number: str, threads: int | None) -> ExecutionSpace:
    if kind == "cpu":
        from portpart.backends.cpu import CpuSpace

        return CpuSpace(threads)
    from portpart.backends.cuda import CudaSpace

    return CudaSpace(int(number) if number else None)

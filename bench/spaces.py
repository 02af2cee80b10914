"""Spaces to measure on."""

from __future__ import annotations

from typing import Any


def space_of(device: str) -> Any:
    """Return the space of a device, on a GPU with code that is compiled well from the start."""
    import portpart

    space: Any = portpart.space(device)
    if space.kind == "cuda":
        space.kernels.modules.quick = False
    return space

"""The CUDA space: kernels translated to CUDA C++ and compiled by NVRTC."""

from __future__ import annotations

from typing import Any

from portpart.backends.cuda.translate import DIRECT, PACKED, translate
from portpart.backends.language.kernels import Kernel
from portpart.backends.language.types import type_of


def source(kernel: Kernel, *arguments: Any, team: int = 1) -> str:
    """CUDA C++ of a kernel for arguments (or argument types) like the given ones.

    Parameters
    ----------
    kernel : Kernel
    *arguments
        Arrays, scalars, records or None as a launch would pass them, without the work index.
    team : {1, 8, 32, 256}
        Lanes per work item.

    Returns
    -------
    str
        Source of the translation unit without the prelude of words, with both entry points.
    """
    types = tuple(map(type_of, kernel.flattened(arguments)))
    return translate(kernel, types, team, (DIRECT, PACKED)).text

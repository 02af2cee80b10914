"""portpart: balanced graph partitioning on GPUs and multicore CPUs, the same bits on both.

>>> import portpart
>>> result = portpart.partition([(0, 1), (1, 2), (2, 3), (3, 0)], 2)
>>> result.cut
2
"""

from __future__ import annotations

from typing import Any

import lazy_loader

from portpart.interrupts import late_signals
from portpart.version import __version__ as __version__

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    """Import public names on first use, so that importing portpart costs next to nothing."""
    with late_signals():  # NumPy cannot be imported again after Ctrl-C
        return _load(name)

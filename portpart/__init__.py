"""portpart: balanced graph partitioning on GPUs and multicore CPUs, the same bits on both.

>>> import portpart
>>> result = portpart.partition([(0, 1), (1, 2), (2, 3), (3, 0)], 2)
>>> result.cut
2
"""

from __future__ import annotations

from portpart.base.doors import door
from portpart.base.version import __version__ as __version__

__getattr__, __dir__, __all__ = door(__name__, __file__)

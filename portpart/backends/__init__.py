"""Execution spaces: where kernels run.  The only place that imports Numba and CuPy."""

from portpart.base.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)

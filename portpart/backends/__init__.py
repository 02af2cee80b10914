"""Execution spaces, which run kernels. Only this package imports Numba and CuPy."""

from portpart.base.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)

"""Execution spaces: where kernels run.  The only place that imports Numba and CuPy."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

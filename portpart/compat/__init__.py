"""Calls and files of other packages: PyMETIS, NetworkX, PyTorch Geometric and DGL."""

from portpart.base.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)

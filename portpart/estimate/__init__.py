"""Estimates of memory from the declared arrays, and dry runs that compile code."""

from portpart.base.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)

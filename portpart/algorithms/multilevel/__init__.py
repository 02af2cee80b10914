"""The multilevel walk: coarsen, start, refine; what its parts share."""

from portpart.base.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)

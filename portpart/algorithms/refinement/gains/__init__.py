"""The best block of each vertex, and the lists of vertices that iterations touch."""

from portpart.base.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)

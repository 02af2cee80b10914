"""The gain cache, and the lists of vertices that iterations visit."""

from portpart.base.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)

"""The multilevel method: problems, starts, the walk over the levels, searches, the trace."""

from portpart.base.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)

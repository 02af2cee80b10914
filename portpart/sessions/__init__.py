"""Sessions: graphs that change, with partitions that are kept up to date."""

from portpart.base.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)

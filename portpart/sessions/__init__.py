"""Sessions: changing graphs with partitions that are updated after each batch of edits."""

from portpart.base.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)

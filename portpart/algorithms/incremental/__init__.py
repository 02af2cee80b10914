"""Incremental repartitioning: partitions that are updated after edits of a graph."""

from portpart.base.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)

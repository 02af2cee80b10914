"""Objectives: the values that partitions and mappings minimise."""

from portpart.base.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)

"""Rebalancing: selects the vertices that leave overloaded blocks, and moves them."""

from portpart.base.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)

"""Moves vertices between blocks to decrease the objective."""

from portpart.base.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)

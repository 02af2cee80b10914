"""Sequences of moves, of which the best prefix is made."""

from portpart.base.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)

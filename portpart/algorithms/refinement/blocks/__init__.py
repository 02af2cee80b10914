"""Weights and limits of blocks, and vertices that are fixed to their block."""

from portpart.base.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)

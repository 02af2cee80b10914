"""Coarsening over several ranks: the hierarchy of one device."""

from portpart.base.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)

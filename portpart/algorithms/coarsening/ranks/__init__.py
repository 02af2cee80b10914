"""Coarsening over several ranks, with the same hierarchy as on one device."""

from portpart.base.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)

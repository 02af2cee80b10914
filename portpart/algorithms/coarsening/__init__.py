"""Coarsening: smaller graphs by clusters, matchings or groups."""

from portpart.base.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)

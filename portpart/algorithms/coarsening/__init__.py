"""Smaller and smaller graphs, by clusters, matchings or groups."""

from portpart.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)

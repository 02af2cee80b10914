"""Smaller and smaller graphs, by clusters, matchings or groups."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

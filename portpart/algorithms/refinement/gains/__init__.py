"""The best block of each vertex, and the lists of vertices that iterations touch."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

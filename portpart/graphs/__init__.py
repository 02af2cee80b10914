"""The graph as a value, and what makes one of arrays, rows, networks, frames and meshes."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""What callers give: objects and files that hold a graph, a hypergraph or a mesh."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

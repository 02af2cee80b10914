"""What callers give: objects and files that hold a graph, a hypergraph or a mesh."""

from portpart.base.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)

"""Inputs of callers: objects and files with a graph, a hypergraph or a mesh."""

from portpart.base.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)

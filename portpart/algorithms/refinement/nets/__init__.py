"""Refinement of hypergraphs: nets instead of arcs."""

from portpart.base.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)

"""Graphs as values, and constructors from arrays, rows, networks, frames and meshes."""

from portpart.base.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)

"""Metrics of partitions, computed on the host with NumPy and SciPy.

This package does not use the algorithms. Graphs, hypergraphs and part arrays on a GPU are copied to
the host first.
"""

from portpart.base.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)

"""Graphs and hypergraphs to try things on: the same for the same arguments everywhere.

Random numbers are drawn by ``numpy.random.default_rng(seed)`` in the documented order; the default
seeds are those of the project's published measurements.  All live on the host.  Rows of graphs
that are too large for one memory are drawn by `shares`, from hashes.
"""

from portpart.base.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)

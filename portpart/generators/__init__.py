"""Generators of graphs and hypergraphs; equal arguments give equal results everywhere.

Random numbers are drawn by ``numpy.random.default_rng(seed)`` in the documented order. The default
seeds are those of the project's published measurements. All results are on the host. `shares` draws
rows of graphs that are too large for one memory, from hashes.
"""

from portpart.base.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)

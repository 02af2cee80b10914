"""Graphs and hypergraphs to try things on: the same for the same arguments everywhere.

Random numbers are drawn by ``numpy.random.default_rng(seed)`` in the documented order; the default
seeds are those of the project's published measurements.  All live on the host.  Rows of graphs
that are too large for one memory are drawn by `shares`, from hashes.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

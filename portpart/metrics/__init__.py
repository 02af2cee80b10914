"""What a partition is worth, computed plainly on the host with NumPy and SciPy.

Nothing here uses the algorithms.  Graphs, hypergraphs and part arrays on a GPU are copied to the
host first.
"""

from portpart.base.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)

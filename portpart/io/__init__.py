"""Graphs, hypergraphs and partitions in files, packed or not: METIS, Matrix Market, edge lists,
DIMACS, npz, ParHIP; hMETIS, PaToH, ISPD98, Bookshelf; netlists in gate-level Verilog, BLIF and
AIGER, and traces of their edits.
"""

from portpart.base.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)

"""Graphs, hypergraphs and partitions in files, packed or not: METIS, Matrix Market, edge lists,
DIMACS, npz, ParHIP; hMETIS, PaToH, ISPD98, Bookshelf; netlists in gate-level Verilog, BLIF and
AIGER, and traces of their edits.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""Edits of graphs and hypergraphs, in batches that are applied in whole or not at all.

What becomes of a batch:

1. `batch` and `net_batch` have checked types, shapes and ranges when their methods were called.
2. `id_table`: ids are inserted and deleted provisionally; each has the place in the batch at
   which it is deleted.  `upload` lists the pairs of deleted ids.
3. `operations`: operations become keys of row and element, an edge in both directions; sorted, they
   give one combined change for each key.  The first that cannot be made refuses the batch.
4. `rewrite`: prefix sums over the changes say what rows need, and where those go that have outgrown
   their places.  Then memory is taken, and last rows are written.
5. `fused` does 3 and 4 of a small batch in one program, by `at_once_steps`; `upload` brings all
   its arrays to the space in one copy.

Whatever fails before rows are written leaves all as it was.  Time follows from the batch and the
rows that it touches; only a pool that is full is copied, and then it grows.  `Editable.undo`
makes the opposite changes by the same kernels.
"""

from portpart.base.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)

"""Edits of graphs and hypergraphs, in batches that are applied completely or not at all.

The steps of a batch:

1. `batch` and `net_batch` check types, shapes and ranges when their methods are called.
2. `id_table` inserts and deletes ids provisionally.  A deleted id holds its place in the batch.
   `upload` lists the pairs of deleted ids.
3. `operations` converts operations to keys of row and element, an edge in both directions, and
   sorts them.  Each key has one combined change.  An invalid operation refuses the batch.
4. `rewrite` computes the capacity that rows need, and new places for outgrown rows, by prefix sums
   over the changes.  Then memory is allocated.  Last, rows are written.
5. `fused` does 3 and 4 of a small batch in one program; `upload` copies all its arrays to the
   space at once.

An error before rows are written leaves everything unchanged.  The time depends on the batch and the
rows that it changes; only a full pool is copied as a whole, and it grows then.  `Editable.undo`
makes the inverse changes with the same kernels.
"""

from portpart.base.doors import door

__getattr__, __dir__, __all__ = door(__name__, __file__)

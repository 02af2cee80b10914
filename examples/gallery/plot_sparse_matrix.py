"""
Rows of a sparse matrix in a better order
=========================================

A grid whose unknowns are numbered at random. With the rows of a block next to each other most
entries are in diagonal blocks; what is outside is sent in a product.
"""

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

import portpart

line = sp.diags_array([1.0, -2.0, 1.0], offsets=[-1, 0, 1], shape=(30, 30))
shuffled = np.random.default_rng(0).permutation(900)
matrix = sp.csr_array(sp.kronsum(line, line))[shuffled][:, shuffled]
result = portpart.partition(portpart.as_hypergraph(matrix, diagonal=True), 6)
order = np.argsort(result.part, kind="stable")
print("words sent:", result.km1)

# %%
# The same matrix before and after.

figure, (before, after) = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
before.spy(matrix, markersize=1)
after.spy(matrix[order][:, order], markersize=1)
for border in np.cumsum(result.block_weights)[:-1]:
    after.axhline(border - 0.5, color="C1", lw=0.8)
    after.axvline(border - 0.5, color="C1", lw=0.8)

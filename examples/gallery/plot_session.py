"""
A session follows edits
=======================

Forty batches of edits of a graph. After each the session looks at what is around them; now and then
it refines all levels.
"""

import matplotlib.pyplot as plt
import numpy as np

import portpart

grid = portpart.generators.grid_2d(60)
session = portpart.Session(grid, 8)
rng = np.random.default_rng(1)
updates = []
for _ in range(40):
    batch = session.batch()
    near = rng.integers(0, 60 * 60 - 61, 12)
    batch.insert_edges(near, near + 61)
    batch.delete_edges(near, near + 1, missing="ignore")
    updates.append(session.apply(batch))

# %%
# The cut, and what has moved in each round.

figure, axes = plt.subplots(figsize=(8, 5))
portpart.plot.session(updates, ax=axes)

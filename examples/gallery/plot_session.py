"""
A session follows edits
=======================

Forty batches of edits of a graph. After each the session looks at what is around them; now and then
it refines all levels.
"""

import matplotlib.pyplot as plt

import portpart

grid = portpart.generators.grid_2d(60)
session = portpart.Session(grid, 8)
edits = portpart.generators.RandomEdits(grid, seed=1, ends="near")
updates = []
for _ in range(40):
    batch = session.batch()
    edits.play(batch, 25)
    updates.append(session.apply(batch))

# %%
# The cut, and what has moved in each round.

figure, axes = plt.subplots(figsize=(8, 5))
portpart.plot.session(updates, ax=axes)

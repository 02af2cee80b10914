"""
Unequal blocks and fixed vertices
=================================

Two processors are twice as fast as the other four, and what touches the left border has to be in
block 0, where its data comes from.
"""

import matplotlib.pyplot as plt
import numpy as np

import portpart

points = np.random.default_rng(2).random((3_000, 2))
graph = portpart.generators.triangulation(points)
place = np.where(points[:, 0] < 0.02, 0, -1)
result = portpart.partition(graph, 6, target=[2, 2, 1, 1, 1, 1], fixed=place)
print((result.part[place == 0] == 0).all(), result.block_weights)

# %%
# The weights of the blocks stand beside their limits.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
colors = portpart.plot.block_colors(graph, result)
portpart.plot.partition(points, result, graph, colors=colors, ax=left)
portpart.plot.block_weights(result, colors=colors, ax=right)

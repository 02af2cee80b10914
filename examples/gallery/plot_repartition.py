"""
A load that moves
=================

A zone of elements that take five times as long has moved to the right. A new partition moves many
elements to other blocks; the higher the price of moves, the fewer move, and the larger is the cut.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial import Delaunay

import portpart

points = np.random.default_rng(3).random((3_000, 2))
mesh = portpart.as_mesh(Delaunay(points).simplices)
dual = mesh.dual_graph(common_nodes=2)
centres = points[mesh.nodes.reshape(-1, 3)].mean(axis=1)


def load(x, y):
    """Weights: five times as much near a place."""
    return np.where(np.hypot(*(centres - (x, y)).T) < 0.25, 5, 1)


old = portpart.partition(dual, 8, vertex_weights=load(0.3, 0.3))
prices = (0, "0.1", 1)
new = [portpart.repartition(dual, old, 8, vertex_weights=load(0.5, 0.3), migration=price)
       for price in prices]

# %%
# Elements under a dark dot move; a colour is a block.

colors = portpart.plot.block_colors(dual, old)
figure, axes = plt.subplots(1, 3, figsize=(12, 4.4), layout="constrained")
for axis, price, result in zip(axes, prices, new):
    portpart.plot.partition(points, result, mesh=mesh, colors=colors, ax=axis)
    axis.scatter(*centres[old.part != result.part].T, color="0.1", s=3)
    axis.set_title(f"price {price}: cut {result.cut}, {result.moved} move")

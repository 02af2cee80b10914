"""
Blocks of a mesh
================

The air around an airfoil: a triangular mesh in 32 blocks of nearly equal weight. Triangles are
small where the air is disturbed, so blocks there are small as well.
"""

import matplotlib.pyplot as plt

import portpart

graph, points = portpart.generators.airfoil_mesh(20_000)
result = portpart.partition(graph, 32)
print("cut", result.cut, "imbalance", round(result.imbalance, 4))

# %%
# ``window`` enlarges what is close to the wing. Neighbouring blocks have different colours.

figure, (whole, near) = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
portpart.plot.partition(points, result, graph, edges="none", ax=whole)
portpart.plot.partition(points, result, graph, window=(-1.6, 1.6, -1.6, 1.6), ax=near)

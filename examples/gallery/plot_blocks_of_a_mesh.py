"""
Blocks of a mesh
================

The triangles around an airfoil, in 32 blocks of nearly equal weight.
"""

import matplotlib.pyplot as plt

import portpart

graph, points = portpart.generators.airfoil_mesh(10_000)
result = portpart.partition(graph, 32)
plt.scatter(*points.T, c=result.part, s=1)

"""
Elements of a mesh
==================

Elements are divided by the dual graph, in which triangles that share an edge are neighbours; each
node then goes where most of its elements are.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial import Delaunay

import portpart

rng = np.random.default_rng(0)
radius, angle = np.sqrt(rng.uniform(0.15, 1, 700)), rng.uniform(0, 2 * np.pi, 700)
points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
triangles = Delaunay(points).simplices
triangles = triangles[np.hypot(*points[triangles].mean(axis=1).T) > 0.38]
mesh = portpart.as_mesh(triangles)
result = portpart.partition(mesh.dual_graph(common_nodes=2), 6)
nodes = mesh.node_part(result.part, 6)

# %%
# Elements to the left, nodes to the right.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
portpart.plot.partition(points, result, mesh=mesh, ax=left)
portpart.plot.partition(points, nodes, mesh.nodal_graph(), ax=right)

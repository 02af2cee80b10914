"""
Traffic on a machine
====================

A mesh on four nodes of two sockets of four cores. A mapping keeps traffic inside of sockets and
nodes: near the diagonal. A partition whose blocks have any number does not.
"""

import matplotlib.pyplot as plt
import numpy as np

import portpart

graph = portpart.generators.delaunay(10_000)
mapping = portpart.map_processes(graph, "4:2:4", "1:10:100")
anyhow = np.random.default_rng(0).permutation(32)[portpart.partition(graph, 32).part]
print("cost", mapping.cost, "of the other",
      portpart.metrics.mapping_cost(graph, anyhow, mapping.topology))

# %%
# Lines part sockets, and thicker ones nodes.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
portpart.plot.traffic(mapping, ax=left)
portpart.plot.traffic(graph, anyhow, mapping.topology, ax=right)
right.set_title("a partition, numbered anyhow")

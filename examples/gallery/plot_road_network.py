"""
A road network
==============

Roads are thin: a few dozen crossings part a large network.
"""

import matplotlib.pyplot as plt

import portpart

graph = portpart.generators.road_network(20_000)
result = portpart.partition(graph, 12)
print(graph, "cut", result.cut)

# %%
# Its generator tells no places; the layout finds some.

figure, axes = plt.subplots(figsize=(8, 6), layout="constrained")
portpart.plot.graph(graph, result, ax=axes)

"""
Presets trade time for cut
==========================

Five seeds of each preset on one mesh: ``strong`` and ``best`` combine several partitions, so that
their cuts are lower and vary less.
"""

import matplotlib.pyplot as plt

import portpart

graph = portpart.generators.delaunay(6_000)
presets = ("fast", "default", "strong", "best")
cuts = [[portpart.partition(graph, 16, preset=preset, seed=seed).cut for seed in range(5)]
        for preset in presets]

# %%
# Each dot is a partition.

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for place, each in enumerate(cuts):
    axes.scatter([place] * len(each), each, color=f"C{place}", alpha=0.7)
    axes.hlines(sum(each) / len(each), place - 0.2, place + 0.2, color=f"C{place}")
axes.set(xticks=range(len(presets)), xticklabels=presets, ylabel="cut", title="16 blocks")
axes.grid(axis="y", alpha=0.3)

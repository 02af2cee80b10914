"""
A network without coordinates
=============================

Vertices that have no places get some from the spectrum of the graph. Here the characters of a
novel, joined if they meet.
"""

import matplotlib.pyplot as plt
import networkx

import portpart

novel = networkx.les_miserables_graph()
result = portpart.partition(novel, 5, imbalance=0.1)
for members in result.blocks():
    print(", ".join(sorted(members)[:5]), "...")

# %%
# To the right the quotient graph: blocks as large as they weigh, lines as wide as the cuts.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
colors = portpart.plot.block_colors(novel, result)
portpart.plot.graph(novel, result, colors=colors, ax=left)
portpart.plot.quotient(novel, result, colors=colors, ax=right)

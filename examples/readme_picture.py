"""Draw docs/airfoil.png, the picture of README.md: the blocks of a mesh near an airfoil.

python examples/readme_picture.py [FILE]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from drawing import colours_of_blocks
from PIL import Image

import portpart

FILE = Path(__file__).resolve().parents[1] / "docs" / "airfoil.png"
WINDOW = (-3.2, 3.2, -1.6, 1.6)
COLOURS = 32


def main(file: Path) -> None:
    """Partition as README.md does, and draw vertices as large as they are apart."""
    graph, points = portpart.generators.airfoil_mesh(50_000)
    part = portpart.partition(graph, 32, imbalance=0.03).part
    arcs = graph.to_scipy().tocoo()
    length = np.linalg.norm(points[arcs.row] - points[arcs.col], axis=1)
    apart = np.bincount(arcs.row, length) / np.bincount(arcs.row)
    colours = colours_of_blocks(portpart.metrics.quotient_graph(graph, part, 32).to_scipy())
    figure = plt.figure(figsize=(8, 4))
    axes = figure.add_axes((0, 0, 1, 1))
    left, right, low, high = WINDOW
    points_per_unit = 72 * 8 / (right - left)
    size = (1.4 * apart * points_per_unit) ** 2
    axes.scatter(*points.T, s=size, c=colours[part], linewidths=0)
    axes.set(xlim=(left, right), ylim=(low, high))
    axes.axis("off")
    figure.savefig(file, dpi=100)
    plt.close(figure)
    Image.open(file).convert("RGB").quantize(COLOURS).save(file, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FILE)

"""Draw docs/airfoil.png, the picture of README.md: the blocks of a mesh near an airfoil.

python examples/readme_picture.py [FILE]
"""

from __future__ import annotations

import sys
from pathlib import Path

from matplotlib.figure import Figure
from PIL import Image

import portpart

FILE = Path(__file__).resolve().parents[1] / "docs" / "airfoil.png"
WINDOW = (-3.2, 3.2, -1.6, 1.6)
COLOURS = 48


def main(file: Path) -> None:
    """Partition as README.md does, and draw what is around the airfoil."""
    graph, points = portpart.generators.airfoil_mesh(50_000)
    result = portpart.partition(graph, 32, imbalance=0.03)
    figure = Figure(figsize=(8, 4))
    ax = portpart.plot.partition(points, result, graph, window=WINDOW,
                                 ax=figure.add_axes((0, 0, 1, 1)))
    ax.set_title("")
    figure.savefig(file, dpi=100)
    Image.open(file).convert("RGB").quantize(COLOURS).save(file, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FILE)

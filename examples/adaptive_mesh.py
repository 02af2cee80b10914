"""A mesh that is refined around a moving front, on processes that give each other few cells.

    python examples/adaptive_mesh.py [--steps 40] [--levels 8] [-k 12] [--price 0.03]

In each step cells are divided and joined, so that the load moves.  A new partition would send a
third of all cells to other processes; repartitioning weighs each of them against the cut.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import portpart

plt.switch_backend("Agg")

OUTPUT = Path(__file__).resolve().parents[1] / "demo-output"


def main() -> None:
    """Follow the front twice: by repartitioning, and by new partitions that are renumbered."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--levels", type=int, default=8, help="how often cells may be halved")
    parser.add_argument("-k", type=int, default=12, help="processes")
    parser.add_argument("--price", default="0.03", help="of a cell that is sent, in cut edges")
    parser.add_argument("--folder", type=Path, default=OUTPUT)
    options = parser.parse_args()
    steps = list(portpart.generators.moving_front(options.steps, max_level=options.levels))
    kept, cuts, sent = followed(steps, options.k, options.price)
    _, new_cuts, new_sent = followed(steps, options.k, "0")
    cells = sum(len(step.levels) for step in steps[1:])
    print(f"{options.steps} steps, {len(steps[0].levels):,} cells at first, of which "
          f"{np.mean([1 - step.kept.mean() for step in steps[1:]]):.0%} are new in each step")
    print(f"{'':<14}{'cut edges':>12}{'cells sent':>12}{'of all':>8}")
    for name, cut, cells_sent in (("repartitioned", cuts, sent), ("new each time", new_cuts,
                                                                  new_sent)):
        print(f"{name:<14}{sum(cut):>12,}{sum(cells_sent):>12,}{sum(cells_sent) / cells:>8.1%}")
    options.folder.mkdir(parents=True, exist_ok=True)
    picture = options.folder / "adaptive_mesh.png"
    draw(steps, kept, [(cuts, new_cuts), (sent, new_sent)], picture)
    print(f"written: {picture}")


def followed(steps: list[portpart.generators.MeshStep], k: int,
             price: str) -> tuple[list[np.ndarray], list[int], list[int]]:
    """The process of each cell in each step; cut edges and cells sent from the second step on."""
    parts = [portpart.partition(steps[0].graph, k).part]
    cuts, sent = [], []
    for step in steps[1:]:
        here = parts[-1][step.origins]  # a new cell is made where the one it comes from is
        result = portpart.repartition(step.graph, here, k, migration=price)
        if result.moved != (result.part != here).sum():
            raise SystemExit("cells sent are not counted right: a defect, please report it")
        parts.append(result.part)
        cuts.append(result.cut)
        sent.append(result.moved)
    return parts, cuts, sent


def draw(steps: list[portpart.generators.MeshStep], parts: list[np.ndarray],
         curves: list[tuple[list[int], list[int]]], file: Path) -> None:
    """Draw three steps with the blocks in colours, and curves of cuts and of cells sent."""
    figure, axes = plt.subplots(1, 5, figsize=(25, 5))
    k = int(max(part.max() for part in parts)) + 1
    colours = portpart.plot.block_colors(steps[0].graph, parts[0], k)
    for place, number in enumerate((0, len(steps) // 2, len(steps) - 1)):
        step = steps[number]
        sizes = (300 * 0.5**step.levels) ** 2
        axes[place].scatter(*step.centres.T, s=sizes, marker="s", c=colours[parts[number]],
                            linewidths=0)
        axes[place].set(title=f"step {number}", aspect="equal", xlim=(0, 1), ylim=(0, 1))
        axes[place].axis("off")
    for side, title, (own, new) in zip(axes[3:], ("cut edges", "cells sent"), curves):
        side.plot(range(1, len(steps)), new, color="0.6", label="new partition each step")
        side.plot(range(1, len(steps)), own, color="C3", label="repartitioned")
        side.set(title=title, xlabel="step", ylim=(0, None))
        side.legend()
    figure.savefig(file, dpi=80, bbox_inches="tight")
    plt.close(figure)


if __name__ == "__main__":
    main()

"""Time batches of random edits of a mesh, without partitioning.

    python -m bench.edits --sizes 25,1000,100000 --vertices 1000000

Half of a batch are new edges, half are edges of the batch before, which go.
"""

from __future__ import annotations

import time
from typing import Any

import click
import numpy as np


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--sizes", default="25,1000,100000", show_default=True, help="Edits of a batch.")
@click.option("--vertices", default=1_000_000, show_default=True)
@click.option("--device", default="cpu", show_default=True)
@click.option("--rounds", default=50, show_default=True)
def main(sizes: str, vertices: int, device: str, rounds: int) -> None:
    import portpart
    from bench.spaces import space_of
    from portpart.algorithms.edits.editable import EditableGraph

    side = int(vertices**0.5)
    edited = EditableGraph(portpart.generators.grid_2d(side, side).to(space_of(device)))
    print(f"{'edits':>8} {'median ms':>10} {'best':>8} {'worst':>8} {'edits/s':>10}  pool")
    for size in map(int, sizes.split(",")):
        seconds = sorted(_rounds(edited, size, rounds))
        median = seconds[len(seconds) // 2]
        print(f"{size:8} {1e3 * median:10.3f} {1e3 * seconds[0]:8.3f} {1e3 * seconds[-1]:8.3f} "
              f"{size / median:10.3g}  {edited.arcs.pool_length}")


def _rounds(edited: Any, size: int, rounds: int) -> list[float]:
    """Seconds of each round but the first few: half new edges, half those of the round before."""
    random = np.random.default_rng(1)
    before: tuple[np.ndarray, np.ndarray] | None = None
    seconds = []
    for _ in range(rounds + 5):
        ends = random.integers(0, edited.vertices.count, (2, size - size // 2))
        batch = edited.batch()
        if before is not None:
            batch.delete_edges(*before, missing="ignore")
        batch.insert_edges(*ends)
        begin = time.perf_counter()
        edited.apply(batch)
        edited.space.synchronize()
        seconds.append(time.perf_counter() - begin)
        before = ends[0][: size // 2], ends[1][: size // 2]
    return seconds[5:]


if __name__ == "__main__":
    main()

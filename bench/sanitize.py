"""A small run that touches every kernel, for compute-sanitizer: ``make sanitize``.

Each array gets memory of its own instead of a piece of CuPy's pool, and programs are walked on the
host, so that an access beyond an array is seen and told with the kernel's name.
"""

from __future__ import annotations

import time
from typing import Any

import click
import numpy as np


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--vertices", default=1500, show_default=True)
@click.option("--k", default=6, show_default=True)
@click.option("--presets", default="fast,default", show_default=True)
@click.option("--device", default="cuda", show_default=True, help="cpu works too, for a dry run.")
@click.option("--pool", is_flag=True, help="Take memory from CuPy's pool.")
@click.option("--programs", default="walk", show_default=True, help="resident, graph or walk.")
def main(vertices: int, k: int, presets: str, device: str, pool: bool, programs: str) -> None:
    import portpart

    space = portpart.space(device)
    if space.kind == "cuda":
        space.program_mode = programs
        if not pool:
            _without_pool()
    for name, graph in small_graphs(vertices).items():
        for preset in presets.split(","):
            begin = time.perf_counter()
            result = portpart.partition(graph.to(space), k, preset=preset, imbalance=0.01)
            print(f"{name} {preset}: cut {result.cut}, imbalance {result.imbalance:.3f}, "
                  f"{time.perf_counter() - begin:.1f} s", flush=True)
            assert result.cut == portpart.metrics.cut(graph, result.part)
    _primitives(space)
    print("all done")


def small_graphs(vertices: int) -> dict[str, Any]:
    """Return a mesh, a weighted mesh with a heavy vertex, and a skewed graph with loose ends."""
    import portpart

    mesh = portpart.generators.delaunay(vertices)
    weights = np.random.default_rng(1).integers(0, 9, vertices)
    weights[0] = weights.sum() // 8
    tails = np.repeat(np.arange(vertices), np.diff(mesh.offsets))
    edge_weights = (tails + mesh.targets) % 7
    scale = max(4, vertices.bit_length() - 1)
    return {
        "mesh": mesh,
        "weighted mesh": portpart.as_graph(mesh, vertex_weights=weights,
                                           edge_weights=edge_weights),
        "rmat": portpart.generators.rmat(scale, 8),
    }  # fmt: skip


def _primitives(space: Any) -> None:
    """Run every primitive below, at and above the size of a tile."""
    from bench.primitive_cases import CASES

    for name, make in CASES.items():
        for size in (1, 100, 8192, 20_001):
            make(space, size)[0]()
        space.synchronize()
        print(name, flush=True)


def _without_pool() -> None:
    import cupy

    cupy.cuda.set_allocator(None)
    cupy.cuda.set_pinned_memory_allocator(None)


if __name__ == "__main__":
    main()

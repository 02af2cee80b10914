"""Partition a mesh, compare with METIS, draw the blocks: ``make demo [GRAPH=file] [K=64]``.

Without a file it makes an unstructured mesh of about 200,000 vertices around an airfoil.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import pymetis

import portpart
import portpart.errors

MESH_POINTS = 200_000
OUTPUT = Path(__file__).resolve().parents[1] / "demo-output"


def main() -> int:
    """Run the demo; the exit code is 0 if the partition keeps the bound, 2 after an error."""
    try:
        return _run(_parse())
    except (portpart.errors.PortpartError, OSError) as error:
        print(f"demo: {error}", file=sys.stderr)
        return 2


def _run(options: argparse.Namespace) -> int:
    """Partition twice, compare with METIS and draw."""
    graph, points, name = _make_or_read(options.graph, options.points, options.seed)
    print(f"{name}: {graph.num_vertices:,} vertices, {graph.num_edges:,} edges")
    print(f"k = {options.k}, imbalance at most {options.imbalance:.0%}, seed {options.seed}\n")

    first, compiling = _timed_partition(graph, options)
    result, seconds = _timed_partition(graph, options)
    if not np.array_equal(first.part, result.part):
        print("the two runs differ: this is a defect, please report it", file=sys.stderr)
        return 1
    metis_part, metis_seconds = _run_metis(graph, options)
    _print_table(graph, options.k, {
        "portpart": (result.part, seconds), "METIS": (metis_part, metis_seconds),
    })  # fmt: skip
    phases = ", ".join(f"{phase} {time:.3f} s" for phase, time in result.stats["phases"].items())
    print(f"\nportpart by phase: {phases}")
    print(
        f"first call: {compiling:.2f} s, of which {max(0.0, compiling - seconds):.2f} s compiling "
        "(or loading compiled code from the disk cache); the second gave the same partition"
    )
    if not options.no_picture:
        print(f"picture: {_draw(graph, points, result.part, options)}")
    return 0 if result.feasible else 1


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graph", nargs="?", help="a graph file; default: an airfoil mesh")
    parser.add_argument("-k", type=int, default=64, help="number of blocks (default 64)")
    parser.add_argument("--imbalance", type=float, default=0.03)
    parser.add_argument("--preset", default="default")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--points", type=int, default=MESH_POINTS, help="size of the mesh")
    parser.add_argument("--output", type=Path, default=OUTPUT / "demo.png")
    parser.add_argument("--no-picture", action="store_true")
    return parser.parse_args()


def _make_or_read(
    file: str | None, num_points: int, seed: int
) -> tuple[portpart.Graph, np.ndarray | None, str]:
    begin = time.perf_counter()
    if file:
        graph, points, name = portpart.io.read(file), None, file
    else:
        graph, points = portpart.generators.airfoil_mesh(num_points, seed=seed)
        name = "mesh around an airfoil"
    print(f"{'read' if file else 'made'} in {time.perf_counter() - begin:.2f} s")
    return graph, points, name


def _timed_partition(
    graph: portpart.Graph, options: argparse.Namespace
) -> tuple[portpart.PartitionResult, float]:
    begin = time.perf_counter()
    result = portpart.partition(
        graph, options.k, imbalance=options.imbalance, preset=options.preset,
        device=options.device, seed=options.seed,
    )  # fmt: skip
    return result, time.perf_counter() - begin


def _run_metis(graph: portpart.Graph, options: argparse.Namespace) -> tuple[np.ndarray, float]:
    """Return the partition of METIS k-way with the same imbalance, and its seconds."""
    index = pymetis.zero_copy_dtype()
    weights = {
        name: None if array is None else array.astype(index)
        for name, array in (("eweights", graph.weights), ("vweights", graph.vertex_weights))
    }
    adjacency = pymetis.CSRAdjacency(graph.offsets.astype(index), graph.targets.astype(index))
    settings = pymetis.Options(ufactor=round(1000 * options.imbalance), seed=options.seed)
    begin = time.perf_counter()
    _, part = pymetis.part_graph(
        options.k, adjacency=adjacency, recursive=False, options=settings, **weights
    )
    return np.asarray(part, np.int32), time.perf_counter() - begin


def _print_table(
    graph: portpart.Graph, k: int, answers: dict[str, tuple[np.ndarray, float]]
) -> None:
    """Print cut, imbalance and seconds of each answer, by the same evaluator."""
    print(f"{'':<10}{'cut':>12}{'imbalance':>12}{'seconds':>10}")
    for name, (part, seconds) in answers.items():
        cut = portpart.metrics.cut(graph, part)
        imbalance = portpart.metrics.imbalance(graph, part, k)
        print(f"{name:<10}{cut:>12,}{imbalance:>12.4f}{seconds:>10.3f}")


def _draw(
    graph: portpart.Graph, points: np.ndarray | None, part: np.ndarray,
    options: argparse.Namespace,
) -> Path:  # fmt: skip
    sys.path.insert(0, str(Path(__file__).parent))
    import drawing

    options.output.parent.mkdir(parents=True, exist_ok=True)
    if points is None:
        drawing.draw_blocks(graph, part, options.k, options.output)
    else:
        drawing.draw_mesh(graph, points, part, options.k, options.output)
    return options.output


if __name__ == "__main__":
    sys.exit(main())

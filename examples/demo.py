"""Partition a mesh, compare with METIS, draw the blocks: ``make demo [GRAPH=file] [K=64]``.

Without a file it makes an unstructured mesh of about 200,000 vertices around an airfoil.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pymetis

import portpart
import portpart.errors

MESH_POINTS = 200_000
OUTPUT = Path(__file__).resolve().parents[1] / "demo-output"
PRESETS = ("fast", "default")
WINDOW = 0.02
"""Share of the width of a mesh that the second picture enlarges."""


@dataclass(frozen=True)
class Answer:
    """A partition, judged by one evaluator whoever made it.

    Attributes
    ----------
    name : str
    part : ndarray of int32, shape (n,)
    seconds : float
    cut : int
    imbalance : float
    """

    name: str
    part: np.ndarray
    seconds: float
    cut: int
    imbalance: float


def main() -> int:
    """Run the demo; the exit code is 0 if partitions keep the bound, 2 after an error."""
    try:
        return _run(_parse())
    except (portpart.errors.PortpartError, OSError) as error:
        print(f"demo: {error}", file=sys.stderr)
        return 2


def _run(options: argparse.Namespace) -> int:
    """Partition with each preset, twice; compare with METIS and draw."""
    graph, points, name = _make_or_read(options.graph, options.points, options.seed)
    print(f"{name}: {graph.num_vertices:,} vertices, {graph.num_edges:,} edges")
    print(f"k = {options.k}, imbalance at most {options.imbalance:.0%}, seed {options.seed}\n")

    answers, results, first_calls = [], [], []
    for preset in PRESETS:
        first, seconds = _timed_partition(graph, preset, options, progress=True)
        first_calls.append(seconds)
        result, seconds = _timed_partition(graph, preset, options, progress=False)
        if not np.array_equal(first.part, result.part):
            print("two runs differ: this is a defect, please report it", file=sys.stderr)
            return 1
        results.append(result)
        answers.append(_judged(f"portpart {preset}", graph, result.part, seconds, options.k))
    metis = _judged("METIS", graph, *_run_metis(graph, options), options.k)
    _print_table([*answers, metis])
    fast, default = answers
    print(f"\nfast: {what_it_buys(fast, metis)}")
    print(f"default: {what_it_buys(default, metis)}; {what_it_buys(default, fast)}")
    phases = ", ".join(f"{phase} {time:.3f} s"
                       for phase, time in results[-1].stats["phases"].items())
    print(f"default by phase: {phases}")
    print(f"first calls, with loading or compiling code: {first_calls[0]:.2f} s and "
          f"{first_calls[1]:.2f} s; they gave the same partitions")
    if not options.no_picture:
        print(f"picture: {_draw(graph, points, results[-1], options)}")
    return 0 if all(result.feasible for result in results) else 1


def what_it_buys(answer: Answer, other: Answer) -> str:
    """What an answer cuts and takes beside another."""
    change = (answer.cut - other.cut) / max(1, other.cut)
    cut = f"cuts {abs(change):.1%} {'less' if change < 0 else 'more'} than {other.name}"
    slower = answer.seconds / max(1e-9, other.seconds)
    time = f"{slower:.1f} times the time" if slower > 1 else f"{slower:.0%} of the time"
    return f"{cut} in {time}"


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graph", nargs="?", help="a graph file; default: an airfoil mesh")
    parser.add_argument("-k", type=int, default=64, help="number of blocks (default 64)")
    parser.add_argument("--imbalance", type=float, default=0.03)
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


def _timed_partition(graph: portpart.Graph, preset: str, options: argparse.Namespace, *,
                     progress: bool) -> tuple[portpart.PartitionResult, float]:
    begin = time.perf_counter()
    result = portpart.partition(graph, options.k, imbalance=options.imbalance, preset=preset,
                                device=options.device, seed=options.seed, progress=progress)
    return result, time.perf_counter() - begin


def _run_metis(graph: portpart.Graph, options: argparse.Namespace) -> tuple[np.ndarray, float]:
    """Return the partition of METIS k-way with the same imbalance, and its seconds."""
    index = pymetis.zero_copy_dtype()
    weights: dict[str, Any] = {
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


def _judged(name: str, graph: portpart.Graph, part: np.ndarray, seconds: float,
            k: int) -> Answer:
    return Answer(name, part, seconds, portpart.metrics.cut(graph, part),
                  portpart.metrics.imbalance(graph, part, k))


def _print_table(answers: list[Answer]) -> None:
    print(f"{'':<18}{'cut':>12}{'imbalance':>12}{'seconds':>10}")
    for answer in answers:
        print(f"{answer.name:<18}{answer.cut:>12,}{answer.imbalance:>12.4f}"
              f"{answer.seconds:>10.3f}")


def _draw(graph: portpart.Graph, points: np.ndarray | None, result: portpart.PartitionResult,
          options: argparse.Namespace) -> Path:
    """Draw the blocks of a mesh and its centre; of a file the graph and its blocks."""
    from matplotlib.figure import Figure

    colors = portpart.plot.block_colors(graph, result)
    figure = Figure(figsize=(16, 8), layout="constrained")
    left, right = figure.subplots(1, 2)
    if points is None:
        portpart.plot.graph(graph, result, colors=colors, ax=left)
        portpart.plot.quotient(graph, result, colors=colors, ax=right)
    else:
        portpart.plot.partition(points, result, graph, colors=colors, ax=left)
        portpart.plot.partition(points, result, graph, colors=colors, ax=right,
                                edges="all", window=_centre(points))
        right.set_title("the middle, with its edges")
    options.output.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(options.output, dpi=120)
    return options.output


def _centre(points: np.ndarray) -> tuple[float, float, float, float]:
    x, y = np.median(points, axis=0)
    reach = WINDOW * np.ptp(points[:, 0])
    return x - reach, x + reach, y - reach, y + reach


if __name__ == "__main__":
    sys.exit(main())

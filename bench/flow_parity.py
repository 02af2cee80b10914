"""Flow refinement of drawn graphs and hypergraphs: the same partitions wherever they are made.

    python -m bench.flow_parity --runs 500
    python -m bench.flow_parity --runs 500 --spaces cpu:1,cuda

Each run draws a graph, weights, fixed vertices, sizes of blocks and options of flows from its
number.  The partitions of all spaces are compared; rows whose arcs come in another order are, too.
"""

from __future__ import annotations

import time
from typing import Any

import click
import numpy as np

import portpart
from portpart import generators
from portpart.algorithms.recipes.portpart import PRESETS
from portpart.algorithms.recipes.portpart_nets import PRESETS as OF_NETS
from portpart.options import changed

FAMILIES = ("delaunay", "grid", "r-mat", "geometric", "netlist")


class Draw:
    """A problem, drawn by a number.

    Attributes
    ----------
    name : str
    graph : Graph or Hypergraph
    k : int
    given : dict
        Keywords of `portpart.partition`.
    """

    def __init__(self, number: int) -> None:
        rng = np.random.default_rng(number)
        family = FAMILIES[number % len(FAMILIES)]
        self.graph = _drawn(family, rng)
        n, self.k = self.graph.num_vertices, int(rng.choice([2, 3, 4, 7, 16]))
        self.name = f"{number} {family} {n} k={self.k}"
        flows = {"levels": int(rng.integers(1, 5)), "alpha": float(rng.choice([1, 2, 4, 16])),
                 "depth": int(rng.integers(1, 8)), "round_limit": int(rng.integers(1, 4))}
        presets = OF_NETS if family == "netlist" else PRESETS
        config = changed(presets["default"], {f"flows.{key}": each for key, each in flows.items()})
        self.given: dict[str, Any] = {"preset": config, "seed": number,
                                      "imbalance": float(rng.choice([0.01, 0.03, 0.1]))}
        if rng.random() < 0.3:
            fixed = np.where(rng.random(n) < 0.05, rng.integers(0, self.k, n), -1)
            self.given["fixed"] = fixed.astype(np.int32)
        if rng.random() < 0.3:
            self.given["target"] = rng.integers(2, 6, self.k) / 1.0


def _drawn(family: str, rng: np.random.Generator) -> Any:
    n, seed = int(rng.integers(100, 4000)), int(rng.integers(1, 1000))
    if family == "netlist":
        return generators.netlist(n, seed=seed)
    graph = (generators.delaunay(n, seed=seed) if family == "delaunay"
             else generators.grid_2d(int(n**0.5) + 2) if family == "grid"
             else generators.random_geometric(n, seed=seed) if family == "geometric"
             else generators.rmat(int(rng.integers(8, 12)), 6, seed=seed))
    if rng.random() < 0.5:
        return graph
    matrix = graph.to_scipy().tocoo()
    upper = matrix.row < matrix.col
    ends = np.stack([matrix.row[upper], matrix.col[upper]], axis=1)
    return portpart.from_edges(
        ends, edge_weights=rng.integers(1, 1000, len(ends)), num_vertices=graph.num_vertices,
        vertex_weights=rng.integers(1, 9, graph.num_vertices))


def spaces_of(text: str) -> dict[str, Any]:
    """Spaces by their names: a device, for CPUs with the number of threads behind the colon."""
    found = {}
    for name in text.split(","):
        kind, _, number = name.partition(":")
        found[name] = (portpart.space("cpu", threads=int(number)) if kind == "cpu" and number
                       else portpart.space(name))
    return found


@click.command(help=__doc__, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--runs", default=500, show_default=True)
@click.option("--first", default=0, show_default=True, help="Number of the first run.")
@click.option("--spaces", default="cpu:1,cpu:2,cpu:3", show_default=True)
def main(runs: int, first: int, spaces: str) -> None:
    """Compare the partitions of all spaces, run by run; exit with 1 if any differ."""
    found, different, begin = spaces_of(spaces), [], time.perf_counter()
    for number in range(first, first + runs):
        draw = Draw(number)
        parts = {name: space.to_host(portpart.partition(draw.graph.to(space), draw.k,
                                                        **draw.given).part)
                 for name, space in found.items()}
        wanted = next(iter(parts.values()))
        bad = [name for name, part in parts.items() if not np.array_equal(part, wanted)]
        if bad:
            different.append(number)
            click.echo(f"{draw.name}: {', '.join(bad)} differ from {next(iter(parts))}")
        if number % 50 == 49:
            click.echo(f"{number + 1 - first} runs, {len(different)} differ, "
                       f"{time.perf_counter() - begin:.0f} s", err=True)
    click.echo(f"{runs} runs on {', '.join(found)}: {len(different)} differ")
    raise SystemExit(bool(different))


if __name__ == "__main__":
    main()

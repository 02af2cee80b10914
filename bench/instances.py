"""Graphs to measure on: the real ones of a data folder, and generated ones that anyone can make.

Real graphs: METIS files of ``$PORTPART_DATA/graphs`` (default ``../shared/data/graphs`` beside the
repository), classes and sizes from its CATALOG.md.  Generated graphs come from
`portpart.generators` with their default seeds, whose docstrings say how to make them elsewhere.
Some of published sizes take gigabytes: nothing but their name, or the set published, asks for them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

from bench.peers import HostGraph

if TYPE_CHECKING:
    from portpart.graphs.graph import Graph

ROOT = Path(__file__).resolve().parents[1]
GRAPH_CACHE = Path(__file__).parent / "results" / "graphs"


@dataclass(frozen=True)
class Instance:
    """A graph by name; `num_edges` is known before the graph is made (0: unknown)."""

    name: str
    family: str
    num_edges: int
    make: Callable[[], HostGraph]
    made_by_us: bool = True


def data_folder() -> Path:
    """Return the folder of real graphs, whether or not it exists."""
    return Path(os.environ.get("PORTPART_DATA") or ROOT.parent / "shared" / "data")


def select(patterns: list[str], max_edges: int | None = None) -> list[Instance]:
    """Return the instances whose name, family or set matches a pattern, smallest first.

    Sets are real and generated, together all, and published.
    """
    chosen = [
        instance
        for group, instances in (("real", real()), ("generated", generated()))
        for instance in instances
        if any(
            pattern in (group, "all") or fnmatch(instance.name, pattern)
            or fnmatch(instance.family, pattern)
            for pattern in patterns
        )
    ]  # fmt: skip
    chosen += [instance for instance in published()
               if {instance.name, "published"} & set(patterns)]
    fitting = [each for each in chosen if max_edges is None or each.num_edges <= max_edges]
    return sorted(fitting, key=lambda instance: instance.num_edges)


def real() -> Iterator[Instance]:
    """Yield the graphs of the data folder; none if there is no such folder."""
    catalogue = _catalogue(data_folder() / "CATALOG.md")
    for path in sorted((data_folder() / "graphs").glob("*.graph*")):
        name = path.name.partition(".")[0]
        family, num_edges = catalogue.get(name, ("real", 0))
        yield Instance(name, family, num_edges, lambda path=path: _read(path), made_by_us=False)


def generated() -> Iterator[Instance]:
    """Yield the synthetic graphs, from thousands to tens of millions of edges."""
    from portpart import generators as make

    for s in (13, 15, 17, 20):
        yield _generated(f"delaunay_2^{s}", 3 * 2**s, lambda s=s: make.delaunay(2**s))
    for s in (13, 15, 17, 20, 22):
        yield _generated(f"rgg_2^{s}", 7 * 2**s, lambda s=s: make.random_geometric(2**s))
    for s in (15, 20):
        yield _generated(f"road_2^{s}", 2**s * 107 // 100, lambda s=s: make.road_network(2**s))
    for s in (12, 14, 16, 18):
        yield _generated(f"rmat_2^{s}", 14 * 2**s, lambda s=s: make.rmat(s))
    for rows, columns in ((300, 300), (1000, 1000), (2000, 4000)):
        size, sides = 2 * rows * columns, (rows, columns)
        yield _generated(f"grid_{rows}x{columns}", size, lambda sides=sides: make.grid_2d(*sides))
    for side in (20, 100, 200):
        yield _generated(f"cube_{side}", 3 * side**3, lambda side=side: make.grid_3d(side))


def published() -> Iterator[Instance]:
    """Yield synthetic graphs as large as some in papers: as cop20k_A, and as the largest."""
    from portpart import generators as make

    for dimensions, radius in ((2, 0.00901), (3, 0.03985)):
        yield _generated(f"points_{dimensions}d", 1_263_000, lambda r=radius, d=dimensions:
                         make.random_geometric(99_843, radius=r, dimensions=d))
    yield _generated("delaunay_2^24", 3 * 2**24, lambda: make.delaunay(2**24))
    for millions in (12, 50):
        n = millions * 10**6
        yield _generated(f"road_{millions}M", n * 107 // 100, lambda n=n: make.road_network(n))


def prepare(name: str) -> None:
    """Make a generated graph and keep it in a file, unless that has been done."""
    path = GRAPH_CACHE / f"{name}.npz"
    instance = select([name])[0]
    if path.exists() or not instance.made_by_us:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{os.getpid()}-{path.name}")
    instance.make().save(draft)
    draft.replace(path)


def cached(instance: Instance) -> HostGraph:
    """Return a graph from the file that `prepare` has left; a real graph from its own."""
    path = GRAPH_CACHE / f"{instance.name}.npz"
    return HostGraph.load(path) if path.exists() else instance.make()


def by_name(name: str) -> HostGraph:
    """Return the graph called `name`."""
    return select([name])[0].make()


def _generated(name: str, num_edges: int, make: Callable[[], Graph]) -> Instance:
    return Instance(name, name.split("_")[0], num_edges, lambda: _host(make()))


def _read(path: Path) -> HostGraph:
    import portpart

    return _host(portpart.io.read(path))


def _host(graph: Graph) -> HostGraph:
    return HostGraph(graph.offsets, graph.targets, graph.weights, graph.vertex_weights)


def _catalogue(path: Path) -> dict[str, tuple[str, int]]:
    """Return {name: (class, number of edges)} from the table of graphs in CATALOG.md."""
    if not path.exists():
        return {}
    rows = (line.split("|") for line in path.read_text().splitlines() if line.startswith("| "))
    entries = {}
    for row in rows:
        cells = [cell.strip() for cell in row[1:]]
        if len(cells) > 5 and cells[3].replace(",", "").isdigit():
            entries.setdefault(cells[0], (cells[1], int(cells[3].replace(",", ""))))
    return entries

"""The cases: graphs, hypergraphs, numbers of blocks and presets; the digests of what comes out."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np

import portpart
from portpart import generators
from portpart.graphs.graph import Graph
from portpart.graphs.hypergraph import EitherGraph
from tests import oracles
from tests.golden import hypergraphs
from tests.helpers import data_folder

BLOCKS = (2, 8, 64)
SEED = 5


def weighted(graph: Graph, seed: int, *, vertices: int = 0, edges: int = 0) -> Graph:
    """`graph` with drawn weights from 1 to `vertices` and to `edges` (0: none)."""
    random = np.random.default_rng(seed)
    n = graph.num_vertices
    sources = np.repeat(np.arange(n), np.diff(graph.offsets))
    own = random.integers(1, 2**31, n)
    drawn = (own[sources] ^ own[graph.targets]) % max(1, edges) + 1  # the same in both directions
    return portpart.as_graph(
        graph, edge_weights=drawn if edges else None,
        vertex_weights=random.integers(1, vertices + 1, n) if vertices else None,
    )


GENERATED: dict[str, Callable[[], Graph]] = {
    "delaunay-12": lambda: generators.delaunay(2**12),
    "delaunay-15": lambda: generators.delaunay(2**15),
    "delaunay-13-weighted": lambda: weighted(generators.delaunay(2**13), 1, vertices=9, edges=99),
    "rgg-12-weighted": lambda: weighted(generators.random_geometric(2**12), 2, vertices=50),
    "rgg-14": lambda: generators.random_geometric(2**14),
    "rmat-12": lambda: generators.rmat(12, 8),
    "rmat-14": lambda: generators.rmat(14, 8),
    "rmat-12-weighted": lambda: weighted(generators.rmat(12, 6), 3, edges=2**40),
    "grid-2d": lambda: generators.grid_2d(128),
    "grid-2d-weighted": lambda: weighted(generators.grid_2d(60), 4, vertices=2**40, edges=5),
    "grid-3d": lambda: generators.grid_3d(24),
    "grid-3d-small": lambda: generators.grid_3d(16),
}
REAL = ("3elt", "4elt", "add20", "uk", "cs4", "fe_4elt2", "memplus", "rome99", "PGPgiantcompo",
        "email-Enron")
GRAPHS = (*GENERATED, *REAL)
ON_BANDS: dict[str, Callable[[], Graph]] = {
    "grid-2d-300": lambda: generators.grid_2d(300),
    "delaunay-16-weighted": lambda: weighted(generators.delaunay(2**16), 5, vertices=9, edges=99),
}
"""Graphs that only `default` runs on, which refines them by flows on their band graphs."""
ALL = (*GRAPHS, *ON_BANDS, *hypergraphs.NAMES)
SMALL = {"delaunay-12", "rgg-12-weighted", "rmat-12", "rmat-12-weighted", "grid-2d-weighted",
         "grid-3d-small", "3elt", "add20", "uk", "rome99"}
"""Graphs that the slow presets run on; the others run the fast ones."""
LARGE = set(GRAPHS) - SMALL
HANDED_OVER = {"delaunay-15", "memplus", "cs4", "email-Enron", "rmat-12-weighted"}
"""Graphs of which most are large enough for GP-metis to match vertices before METIS gets them."""

PRESETS = {
    "jet": {"default": GRAPHS, "ultra": SMALL, "fast": LARGE, "paper": SMALL,
            "paper-ultra": {"delaunay-12", "rmat-12", "grid-2d-weighted", "add20"}, "code": SMALL,
            "code-ultra": {"delaunay-12", "rmat-12", "grid-2d-weighted", "add20"}},
    "gkway": {"default": GRAPHS, "strong": SMALL, "paper": SMALL},
    "igkway": {"default": SMALL, "paper": {"delaunay-12", "rmat-12-weighted", "uk", "add20"}},
    "gpmetis": {"default": GRAPHS, "strong": SMALL, "paper": HANDED_OVER},
    "portpart": {"default": GRAPHS, "strong": SMALL, "best": SMALL, "fast": LARGE},
}
"""The graphs that each preset runs on."""

MANY_BLOCKS = (300, 1024, 4096)
GRAPHS_OF_MANY = {"delaunay-15", "rgg-14", "rmat-14", "grid-2d", "email-Enron"}
PRESETS_OF_MANY = {"jet": ("default",), "gkway": ("default",), "gpmetis": ("default",),
                   "portpart": ("fast", "default")}
"""What is divided into many blocks too, some of them of four vertices that fill them."""

ROUNDS = 60
"""So many that a population of 24 is full, and similarity decides what leaves it."""

WITH_ROUNDS = (("add20", 2, None), ("uk", 8, None), ("rmat-12-weighted", 2, None),
               ("delaunay-12", 8, None), ("netlist-1500", 2, "km1"), ("netlist-1500", 8, "km1"))
"""Graphs and hypergraphs of searches with rounds, the number of blocks, and the objective."""


@dataclass(frozen=True)
class Case:
    """One partition, of a hypergraph if it has an objective."""

    graph: str
    k: int
    algorithm: str
    preset: str
    objective: str | None = None
    rounds: int | None = None

    def __str__(self) -> str:
        named = f"{self.graph} k={self.k} {self.algorithm} {self.preset}"
        named = named if self.objective is None else f"{named} {self.objective}"
        return named if self.rounds is None else f"{named} rounds={self.rounds}"


def cases() -> Iterator[Case]:
    """All of them, graph by graph, then hypergraph by hypergraph."""
    yield from _of_graphs()
    for name, runs in hypergraphs.RUNS.items():
        yield from (Case(name, *run) for run in runs)
    yield from (Case(name, k, "portpart", "best", objective, ROUNDS)
                for name, k, objective in WITH_ROUNDS)


def _of_graphs() -> Iterator[Case]:
    for graph in GRAPHS:
        for algorithm, presets in PRESETS.items():
            for preset, graphs in presets.items():
                if graph in graphs:
                    yield from (Case(graph, k, algorithm, preset) for k in BLOCKS)
        if graph in GRAPHS_OF_MANY:
            for algorithm, names in PRESETS_OF_MANY.items():
                yield from (Case(graph, k, algorithm, preset)
                            for preset in names for k in MANY_BLOCKS)
    yield from (Case(graph, k, "portpart", "default") for graph in ON_BANDS for k in BLOCKS)


@functools.lru_cache(maxsize=2)
def graph_of(name: str) -> EitherGraph:
    """The graph or hypergraph; raises pytest's Skipped if it is a real one and not here."""
    if name in hypergraphs.NAMES:
        return hypergraphs.hypergraph_of(name)
    if name in GENERATED or name in ON_BANDS:
        return {**GENERATED, **ON_BANDS}[name]()
    graph: Graph = portpart.io.read(data_folder.graph_path(name))
    return graph


def digest_of_graph(graph: EitherGraph) -> str:
    """Digest of rows and weights, whatever their types."""
    state = hashlib.sha256()
    for name, array in graph.arrays.items():
        state.update(name.encode())
        if array is not None:
            state.update(oracles.host(array).astype("<i8").tobytes())
    return state.hexdigest()


def outcome_of(case: Case, graph: EitherGraph, device: str) -> dict[str, Any]:
    """Cut, or what else is minimised, and digest of the partition that `device` finds."""
    result = portpart.partition(graph, case.k, algorithm=case.algorithm, preset=case.preset,
                                objective=case.objective, seed=SEED, device=device,
                                rounds=case.rounds)
    assert result.feasible, case
    part, value = oracles.host(result.part).astype("<i4"), case.objective or "cut"
    return {value: getattr(result, value), "part": hashlib.sha256(part.tobytes()).hexdigest()}


@functools.cache
def metis_in_use() -> dict[str, str]:
    """Version of pymetis, and a digest of what its METIS answers: that may differ by platform."""
    import pymetis

    grid = generators.grid_2d(30)
    adjacency = pymetis.CSRAdjacency(grid.offsets, grid.targets)
    state = hashlib.sha256()
    for k in (3, 16, 50):
        for recursive in (False, True):
            _, part = pymetis.part_graph(k, adjacency, recursive=recursive,
                                         options=pymetis.Options(seed=k))
            state.update(np.asarray(part, "<i4").tobytes())
    return {"pymetis": version("pymetis"), "answers": state.hexdigest()}

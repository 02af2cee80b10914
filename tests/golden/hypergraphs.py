"""The hypergraphs of which partitions are kept, and into how many blocks and by what they are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_matrix

import portpart
from portpart import generators
from portpart.graphs.hypergraph import Hypergraph
from tests.helpers import data_folder
from tests.helpers.nets import neighbourhoods


def with_macros() -> Hypergraph:
    """A netlist of weighted nets, of whose cells some are large and some weigh nothing."""
    cells, random = generators.netlist(1200, seed=2), np.random.default_rng(3)
    weights = random.integers(0, 9, 1200)
    weights[random.integers(0, 1200, 12)] = 60
    return portpart.as_hypergraph((cells.net_offsets, cells.net_pins), vertex_weights=weights,
                                  net_weights=random.integers(0, 9, 1200))


def of_matrix() -> Hypergraph:
    """The rows of a matrix that is not symmetric: a band, a few full rows, and empty columns."""
    random, n = np.random.default_rng(4), 1500
    rows = np.concatenate([random.integers(0, n, 9000), np.repeat([3, 700], 400)])
    columns = np.concatenate([np.minimum(rows[:9000] + random.integers(-20, 21, 9000), n - 9),
                              random.integers(0, n, 800)])
    matrix = csr_matrix((np.ones(len(rows)), (rows, np.maximum(columns, 0))), (n, n))
    return portpart.as_hypergraph(matrix, model="row-net")


def of_gates() -> Hypergraph:
    """An and-inverter graph: each gate reads two earlier ones, mostly near; a net for each."""
    random, n = np.random.default_rng(5), 2000
    gates = np.arange(40, n)
    back = random.geometric(0.02, (2, len(gates)))
    drivers = [np.arange(n), *(np.maximum(gates - steps, 0) for steps in back)]
    readers = [np.arange(n), gates, gates]
    order = np.argsort(np.concatenate(drivers), kind="stable")
    counts = np.bincount(np.concatenate(drivers), minlength=n)
    return portpart.as_hypergraph((np.cumsum([0, *counts]), np.concatenate(readers)[order]))


def of_covers() -> Hypergraph:
    """Few rows that many columns cover two to five of, mostly neighbours: all nets are large."""
    random, n = np.random.default_rng(6), 3500
    columns = np.repeat(np.arange(n), random.integers(2, 6, n))
    rows = (random.integers(0, 12, n)[columns] + random.integers(-2, 3, len(columns))) % 12
    matrix = csr_matrix((np.ones(len(rows)), (rows, columns)), (12, n))
    return portpart.as_hypergraph(matrix, model="row-net")


GENERATED: dict[str, Callable[[], Hypergraph]] = {
    "netlist-1500": lambda: generators.netlist(1500),
    "netlist-1200-macros": with_macros,
    "matrix-1500": of_matrix,
    "gates-2000": of_gates,
    "covers-3500": of_covers,
    "network-1024": lambda: neighbourhoods(generators.rmat(10)),
}
REAL = ("tv80",)
NAMES = (*GENERATED, *REAL)

Run = tuple[int, str, str, str]
"""Number of blocks, algorithm, preset and objective."""

RUNS: dict[str, list[Run]] = {
    "netlist-1500": [*((k, "portpart", preset, "km1") for k in (2, 8)
                       for preset in ("fast", "default", "strong", "best")),
                     (64, "portpart", "fast", "km1"), (130, "portpart", "default", "km1"),
                     (8, "portpart", "default", "cut"), (8, "portpart", "default", "soed"),
                     (2, "hyperg", "paper", "cut"), (8, "hyperg", "default", "cut"),
                     (2, "ihyperg", "paper", "km1"), (8, "ihyperg", "default", "km1")],
    "netlist-1200-macros": [(2, "portpart", "default", "km1"), (8, "portpart", "strong", "cut"),
                            (64, "portpart", "default", "cut"), (64, "portpart", "fast", "soed"),
                            (2, "hyperg", "default", "km1")],
    "matrix-1500": [(2, "portpart", "fast", "soed"), (8, "portpart", "default", "km1"),
                    (130, "portpart", "fast", "cut"), (8, "hyperg", "paper", "soed"),
                    (130, "hyperg", "default", "km1")],
    "gates-2000": [(2, "portpart", "strong", "cut"), (8, "portpart", "fast", "km1"),
                   (64, "portpart", "default", "km1")],
    "covers-3500": [(2, "portpart", "strong", "km1"), (8, "portpart", "default", "km1")],
    "network-1024": [(8, "portpart", "default", "km1"), (64, "portpart", "default", "km1"),
                     (64, "portpart", "fast", "soed")],
    "tv80": [(2, "portpart", "default", "cut"), (8, "portpart", "default", "km1"),
             (64, "portpart", "fast", "km1"), (64, "portpart", "default", "km1"),
             (64, "portpart", "strong", "soed"), (2, "hyperg", "default", "cut"),
             (2, "portpart", "strong", "km1"), (8, "portpart", "best", "km1")],
}


def hypergraph_of(name: str) -> Hypergraph:
    """The hypergraph; raises pytest's Skipped if it is a real one and not here."""
    if name in GENERATED:
        return GENERATED[name]()
    return portpart.io.read_hypergraph(data_folder.hypergraph_path(name))

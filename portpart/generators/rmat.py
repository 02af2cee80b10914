"""R-MAT: random graphs with a skewed degree distribution (Chakrabarti, Zhan, Faloutsos, 2004)."""

from __future__ import annotations

import numpy as np

from portpart.errors import InputError
from portpart.graphs import Graph, edges_graph

MAX_SCALE = 30


def rmat(
    scale: int,
    edge_factor: int = 16,
    seed: int = 3,
    *,
    a: float = 0.57,
    b: float = 0.19,
    c: float = 0.19,
) -> Graph:
    """Return an R-MAT graph of ``2**scale`` vertices.

    Parameters
    ----------
    scale : int
    edge_factor : int
        Edges drawn per vertex; loops and duplicates are dropped, so fewer remain.
    seed : int
        ``rng = numpy.random.default_rng(seed)``; for each of the `scale` bits of the vertex
        numbers, the highest first, ``rng.random(number of edges)`` picks the quadrants.
    a, b, c : float
        Probabilities of the upper left, upper right and lower left quadrant of the adjacency
        matrix; the lower right one has the rest.

    Returns
    -------
    Graph
        Without weights; vertices without an edge are kept.

    Examples
    --------
    >>> import portpart
    >>> portpart.generators.rmat(8, 4)
    <Graph: 256 vertices, 751 edges, on cpu>
    """
    if not 0 <= scale <= MAX_SCALE:
        raise InputError(f"scale is {scale}; it must lie in 0 ... {MAX_SCALE}")
    check_shares(a, b, c)
    random = np.random.default_rng(seed)
    n = 1 << scale
    sources, targets = (np.zeros(n * edge_factor, np.int32) for _ in range(2))
    for bit in reversed(range(scale)):
        draw = random.random(len(sources))
        lower, right = draw >= a + b, ((draw >= a) & (draw < a + b)) | (draw >= a + b + c)
        sources |= lower.astype(np.int32) << bit
        targets |= right.astype(np.int32) << bit
    return edges_graph(n, sources, targets)


def check_shares(a: float, b: float, c: float) -> None:
    """Raise unless these are possible probabilities of three quadrants."""
    if min(a, b, c) < 0 or not a + b + c <= 1:
        raise InputError(f"a, b, c = {a}, {b}, {c} are not probabilities: they must be >= 0 and "
                         "add up to at most 1")

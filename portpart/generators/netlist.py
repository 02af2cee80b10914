"""Netlists with the locality of circuits: hypergraphs that obey Rent's rule.

Gates are the leaves of a binary tree. A gate drives one net, and the subtree that contains a sink
and its driver is rarely large: a subtree of B gates has of the order of B**rent nets that leave it
(Landman and Russo, 1971). A few nets, such as clock and reset, reach half of all gates.
"""

from __future__ import annotations

import math

import numpy as np

from portpart.errors import InputError
from portpart.graphs import Hypergraph, nets_hypergraph

WIDE_NETS = 2
"""Number of nets with half of all vertices each."""

MIN_WIDE = 64
"""Netlists with fewer vertices have no such nets."""

CODE_BITS = 32
"""Bits of places of the tree: vertex v is the leaf at 2**32 v / n."""


def netlist(num_vertices: int, fanout: float = 2.6, rent: float = 0.65,
            seed: int = 6) -> Hypergraph:
    """Return a hypergraph like a netlist of gates: as many nets as vertices, most of them small.

    Parameters
    ----------
    num_vertices : int
    fanout : float
        Mean number of pins besides the driver, including the wide nets: about ``fanout + 1`` pins
        per vertex. At least 2, as the wide nets take 1.
    rent : float
        Rent's exponent, above 0 and below 1; circuits have 0.5 to 0.75.
    seed : int
        ``rng = numpy.random.default_rng(seed)`` draws ``rng.geometric`` sinks for each vertex, for
        each sink ``rng.random`` the size of the subtree and ``rng.integers`` the leaf, and
        ``rng.random`` for each vertex and wide net whether it is a pin.

    Returns
    -------
    Hypergraph
        Without weights, on the host.  Net v has the pin v, its driver; the last two nets have half
        of all vertices.  Vertices are numbered along the tree, so that subtrees are ranges.

    Notes
    -----
    Takes about a second and 250 MB per million vertices.

    Examples
    --------
    >>> import portpart
    >>> portpart.generators.netlist(1_000)
    <Hypergraph: 1,000 vertices, 1,000 nets, 3,533 pins, on cpu>
    """
    if num_vertices < 0:
        raise InputError(f"{num_vertices} vertices are not possible")
    if not 2 <= fanout < math.inf or not 0 < rent < 1:
        raise InputError(f"fanout is {fanout} and rent {rent}; they must be at least 2, and "
                         "between 0 and 1")
    n, random = num_vertices, np.random.default_rng(seed)
    wide = WIDE_NETS if n >= MIN_WIDE else 0
    sinks = random.geometric(1 / (fanout - wide / 2), n)
    sinks[n - wide :] = 0
    drivers = np.repeat(np.arange(n), sinks)
    heads = _sinks(drivers, n, rent, random)
    pins = [_with_drivers(n - wide, sinks[: n - wide], heads)]
    sizes = [1 + sinks[: n - wide]]
    for net in range(n - wide, n):
        taken = random.random(n, np.float32) < 0.5
        taken[net] = True
        pins.append(np.flatnonzero(taken))
        sizes.append(np.array([len(pins[-1])]))
    offsets = np.zeros(n + 1, np.int64)
    np.cumsum(np.concatenate(sizes), out=offsets[1:])
    return nets_hypergraph(offsets, np.concatenate(pins), n)


def _sinks(drivers: np.ndarray, n: int, rent: float, random: np.random.Generator) -> np.ndarray:
    """Return for each driver a leaf of a subtree with ``2**(level - 1)`` to ``2**level`` leaves.

    The level is above l with probability ``2**((rent - 1) l)``. By Rent's rule, this is the share
    of the nets of a subtree of ``2**l`` leaves that leave it.
    """
    if n < 2:
        return np.zeros(len(drivers), np.int64)
    depth = math.ceil(math.log2(n))
    level = (np.log2(1 - random.random(len(drivers))) / (rent - 1)).astype(np.int64)
    width = CODE_BITS - depth + np.minimum(level, depth - 1)  # bits below the lowest common node
    code = (drivers << CODE_BITS) // n
    code = (code ^ (1 << width)) & -(1 << width)
    code |= random.integers(1 << CODE_BITS, size=len(drivers)) & ((1 << width) - 1)
    heads: np.ndarray = (code * n) >> CODE_BITS
    return np.where(heads == drivers, (heads + 1) % n, heads)


def _with_drivers(count: int, sinks: np.ndarray, heads: np.ndarray) -> np.ndarray:
    """Return the pins of the ordinary nets: each driver, then its sinks."""
    begins = np.cumsum(sinks + 1) - sinks - 1
    pins = np.empty(count + len(heads), np.int64)
    is_sink = np.ones(len(pins), bool)
    is_sink[begins] = False
    pins[begins] = np.arange(count)
    pins[is_sink] = heads
    return pins

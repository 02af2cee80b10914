"""The hypergraph that all algorithms use: an immutable value with rows of nets and of vertices.

A net joins any number of vertices, its pins.  Both directions are stored: the pins of each net and
the nets of each vertex, ascending and each once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from portpart.backends import language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.graphs.graph import Graph
from portpart.graphs.structure import MAX_INT32, SQUARES, Csr, GraphOfSpace
from portpart.primitives import TILE, row_measures, rows_above

if TYPE_CHECKING:
    from collections.abc import Hashable


class Nets(kl.Record):
    """Rows of pins for kernels: net e has ``pins[begin[e]] ... pins[end[e] - 1]``.

    Attributes
    ----------
    begin, end : array of int32 or int64, shape (m,)
    pins : array of int32, shape (num_pins,)
    weights : array of int32 or int64, shape (m,), or None
    """

    begin: Array
    end: Array
    pins: Array
    weights: Array | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Hypergraph(GraphOfSpace):
    """A hypergraph in the memory of one execution space.

    The constructor trusts its arrays; user input is checked by :func:`as_hypergraph`.

    Parameters
    ----------
    net_offsets : array of int32 or int64, shape (m + 1,)
        Net e has the pins ``net_offsets[e] ... net_offsets[e + 1] - 1``.
    net_pins : array of int32, shape (num_pins,)
        The vertices of each net, ascending, each once.
    net_weights : array of int32 or int64, shape (m,), or None
        None means that every net weighs 1.
    vertex_offsets, vertex_nets : array
        The nets of each vertex in the same form, ascending.
    vertex_weights : array of int64, shape (n,), or None
        None means that every vertex weighs 1.
    space : ExecutionSpace
        The space that owns the arrays.
    repeated_pins : int
        Number of repeated pins, which are left out.
    names, net_names : sequence or None
        The name of each vertex and of each net, None if they have no names.

    Notes
    -----
    Nets with fewer than two pins cost nothing; they are kept, so nets keep their numbers.
    The hypergraph's own arrays in host memory are read-only.

    Examples
    --------
    >>> import portpart
    >>> nets = portpart.as_hypergraph([[0, 1, 2], [2, 3]])
    >>> nets
    <Hypergraph: 4 vertices, 2 nets, 5 pins, on cpu>
    >>> nets.net_offsets.tolist(), nets.net_pins.tolist()
    ([0, 3, 5], [0, 1, 2, 2, 3])
    >>> nets.vertex_offsets.tolist(), nets.vertex_nets.tolist()
    ([0, 1, 2, 4, 5], [0, 0, 0, 1, 1])
    """

    net_offsets: Array
    net_pins: Array
    net_weights: Array | None
    vertex_offsets: Array
    vertex_nets: Array
    vertex_weights: Array | None
    space: ExecutionSpace
    _totals: dict[str, int] = field(default_factory=dict)
    repeated_pins: int = 0
    names: Sequence[Hashable] | None = None
    net_names: Sequence[Hashable] | None = None
    _rows: dict[str, Any] = field(default_factory=dict, init=False)
    _begun: dict[str, Callable[[], np.ndarray]] = field(default_factory=dict, init=False)

    @property
    def num_vertices(self) -> int:
        """Number of vertices n."""
        return len(self.vertex_offsets) - 1

    @property
    def num_nets(self) -> int:
        """Number of nets m."""
        return len(self.net_offsets) - 1

    @property
    def num_pins(self) -> int:
        """Number of pins."""
        return len(self.net_pins)

    @property
    def num_entries(self) -> int:
        """Entries of all rows: the pins."""
        return self.num_pins

    @property
    def mean_degree(self) -> float:
        """Nets per vertex (0 without vertices)."""
        return self.num_pins / max(1, self.num_vertices)

    @property
    def max_degree(self) -> int:
        """Most nets of a vertex; computed once, which synchronises."""
        begun = self._begun.pop("degree", None)
        if begun is not None:
            with self.space.counters.put_back():
                self._totals["degree"] = int(begun()[0])
        return self._measure("degree", self.vertex_offsets)

    @property
    def squared_degrees(self) -> int:
        """Sum of the squared numbers of nets of vertices; computed once, which synchronises."""
        return self._measure("degree", self.vertex_offsets, "degree" + SQUARES)

    @property
    def max_net_size(self) -> int:
        """Most pins of a net; computed once, which synchronises."""
        return self._measure("size", self.net_offsets)

    def num_nets_above(self, size: int) -> int:
        """Return the number of nets with more pins; computed once, which synchronises."""
        name = f"nets above {size}"
        if name not in self._totals:
            with self.space.counters.put_back():
                self._totals[name], = self.space.read(
                    rows_above(self.space, self.net_offsets, size, counts_rows=True),
                    lambda: self.space.guess("large", self, [0]))
        return self._totals[name]

    @property
    def total_net_weight(self) -> int:
        """Sum of the net weights; computed once."""
        return self._total("net", self.net_weights, self.num_nets)

    def mean_joint_weight(self, factor: int) -> int:
        """Return the mean weight of a net, times a factor."""
        return self.total_net_weight * factor // max(1, self.num_nets)

    @property
    def weight_sum_dtype(self) -> np.dtype:
        """The smallest of int32 and int64 that holds twice any sum of net weights."""
        return np.dtype(np.int32 if 2 * self.total_net_weight <= MAX_INT32 else np.int64)

    @property
    def whole(self) -> Hypergraph:
        """The whole hypergraph: this one."""
        return self

    @property
    def arrays(self) -> dict[str, Array | None]:
        """The arrays by name."""
        return {
            "net_offsets": self.net_offsets,
            "net_pins": self.net_pins,
            "net_weights": self.net_weights,
            "vertex_offsets": self.vertex_offsets,
            "vertex_nets": self.vertex_nets,
            "vertex_weights": self.vertex_weights,
        }

    @property
    def csr(self) -> Csr:
        """The nets of each vertex for kernels; created once."""
        if "csr" not in self._rows:
            self._rows["csr"] = Csr(self.vertex_offsets[:-1], self.vertex_offsets[1:],
                                    self.vertex_nets, None, self.vertex_weights, None)
        rows: Csr = self._rows["csr"]
        return rows

    @property
    def nets(self) -> Nets:
        """The pins of each net for kernels; created once."""
        if "nets" not in self._rows:
            self._rows["nets"] = Nets(self.net_offsets[:-1], self.net_offsets[1:], self.net_pins,
                                      self.net_weights)
        rows: Nets = self._rows["nets"]
        return rows

    def prefetch_max_degree(self) -> None:
        """Start to compute the highest degree, so that reading it does not wait for later work."""
        if "degree" not in self._totals:
            with self.space.counters.put_back():
                self._begun["degree"] = self.space.fetch(
                    row_measures(self.space, self.vertex_offsets))

    def _sizes(self) -> list[tuple[str, int]]:
        return [("vertices", self.num_vertices), ("nets", self.num_nets), ("pins", self.num_pins)]

    def _weights(self) -> dict[str, Array | None]:
        return {"net": self.net_weights, "vertex": self.vertex_weights}

    def _facts(self) -> list[tuple[str, object]]:
        mean = self.num_pins / max(1, self.num_nets)
        return [("pins of a net", f"{mean:.2f} in the mean")]


EitherGraph = Graph | Hypergraph
"""A graph or hypergraph; both have vertices, and a row for each vertex."""


# Counts of irregularities of a hypergraph ------------------------------------------------------


KINDS = 3
"""Rows without elements, rows of one element, and rows of weight 0."""


def irregularities(hypergraph: Hypergraph) -> dict[str, int]:
    """Return the numbers of unusual nets, pins and vertices; synchronises with the device."""
    h = hypergraph
    found = h.space.zeros(2 * KINDS, np.int64)
    _count(h, h.net_offsets, h.net_weights, 0, found)
    _count(h, h.vertex_offsets, h.vertex_weights, KINDS, found)
    counts = h.space.read(found, lambda: [0] * len(found))
    names = ("empty_nets", "single_pin_nets", "weightless_nets", "isolated_vertices", "",
             "weightless_vertices")
    odd = {name: count for name, count in zip(names, counts) if name}
    return {**odd, "repeated_pins": h.repeated_pins}


def _count(hypergraph: Hypergraph, offsets: Array, weights: Array | None, begin: int,
           found: Array) -> None:
    rows = len(offsets) - 1
    hypergraph.space.parallel_for(-(-rows // TILE), count_odd, offsets, weights, rows, begin, found,
                                  team=256)


@kl.kernel
def count_odd(tile, offsets, weights, rows, begin, found):
    """Count the unusual rows of a tile; atomic, independent of order."""
    empty = kl.int64(0)
    single = kl.int64(0)
    weightless = kl.int64(0)
    for row in range(tile * TILE + kl.lane(), min((tile + 1) * TILE, rows), kl.team_size()):
        length = kl.int64(offsets[row + 1]) - kl.int64(offsets[row])
        if length == 0:
            empty += 1
        if length == 1:
            single += 1
        if kl.value_or(weights, row, 1) == 0:
            weightless += 1
    empty = kl.team_sum(empty)
    single = kl.team_sum(single)
    weightless = kl.team_sum(weightless)
    if kl.lane() == 0:
        kl.atomic_add(found, begin, empty)
        kl.atomic_add(found, begin + 1, single)
        kl.atomic_add(found, begin + 2, weightless)

"""The common part of graphs and hypergraphs: rows, sizes, sums, and display."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from portpart.backends import as_space, language as kl
from portpart.backends.programs import Array, ExecutionSpace
from portpart.primitives import row_measures, sum_of

if TYPE_CHECKING:
    from typing_extensions import Self


# The rows of a graph for kernels ---------------------------------------------------------------


class Csr(kl.Record):
    """Compressed rows of arcs: arcs ``begin[v] ... end[v] - 1`` leave vertex v.

    Attributes
    ----------
    begin, end : array of int32 or int64, shape (n,)
        For a plain graph two views of the same offsets.
    targets : array of int32, shape (num_arcs,)
    weights : array of int32 or int64, shape (num_arcs,), or None
    vertex_weights : array of int64, shape (n,), or None
    global_ids : array of int32 or int64, or None
        Ids of the vertices in the whole graph, if these are some of its rows.  Hashes and
        comparisons use these ids, so that results are those of the whole graph.
    """

    begin: Array
    end: Array
    targets: Array
    weights: Array | None
    vertex_weights: Array | None
    global_ids: Array | None


def rows_of(offsets: Array, entries: Array) -> Csr:
    """Return rows without weights for kernels."""
    return Csr(offsets[:-1], offsets[1:], entries, None, None, None)


@kl.device
def global_id(v, graph: Csr):
    """Return the id of v in the whole graph."""
    return kl.value_or(graph.global_ids, v, v)


@kl.device
def degree_of(v, graph: Csr):
    """Return the number of arcs of v."""
    return kl.int64(graph.end[v]) - kl.int64(graph.begin[v])


# The largest numbers that graphs may hold ------------------------------------------------------


MAX_INT32_ARCS = 2**31 - 1
"""Offsets are int32 up to this number of arcs and int64 above it."""

MAX_INT32 = 2**31 - 1


# The common part of graphs and hypergraphs for moves of vertices between blocks ----------------


class Measures(Protocol):
    """Sizes and sums of a graph, on which decisions of algorithms depend.

    If a graph is some rows of a whole one, arrays and loops have the sizes of the rows, and
    decisions depend on the measures of the whole.
    """

    @property
    def num_vertices(self) -> int:
        """Number of vertices n."""

    @property
    def num_entries(self) -> int:
        """Entries of all rows together."""

    @property
    def mean_degree(self) -> float:
        """Entries per vertex (0 without vertices)."""

    @property
    def max_degree(self) -> int:
        """Most entries of a vertex; computed once, which synchronises."""

    @property
    def squared_degrees(self) -> int:
        """Sum of the squared degrees; computed once, which synchronises."""

    @property
    def total_vertex_weight(self) -> int:
        """Sum of the vertex weights; computed once."""

    @property
    def weight_sum_dtype(self) -> np.dtype:
        """The smallest of int32 and int64 that holds the sums of weights of any vertex."""

    def mean_joint_weight(self, factor: int) -> int:
        """Return the mean weight of an arc or a net, times a factor."""


class WithMeasures(Protocol):
    """A source of the measures of a whole graph."""

    @property
    def whole(self) -> Measures:
        """The measures of the whole graph: the graph itself, unless it is some rows of another."""


class Structure(Measures, WithMeasures, Protocol):
    """Vertices with weights, and a row of arcs or nets for each vertex."""

    @property
    def type_key(self) -> tuple[np.dtype | None, ...]:
        """The dtypes of the arrays, on which compiled programs depend."""

    @property
    def csr(self) -> Csr:
        """The rows for kernels."""

    @property
    def vertex_weights(self) -> Array | None:
        """Weights of the vertices, or None."""

    @property
    def space(self) -> ExecutionSpace:
        """The space that owns the arrays."""


class NetStructure(Structure, Protocol):
    """A structure whose rows are nets."""

    @property
    def num_nets(self) -> int:
        """Number of nets."""

    @property
    def max_net_size(self) -> int:
        """Upper limit of the number of pins of a net."""


# Sizes and sums of all graphs, also of those of which a rank has some rows, and copies ---------


class ArcMeasures:
    """Measures that follow from the numbers of vertices and arcs and the weight of all arcs."""

    __slots__ = ()

    if TYPE_CHECKING:
        @property
        def num_vertices(self) -> int: ...

        @property
        def num_arcs(self) -> int: ...

        @property
        def total_arc_weight(self) -> int: ...

    @property
    def num_entries(self) -> int:
        """Entries of all rows: the arcs."""
        return self.num_arcs

    @property
    def mean_degree(self) -> float:
        """Arcs per vertex (0 for the empty graph)."""
        return self.num_arcs / max(1, self.num_vertices)

    def mean_joint_weight(self, factor: int) -> int:
        """Return the mean weight of an arc, times a factor."""
        return self.total_arc_weight * factor // max(1, self.num_arcs)

    @property
    def weight_sum_dtype(self) -> np.dtype:
        """The smallest of int32 and int64 that holds any sum of arc weights."""
        return np.dtype(np.int32 if self.total_arc_weight <= MAX_INT32 else np.int64)


@dataclass(frozen=True)
class GraphTotals(ArcMeasures):
    """Sizes of a whole graph, equal on all ranks that have rows of it.

    Decisions that depend on them are those of one device (`graph.whole`).

    Attributes
    ----------
    num_vertices, num_arcs, max_degree, squared_degrees : int
    total_vertex_weight, total_arc_weight : int
        Sums of weights.
    """

    num_vertices: int
    num_arcs: int
    max_degree: int
    squared_degrees: int
    total_vertex_weight: int
    total_arc_weight: int


SQUARES = " squares"
"""Suffix to the name of rows, for the sum of their squared lengths."""

PLURALS = {"edge": "edges", "net": "nets", "vertex": "vertices"}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GraphOfSpace:
    """The common part of graph and hypergraph: arrays in the memory of a space, and their sums."""

    if TYPE_CHECKING:
        @property
        def vertex_weights(self) -> Array | None: ...

        @property
        def space(self) -> ExecutionSpace: ...

        @property
        def names(self) -> Sequence[Hashable] | None: ...

        @property
        def _totals(self) -> dict[str, int]: ...

        @property
        def num_vertices(self) -> int: ...

        @property
        def num_entries(self) -> int: ...

        @property
        def arrays(self) -> dict[str, Array | None]: ...

        def _sizes(self) -> list[tuple[str, int]]: ...

        def _facts(self) -> list[tuple[str, object]]: ...

        def _weights(self) -> dict[str, Array | None]: ...

    @property
    def total_vertex_weight(self) -> int:
        """Sum of the vertex weights; computed once."""
        return self._total("vertex", self.vertex_weights, self.num_vertices)

    @property
    def type_key(self) -> tuple[np.dtype | None, ...]:
        """The dtypes of the arrays, on which compiled programs depend."""
        arrays = (*self.arrays.values(), getattr(self, "global_ids", None))
        return tuple(None if array is None else array.dtype for array in arrays)

    def _total(self, name: str, weights: Array | None, count: int) -> int:
        if name not in self._totals:
            with self.space.counters.put_back():  # else the first caller would count the work
                self._totals[name] = count if weights is None else sum_of(self.space, weights)
        return self._totals[name]

    def _measure(self, name: str, offsets: Array, measure: str | None = None) -> int:
        """Return a measure of rows: the longest one under `name`, or the sum of `SQUARES`."""
        if (measure or name) not in self._totals:
            mean = self.num_entries // max(1, len(offsets) - 1)
            with self.space.counters.put_back():
                longest, self._totals[name + SQUARES] = self.space.read(
                    row_measures(self.space, offsets),
                    lambda: [2 * mean, 2 * mean * self.num_entries])
            self._totals.setdefault(name, longest)
        return self._totals[measure or name]

    def to(self, space: ExecutionSpace | str) -> Self:
        """Return a copy in the memory of `space`; the same object if it is there already.

        Parameters
        ----------
        space : ExecutionSpace or str
            A space, or the name of a device, as in :func:`portpart.space`: ``"cpu"``, ``"cuda"``,
            ``"cuda:1"``.

        Returns
        -------
        Graph or Hypergraph

        Raises
        ------
        InputError
            If there is no device of that name.
        DeviceUnavailable
            If the device cannot be used here.

        Examples
        --------
        >>> import portpart
        >>> portpart.generators.grid_2d(2).to("cpu")
        <Graph: 4 vertices, 4 edges, on cpu>
        """
        space = as_space(space)
        if space is self.space:
            return self
        arrays: dict[str, Any] = self.arrays
        if space.name != self.space.name:
            arrays = {name: array if array is None else space.asarray(self.space.to_host(array))
                      for name, array in arrays.items()}
            read_only(arrays.values())
        changes = {**arrays, "space": space, "_totals": dict(self._totals)}
        return replace(self, **changes)

    def __reduce__(self) -> tuple[Any, ...]:
        from portpart.graphs.arrays import owned

        values = {each.name: getattr(self, each.name) for each in fields(self) if each.init}
        for name, array in self.arrays.items():
            values[name] = None if array is None else owned(array, [array], copy=True)
        return from_pickle, (type(self), *values.values())

    def _repr_html_(self) -> str:
        weighted = " and ".join(PLURALS[name] for name, weights in self._weights().items()
                                if weights is not None)
        return table(type(self).__name__, [
            *self._sizes(), *self._facts()[:1], ("weights", weighted or "none"),
            *self._facts()[1:], ("names", None if self.names is None else "yes"),
            ("memory of", self.space.name)])

    def __repr__(self) -> str:
        sizes = ", ".join(f"{count:,} {what}" for what, count in self._sizes())
        weighted = " and ".join(name for name, weights in self._weights().items()
                                if weights is not None)
        with_weights = f", with {weighted} weights" if weighted else ""
        return f"<{type(self).__name__}: {sizes}{with_weights}, on {self.space.name}>"


def from_pickle(kind: type[GraphOfSpace], *values: Any) -> GraphOfSpace:
    """Return the graph or hypergraph of unpickled or copied values."""
    graph = kind(*values)
    read_only(graph.arrays.values())
    return graph


def read_only(arrays: Iterable[Array | None]) -> None:
    """Make the library's own host arrays read-only."""
    for array in arrays:
        if isinstance(array, np.ndarray):
            array.flags.writeable = False


# Names and values in rows: lines for terminals, tables for notebooks ---------------------------


TABLE = "color:inherit;border-collapse:collapse;margin:.3em 0;font-variant-numeric:tabular-nums"
TITLE = "text-align:left;padding:.2em .8em .3em 0;border-bottom:1px solid rgba(128,128,128,.5)"
NAME = "text-align:left;font-weight:normal;opacity:.75;padding:.1em 1.2em .1em 0"
VALUE = "text-align:left;padding:.1em .8em .1em 0"
"""Styles without colours: text and background have the colours of the page, light or dark."""


def table(title: str, facts: Iterable[tuple[str, object]]) -> str:
    """Return a table of two columns as HTML, all text escaped.

    Parameters
    ----------
    title : str
    facts : iterable of (name, value)
        Values that are None are left out.

    Returns
    -------
    str
    """
    from html import escape  # 0.3 MB, only for notebooks

    rows = "".join(f'<tr style="background:none"><th style="{NAME}">{escape(name)}</th>'
                   f'<td style="{VALUE}">{escape(shown(value))}</td></tr>'
                   for name, value in facts if value is not None)
    return (f'<table style="{TABLE}"><thead><tr><th colspan="2" style="{TITLE}">{escape(title)}'
            f"</th></tr></thead><tbody>{rows}</tbody></table>")


def aligned(facts: Mapping[str, object]) -> str:
    """Return a line for each name and value, with aligned values."""
    width = max(map(len, facts))
    return "\n".join(f"{name:<{width}}  {shown(value)}" for name, value in facts.items())


def shown(value: object) -> str:
    """Return a value as text: integers with thousands separators, floats with four decimals."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4f}"

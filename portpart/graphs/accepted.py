"""Types of what callers may pass where the library makes arrays and graphs of it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, Union

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class HoldsBlocks(Protocol):
    """A result or a session: what has a block for each vertex."""

    @property
    def part(self) -> ArrayLike: ...


Blocks: TypeAlias = Union["ArrayLike", Mapping[Hashable, int], HoldsBlocks]
"""A block for each vertex, in their order or by their names."""

Numbers: TypeAlias = Union["ArrayLike", Mapping[Hashable, float]]
"""A number for each vertex, edge, net or block, in their order or by their names; or the name of
the attribute or the column that has them."""


class OwnGraph(Protocol):
    """A `Graph`, a `Hypergraph` or the rows of a rank."""

    @property
    def num_vertices(self) -> int: ...


class OwnMesh(Protocol):
    """A `Mesh`."""

    @property
    def num_elements(self) -> int: ...

    @property
    def num_nodes(self) -> int: ...


class SparseMatrix(Protocol):
    """A sparse matrix of SciPy or CuPy."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def nnz(self) -> int: ...

    def tocsr(self) -> Any: ...


class Network(Protocol):
    """A graph of NetworkX, or a hypergraph of XGI or HyperNetX."""

    @property
    def nodes(self) -> Any: ...

    @property
    def edges(self) -> Any: ...


class IgraphNetwork(Protocol):
    """A graph of igraph."""

    def vcount(self) -> int: ...

    def ecount(self) -> int: ...


class NetworkitNetwork(Protocol):
    """A graph of NetworKit."""

    def numberOfNodes(self) -> int: ...  # noqa: N802

    def numberOfEdges(self) -> int: ...  # noqa: N802


class Frame(Protocol):
    """A table of edges of pandas, polars or cuDF."""

    @property
    def columns(self) -> Iterable[Hashable]: ...


class PathOfFile(Protocol):
    """A path that is no string."""

    def __fspath__(self) -> str: ...


GraphLike: TypeAlias = Union[
    "ArrayLike", OwnGraph, OwnMesh, SparseMatrix, Network, IgraphNetwork, NetworkitNetwork,
    Frame, Sequence[Any], Mapping[Any, Any], PathOfFile]
"""What :func:`portpart.as_graph` or :func:`portpart.as_hypergraph` takes; text is a path."""

MeshLike: TypeAlias = Union["ArrayLike", OwnMesh, Sequence[Any], PathOfFile]
"""What :func:`portpart.as_mesh` takes; text is a path."""

"""What a right answer is, checked with NumPy alone."""

from __future__ import annotations

import zlib
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from portpart import io as graph_io
from portpart.errors import InputError
from portpart.graphs.graph import Graph
from portpart.graphs.hypergraph import Hypergraph
from tests.oracles.balance import block_weight_limits

FORMATS = {"metis": ".graph", "matrix-market": ".mtx", "edge-list": ".txt", "dimacs": ".gr",
           "npz": ".npz", "parhip": ".parhip"}
HOLD_WEIGHTS = ("metis", "npz", "parhip")
"""Formats that have weights of vertices, and whose weights of edges are read by default."""

MAX_WRITTEN = 1 << 16
"""Vertices of graphs that are written and read again."""


class Wrong(AssertionError):
    """An answer that is not right."""


def require(condition: Any, what: str) -> None:
    if not condition:
        raise Wrong(what)


def check_graph(graph: Graph) -> None:
    """Offsets, ends, loops, symmetry, weights and totals."""
    offsets, targets, weights, masses = arrays = [
        None if array is None else np.asarray(array) for array in graph.arrays.values()]
    require(offsets.dtype in (np.int32, np.int64) and targets.dtype == np.int32, "types")
    require(all(array is None or array.ndim == 1 for array in arrays), "shapes")
    n = len(offsets) - 1
    require(n >= 0 and offsets[0] == 0 and offsets[-1] == len(targets), "ends of the offsets")
    require((offsets[1:] >= offsets[:-1]).all(), "offsets decrease")
    require(((targets >= 0) & (targets < n)).all(), "a target is not a vertex")
    sources = np.repeat(np.arange(n, dtype=np.int64), np.diff(offsets))
    require((sources != targets).all(), "a loop")
    values = np.ones(len(targets), np.int64) if weights is None else weights
    require(len(values) == len(targets) and (values >= 0).all(), "weights")
    require(masses is None or (len(masses) == n and (masses >= 0).all()), "vertex weights")
    there, back = (np.stack([a, b, values])[:, np.lexsort((values, b, a))]
                   for a, b in ((sources, targets), (targets, sources)))
    require((there == back).all(), "not symmetric")
    total, mass = exact_sum(values), n if masses is None else exact_sum(masses)
    require(total <= 2**62 and mass <= 2**62, "totals above 2**62")
    require((graph.total_arc_weight, graph.total_vertex_weight) == (total, mass), "totals")


def check_hypergraph(hypergraph: Hypergraph, data: bytes, folder: Path) -> None:
    """Rows both ways, weights and totals; and that writing changes nothing."""
    h = hypergraph
    nets, members = nets_of(h), [[] for _ in range(h.num_vertices)]
    for net, row in enumerate(nets):
        require(all(0 <= a < b for a, b in pairwise([0, *(pin + 1 for pin in row)])), "pins")
        for pin in row:
            require(pin < h.num_vertices, "a pin that is not a vertex")
            members[pin].append(net)
    offsets, rows = h.vertex_offsets.tolist(), h.vertex_nets.tolist()
    require([rows[a:b] for a, b in pairwise(offsets)] == members, "the nets of vertices")
    for weights, count, total in ((h.net_weights, h.num_nets, h.total_net_weight),
                                  (h.vertex_weights, h.num_vertices, h.total_vertex_weight)):
        require(weights is None or (len(weights) == count and (weights >= 0).all()), "weights")
        require((count if weights is None else exact_sum(weights)) == total <= 2**62, "totals")
    path = folder / "again.hgr"
    graph_io.write_hypergraph(h, path)
    again = graph_io.read_hypergraph(path, max_vertices=h.num_vertices)
    for name, array in h.arrays.items():
        other = again.arrays[name]
        require(array is other or np.array_equal(array, other), f"writing changes {name}")


def nets_of(hypergraph: Hypergraph) -> list[list[int]]:
    """The pins of each net."""
    offsets, pins = hypergraph.net_offsets.tolist(), hypergraph.net_pins.tolist()
    return [pins[a:b] for a, b in pairwise(offsets)]


def exact_sum(values: np.ndarray) -> int:
    """The sum of integers in Python's, which never overflow."""
    wide = values.astype(np.int64)
    return (int((wide >> 32).sum()) << 32) + int((wide & 0xFFFFFFFF).sum())


def check_round_trip(graph: Graph, data: bytes, folder: Path) -> None:
    """Writing the graph in some format and reading that gives the same graph."""
    if graph.num_vertices > MAX_WRITTEN:
        return
    format_name, suffix = list(FORMATS.items())[zlib.crc32(data) % len(FORMATS)]
    path = folder / f"again{suffix}"
    try:
        graph_io.write(graph, path)
    except InputError:
        holds_weights = format_name in HOLD_WEIGHTS
        require(graph.vertex_weights is not None and not holds_weights,
                f"{format_name} refuses to write the graph")
        return
    again = graph_io.read(path, **_as_written(format_name, graph))
    check_graph(again)
    by_name = _by_name(graph)
    same_names = by_name is not None and _by_name(again) == by_name
    require(same_names or merged(again) == merged(graph),
            f"{format_name} changes the graph")


def _by_name(graph: Graph) -> tuple[set[Any], dict[tuple[Any, Any], int]] | None:
    """Names, which a file may number as they occur there, and the weight between each two."""
    names = graph.names
    return None if names is None else (set(names), {
        (names[u], names[v]): weight for (u, v), weight in merged(graph)[1].items()})


def _as_written(format_name: str, graph: Graph) -> dict[str, Any]:
    """Options that take the weights of a file for what they are."""
    weighted = graph.weights is not None and graph.num_arcs
    return {"weights": True} if weighted and format_name not in HOLD_WEIGHTS else {}


def merged(graph: Graph) -> tuple[int, dict[tuple[int, int], int], list[int] | None]:
    """The number of vertices, the weight between each pair, and the weights of the vertices."""
    offsets, targets, weights, masses = (
        None if array is None else np.asarray(array).tolist() for array in graph.arrays.values())
    pairs: dict[tuple[int, int], int] = {}
    for vertex in range(graph.num_vertices):
        for arc in range(offsets[vertex], offsets[vertex + 1]):
            pair = (vertex, targets[arc])
            pairs[pair] = pairs.get(pair, 0) + (1 if weights is None else weights[arc])
    ones = masses is None or all(mass == 1 for mass in masses)
    return graph.num_vertices, pairs, None if ones else masses


def edges_of(graph: Graph) -> tuple[np.ndarray, np.ndarray]:
    """Both ends of each edge in the order of the rows, shape (m, 2), and their weights."""
    offsets, targets, weights = (np.asarray(array) if array is not None else np.ones(
        graph.num_arcs, np.int64) for array in list(graph.arrays.values())[:3])
    sources = np.repeat(np.arange(graph.num_vertices), np.diff(offsets))
    first = sources < targets
    return np.stack([sources, targets], axis=1)[first], weights[first].astype(np.int64)


def check_edge_values(graph: Graph, part: np.ndarray, k: int, found: Any) -> None:
    """Copies of vertices, what they cost, and loads of blocks, of a result or an evaluation."""
    ends, loads = edges_of(graph)
    has = np.zeros((graph.num_vertices, k), bool)
    has[ends, part[:, None]] = True
    copies = has.sum(1)
    total, touched = int(copies.sum()), int((copies > 0).sum())
    require(np.sum(found.copies) == total, "copies")
    require(found.replication_factor == (total / touched if touched else 1), "replication factor")
    owns = [1] * len(copies) if graph.vertex_weights is None else graph.vertex_weights.tolist()
    pairs = list(zip(owns, copies.tolist()))
    require(found.km1 == sum(own * (count - 1) for own, count in pairs if count), "km1")
    require(found.cut == sum(own for own, count in pairs if count > 1), "cut")
    heavy = np.zeros(k, np.int64)
    np.add.at(heavy, part, loads)
    require((np.asarray(found.block_weights) == heavy).all(), "block weights")


def check_edge_partition(graph: Graph, result: Any) -> None:
    """Blocks, ends, copies, weights and limits of a partition of edges."""
    part, k, n = np.asarray(result.part), result.k, graph.num_vertices
    ends, _ = edges_of(graph)
    require(part.shape == (len(ends),) and part.dtype.kind == "i", "part")
    require(not len(part) or (0 <= part.min() and part.max() < k), "a block that is none")
    require((np.asarray(result.edges) == ends).all(), "ends of the edges")
    check_edge_values(graph, part, k, result)
    pairs = np.unique(ends.ravel() * k + np.repeat(part, 2))
    require((np.asarray(result.copy_blocks) == pairs % k).all(), "blocks of copies")
    require((result.copies == np.bincount(pairs // k, minlength=n)).all(), "copies of each vertex")


def check_wishes(result: Any, options: dict[str, Any], keys: list[Any]) -> None:
    """Fixed blocks are kept, and limits follow from the target and the imbalance.

    `keys` are what a dict of fixed blocks may have: one for each vertex or edge.
    """
    fixed = options.get("fixed")
    if fixed is not None:
        of_key = isinstance(fixed, dict)
        wanted = [fixed.get(key, -1) for key in keys] if of_key else np.asarray(fixed)
        free = np.asarray(wanted) == -1
        require((free | (result.part == np.asarray(wanted))).all(), "a fixed block")
    check_limits(result, options.get("imbalance", "0.03"), options.get("target"))


def check_limits(result: Any, imbalance: Any, target: Any) -> None:
    """Limits follow from the target and the imbalance, and a result above them is not feasible."""
    keeps = bool((np.asarray(result.block_weights) <= result.block_weight_limits).all())
    require(keeps or not result.feasible, "feasible, but above a limit")
    shares = None if target is None else [_tame(share) for share in target]
    total = exact_sum(np.asarray(result.block_weights))
    if shares is None or None not in shares:
        limits = block_weight_limits(total, result.k, _tame(imbalance) or 0, shares)
        require(result.block_weight_limits.tolist() == [min(limit, total) for limit in limits],
                "limits")


def _tame(written: Any) -> Any:
    """A number as it is written; None if it is nearly zero, for which fractions have no room."""
    try:
        size = abs(float(written))
    except ValueError:  # in per cent, or a fraction
        return written
    return 2**40 if size > 2**40 else None if 0 < size < 1e-50 else written


def check_partition(graph: Graph, result: Any, k: int) -> None:
    """Blocks, cut, weights and limits of a result."""
    part = np.asarray(result.part)
    offsets, targets, weights, masses = (
        None if array is None else np.asarray(array) for array in graph.arrays.values())
    n = graph.num_vertices
    require(part.shape == (n,) and part.dtype.kind == "i", "part")
    require(not n or (0 <= part.min() and part.max() < k), "a block that is none")
    sources = np.repeat(np.arange(n), np.diff(offsets))
    across = part[sources] != part[targets]
    values = across.astype(np.int64) if weights is None else np.where(across, weights, 0)
    require(2 * result.cut == exact_sum(values), "cut")
    heavy = np.zeros(k, np.int64)
    np.add.at(heavy, part, 1 if masses is None else masses)
    require((np.asarray(result.block_weights) == heavy).all(), "block weights")

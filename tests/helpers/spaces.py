"""How the tests of algorithms bring graphs to a space, launch kernels and read results."""

from __future__ import annotations

from typing import Any

import numpy as np

from portpart import backends
from portpart.algorithms.coarsening.clusters import Clusters
from portpart.algorithms.coarsening.matching import matched_clusters
from portpart.algorithms.coarsening.options import MatchingOptions
from portpart.algorithms.objectives.bitset_connectivity import LISTED
from portpart.algorithms.objectives.pin_state import BITS
from portpart.backends.cuda.requirements import check_program
from portpart.backends.language import Kernel
from portpart.backends.language.parameters import KernelParameter
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.graph import Graph
from tests import oracles
from tests.helpers.graphs import drawn_graphs, random_graph

NO_LIMIT = 2**62


def reference() -> ExecutionSpace:
    """The space whose results all others must give: one thread."""
    return backends.space("cpu", threads=1)


def check_rooms(space: ExecutionSpace) -> None:
    """All programs that a space has fit into the shared memory of a GPU's blocks.

    Programs in which a single lane lists the blocks of a vertex are not among those of a GPU.
    """
    for program, _ in space._executables.values():
        if not any(lists_blocks(step.kernel) for step in program.launches()):
            check_program(program)


def lists_blocks(kernel: Kernel) -> bool:
    """Whether a single lane lists the blocks of a vertex in its scratch memory."""
    blocks = kernel.team_arrays.get("connections_blocks")
    return blocks is not None and blocks.size == LISTED + BITS


def launch(space: ExecutionSpace, count: int, kernel: Kernel, arrays: dict[str, Any],
           team: int = 1) -> None:
    """Launch `kernel` with the arrays and static values that its parameters are named after."""
    if kernel.static_places:
        kernel = kernel.bound(**{name: arrays[name] for name in kernel.static_places})
    given = (given_for(parameter, arrays) for parameter in kernel.signature[1:])
    space.parallel_for(count, kernel, *given, team=team)


def given_for(parameter: KernelParameter, arrays: dict[str, Any]) -> Any:
    """What has the name of a parameter; a scope is put together."""
    kind: Any = parameter.kind
    if parameter.is_scope:
        return kind(**{name: arrays[name] for name in kind.field_names})
    return arrays[parameter.name]


def clusters_of(space: ExecutionSpace, cluster: Any, count: int) -> Clusters:
    """Clusters by their numbers on the host."""
    return Clusters(count, cluster=space.asarray(cluster, np.int32),
                    count=space.asarray(np.array([count])))


def number_of(clusters: Clusters) -> int:
    """How many clusters there are."""
    return int(oracles.host(clusters.count)[0])


def mates(clusters: Clusters) -> np.ndarray:
    """The partner of each vertex, or -1, where clusters are pairs and single vertices."""
    cluster = oracles.host(clusters.cluster)
    mate = np.full(len(cluster), -1)
    order = np.argsort(cluster, kind="stable")
    is_pair = cluster[order][1:] == cluster[order][:-1]
    first, second = order[:-1][is_pair], order[1:][is_pair]
    mate[first], mate[second] = second, first
    return mate


def heavy_edge_mates(space: ExecutionSpace, graph: Graph, limit: int, seed: int,
                     label: Any = None, rated: bool = False, **options: Any) -> np.ndarray:
    """The partners in a matching without pairs at distance two."""
    chosen = MatchingOptions(two_hop=False, **options)
    return mates(matched_clusters(graph.to(space), limit, seed, label, chosen, rated))


def some_graphs() -> dict[str, Graph]:
    """Drawn graphs, and random ones for each width of a team, large enough for two threads."""
    return {
        **drawn_graphs(),
        "sparse": random_graph(3000, 3000, 1, weighted=True),
        "medium": random_graph(3000, 16_000, 2, weighted=True, vertex_weighted=True),
        "dense": random_graph(1200, 24_000, 3),
        "skewed": random_graph(2500, 14_000, 4, weighted=True, skewed=True),
    }


def with_int64_offsets(graph: Graph) -> Graph:
    """The same graph as one with more than 2**31 arcs would be stored."""
    offsets = graph.space.asarray(graph.offsets, np.int64)
    return Graph(offsets, graph.targets, graph.weights, graph.vertex_weights, graph.space)


GRAPHS = some_graphs()

"""Contraction: the quotient graph of a vertex map, one row per cluster (Jet, algorithm 3.1).

A program lists the members of the clusters, makes the rows (in `contract_by_hashing.py` or in
`contract_by_sorting.py`) and finds where each begins in the coarse graph, whose size the host
must know before the rows are copied there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from portpart.algorithms.coarsening.contract_by_hashing import (
    ANY_ROW,
    WIDE_ROW,
    WIDE_TEAM,
    copy_row,
    row_filler,
)
from portpart.algorithms.coarsening.contract_by_sorting import merge_row, way_for
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import (
    atomic_add,
    atomic_max,
    atomic_next,
    int32,
    int64,
    kernel,
    lane,
    team_max,
    team_size,
    team_sum,
)
from portpart.backends.program import Element, Program, Slot
from portpart.graphs.graph import Graph
from portpart.graphs.limits import MAX_INT32_ARCS
from portpart.graphs.teams import team_for
from portpart.primitives.hash_rows import SLOTS
from portpart.primitives.scan import (
    TEAM,
    TILE,
    record_scan,
    record_scans,
    record_scans_of_tiles,
    tiles_of,
)

VERTICES, CLUSTERS, TILES, WIDE = range(4)
"""Words of the contraction's ``sizes``: numbers of vertices, of clusters, of tiles of them, and of
clusters with many arcs."""

COUNT, ARCS, DEGREE, WEIGHT, TOTALS = range(5)
"""Words of ``totals``: number of clusters, of coarse arcs, most of a vertex, their weight; how many
words."""


@dataclass(frozen=True)
class Clusters:
    """A map from vertices to clusters 0 ... count-1.

    Attributes
    ----------
    cluster : array of int32, shape (n,)
    count : array of int64, shape (1,)
        In the space too: who made the clusters need not wait to know how many there are.
    most : int
        There are no more than so many.
    """

    cluster: Array
    count: Array
    most: int


def clusters_of_matching(space: ExecutionSpace, mate: Array) -> Clusters:
    """Number the pairs and the single vertices in the order of their smaller vertex."""
    n = len(mate)
    leader, count = space.empty(n, np.int32), space.zeros(1, np.int64)
    bindings = {"mate": mate, "leader": leader, "count": count, "flags": n, "number": n + 1,
                "tile_sums": tiles_of(n), "sizes": (n, tiles_of(n))}
    executable = space.cached_executable("clusters of matching", _record_clusters_of_matching)
    executable.run(bindings, n)
    return Clusters(leader, count, n)


def record_numbering(program: Program, leader: Slot, flags: Slot, number: Slot, sums: Slot,
                     count: Slot, size: Element, tiles: Element) -> None:
    """Record that clusters are numbered in the order of their leaders, and counted.

    Parameters
    ----------
    leader : array of int32, shape (n,)
        A vertex of each vertex's cluster, the same for all of them; becomes its number.
    flags, number, sums : array, shape (n,), (n + 1,), (number of tiles,)
        Work arrays of int8, int32 and int64.
    count : array of int64, shape (1,)
        Becomes the number of clusters.
    """
    program.parallel_for(size, flag_leader, leader, flags)
    record_scan(program, flags, number, sums, size, tiles)
    program.parallel_for(size, number_cluster, leader, number, size.slot, size.index, count)


def _record_clusters_of_matching() -> Program:
    program = Program("clusters of matching")
    program.array("mate", np.int32)
    leader, count = program.array("leader", np.int32), program.array("count", np.int64)
    flags, number = program.scratch("flags", np.int8), program.scratch("number", np.int32)
    sums, sizes = program.scratch("tile_sums", np.int64), program.words("sizes", 2)
    program.launch(sizes[0], lead_pair)
    record_numbering(program, leader, flags, number, sums, count, sizes[0], sizes[1])
    return program


def contract(
    space: ExecutionSpace, graph: Graph, clusters: Clusters,
    weight_type: np.dtype[Any] | None = None, way: str = "hash",
) -> Graph:
    """Quotient of `graph`: weights of parallel arcs add up, arcs inside a cluster vanish.

    Synchronises once, to read the numbers of clusters and of coarse arcs, and what else the coarse
    graph knows of itself from the start: its highest degree and total weights.  Until then what
    has an element for each cluster has room for ``clusters.most``.

    Parameters
    ----------
    graph : Graph
    clusters : Clusters
    weight_type : dtype, optional
        Type of the coarse arc weights, if it is known; else `graph.weight_sum_dtype`.
    way : {"hash", "sort", "auto"}
        How the arcs of a cluster are added up: in a hash row; sorted, and equal ones merged; or as
        `way_for` says.

    Returns
    -------
    Graph
        With arc weights (int32 while the total fits, else int64) and vertex weights.  Rows are
        ascending if they were sorted; else the order in a row may differ from run to run on a GPU.
    """
    weights_as = graph.weight_sum_dtype if weight_type is None else weight_type
    if way == "auto":
        way = way_for(graph)
    most, index_type = clusters.most, graph.offsets.dtype
    packed = {
        "row_begin": space.empty(most + 1, index_type),
        "coarse_offsets": space.empty(most + 1, index_type),
        "keys": space.empty(graph.num_arcs, np.int32),
        "sums": space.empty(graph.num_arcs, weights_as),
        "coarse_vertex_weights": space.empty(most, np.int64),
    }
    totals = space.empty(TOTALS, np.int64)
    team = team_for(2 * graph.mean_degree)
    executable = space.cached_executable(
        ("contraction", graph.type_key, weights_as, team, way),
        lambda: _record(graph, weights_as, team, lone=space.widest_team == 1, way=way),
    )
    executable.run({
        **graph.arrays, **packed, **_scratch(graph, most), "totals": totals,
        "cluster": clusters.cluster, "count": clusters.count,
        "sizes": (graph.num_vertices, 0, 0, 0),
    }, max(graph.num_vertices, 1))
    count, num_arcs, max_degree, arc_weight = map(int, space.to_host(totals))
    known = {"vertex": graph.total_vertex_weight, "arc": arc_weight, "degree": max_degree}
    offsets = space.empty(count + 1, np.int32 if num_arcs <= MAX_INT32_ARCS else index_type)
    coarse = Graph(offsets, space.empty(num_arcs, np.int32), space.empty(num_arcs, weights_as),
                   space.empty(count, np.int64), space, known)
    space.parallel_for(count + 1, copy_row, count, *packed.values(), *coarse.arrays.values(),
                       team=team_for(num_arcs / max(1, count)))
    return coarse


def _scratch(graph: Graph, most: int) -> dict[str, int]:
    """Lengths of the work arrays."""
    tiles = tiles_of(most)
    return {
        "num_members": most, "capacity": most, "member_offsets": most + 1,
        "members": graph.num_vertices, "degrees": most, "arc_sums": most,
        "wide": graph.num_arcs // (WIDE_ROW + 1), "tile_sums": tiles, "more_tile_sums": tiles,
    }


def _record(graph: Graph, weight_type: np.dtype[Any], team: int, lone: bool,
            way: str = "hash") -> Program:
    """List the members of the clusters, fill a row for each, and find where coarse rows start."""
    program = Program("contraction", sweeps=True)
    _declare(program, graph, weight_type)
    slot, sizes = program.slots, program.slots["sizes"]
    program.launch(1, take_sizes)
    program.launch(sizes[TILES], clear_clusters, team=TEAM)
    program.launch(sizes[VERTICES], count_member)
    record_scans(program, [
        (slot["num_members"], slot["member_offsets"], slot["tile_sums"]),
        (slot["capacity"], slot["row_begin"], slot["more_tile_sums"]),
    ], sizes[CLUSTERS], sizes[TILES])
    with program.side_by_side():
        program.launch(sizes[VERTICES], place_member)
        program.launch(sizes[CLUSTERS], list_wide)
    _record_rows(program, weight_type, team, lone, way)
    program.launch(sizes[TILES], survey_tile, team=TEAM)
    record_scans_of_tiles(program, [(slot["degrees"], slot["coarse_offsets"], slot["tile_sums"])],
                          sizes[CLUSTERS], sizes[TILES])
    return program


def _declare(program: Program, graph: Graph, weight_type: np.dtype[Any]) -> None:
    offsets, *_ = graph.declare(program)
    for name, dtype in {
        "cluster": np.int32, "count": np.int64, "coarse_offsets": offsets.dtype,
        "row_begin": offsets.dtype, "keys": np.int32, "sums": weight_type,
        "coarse_vertex_weights": np.int64, "totals": np.int64,
    }.items():
        program.array(name, dtype)
    for name in _scratch(graph, 0):
        wide = name in ("capacity", "arc_sums", "tile_sums", "more_tile_sums")
        program.scratch(name, np.int64 if wide else np.int32)
    program.words("sizes", 4)


def _record_rows(program: Program, weight_type: np.dtype[Any], team: int, lone: bool,
                 way: str) -> None:
    """Rows of clusters with many arcs first, by wide teams, beside them those of the others.

    Where lanes are alone there is no wide team, and one kernel less to compile.
    """
    sizes = program.slots["sizes"]
    sum_type = int32 if weight_type == np.int32 else int64
    wide: tuple[Any, ...] = (sizes[WIDE], WIDE_TEAM, {"most": ANY_ROW})
    others = (sizes[CLUSTERS], team, {"wide": None, "most": ANY_ROW if lone else WIDE_ROW})
    with program.side_by_side():
        for count, width, given in ([] if lone else [wide]) + [others]:
            filler = merge_row if way == "sort" else row_filler(
                SLOTS[weight_type.itemsize][width], width, sum_type)
            program.launch(count, filler, team=width, **given)


@kernel
def lead_pair(v, mate, leader):
    """The smaller vertex of a pair, and a single vertex, lead."""
    leader[v] = int32(v) if mate[v] < 0 else min(int32(v), mate[v])


@kernel
def flag_leader(v, leader, flags):
    """flags[v] = v leads its cluster."""
    flags[v] = leader[v] == v


@kernel
def number_cluster(v, leader, number, sizes, size_at, count):
    """Replace v's leader by the number of its cluster; the first vertex writes their number."""
    leader[v] = number[leader[v]]
    if v == 0:
        count[0] = number[sizes[size_at]]


@kernel
def take_sizes(_, count, sizes, totals):
    """Take over the number of clusters; nothing has been counted in all."""
    sizes[CLUSTERS] = count[0]
    sizes[TILES] = max(int64(1), (count[0] + TILE - 1) // TILE)
    totals[COUNT] = count[0]
    totals[ARCS] = 0
    totals[DEGREE] = 0
    totals[WEIGHT] = 0


@kernel
def clear_clusters(tile, num_members, capacity, sizes):
    """Nothing has been counted for the clusters of the tile."""
    for c in range(tile * TILE + lane(), min((tile + 1) * TILE, sizes[CLUSTERS]), team_size()):
        num_members[c] = int32(0)
        capacity[c] = 0


@kernel
def count_member(v, cluster, offsets, num_members, capacity):
    """Count v and its arcs for its cluster; atomic, order-free."""
    atomic_add(num_members, cluster[v], 1)
    atomic_add(capacity, cluster[v], int64(offsets[v + 1]) - int64(offsets[v]))


@kernel
def place_member(v, cluster, member_offsets, num_members, members):
    """Put v on the list of its cluster, last place first; atomic, the order in a list is free."""
    c = cluster[v]
    members[int64(member_offsets[c]) + atomic_add(num_members, c, -1) - 1] = int32(v)


@kernel
def list_wide(c, capacity, wide, sizes):
    """List cluster c if it has many arcs; atomic, the order of the list is free."""
    if capacity[c] > WIDE_ROW:
        wide[atomic_next(sizes, WIDE)] = int32(c)


@kernel
def survey_tile(tile, degrees, arc_sums, tile_sums, totals, sizes):
    """Add up and compare the coarse vertices of a tile; atomic, order-free."""
    arcs = int64(0)
    most = int64(0)
    weight = int64(0)
    for c in range(tile * TILE + lane(), min((tile + 1) * TILE, sizes[CLUSTERS]), team_size()):
        arcs += degrees[c]
        most = max(most, int64(degrees[c]))
        weight += arc_sums[c]
    arcs = team_sum(arcs)
    most = team_max(most)
    weight = team_sum(weight)
    if lane() == 0:
        tile_sums[tile] = arcs
        atomic_add(totals, ARCS, arcs)
        atomic_max(totals, DEGREE, most)
        atomic_add(totals, WEIGHT, weight)

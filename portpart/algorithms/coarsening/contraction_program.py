"""The program of contraction: members of clusters, the rows of clusters, and where they begin.

Clusters with many arcs are the work of the widest team, at the same time as all others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from portpart.algorithms.coarsening.clusters import (
    Members,
    clear_clusters,
    count_member,
    place_member,
)
from portpart.algorithms.coarsening.contract_by_hashing import (
    ANY_ROW,
    WIDE_TEAM,
    CoarseRows,
    RowScratch,
    fill_row,
    wide_row,
)
from portpart.algorithms.coarsening.contract_by_sorting import merge_row
from portpart.algorithms.coarsening.options import FineSizes
from portpart.backends import language as kl
from portpart.backends.programs import MANY, Program
from portpart.primitives import SCAN_TILE, SLOTS, TEAM, record_scans, record_scans_of_tiles

if TYPE_CHECKING:
    from portpart.backends.programs import Records

MEMBERS, ROWS = "members", "rows"
"""What a program makes: lists of members, rows, or both."""


def record_contraction(records: Records, like: FineSizes, team: int, one_lane: bool,
                       way: str = "hash", parts: tuple[str, ...] = (MEMBERS, ROWS)) -> Program:
    """The program that lists members, fills a row for each cluster, and finds where rows start.

    One part without the other is for rows that are made piece by piece.
    """
    program, scans = Program("contraction", threads=MANY, sizes=like), []
    slots = program.declare(records)
    members: Any = slots["members"]
    rows: Any = slots.get("rows")
    program.array("count", np.int64)
    if MEMBERS in parts:
        program.launch(1, take_sizes)
        program.launch(members.tiles, clear_clusters, team=TEAM)
        program.launch(members.vertices, count_member)
        scans.append((members.count, members.offsets, members.tile_sums))
    if ROWS in parts:
        scans.append((members.num_arcs, rows.begin, rows.tile_sums))
    record_scans(program, scans, members.clusters, members.tiles)
    with program.side_by_side():
        if MEMBERS in parts:
            program.launch(members.vertices, place_member)
        if ROWS in parts:
            program.launch(1, begin_totals)
            program.launch(members.clusters, list_wide,
                           max_arcs=wide_row(team, rows.sums.dtype.itemsize))
    if ROWS not in parts:
        program.launch(members.tiles, sum_arcs, team=TEAM)
        return program
    _record_rows(program, rows, members, team, one_lane, way)
    program.launch(members.tiles, survey_tile, team=TEAM)
    record_scans_of_tiles(program, [(rows.degrees, rows.offsets, rows.tile_sums)],
                          members.clusters, members.tiles)
    return program


def _record_rows(program: Program, rows: CoarseRows, members: Members, team: int,
                 one_lane: bool, way: str) -> None:
    """Rows of clusters with many arcs first, by wide teams, and at the same time those of the
    others.

    Where teams have one lane there is no wide team, and one kernel less to compile.
    """
    weight_type = rows.sums.dtype
    sum_type = kl.int32 if weight_type == np.int32 else kl.int64
    wide: tuple[Any, ...] = (members.num_wide, WIDE_TEAM,
                             {"wide": members.wide, "max_arcs": ANY_ROW})
    most = ANY_ROW if one_lane else wide_row(team, weight_type.itemsize)
    others = (members.clusters, team, {"wide": None, "max_arcs": most})
    with program.side_by_side():
        for count, width, given in ([] if one_lane else [wide]) + [others]:
            scratch = RowScratch(SLOTS[weight_type.itemsize][width], width, sum_type)
            filler = merge_row if way == "sort" else fill_row.bound(scratch=scratch)
            program.launch(count, filler, team=width, **given)


@kl.kernel
def take_sizes(_, count, members: Members):
    """Take over the number of clusters."""
    members.clusters = count[0]
    members.tiles = max(kl.int64(1), (count[0] + SCAN_TILE - 1) // SCAN_TILE)


@kl.kernel
def begin_totals(_, members: Members, rows: CoarseRows):
    """Nothing has been counted in all."""
    rows.clusters = members.clusters
    rows.arcs = 0
    rows.max_degree = 0
    rows.arc_weight = 0


@kl.kernel
def list_wide(c, members: Members, max_arcs):
    """List cluster c if it has many arcs; atomic, the order of the list is free."""
    if members.num_arcs[c] > max_arcs:
        members.wide[kl.atomic_next(members, Members.num_wide)] = kl.int32(c)


@kl.kernel
def sum_arcs(tile, members: Members):
    """tile_sums[tile] = arcs that leave the members of its clusters."""
    arcs = kl.int64(0)
    end = min((tile + 1) * SCAN_TILE, members.clusters)
    for c in range(tile * SCAN_TILE + kl.lane(), end, kl.team_size()):
        arcs += members.num_arcs[c]
    arcs = kl.team_sum(arcs)
    if kl.lane() == 0:
        members.tile_sums[tile] = arcs


@kl.kernel
def survey_tile(tile, members: Members, rows: CoarseRows):
    """Add up and compare the coarse vertices of a tile; atomic, independent of order."""
    arcs = kl.int64(0)
    max_degree = kl.int64(0)
    weight = kl.int64(0)
    end = min((tile + 1) * SCAN_TILE, members.clusters)
    for c in range(tile * SCAN_TILE + kl.lane(), end, kl.team_size()):
        arcs += rows.degrees[c]
        max_degree = max(max_degree, kl.int64(rows.degrees[c]))
        weight += rows.arc_sums[c]
    arcs = kl.team_sum(arcs)
    max_degree = kl.team_max(max_degree)
    weight = kl.team_sum(weight)
    if kl.lane() == 0:
        rows.tile_sums[tile] = arcs
        kl.atomic_add(rows, CoarseRows.arcs, arcs)
        kl.atomic_max(rows, CoarseRows.max_degree, max_degree)
        kl.atomic_add(rows, CoarseRows.arc_weight, weight)

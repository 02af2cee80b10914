"""Refinement from the coarsest graph to the finest: work arrays, limits and runs.

The program of a level is in `program.py`.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from portpart.algorithms.objectives import CUT, Balance, Objective, cost_sums
from portpart.algorithms.refinement import work_arrays
from portpart.algorithms.refinement.blocks import PreviousBlocks, has_heavy, with_heavy
from portpart.algorithms.refinement.evaluation import Coarser, project, revert_to_best, start_from
from portpart.algorithms.refinement.incumbent import PAGE_LENGTH, Outcomes, RefinementOutcome
from portpart.algorithms.refinement.local import Journal, LocalRefinement, reset_each_vertex
from portpart.algorithms.refinement.options import (
    RefinementOptions,
    RefinementSizes,
    sub_buckets_for,
)
from portpart.algorithms.refinement.piece import LevelWords, Piece, Recording, Run, Variant, Widths
from portpart.algorithms.refinement.program import JET, record_refinement
from portpart.algorithms.refinement.rebalancing import rebalancing_rule, tile_of
from portpart.algorithms.refinement.work_arrays import Lanes
from portpart.backends.language import Record, Words, int32, int64
from portpart.backends.programs import FEW, SOME, Array, Executable, ExecutionSpace, Program
from portpart.graphs import Structure
from portpart.primitives import STRIPES, sum_of

if TYPE_CHECKING:
    from portpart.backends.programs import Records

ARCS_OF_AN_ITEM = 4
"""This many arcs are as much work as a vertex."""

NO_HUBS = 2**31
"""No vertex has this many neighbours."""

LARGE_ARC_WEIGHT = 1000
"""From this mean on, arc weights are large: the buckets of losses are scaled to them."""


class Refiner:
    """Work arrays for a hierarchy, and refinement of its levels from coarse to fine.

    Work arrays are as long as the refined graph needs, but not shorter than `MIN_RESERVED`; a finer
    graph gets longer ones.

    Parameters
    ----------
    space : ExecutionSpace
    finest : Graph or Hypergraph
        The largest graph that will be refined.
    balance : Balance
    options : RefinementOptions
    seed : int
    finest_options : RefinementOptions, optional
        Options for the finest graph, if they differ.
    objective : Objective
        The value that is minimised; it is called the cost.
    pieces : tuple of Piece
        The pieces of refinement.
    """

    def __init__(self, space: ExecutionSpace, finest: Structure, balance: Balance,
                 options: RefinementOptions, seed: int,
                 finest_options: RefinementOptions | None = None, *, objective: Objective = CUT,
                 pieces: tuple[Piece, ...] = JET) -> None:
        self.space, self.balance, self.seed = space, balance, seed
        self.objective, self.pieces = objective, pieces
        self._variant: Variant | None = None
        self.options, self.finest_options = options, finest_options or options
        self.sizes = self._sizes_for(finest)
        self._finest = finest.whole.num_vertices
        self._capacity = self.sizes.with_capacity_for(0)
        self.run = work_arrays.run_for(space, self._capacity, balance)
        self.rows = work_arrays.rows_for(pieces, space, finest, balance.num_blocks)
        self.own = work_arrays.own_records(pieces, space, self._capacity, self.run)
        for piece in pieces:
            self.run = piece.adapted(space, self.run)
        self.loss_unit = self._loss_unit_on(finest)
        self._loses = any(piece.loses for piece in pieces)
        self.lanes = Lanes(objective, balance.num_blocks,
                           int32 if finest.whole.weight_sum_dtype == np.int32 else int64,
                           space.widest_team,
                           any(piece.sums_hubs(balance.num_blocks) for piece in pieces))
        self._holds_heavy = (any(piece.holds_heavy for piece in pieces)
                             and has_heavy(finest, balance))
        self.words = LevelWords.zeros()
        self._begun: dict[bool, LevelWords] = {}
        self._limits_of: tuple[Any, Any] = (None, None)
        self._limits: dict[str, int] = {}
        self._outcomes = Outcomes(space)
        self._at_best = False
        self._one_lane = 0
        self._previous_blocks: list[PreviousBlocks] = []
        self._around: tuple[Any, Any] = (None, None)
        self._begun_around: tuple[dict[str, int], LevelWords] = ({}, LevelWords.of())
        self._executables: dict[Hashable, Executable] = {}

    def _sizes_for(self, finest: Structure) -> RefinementSizes:
        return RefinementSizes(finest.num_vertices, finest.num_entries, self.balance.num_blocks)

    def reserve(self) -> None:
        """Make the work arrays as long as the finest graph needs."""
        self._lengthen(self.sizes.vertices)

    def _lengthen(self, num_vertices: int) -> None:
        """Make the work arrays long enough for this many vertices.

        Only arrays that keep their length keep their contents.
        """
        capacity = self.sizes.with_capacity_for(num_vertices)
        if capacity.vertices > self._capacity.vertices:
            self._make_for(capacity)

    def _shorten(self) -> None:
        """Make the work arrays as short as at the beginning."""
        capacity = self.sizes.with_capacity_for(0)
        if capacity.vertices < self._capacity.vertices:
            self._make_for(capacity)

    def _make_for(self, capacity: RefinementSizes) -> None:
        """Make the work arrays that have another length for these sizes."""
        before = self._capacity
        self._around, self.own = (None, None), {}
        self.run = work_arrays.shortened(self.run, before, capacity)  # freed before allocation
        self.run = work_arrays.lengthened(self.run, self.space, capacity)
        self._capacity = capacity
        self.own = work_arrays.own_records(self.pieces, self.space, capacity, self.run)

    def set_previous_blocks(self, previous_blocks: Sequence[PreviousBlocks],
                            num_vertices: int) -> None:
        """Set the previous blocks of vertices of all levels, finest first."""
        self._previous_blocks = list(previous_blocks)
        connections = sum_of(self.space, previous_blocks[0].move_cost) // max(1, num_vertices)
        self.loss_unit = max(self.loss_unit, connections // LARGE_ARC_WEIGHT)

    def start(self, graph: Structure, part: Array) -> None:
        """Start with a partition of `graph`, which counts as the best so far."""
        space, n = self.space, graph.num_vertices
        self._lengthen(n)
        run = self.run
        run.moves.part[:n] = part
        run.incumbent.best[:n] = part
        self._at_best = False
        self._set_limits(graph)
        sums = cost_sums(graph, run.moves.part, self.objective, self.rows(graph))
        if self._previous_blocks:
            self._previous_blocks[-1].add_to(sums, space, run.moves.part)
        self.run = run.replaced(moves=run.moves.replaced(
            weight_sums=space.zeros(len(run.moves.weight_sums), np.int64), cost_sums=sums))
        words = self._words_on_space()
        space.parallel_for(n, start_from, graph.csr, self.run.moves.over(words),
                           self.run.incumbent, words)

    def start_with(self, graph: Structure, part: Array, cost: int, weights: Array) -> None:
        """Start with a partition of known cost and block weights; `reset` must follow.

        For objectives of edges only: those of nets need the state of nets, which `start` computes.
        """
        self._lengthen(len(part))
        space, moves = self.space, self.run.moves
        moves.part[: len(part)] = part
        self._at_best = False
        self._set_limits(graph)
        sums, weight_sums = (space.zeros(len(array), np.int64)
                             for array in (moves.cost_sums, moves.weight_sums))
        sums[:1] = 2 * cost
        weight_sums[: len(weights)] = weights
        self.run = self.run.replaced(moves=moves.replaced(weight_sums=weight_sums, cost_sums=sums))

    def project(self, graph: Structure, cluster: Array) -> None:
        """Project the best partition of the coarser graph onto `graph`."""
        run, n = self.run, graph.num_vertices
        coarser = Coarser(run.incumbent.best, run.active.flags, run.cache.is_dirty)
        del run, self._previous_blocks[-1:]
        self._limits_of = (None, None)  # so that the coarser graph is freed
        self._lengthen(n)
        self.space.parallel_for(n, project, cluster, coarser, self.run.moves, self.run.incumbent)
        self._at_best = True

    def restart(self, graph: Structure) -> None:
        """Return to the best partition of `graph`."""
        run = self.run
        self.space.parallel_for(graph.num_vertices, revert_to_best, run.moves, run.cache,
                                run.active, run.incumbent)
        self._at_best = True

    def refine(self, graph: Structure, filter_ratio: float = 0.0, fixed: Array | None = None,
               variant: Variant | None = None) -> RefinementOutcome:
        """Refine the current partition of `graph` in place.  Does not synchronise.

        Parameters
        ----------
        filter_ratio : float
            Jet's c of inequality 4.3: the share of connectivity that a move may lose, if the pieces
            let it lose anything.
        fixed : array of int32, shape (n,), optional
            Vertices with an entry of 0 or more stay in their block.
        variant : Variant, optional
            Other options and pieces for this pass.

        Returns
        -------
        RefinementOutcome
            The result; reading it waits for the device.
        """
        self._variant = variant
        self._set_limits(graph)
        if self._holds_heavy:
            fixed = with_heavy(graph, self.run.moves.part, self.run.blocks.limits,
                               int(self.balance.limits.min()), fixed)
        previous_blocks = self._previous_blocks[-1] if self._previous_blocks else None
        self.run = self._run_on(graph, filter_ratio, fixed, previous_blocks)
        self._execute(graph, fixed, self._widths(graph))
        if self._outcomes.length == PAGE_LENGTH:
            self._outcomes = Outcomes(self.space)
        return self._outcomes.add(self.run.level)

    def reset(self, graph: Structure, journal: Journal) -> None:
        """Reset all vertices in their blocks, which are their previous blocks in local runs."""
        self.run = run = self.run.replaced(level=self._words_on_space())
        self.space.parallel_for(graph.num_vertices, reset_each_vertex, run.moves, run.cache,
                                run.active, run.incumbent, journal.previous)

    def set_balance(self, balance: Balance) -> None:
        """Set other limits from now on."""
        self.balance = balance
        blocks = self.run.blocks
        for array, values in ((blocks.limits, balance.limits), (blocks.means, balance.means),
                              (blocks.open_below, balance.open_below)):
            array[:] = self.space.asarray(values)

    def refine_around(self, graph: Structure, around: LocalRefinement, filter_ratio: float | None,
                      fixed: Array | None, previous_blocks: PreviousBlocks | None) -> None:
        """Run a program around some vertices; all are reset before and after it.

        Parameters
        ----------
        around : LocalRefinement
        filter_ratio : float, or None
            As in `refine`; with None no vertex moves.
        fixed, previous_blocks
            As in `refine` and `set_previous_blocks`.
        """
        self._at_best, self._variant = False, None
        self.loss_unit = self._loss_unit_on(graph)
        self._limits_of = (None, None)
        # a list of hubs would take time to build
        self._limits = {**self._limits_on(graph, self._options_on(graph)), "hub_degree": NO_HUBS}
        if filter_ratio is None:
            self._limits["iteration_limit"] = 0
        if self._begun_around[0] != self._limits:  # the same words are packed once
            self._begun_around = self._limits, LevelWords.of(**self._limits)
        around.records["begun"] = self._begun_around[1]
        key = self._sub_buckets_on(graph), filter_ratio, id(fixed), id(previous_blocks)
        if self._around[0] is not self.run or self._around[1] != key:
            self.run = self._run_on(graph, filter_ratio or 0.0, fixed, previous_blocks)
            self._around = self.run, key
        self._execute(graph, fixed, self._widths(graph), around)

    def _execute(self, graph: Structure, fixed: Array | None, widths: Widths,
                 around: LocalRefinement | None = None) -> None:
        n, k, run = graph.num_vertices, self.balance.num_blocks, self.run
        records: dict[str, Record | Words] = {
            "graph": self.rows(graph), "tables": self.objective.tables, "run": run, **self.own,
            **self._records_of(graph)}
        if around is not None:
            records |= around.records
        pieces = self._pieces_for(graph)
        key = (self._is_finest(graph), *graph.type_key, fixed is None, run.blocks.move_cost is None,
               widths, around is not None and around.key,
               self._variant or pieces is self.pieces or pieces)  # to hash them takes microseconds
        executable = self._executables.get(key)
        if executable is None:
            executable = self._executables[key] = self._executable(
                key, widths, records, pieces, self._options_on(graph), around)
        entries = graph.num_entries // ARCS_OF_AN_ITEM
        self._start(executable, records,
                    max(n, k, entries) if around is None else max(around.size, k))

    def _pieces_for(self, graph: Structure) -> tuple[Piece, ...]:
        """Return the pieces of the refinement of a graph."""
        return self.pieces if self._variant is None else self._variant.pieces

    def _records_of(self, graph: Structure) -> dict[str, Record | Words]:
        """Return records that belong to a graph, besides its rows."""
        return {}

    def _start(self, executable: Executable, records: Records, size: int) -> None:
        executable.run(records, size)

    def _executable(self, key: tuple[Any, ...], widths: Widths, records: Records,
                    pieces: tuple[Piece, ...], options: RefinementOptions,
                    around: LocalRefinement | None) -> Executable:
        """Return the program for a key of this refiner; other refiners of the space share it."""
        pieces, rules = tuple(each.with_options(options) for each in pieces), self.objective.rules

        def record() -> Program:
            program = Program("refinement", threads=SOME if widths.hubs else FEW)
            for name, each in records.items():
                program.record(name, each, opened=name in ("graph", "run"))
            recorded = record_refinement if around is None else around.record
            recorded(Recording(program, program.find("run", Run), widths, rules, pieces))
            return program

        return self.space.cached_executable((pieces, rules, *key[1:]), record)

    def _run_on(self, graph: Structure, filter_ratio: float, fixed: Array | None,
                previous_blocks: PreviousBlocks | None) -> Run:
        """Return work arrays and words for a run; the words of the last run become `before`."""
        run, level = self.run, self._words_on_space()
        blocks = run.blocks.replaced(fixed=fixed, previous=None if previous_blocks is None
                                     else previous_blocks.previous,
                                     move_cost=None if previous_blocks is None
                                     else previous_blocks.move_cost)
        return run.replaced(
            before=run.level, level=level, blocks=blocks,
            rebalancing=run.rebalancing.replaced(sub_buckets=self._sub_buckets_on(graph)),
            cache=run.cache.replaced(filter_ratio=float(filter_ratio) if self._loses else 0.0),
            incumbent=run.incumbent.replaced(tolerance=float(self._options_on(graph).tolerance)))

    def _sub_buckets_on(self, graph: Structure) -> int:
        if rebalancing_rule(self._options_on(graph)).fine:
            return self.sizes.sub_buckets
        return sub_buckets_for(self.balance.num_blocks, graph.whole.num_vertices)

    def _words_on_space(self) -> LevelWords:
        return LevelWords(self.space.asarray(self.words.array.copy()))

    def _widths(self, graph: Structure) -> Widths:
        return self.lanes.widths(graph, self._limits, self._one_lane)

    @property
    def level(self) -> LevelWords:
        """The words of the last run, after it has ended."""
        return LevelWords(self.space.to_host(self.run.level.array))

    @property
    def best(self) -> Array:
        """The best partition found, as long as the finest graph."""
        return self.run.incumbent.best

    def _is_finest(self, graph: Structure) -> bool:
        return graph.whole.num_vertices == self._finest

    def _options_on(self, graph: Structure) -> RefinementOptions:
        if self._variant is not None:
            return self._variant.options
        return self.finest_options if self._is_finest(graph) else self.options

    def slack_on(self, graph: Structure) -> int:
        """Return the weight that blocks may have above their limits on `graph`.

        On a coarse graph it is some mean vertices: where vertices are heavy, exact limits would
        cost more cut than finer levels win back.
        """
        mean = graph.whole.total_vertex_weight // max(1, graph.whole.num_vertices)
        return 0 if self._is_finest(graph) else self.options.slack * mean

    def _loss_unit_on(self, graph: Structure) -> int:
        """Return the unit of losses.

        Buckets end at losses of some 10**8 units: huge weights must not all be in the last one.
        """
        mean_cost = graph.whole.mean_joint_weight(self.objective.tables.max_distance)
        return max(1, mean_cost // LARGE_ARC_WEIGHT)

    def _set_limits(self, graph: Structure) -> None:
        options = self._options_on(graph)
        if self._limits_of[0] is not graph or self._limits_of[1] is not options:
            self._limits_of, self._limits = (graph, options), self._limits_on(graph, options)
            self._begun = {}
        if self._at_best not in self._begun:
            k = self.balance.num_blocks
            restored = {"restored_blocks": k, "restored_stripes": STRIPES} if self._at_best else {}
            begun = LevelWords.of(**self._limits, **restored)
            self._begun[self._at_best] = LevelWords(np.array(begun.array))
        self.words = self._begun[self._at_best]

    def _limits_on(self, graph: Structure, options: RefinementOptions) -> dict[str, int]:
        """Return the words that a run on `graph` begins with."""
        n, whole = graph.num_vertices, graph.whole
        self._one_lane = self.lanes.one_lane_degree(graph)
        return {
            "vertices": n, "blocks": self.balance.num_blocks, "wide": 1,
            "tile": tile_of(n), "tiles": -(-n // tile_of(n)) + 1,
            "iteration": -1, "last_propagation": -1,
            "slack": self.slack_on(graph),
            "stall_limit": options.stall_limit, "iteration_limit": options.iteration_limit,
            "weak_limit": options.weak_limit, "loss_unit": self.loss_unit,
            "mean_vertex_weight": max(1, whole.total_vertex_weight // max(1, whole.num_vertices)),
            "mean_degree": int(whole.mean_degree),
            **self.lanes.words_on(graph, n, self._one_lane),
            "seed": self.seed, "weight_stripes": self.sizes.stripes,
        }

"""Jet refinement from the coarsest graph to the finest: work arrays, limits and runs.

What happens on a level is the program of `jet_program.py`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from portpart.algorithms.balance.limits import Balance
from portpart.algorithms.refinement import active_sets as lists
from portpart.algorithms.refinement import loss_buckets as buckets
from portpart.algorithms.refinement import state as at
from portpart.algorithms.refinement.connectivity import most_of_few
from portpart.algorithms.refinement.gain_cache import most_arcs
from portpart.algorithms.refinement.incumbent import (
    add_outside_arcs,
    add_vertex_weight,
    go_back,
    project,
)
from portpart.algorithms.refinement.jet_program import (
    CUT,
    Objective,
    Widths,
    record_refinement,
)
from portpart.algorithms.refinement.options import RefinementOptions
from portpart.algorithms.refinement.outcomes import Outcome, Outcomes
from portpart.backends.interface import Array, ExecutionSpace
from portpart.backends.language import int32, int64
from portpart.backends.program import Program
from portpart.graphs.graph import Graph
from portpart.graphs.teams import team_for, team_for_all
from portpart.primitives.scan import tiles_of

WEIGHT_COPIES = 256
"""Block weights are spread over about so many words."""

LEAST_TEAM, WIDE_TEAM = 8, 32
"""Lanes for a vertex of one of the lists, which are short: a lane alone would take longer."""

ARCS_OF_AN_ITEM = 4
"""So many arcs are as much work as a vertex."""

MOST_IN_GROUP = 8
"""Vertices that a team looks at together, to see which have many neighbours."""

LARGE_ARC_WEIGHT = 1000
"""From this mean on arc weights count as large: the buckets of losses are scaled to them."""


class JetRefiner:
    """Work arrays for a hierarchy, and refinement of its levels from coarse to fine.

    Parameters
    ----------
    space : ExecutionSpace
    finest : Graph
        The largest graph that will be refined.
    balance : Balance
    options : RefinementOptions
    seed : int
    finest_options : RefinementOptions, optional
        Those of the finest graph, if they differ.
    """

    name = "jet refinement"
    record_moves: Callable[[Program, Widths], None] | None = None
    wide_degree = 32
    """Above this mean degree a vertex of a list takes the wider team."""

    def __init__(self, space: ExecutionSpace, finest: Graph, balance: Balance,
                 options: RefinementOptions, seed: int,
                 finest_options: RefinementOptions | None = None) -> None:
        self.space, self.balance, self.seed = space, balance, seed
        self.scalars: dict[str, int] = {}
        self.options, self.finest_options = options, finest_options or options
        n, k = finest.num_vertices, balance.num_blocks
        self.weight_stripes = max(1, WEIGHT_COPIES // k)
        vertex_arrays = {
            "part": np.int32, "best": np.int32, "cached": np.int32, "gain": np.int64,
            "wish": np.int32, "moved_in": np.int32, "locked_in": np.int32, "dirty": np.int32,
            "dirty_list": np.int32, "listed": np.int8, "touched": np.int8,
            "unsaved": np.int8, "unsaved_list": np.int32,
            "move_list": np.int32, "slot_of": np.int32, "leaving": np.int64,
            "leave_list": np.int32, "unrated_list": np.int32,
        }
        self.vertex_arrays = {name: space.empty(n, t) for name, t in vertex_arrays.items()}
        for name in ("boundary", "eager_list"):
            self.vertex_arrays[name] = space.empty(2 * n, np.int32)
        self.position = space.empty(n + 1, np.int64)
        self.other_arrays = {
            "tile_sums": space.empty(tiles_of(n), np.int64),
            "hubs": space.empty(1 + finest.num_arcs // most_arcs(1), np.int32),
            "unrated_hubs": space.empty(1 + finest.num_arcs // most_arcs(1), np.int32),
            "block_weight": space.empty(k, np.int64),
            "best_weight": space.empty(k, np.int64),
            "weight_sums": space.empty(k * self.weight_stripes, np.int64),
            "cut_twice": space.empty(at.STRIPES, np.int64),
            "destinations": space.empty(k, np.int32),
            "room": space.empty(k + 1, np.int64),
            "threshold": space.empty(k, np.int64),
            "scope": space.zeros(k, np.int32),
            "limits": space.asarray(balance.limits),
            "means": space.asarray(balance.means),
            "open_below": space.asarray(balance.open_below),
            "bucket_weight": space.zeros(k * buckets.BUCKETS, np.int64),
            "slot_weight": space.zeros(
                k * buckets.BUCKETS * buckets.sub_buckets_for(k, n), np.int64),
        }
        # buckets end at losses of some 10**8: huge edge weights must not all meet in the last one
        mean_arc_weight = finest.total_arc_weight // max(1, finest.num_arcs)
        self.loss_unit = max(1, mean_arc_weight // LARGE_ARC_WEIGHT)
        self.counter = int32 if finest.weight_sum_dtype == np.int32 else int64
        self.words = np.zeros(at.SIZE, np.int64)
        self._state = self.other_arrays["before"] = space.zeros(at.SIZE, np.int64)
        self._outcomes = Outcomes(space)
        self._at_best = False

    def start(self, graph: Graph, part: Array) -> None:
        """Begin with a partition of `graph`, which counts as the best so far."""
        space, n = self.space, graph.num_vertices
        self.vertex_arrays["part"][:n] = part
        self.vertex_arrays["best"][:n] = part
        self.vertex_arrays["touched"][:n] = 1
        arrays = self.other_arrays
        arrays["weight_sums"] = space.zeros(len(arrays["weight_sums"]), np.int64)
        self._at_best = False
        self._set_limits(graph)
        part = self.vertex_arrays["part"]
        space.parallel_for(n, add_vertex_weight, graph.vertex_weights, part,
                           arrays["weight_sums"], space.asarray(self.words.copy()))
        arrays["cut_twice"] = self._cut_twice(graph, part)

    def _cut_twice(self, graph: Graph, part: Array) -> Array:
        """Words that add up to twice what is to become small."""
        sums = self.space.zeros(len(self.other_arrays["cut_twice"]), np.int64)
        self.space.parallel_for(graph.num_vertices, add_outside_arcs, graph.offsets, graph.targets,
                                graph.weights, part, sums, team=team_for_all(graph))
        return sums

    def project(self, graph: Graph, cluster: Array) -> None:
        """Carry the best partition of the coarser graph over to `graph`."""
        arrays = self.vertex_arrays
        self.space.parallel_for(graph.num_vertices, project, cluster, arrays["best"],
                                arrays["part"], arrays["listed"], arrays["dirty"],
                                arrays["touched"])
        self._at_best = True

    def restart(self, graph: Graph) -> None:
        """Go back to the best partition of `graph`."""
        arrays = self.vertex_arrays
        self.space.parallel_for(graph.num_vertices, go_back, arrays["best"], arrays["part"],
                                arrays["listed"], arrays["dirty"], arrays["touched"])
        self._at_best = True

    def refine(self, graph: Graph, filter_ratio: float, fixed: Array | None = None) -> Outcome:
        """Refine the current partition of `graph` in place.  Waits for nothing.

        Parameters
        ----------
        filter_ratio : float
            The paper's c of inequality 4.3: how much connectivity a move may lose.
        fixed : array of int32, shape (n,), optional
            Vertices with an entry of 0 or more stay where they are.

        Returns
        -------
        Outcome
            What it came to; whoever reads it waits for it.
        """
        n, k = graph.num_vertices, self.balance.num_blocks
        self._set_limits(graph)
        self.other_arrays["before"] = self._state
        self._state = self.space.asarray(self.words.copy())
        bindings = {
            **graph.arrays,
            **self.vertex_arrays,
            "position": self.position,
            **self.other_arrays,
            "state": self._state,
            "fixed": fixed,
            "filter_ratio": filter_ratio,
            "tolerance": self._options_on(graph).tolerance,
            "sub_buckets": buckets.sub_buckets_for(k, n),
            **self.scalars,
        }
        dtypes = {name: array.dtype for name, array in bindings.items() if hasattr(array, "dtype")}
        widths = Widths(
            1 if team_for(graph.mean_degree) == 1 else self.team_on(graph),
            self.team_on(graph),
            many=graph.max_degree > self.words[at.FEW_ARCS],
            hubs=graph.max_degree > self.words[at.HUB_DEGREE],
            counter=self.counter,
            few=int(self.words[at.FEW_ARCS]),
            lone=self.lone_degree(graph),
        )
        key = (self.name, *graph.type_key, fixed is None, widths)
        executable = self.space.cached_executable(
            key, lambda: self.record(graph, dtypes, widths)
        )
        executable.run(bindings, max(n, k, graph.num_arcs // ARCS_OF_AN_ITEM))
        return self._outcomes.add(self._state)

    def record(self, graph: Graph, dtypes: dict[str, np.dtype], widths: Widths) -> Program:
        """The program for graphs and work arrays of these types."""
        return record_refinement(graph, dtypes, widths, self.record_moves, self.objective)

    @property
    def objective(self) -> Objective:
        """What is minimised."""
        return CUT

    @property
    def state(self) -> np.ndarray:
        """The words of the last run (`state.py`), when it has ended."""
        return self.space.to_host(self._state)

    @property
    def best(self) -> Array:
        """The best partition found, as long as the finest graph."""
        return self.vertex_arrays["best"]

    def team_on(self, graph: Graph) -> int:
        """Lanes for a vertex of one of the lists."""
        return LEAST_TEAM if graph.mean_degree <= self.wide_degree else WIDE_TEAM

    def _is_finest(self, graph: Graph) -> bool:
        return graph.num_vertices == len(self.vertex_arrays["part"])

    def _options_on(self, graph: Graph) -> RefinementOptions:
        return self.finest_options if self._is_finest(graph) else self.options

    def _slack(self, graph: Graph) -> int:
        """What blocks may weigh above their limits: the mean vertex weight of a coarse graph.

        Where vertices weigh much, exact limits would cost more cut than finer levels win back.
        """
        return graph.total_vertex_weight // max(1, graph.num_vertices)

    def lone_degree(self, graph: Graph) -> int:
        """Most neighbours of a vertex, if long lists are work for lone lanes; else 0."""
        widest = self.space.widest_team
        most = most_of_few(1, widest, self.balance.num_blocks, self.counter, 0.0)
        may_be_long = widest > 1 and graph.num_vertices > lists.LONG
        return most if may_be_long and graph.max_degree <= most else 0

    def _set_limits(self, graph: Graph) -> None:
        state, n = self.words, graph.num_vertices
        state[:] = 0
        state[at.VERTICES], state[at.BLOCKS] = n, self.balance.num_blocks
        state[at.TILES], state[at.WIDE] = tiles_of(n), 1
        if self._at_best:
            state[at.RESTORED_BLOCKS], state[at.RESTORED_STRIPES] = state[at.BLOCKS], at.STRIPES
        state[at.ITERATION] = state[at.LAST_PROPAGATION] = -1
        state[at.SLACK] = 0 if self._is_finest(graph) else self._slack(graph)
        options = self._options_on(graph)
        state[at.STALL_LIMIT] = options.stall_limit
        state[at.ITERATION_LIMIT] = options.iteration_limit
        state[at.WEAK_LIMIT] = options.weak_limit
        state[at.MEAN_VERTEX_WEIGHT] = max(1, graph.total_vertex_weight // max(1, n))
        state[at.LOSS_UNIT] = self.loss_unit
        state[at.MEAN_DEGREE] = int(graph.mean_degree)
        team = self.team_on(graph)
        state[at.FEW_ARCS] = most_of_few(team, self.space.widest_team, self.balance.num_blocks,
                                         self.counter, graph.mean_degree)
        state[at.HUB_DEGREE] = most_arcs(team)
        state[at.MOST_IN_GROUP] = min(MOST_IN_GROUP, self.space.widest_team)
        state[at.LONG] = lists.LONG if self.lone_degree(graph) else n
        gathers = self.space.widest_team > 1
        state[at.MANY_LISTED] = lists.MANY if gathers else n
        state[at.SEED] = self.seed
        state[at.WEIGHT_STRIPES] = self.weight_stripes

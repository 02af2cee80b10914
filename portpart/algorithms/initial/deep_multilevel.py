"""Initial partitions of a small graph: many candidates grown on a hierarchy below it, in its space.

The coarsest graph of the hierarchy is bisected by growing, in every candidate; each finer graph
takes the bisections over, refines them, and is bisected further where its blocks have grown large
enough, until there are as many blocks as wanted ("deep multilevel": L. Gottesbueren, T. Heuer,
P. Sanders, C. Schulz, D. Seemaier, ESA 2021).  All candidates share the hierarchy, and only the
best of them go on to the next finer graph.  Nothing returns to the host on the way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from portpart.algorithms.initial import bisection_state as word
from portpart.algorithms.initial.bisection import record_bisection, splits_of
from portpart.algorithms.initial.fm_gains import group_words
from portpart.algorithms.initial.order_by_section import order_by_label
from portpart.backends.interface import Array, ExecutionSpace
from portpart.errors import InputError
from portpart.graphs.graph import Graph
from portpart.graphs.teams import team_for

GAIN_BITS = 62
"""Bits of a key without its sign."""


@dataclass(frozen=True)
class GrowingOptions:
    """Parameters of initial partitions by growing.

    Parameters
    ----------
    candidates : int
        Partitions of the graph itself; of every coarser graph there are twice as many.
    most_candidates : int
        Partitions of a coarser graph, at most, unless even more are wanted of the graph itself.
    trials, refined_trials : int
        Attempts at each bisection, and how many of them, those of smallest cut, are refined; the
        best is taken.
    least_vertices : int
        The hierarchy ends at a graph of about so many vertices.
    split_vertices : int
        On coarse graphs, blocks are bisected further while they have about so many vertices.
    passes : int
        Passes of refinement over a bisection, at most.
    stall_limit : int
        A pass ends after so many moves without a better bisection, or before if gains tell that
        none will come.

    Raises
    ------
    InputError
        If a value is out of range.
    """

    candidates: int = 2
    most_candidates: int = 8
    trials: int = 8
    refined_trials: int = 4
    least_vertices: int = 128
    split_vertices: int = 32
    passes: int = 2
    stall_limit: int = 20

    def __post_init__(self) -> None:
        for name, least in (("candidates", 1), ("most_candidates", 1), ("trials", 1),
                            ("refined_trials", 0), ("least_vertices", 2), ("split_vertices", 2),
                            ("passes", 0), ("stall_limit", 0)):
            if getattr(self, name) < least:
                raise InputError(f"{name} is {getattr(self, name)}; it must be at least {least}")

    def candidates_on(self, depth: int) -> int:
        """Candidates on the graph that is `depth` levels below the finest."""
        return max(self.candidates, min(self.most_candidates, self.candidates << depth))


def grown_partitions(graphs: list[Graph], clusters: list[Array], goals: np.ndarray,
                     limits: np.ndarray, seed: int, options: GrowingOptions,
                     kept: int | None = None,
                     splits: tuple[np.ndarray, np.ndarray] | None = None,
                     labels: list[Array] | None = None, num_labels: int = 1) -> Array:
    """Partitions of ``graphs[0]``, grown and refined on a hierarchy of graphs.

    Parameters
    ----------
    graphs : list of Graph
        From fine to coarse, in one space; each with fewer vertices than the one before.
    clusters : list of array
        ``clusters[i]`` maps the vertices of ``graphs[i]`` to those of ``graphs[i + 1]``.
    goals, limits : numpy.ndarray, shape (k,)
        What each block should and may weigh; goals count by their shares and are positive.
    seed : int
    options : GrowingOptions
    kept : int, optional
        How many partitions are wanted, at most and by default all ``options.candidates``.
    splits : tuple of numpy.ndarray, optional
        The bisections and where their levels begin, as `splits_of` gives them and by default its.
    labels : list of array of int32, optional
        For each graph the first of the blocks that a vertex may be in, where `splits` begin with
        several ranges of blocks, `num_labels` of them.

    Returns
    -------
    array of int32, shape (kept * n,)
        One partition after the other, best first: those without overload, and of them those whose
        cuts cost least.  A block may still weigh more than its limit; with at least k vertices,
        empty ones are rare.
    """
    space = graphs[0].space
    rows, level_begin = splits_of(len(goals)) if splits is None else splits
    limits = np.minimum(limits, graphs[0].total_vertex_weight)
    shared = {name: space.asarray(array) for name, array in {
        "split_first": rows[:, 0], "split_middle": rows[:, 1], "split_last": rows[:, 2],
        "split_price": rows[:, 3],
        "level_begin": level_begin, "goal_sum": _sums(goals), "limit_sum": _sums(limits),
    }.items()}
    states = _states(graphs, len(goals), len(level_begin) - 1, seed, options, num_labels)
    states[0, word.KEPT] = min(kept or options.candidates, options.candidates)
    states[:, word.KEPT_VERTICES] = states[:, word.KEPT] * states[:, word.VERTICES]
    arrays = {**shared, **_work_arrays(space, states), "cluster": space.empty(0, np.int32),
              "kept": space.empty(0, np.int32)}
    team = team_for(graphs[0].mean_degree)  # the same on all graphs: one program to compile
    state_words = space.asarray(states.reshape(-1))
    for depth in reversed(range(len(graphs))):
        state = states[depth]
        arrays["coarse_part"] = arrays["kept"]
        if state[word.COARSE_VERTICES] > 0:
            arrays["cluster"] = clusters[depth]
        arrays["kept"] = space.empty(int(state[word.KEPT_VERTICES]), np.int32)
        arrays["state"] = state_words[depth * word.SIZE : (depth + 1) * word.SIZE]
        if labels is not None:
            order_by_label(space, labels[depth], int(state[word.CANDIDATES]), len(goals), seed,
                           arrays)
        _bisect(graphs[depth], int(state[word.VERTICES_OF_ALL]), team, arrays, labels is not None)
    return arrays["kept"]


def _sums(values: np.ndarray) -> np.ndarray:
    """Sums of all values before each, and of all."""
    return np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])


def _states(graphs: list[Graph], num_blocks: int, all_levels: int, seed: int,
            options: GrowingOptions, num_labels: int) -> np.ndarray:
    """The words that depend on the graphs and the options only, a row for each graph."""
    states = np.zeros((len(graphs), word.SIZE), np.int64)
    inherited = 0
    for depth in reversed(range(len(graphs))):
        state, n = states[depth], graphs[depth].num_vertices
        _describe(graphs[depth], state)
        state[word.BLOCKS], state[word.SEED], state[word.LEVEL] = num_blocks, seed, -1
        state[word.CANDIDATES] = options.candidates_on(depth)
        state[word.VERTICES_OF_ALL] = state[word.CANDIDATES] * n
        state[word.GROWN_TRIALS] = options.trials
        state[word.REFINED_TRIALS] = options.refined_trials
        state[word.PASSES], state[word.STALL_LIMIT] = options.passes, options.stall_limit
        state[word.FINEST], state[word.INHERITED_LEVELS] = depth == 0, inherited
        inherited = _levels_on(graphs[depth], depth, inherited, all_levels, options, num_labels)
        state[word.LEVELS] = inherited
        if depth > 0:
            state[word.KEPT] = options.candidates_on(depth - 1)
            states[depth - 1, word.COARSE_VERTICES] = n
    return states


def _describe(graph: Graph, state: np.ndarray) -> None:
    """The words that depend on the graph only."""
    key_bits = max(1, (graph.num_vertices - 1).bit_length())
    state[word.VERTICES], state[word.DEGREE] = graph.num_vertices, int(graph.mean_degree)
    state[word.KEY_BITS] = key_bits
    state[word.WEIGHT_SHIFT] = max(0, graph.total_arc_weight.bit_length() + key_bits - GAIN_BITS)


def _levels_on(graph: Graph, depth: int, inherited: int, all_levels: int,
               options: GrowingOptions, num_labels: int) -> int:
    """Levels of bisection on a graph: all on the finest, else what its size suggests."""
    if depth == 0:
        return all_levels
    wanted = (graph.num_vertices // (options.split_vertices * num_labels)).bit_length()
    return min(all_levels, max(1, inherited, wanted))


def _work_arrays(space: ExecutionSpace, states: np.ndarray) -> dict[str, Array]:
    """Arrays that are large enough for each of the graphs."""
    k = int(states[0, word.BLOCKS])
    candidates = int(states[:, word.CANDIDATES].max())
    attempts = candidates * int(states[0, word.GROWN_TRIALS])
    of_candidates = int(states[:, word.VERTICES_OF_ALL].max())
    of_attempts = of_candidates * int(states[0, word.GROWN_TRIALS])
    groups = max(int(state[word.CANDIDATES]) * group_words(int(state[word.VERTICES]), k)
                 for state in states) * int(states[0, word.GROWN_TRIALS])
    return {
        "segment": space.empty(candidates * (k + 1), np.int64),
        **{name: space.empty(of_candidates, np.int32)
           for name in ("order", "next_order", "place", "part")},
        "inside": space.empty(of_candidates, np.int64),
        "side": space.empty(of_attempts, np.int8), "key": space.empty(of_attempts, np.int64),
        "moves": space.empty(of_attempts, np.int32), "best": space.empty(groups, np.int64),
        "tally": space.zeros(attempts * k * word.TALLY, np.int64),
        "won": space.empty(candidates * k * 2, np.int64),
        "cut": space.empty(candidates, np.int64), "overload": space.empty(candidates, np.int64),
        "survivor": space.empty(candidates, np.int32),
    }


def _bisect(graph: Graph, size: int, team: int, arrays: dict[str, Array], ordered: bool) -> None:
    """Run the program on one graph."""
    bindings = {**graph.arrays, **arrays}
    dtypes = {name: array.dtype for name, array in bindings.items() if array is not None}
    key = ("recursive bisection", *graph.type_key, team, ordered)
    program = graph.space.cached_executable(
        key, lambda: record_bisection(graph, dtypes, team, ordered))
    program.run(bindings, size)

"""The state of recursive bisection: the words of a run, the bisections, and the candidates."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from portpart.backends.language import Cutter, Record, Scope, Slice, Sliced, Words, work
from portpart.backends.programs import Array, ExecutionSpace


class BisectionSizes(Words):
    """Sizes of a graph and of its candidates."""

    vertices: int
    nets: int
    blocks: int
    coarse_vertices: int
    degree: int  # mean degree of a vertex
    candidates: int
    kept: int  # number of best candidates, whose partitions are kept
    vertices_of_all: int  # vertices of all candidates together
    nets_of_all: int
    net_groups: int  # groups of nets of all candidates
    kept_vertices: int  # vertices of the candidates that are kept


class Recursion(Words):
    """The state of the recursion: kernels count its levels and set work sizes."""

    running: int
    level: int
    levels: int
    inherited_levels: int
    inherited: int  # the bisections of this level are projected from the coarser graph
    wide: int  # steps of this level are work for all lanes of a block
    finest: int  # no finer graph follows: every block needs a vertex
    first_split: int
    splits: int  # bisections of this level, of one candidate
    splits_of_all: int  # the same of all candidates
    trials: int  # attempts at each of them; the best is used
    attempts: int  # attempts at all of them
    grown_trials: int  # attempts at a bisection that is grown


class Keys(Words):
    """The layout of keys, which contain gains and positions."""

    key_bits: int  # low bits of a key that name a position
    weight_shift: int  # arc weights lose this many bits, so that gains fit a key
    seed: int


class Passes(Words):
    """Limits of two-way refinement."""

    max_passes: int
    stall_limit: int
    max_moves: int  # of a pass
    refined_trials: int  # attempts at a bisection that are refined
    balances: int  # 1 if the better balanced of equal cuts is kept, else 0


class BisectionWords(BisectionSizes, Recursion, Keys, Passes):
    """The words of a run on one graph; the host writes limits before it."""


class Keyed(Scope):
    """The records that keys of vertices depend on."""

    sizes: BisectionSizes
    keys: Keys


class Splitting(Scope):
    """The records that bisections depend on."""

    sizes: BisectionSizes
    recursion: Recursion


class Attempting(Scope):
    """The records that attempts at bisections depend on."""

    sizes: BisectionSizes
    recursion: Recursion
    keys: Keys
    passes: Passes


class StartSizes(NamedTuple):
    """Maximum numbers of candidates and attempts over all graphs of a hierarchy.

    Attributes
    ----------
    candidates : int
    vertices : int
        Vertices of all candidates together.
    groups : int
        Groups of all candidates, on each side, in one attempt.
    trials : int
        Attempts of a candidate.
    blocks : int
    """

    candidates: int
    vertices: int
    groups: int
    trials: int
    blocks: int


def _of_vertices(sizes: StartSizes) -> int:
    return sizes.vertices


def _of_candidates(sizes: StartSizes) -> int:
    return sizes.candidates


class Splits(Sliced, Record):
    """The bisections, level by level, that lead from all blocks to single ones.

    Attributes
    ----------
    first, middle, last : array of int64
        First block, first block of side 1, and end of the blocks of each bisection.
    cost : array of int64
        Cost of a cut arc per weight.
    level_begin : array of int64
        Where levels begin, and the end of the last one.
    goal_sum, limit_sum : array of float64, shape (k + 1,)
        Sums of the target weights and of the limits of all blocks before each.
    """

    first: Array
    middle: Array
    last: Array
    cost: Array
    level_begin: Array
    goal_sum: Array
    limit_sum: Array

    @classmethod
    def on(cls, space: ExecutionSpace, rows: np.ndarray, level_begin: np.ndarray,
           goals: np.ndarray, limits: np.ndarray) -> Splits:
        """Copy bisections to a space at once; `rows` has their numbers as in `splits_of`."""
        sums = [_sums(values).view(np.int64) for values in (goals, limits)]
        memory = space.asarray(np.concatenate([*rows.T, level_begin, *sums]))
        return cls.sliced(memory, _slices_of_splits(len(rows), len(level_begin), len(goals) + 1))


@lru_cache(maxsize=256)
def _slices_of_splits(num_splits: int, num_begins: int, num_sums: int) -> dict[str, Slice]:
    """Return the slices of the arrays of this many bisections."""
    cutter, whole, real = Cutter(), np.dtype(np.int64), np.dtype(np.float64)
    return {**{name: cutter.next(whole, num_splits)
               for name in ("first", "middle", "last", "cost")},
            "level_begin": cutter.next(whole, num_begins),
            "goal_sum": cutter.next(real, num_sums), "limit_sum": cutter.next(real, num_sums)}


def _sums(values: np.ndarray) -> np.ndarray:
    """Return the sum of all values before each value, and of all."""
    return np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])


class Candidates(Record):
    """Unfinished partitions: c candidates with n vertices each, and k blocks at the end.

    Attributes
    ----------
    order, next_order : array of int32, shape (c * n,)
        Vertices of each candidate, block by block; on this level of recursion and the next.
    place : array of int32, shape (c * n,)
        Position of each vertex in that order.
    part : array of int32, shape (c * n,)
        First of the blocks that each vertex may be in at the end.
    inside : array of int64, shape (c * n,)
        For each position, the weight of the arcs that stay in the bisection.
    segment : array of int64, shape (c * (k + 1),)
        Where the vertices of a block begin in the order.
    won : array of int64, shape (c * k * 2,)
        Cut and overload of each bisection.
    cut, overload : array of int64, shape (c,)
    survivor : array of int32, shape (c,)
        The best candidates, best first.
    """

    order: Array = work(np.int32, _of_vertices)
    next_order: Array = work(np.int32, _of_vertices)
    place: Array = work(np.int32, _of_vertices)
    part: Array = work(np.int32, _of_vertices)
    inside: Array = work(np.int64, _of_vertices)
    segment: Array = work(np.int64, lambda sizes: sizes.candidates * (sizes.blocks + 1))
    won: Array = work(np.int64, lambda sizes: sizes.candidates * sizes.blocks * 2)
    cut: Array = work(np.int64, _of_candidates)
    overload: Array = work(np.int64, _of_candidates)
    survivor: Array = work(np.int32, _of_candidates)


class ProjectedState(Record):
    """Input from the coarser graph, and output for the finer one.

    Attributes
    ----------
    cluster : array of int32, shape (n,)
        The vertex of the coarser graph that each vertex belongs to.
    coarse_part : array of int32
        The candidates of the coarser graph, best first.
    kept_part : array of int32, shape (kept * n,)
        The candidates of this graph that are kept, best first.
    """

    cluster: Array
    coarse_part: Array
    kept_part: Array

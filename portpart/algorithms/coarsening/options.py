"""Parameters of coarsening: where it ends, and how vertices are merged."""

from __future__ import annotations

from dataclasses import dataclass

from portpart.errors import InputError
from portpart.options import check_options, described, option

CONTRACTIONS = ("auto", "hash", "sort")

MAX_SCORE = 2**62
"""Scores stay below it: edges that weigh more than this over c count as equally heavy."""


@described
@dataclass(frozen=True)
class CoarseningOptions:
    """Where coarsening ends."""

    coarsest_per_block: int = option(
        32, "Coarsening ends at a graph of this many vertices for each block.", min=0)
    min_coarsest: int = option(512, "But not below this many vertices.", min=0)
    max_coarsest: int = option(
        8192, "And not above this many, or two for each block if that is more.", min=0)
    dense_per_block: int | None = option(
        None, "While a graph is dense it is coarsened further, to this many vertices for each "
        "block.", min=0)
    max_kept: float = option(
        0.98, "Coarsening ends when a level keeps more than this share of the vertices.",
        above=0, below=1)  # at 1 coarsening would go on for ever
    drop_below: float = option(
        0.25, "A graph of less than this share of the vertices at which coarsening ends is dropped "
        "again, and the one before is the coarsest.", min=0, max=1)
    skip_above: float = option(
        1.0, "A graph with more than this share of the arcs or pins of the finer one is no level, "
        "unless it is the coarsest: to refine it would take as long as the finer one.",
        above=0, max=1)

    def __post_init__(self) -> None:
        check_options(self)

    def coarsest_vertices(self, num_blocks: int) -> int:
        """Number of vertices at which coarsening ends."""
        wanted = max(self.coarsest_per_block * num_blocks, self.min_coarsest)
        return wanted if wanted <= self.max_coarsest else max(self.max_coarsest, 2 * num_blocks)

    def coarsest_dense_vertices(self, num_blocks: int) -> int | None:
        """The same for a dense graph."""
        if self.dense_per_block is None:
            return None
        return max(self.dense_per_block * num_blocks, self.min_coarsest // 4)


@described
@dataclass(frozen=True)
class ClusteringOptions:
    """Merging by clusters."""

    growth: float = option(
        8, "A cluster weighs at most this many times the mean vertex of its level.",
        above=1, below=float("inf"))
    skewed_growth: float = option(
        32, "The same on graphs whose highest degree is far above the mean.",
        above=1, below=float("inf"))
    max_coarse_weight: float = option(
        8, "And at most this many times the mean vertex of a graph at which coarsening may end.",
        above=1, below=float("inf"))
    join_rounds: int = option(3, "Rounds in which single vertices join clusters.", min=1)
    improve_rounds: int = option(
        0, "Rounds after those in which half of the members, in turn, may move as well.", min=0)
    max_left: float = option(
        0.25, "If more than this share of the vertices is single after that, they are grouped.",
        min=0)

    def __post_init__(self) -> None:
        check_options(self)


@described
@dataclass(frozen=True)
class NetOptions:
    """Which nets of a hypergraph take part."""

    max_rated: int = option(
        200, "Nets of more pins do not count where vertices look for clusters.", min=1)
    max_size: int = option(
        50_000, "Nets of more pins, and of more than a share of the vertices, take no part in "
        "coarsening and refinement.", min=2)
    max_share: float = option(0.01, "That share.", min=0, max=1)

    def __post_init__(self) -> None:
        check_options(self)

    def largest(self, num_vertices: int) -> int:
        """Most pins of a net that takes part."""
        return max(self.max_size, int(self.max_share * num_vertices))


@described
@dataclass(frozen=True)
class CommunityOptions:
    """Communities of a hypergraph, which its clusters stay within."""

    max_levels: int = option(6, "Levels of communities.", min=1)
    max_kept: float = option(
        0.9, "The last is one that keeps more than this share of the vertices.", above=0, max=1)
    join_rounds: int = option(3, "Rounds in which single vertices join communities.", min=1)
    improve_rounds: int = option(
        2, "Rounds after those in which half of the members, in turn, may move as well.", min=0)
    max_net_size: int = option(1000, "Nets of more pins do not count.", min=2)

    def __post_init__(self) -> None:
        check_options(self)


@described
@dataclass(frozen=True)
class MatchingOptions:
    """Merging by pairs."""

    two_hop: bool = option(
        True, "Whether vertices at distance two are matched too while many are single.")
    max_matchmaker_degree: int = option(
        1000, "Vertices of higher degree make no relatives.", min=0)
    max_share: float | None = option(
        0.25, "A pair weighs at most this share of what a block may weigh, if there is a limit.",
        above=0, max=1)
    rounds: int | None = option(
        None, "Rounds of matching on a level, at most; None: until no edge is left free.",
        min=1, max=32)
    mutual: bool = option(
        True, "Whether both of a pair have to wish for each other; else one of them is enough, as "
        "in Jet's released code, and vertices differ less in weight.")

    def __post_init__(self) -> None:
        check_options(self)


@described
@dataclass(frozen=True)
class NetGroupingOptions:
    """Merging by balanced groups."""

    group_size: int = option(4, "Most vertices that become one.", min=2)
    max_rated: int = option(
        1000, "Nets of more pins do not count where vertices select others.", min=1)
    max_coarse_weight: float | None = option(
        8, "A vertex and the one that it selects weigh at most this many times the mean vertex of "
        "a hypergraph at which coarsening may end, and a quarter of a block; None: the latter.",
        above=1, below=float("inf"))

    def __post_init__(self) -> None:
        check_options(self)


@described
@dataclass(frozen=True)
class GroupingOptions:
    """Merging by union-find groups."""

    group_size: int | None = option(
        6, "Most vertices that become one; None: all that are linked, whatever they weigh.", min=2)
    broken_up: bool = option(
        False, "Whether all that are linked meet first, round by round, and the vertices of each "
        "group_size places in the order of their rounds become one; else links are cut first.")
    ties: str = option(
        "hash", 'Whom a vertex selects of neighbours of one score: by a seeded hash or, where '
        'links are not cut, the "first", of the smallest id.', choices=("hash", "first"))
    score_factor: int | None = option(
        None, "The score of an edge is this many times its weight less the degree of its other "
        "end.  By default one more than the highest degree of each level.",
        min=1, max=MAX_SCORE)
    max_coarse_weight: float | None = option(
        4, "A group weighs at most this many times the mean vertex of a graph at which coarsening "
        "may end, and a quarter of a block; None: any weight.", above=1, below=float("inf"))

    def __post_init__(self) -> None:
        check_options(self)
        cut_first = self.group_size is not None and not self.broken_up
        if self.ties != "hash" and cut_first:
            raise InputError(f'ties is {self.ties!r}; with a group_size it must be "hash"')
        if self.broken_up and self.group_size is None:
            raise InputError("groups that are broken_up need a group_size")

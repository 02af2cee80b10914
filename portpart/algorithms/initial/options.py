"""Parameters of initial partitions."""

from __future__ import annotations

from dataclasses import dataclass, replace

from portpart.options import check_options, described, option

MANY_BLOCKS = 32
"""Beyond this number there are many blocks."""

METHODS = ("metis", "metis-kway", "grown", "auto")


@described
@dataclass(frozen=True)
class GrowingOptions:
    """Partitions that are grown on a hierarchy below the coarsest graph."""

    refined: int = option(
        2, "This many of the best candidates are refined on the coarsest graph, and the best one "
        "is used.", min=1)
    refined_for_many: int | None = option(
        None, "The same where there are more than 32 blocks, if that differs: the more, the less "
        "the best differ.", min=1)
    hierarchies: int = option(
        1, "They grow on so many hierarchies, each with its share of the candidates: what is one "
        "vertex in a hierarchy's coarsest graph is on one side in all of its candidates.", min=1)
    max_blocks: int = option(
        512, "And on no more than have this many blocks together, but for one: the more blocks, "
        "the less they differ.", min=0)
    shrink: float = option(
        4.5, "Clusters weigh at most what they must for this many vertices to become one, and half "
        "more.", min=1.5, max=100)
    shrink_for_many: float = option(
        4.5, "The same where there are more than 32 blocks: the more, the less depends on it.",
        min=1.5, max=100)
    candidates: int = option(
        2, "Partitions of the coarsest graph; of every graph below it there are twice as many.",
        min=1)
    max_candidates: int = option(
        8, "Partitions of a graph below, at most, unless more are wanted of the coarsest graph.",
        min=1)
    trials: int = option(8, "Attempts at each bisection.", min=1)
    refined_trials: int = option(
        4, "How many of them, those of smallest cut, are refined; the best is taken.", min=0)
    min_vertices: int = option(
        128, "The hierarchy ends at a graph of about this many vertices.", min=2)
    split_vertices: int = option(
        32, "On graphs below, blocks are bisected further while they have about this many "
        "vertices.", min=2)
    net_levels: int = option(
        1, "Levels, from the coarsest hypergraph on, where bisections go by nets; below that they "
        "go by the clique graph.", min=0)
    max_net_size: int = option(
        256, "Nets of more pins do not count in bisections, of hypergraphs.", min=2)
    max_pins_per_arc: float = option(
        6.0, "And none count where vertices see more pins than so many for each arc that they have "
        "in the clique graph: that tells nearly as much, and sooner.", min=0)
    passes: int = option(2, "Passes of refinement over a bisection, at most.", min=0)
    finest_passes: int = option(
        2, "The same on the coarsest graph itself, whose best partitions are refined once more.",
        min=0)
    stall_limit: int = option(
        20, "A pass ends after this many moves without a better bisection, or before if gains tell "
        "that none will come.", min=0)
    net_levels_for_many: int | None = option(
        None, "`net_levels` where there are more than 32 blocks, if that differs: on the lower "
        "levels there are more vertices then, and what nets tell counts.", min=0)
    hierarchies_for_many: int | None = option(
        None, "`hierarchies` at most where there are more than 32 blocks, if that differs.", min=1)
    max_moves_for_many: int | None = option(
        None, "A pass of refinement ends after this many moves at the latest where there are more "
        "than 32 blocks: moves are made one after the other.", min=1)

    def __post_init__(self) -> None:
        check_options(self)

    def candidates_on(self, depth: int) -> int:
        """Candidates on the graph that is `depth` levels below the finest."""
        return max(self.candidates, min(self.max_candidates, self.candidates << depth))

    def num_hierarchies(self, num_blocks: int) -> int:
        """On how many they grow."""
        found = min(self.hierarchies, self.candidates, self.max_blocks // num_blocks)
        if num_blocks > MANY_BLOCKS and self.hierarchies_for_many is not None:
            found = min(found, self.hierarchies_for_many)
        return max(1, found)

    def max_moves(self, num_blocks: int, num_vertices: int) -> int:
        """After how many moves a pass of refinement ends at the latest."""
        if num_blocks <= MANY_BLOCKS or self.max_moves_for_many is None:
            return num_vertices
        return self.max_moves_for_many

    def for_blocks(self, num_blocks: int) -> GrowingOptions:
        """The same with what differs where there are many blocks."""
        if num_blocks <= MANY_BLOCKS:
            return self
        given = {"refined": self.refined_for_many, "net_levels": self.net_levels_for_many}
        return replace(self, shrink=self.shrink_for_many,
                       **{name: value for name, value in given.items() if value is not None})

    def share(self, num_blocks: int) -> GrowingOptions:
        """What of this each hierarchy has, whose candidates all count where there are several."""
        own = self.for_blocks(num_blocks)
        if self.num_hierarchies(num_blocks) == 1:
            return own
        count = min(self.hierarchies, self.candidates)
        mine = self.candidates // count
        return replace(own, hierarchies=1, refined=mine, candidates=mine,
                       max_candidates=max(1, self.max_candidates // count))

    def of_one(self) -> GrowingOptions:
        """The same with one candidate."""
        return replace(self, refined=1, refined_for_many=None, candidates=1)

    def with_starts(self, starts: int) -> GrowingOptions:
        """The same with this many candidates, each refined."""
        return replace(self, refined=starts, refined_for_many=None, candidates=starts,
                       max_candidates=max(starts, self.max_candidates))


GROWING_ON_NETS = GrowingOptions(
    hierarchies=16, hierarchies_for_many=4, candidates=16, refined=2, refined_for_many=1,
    shrink=3.0, shrink_for_many=6.0, net_levels_for_many=2, min_vertices=32, finest_passes=1,
    stall_limit=10, max_moves_for_many=16, max_net_size=128)
"""For hypergraphs, whose hierarchies differ more, and whose partitions have more to lose."""


@described
@dataclass(frozen=True)
class InitialOptions:
    """Partitions of the coarsest graph."""

    method: str = option(
        "metis", "Who makes them: METIS, on the host, by recursive bisection or by its k-way "
        'method; or growing, in the space of the graph; "auto": the latter, one candidate only '
        'where one start is enough.', choices=METHODS)
    starts: int = option(
        8, "How many METIS makes, at most; each is refined on the coarsest graph, and the best one "
        "is used.", min=1)
    start_blocks: int = option(
        64, "And no more than make this many blocks together: METIS's time grows with k, the gain "
        "falls.", min=0)
    growing: GrowingOptions = option(GrowingOptions(), "Partitions that are grown.")

    def __post_init__(self) -> None:
        check_options(self)

    @property
    def grows(self) -> bool:
        """Whether they are grown, where that can be."""
        return self.method in ("grown", "auto")

    @property
    def bisects(self) -> bool:
        """Whether METIS, where it is asked, bisects."""
        return self.method != "metis-kway"

    def num_starts(self, num_blocks: int) -> int:
        """Number of initial partitions."""
        return max(1, min(self.starts, self.start_blocks // num_blocks))

    def with_starts(self, starts: int, num_blocks: int) -> InitialOptions:
        """The same with this many initial partitions, whoever makes them."""
        return replace(self, starts=starts, start_blocks=starts * num_blocks,
                       growing=self.growing.with_starts(starts))

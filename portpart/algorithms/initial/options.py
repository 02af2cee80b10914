"""Parameters of initial partitions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from portpart.options import derived, option, option_class

FEW_BLOCKS, MANY_BLOCKS = 8, 32
"""Up to the first number there are few blocks, above the second many."""

NO_LIMIT = 2**31 - 1

METHODS = ("metis", "metis-kway", "grown", "auto")


VERTICES_PER_MOVE = 32
"""See `max_moves_for_many`: where a graph is barely coarsened, few moves leave poor starts."""


@option_class
class GrowingOptions:
    """Partitions that are grown on a hierarchy below the coarsest graph."""

    refined: int = option(
        2, "Number of best candidates that are refined on the coarsest graph; the best result is "
        "used.", min=1)
    refined_for_many: int | None = option(
        None, "The same for more than 32 blocks, if different.", min=1)
    hierarchies: int = option(
        1, "Number of hierarchies, each with its share of the candidates: vertices merged by a "
        "hierarchy are on one side in all of its candidates.", min=1)
    hierarchies_for_few: int | None = option(
        None, "The same for at most 8 blocks, if different.", min=1)
    max_blocks: int = option(
        512, "Maximum number of hierarchies times blocks, if there is more than one hierarchy: "
        "with more blocks, hierarchies differ less.", min=0)
    shrink: float = option(
        4.5, "Target number of vertices per cluster; a cluster may weigh half "
        "more.", min=1.5, max=100)
    shrink_for_many: float = option(
        4.5, "The same for more than 32 blocks, where it matters less.",
        min=1.5, max=100)
    candidates: int = option(
        2, "Number of partitions of the coarsest graph; each graph below it has twice as many.",
        min=1)
    candidates_for_many: int | None = option(
        None, "The same for more than 32 blocks, if different.", min=1)
    max_candidates: int = option(
        8, "Maximum number of partitions of a graph below, unless the coarsest graph has more.",
        min=1)
    trials: int = option(8, "Number of attempts at each bisection.", min=1)
    refined_trials: int = option(
        4, "Number of attempts, those with the smallest cuts, that are refined; the best is "
        "used.", min=0)
    min_vertices: int = option(
        128, "The hierarchy ends at a graph with about this number of vertices.", min=2)
    min_vertices_for_many: int | None = option(
        None, "The same for more than 32 blocks, if different.", min=2)
    split_vertices: int = option(
        32, "On graphs below, blocks are bisected further while they have about this number of "
        "vertices.", min=2)
    net_levels: int = option(
        1, "Number of levels, from the coarsest hypergraph on, on which bisections use nets, not "
        "the clique graph.", min=0)
    max_net_size: int = option(
        256, "Nets with more pins do not count in bisections of hypergraphs.", min=2)
    max_pins_per_arc: float = option(
        6.0, "With more pins around a vertex per arc of the clique graph, bisections use that "
        "graph, which is nearly as good and faster.", min=0)
    also_on_large_nets: bool = option(
        False, "Whether half of the hierarchies ignore both limits; always where many vertices "
        "have large nets only.")
    net_by_net: int = option(
        0, "Number of partitions that grow net by net, without coarsening; a walk starts from the "
        "best if it costs less than those found. 1 where nets are few or large.", min=0)
    passes: int = option(2, "Maximum number of refinement passes over a bisection.", min=0)
    finest_passes: int = option(
        2, "The same on the coarsest graph, whose best partitions are refined once more.",
        min=0)
    stall_limit: int = option(
        20, "A pass ends after this number of moves without a better bisection, or earlier if the "
        "gains exclude one.", min=0)
    net_levels_for_many: int | None = option(
        None, "`net_levels` for more than 32 blocks, if different: lower levels then have more "
        "vertices, and nets matter more.", min=0)
    hierarchies_for_many: int | None = option(
        None, "Maximum of `hierarchies` for more than 32 blocks, if different.", min=1)
    max_moves_for_many: int | None = option(
        None, "Maximum number of moves in a refinement pass for more than 32 blocks, because moves "
        "are sequential; one per 32 vertices if that is more.", min=1)
    slack: float = option(
        0.75, "Share of the slack of refinement that more than two blocks have; not for mappings.",
        min=0, max=1)
    slack_for_many: float | None = option(
        None, "The same for more than 32 blocks, if different.", min=0, max=1)
    balanced: bool = option(
        True, "Whether refinement keeps the better balanced of equal cuts, for more than two "
        "blocks.")
    twice_up_to: int = option(
        0, "For at most this number of blocks there are twice as many attempts at each bisection, "
        "and twice as many are refined.", min=0)

    def slack_of_blocks(self, num_blocks: int, of_refinement: int) -> int:
        """Return the weight that blocks may have above their limits, given that of refinement."""
        return int(self.for_blocks(num_blocks).slack * of_refinement) if num_blocks > 2 else 0

    def balances(self, num_blocks: int) -> bool:
        """Whether the better balanced of equal cuts is kept."""
        return self.balanced and num_blocks > 2

    def candidates_on(self, depth: int) -> int:
        """Candidates on the graph that is `depth` levels below the finest."""
        return max(self.candidates, min(self.max_candidates, self.candidates << depth))

    @derived
    def num_hierarchies(self, num_blocks: int) -> int:
        """Return the number of hierarchies for growing."""
        own = self.for_blocks(num_blocks)
        found = min(own.hierarchies, own.candidates, self.max_blocks // num_blocks)
        if num_blocks > MANY_BLOCKS and self.hierarchies_for_many is not None:
            found = min(found, self.hierarchies_for_many)
        return max(1, found)

    @derived
    def on_fewer(self, divisor: int, num_blocks: int) -> GrowingOptions:
        """Return the options with fewer hierarchies for this number of blocks."""
        if num_blocks > MANY_BLOCKS and self.hierarchies_for_many is not None:
            return replace(self, hierarchies_for_many=max(1, self.hierarchies_for_many // divisor))
        return replace(self, hierarchies=max(1, self.hierarchies // divisor))

    def max_moves(self, num_blocks: int, num_labels: int, num_vertices: int) -> int:
        """Return the maximum number of moves in a pass of refinement.

        `num_labels` ranges of blocks have these blocks and vertices together.
        """
        if num_blocks // num_labels <= MANY_BLOCKS or self.max_moves_for_many is None:
            return num_vertices
        return max(self.max_moves_for_many, num_vertices // (num_labels * VERTICES_PER_MOVE))

    @derived
    def for_blocks(self, num_blocks: int) -> GrowingOptions:
        """Return the options with the values for this number of blocks."""
        if num_blocks <= self.twice_up_to:
            more = replace(self, twice_up_to=0, trials=2 * self.trials,
                           refined_trials=2 * self.refined_trials)
            return more.for_blocks(num_blocks)
        if num_blocks <= FEW_BLOCKS and self.hierarchies_for_few is not None:
            return replace(self, hierarchies=self.hierarchies_for_few)
        if num_blocks <= MANY_BLOCKS:
            return self
        given: dict[str, Any] = {
            "refined": self.refined_for_many, "net_levels": self.net_levels_for_many,
            "candidates": self.candidates_for_many, "min_vertices": self.min_vertices_for_many,
            "slack": self.slack_for_many}
        return replace(self, shrink=self.shrink_for_many,
                       **{name: value for name, value in given.items() if value is not None})

    @derived
    def share(self, num_blocks: int) -> GrowingOptions:
        """Return the options of each hierarchy; with several, all their candidates count."""
        own = self.for_blocks(num_blocks)
        if self.num_hierarchies(num_blocks) == 1:
            return own
        count = min(own.hierarchies, own.candidates)
        mine = -(-own.candidates // count)
        return replace(own, hierarchies=1, refined=mine, candidates=mine,
                       max_candidates=max(1, self.max_candidates // count))

    @derived
    def ways(self) -> list[GrowingOptions]:
        """Return the options of each half of the hierarchies, or of all."""
        if not self.also_on_large_nets:
            return [self]
        limited = replace(self, also_on_large_nets=False)
        return [limited, replace(limited, max_net_size=NO_LIMIT, max_pins_per_arc=float(NO_LIMIT))]

    @derived
    def of_one(self) -> GrowingOptions:
        """Return the options with one candidate."""
        return replace(self, refined=1, refined_for_many=None, candidates=1,
                       candidates_for_many=None)

    def with_starts(self, starts: int) -> GrowingOptions:
        """Return the options with this many candidates, each refined."""
        return replace(self, refined=starts, refined_for_many=None, candidates=starts,
                       candidates_for_many=None, max_candidates=max(starts, self.max_candidates))


GROWING_ON_NETS = GrowingOptions(
    hierarchies=16, hierarchies_for_many=4, candidates=16, refined=2, refined_for_many=1,
    shrink=3.0, shrink_for_many=6.0, net_levels_for_many=2, min_vertices=32, finest_passes=1,
    stall_limit=10, max_moves_for_many=16, max_net_size=128, slack=0.0, slack_for_many=0.5,
    balanced=False)
"""For hypergraphs: their hierarchies differ more, and partitions differ more in quality."""


@option_class
class InitialOptions:
    """Partitions of the coarsest graph."""

    method: str = option(
        "metis", 'Method: METIS on the host by recursive bisection ("metis") or k-way '
        "(\"metis-kway\"), or growing on the graph's device (\"grown\"). \"auto\": growing, with a "
        "single candidate if one start is enough.", choices=METHODS)
    starts: int = option(
        8, "Maximum number of METIS's partitions; each is refined on the coarsest graph, and the "
        "best is used.", min=1)
    start_blocks: int = option(
        64, "Maximum number of METIS's partitions times blocks: METIS's time grows with k while "
        "the gain falls.", min=0)
    growing: GrowingOptions = option(GrowingOptions(), "Grown partitions.")

    @property
    def grows(self) -> bool:
        """Whether partitions are grown, where possible."""
        return self.method in ("grown", "auto")

    @property
    def bisects(self) -> bool:
        """Whether METIS bisects recursively."""
        return self.method != "metis-kway"

    def num_starts(self, num_blocks: int) -> int:
        """Number of initial partitions."""
        return max(1, min(self.starts, self.start_blocks // num_blocks))

    def with_starts(self, starts: int, num_blocks: int) -> InitialOptions:
        """Return the options with this many initial partitions, made by METIS or grown."""
        return replace(self, starts=starts, start_blocks=starts * num_blocks,
                       growing=self.growing.with_starts(starts))

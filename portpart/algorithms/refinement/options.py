"""Parameters of refinement, and the sizes and figures of a level."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from portpart.backends.language import Words
from portpart.backends.programs import reserved
from portpart.options import derived, option, option_class

# Parameters of refinement ----------------------------------------------------------------------


@option_class
class RefinementOptions:
    """A pass of Jet refinement over a level."""

    tolerance: float = option(
        0.999, "The objective must fall below this share of the best value to count as progress.")
    stall_limit: int = option(12, "Number of iterations without progress after which a pass "
        "ends.", min=0)
    iteration_limit: int = option(1000, "Maximum number of iterations of a pass.", min=0)
    weak_limit: int = option(2, "Number of weak rebalancings before strong ones.", min=0)
    weak_again: bool = option(
        False, "Whether weak rebalancings may follow a strong one; otherwise strong ones do.")
    leave_by: str = option(
        "weight", 'Which vertices leave an overloaded block: "weight", those with the smallest '
        'loss per weight, of the boundary if that is enough; "loss", those with the smallest loss, '
        "on coarse levels few more than necessary; \"code\", as in Jet's released code, those with "
        "the smallest loss per weight, and vertices that do not fit into a target go last.",
        choices=("weight", "loss", "code"))
    slack: int = option(
        1, "Slack of the limits on coarse levels, in mean vertices of the level.", min=0)
    until_balanced: bool = option(
        False, "Whether an overloaded block accepts no vertex until all blocks are within their "
        "limits; iterations until then do not count as without progress. If propagation overloads "
        "blocks by an eighth of the total weight, half of the proposed moves are allowed at a time "
        "from then on.")


@option_class
class IndependentOptions:
    """Independent-set refinement of a level."""

    zero_gain: bool = option(
        True, "Whether moves of gain 0 are legal if they even out the weights of two blocks.")
    apply_later_moves: bool = option(
        True, "Whether moves behind the balanced prefix are made if their target has capacity.")
    tolerance: float = option(
        0.9999, "The cut must fall below this share of the best to count as progress. The paper's "
        "value is 1: rounds continue while moves gain.", above=0, max=1)
    stall_limit: int = option(10, "Number of rounds without progress after which a level "
        "ends.", min=1)
    round_limit: int = option(2**31, "Maximum number of rounds on a level.", min=1)
    rebalance: bool = option(
        True, "Whether overloaded blocks are rebalanced on every level, as in Jet; otherwise they "
        "only get no heavier.")
    slack: int = option(
        1, "Slack of the limits on coarse levels, in mean vertices of the level.", min=0)


@option_class
class TwoDirectionOptions:
    """Refinement of a level in two directions."""

    zero_gain: bool = option(
        True, "Whether moves of gain 0 are legal if they even out the weights of two blocks.")
    tolerance: float = option(
        0.9999, "The cut must fall below this share of the best to count as progress.",
        above=0, max=1)
    stall_limit: int = option(
        2, "Number of rounds, each in one direction, without progress after which a level ends; a "
        "pass has two.", min=1)
    pass_limit: int = option(
        2**30, "Maximum number of passes, of two rounds each, on a level.", min=1)
    rebalance: bool = option(
        True, "Whether overloaded blocks are rebalanced on every level, as in Jet; otherwise they "
        "only get no heavier.")
    slack: int = option(
        1, "Slack of the limits on coarse levels, in mean vertices of the level.", min=0)
    spare_sources: bool = option(
        False, "Whether vertices stay in a block whose weight would fall below the mean divided by "
        "1 + imbalance.")



@option_class
class SequenceOptions:
    """Refinement of a level by sequences of moves."""

    apply_later_moves: bool = option(
        True, "Whether moves behind the best prefix are made if they gain and their target has "
        "capacity.")
    tolerance: float = option(
        0.9999, "The objective must fall below this share of the best value to count as progress. "
        "The paper's value is 1: rounds continue while sequences gain.", above=0, max=1)
    stall_limit: int = option(3, "Number of rounds without progress after which a level "
        "ends.", min=1)
    round_limit: int = option(2**31, "Maximum number of rounds on a level.", min=1)
    rebalance: bool = option(
        True, "Whether overloaded blocks are rebalanced on every level, as in Jet; otherwise they "
        "only get no heavier.")
    hold_heavy: bool = option(True, "Whether vertices that are heavy compared with a block stay.")
    slack: int = option(
        1, "Slack of the limits on coarse levels, in mean vertices of the level.", min=0)



def shared(options: IndependentOptions | TwoDirectionOptions | SequenceOptions,
           round_limit: int) -> RefinementOptions:
    """Return the options that all refinement has, whichever rule moves vertices."""
    return RefinementOptions(tolerance=options.tolerance, stall_limit=options.stall_limit,
                             iteration_limit=round_limit, slack=options.slack)


@option_class
class FlowOptions:
    """Flow refinement of a level: minimum cuts in corridors around the cuts of two blocks."""

    levels: int = option(
        0, "Number of levels with flows, from the finest on.", min=0)
    alpha: float = option(
        4.0, "Size of a corridor: 1 is the free capacity of the other block, each unit more adds "
        "the slack of both limits.", min=1, max=100)
    depth: int = option(
        4, "Number of layers of a corridor beyond the boundary.", min=0, max=100)
    alpha_in_rounds: float = option(16.0, "`alpha` in the rounds of a population.", min=1, max=100)
    depth_in_rounds: int = option(10, "`depth` in the rounds of a population.", min=0, max=100)
    round_limit: int = option(
        1, "Maximum number of rounds over all pairs of blocks; they end when one reduces the cut "
        "by less than a thousandth.", min=1)
    max_matchings: int | None = option(
        None, "Maximum number of matchings in a round; None: all.", min=1)
    max_degree: int = option(512, "Vertices of higher degree stay in their block.", min=0)
    max_entries: int = option(
        2**20, "Maximum number of arcs or pins of a corridor.", min=2,
        max=2**20)
    max_level: int | None = option(
        None, "Levels with more arcs, or pins, have no flows.", min=0)
    max_vertices: int = option(
        2**24, "Levels with more vertices have no flows.", min=0, max=2**24)
    max_blocks: int = option(
        1024, "Partitions into more blocks have no flows.", min=0, max=1024)
    last_cycle_only: bool = option(
        False, "Whether flows wait for the last cycle, if any.")
    on_band: bool = option(
        False, "Whether a level is refined on its band graph (up to `depth` layers).")

    @property
    def most_matchings(self) -> int:
        """Return a number that no round exceeds."""
        return self.max_matchings or 2**31

    def take(self, num_vertices: int, num_entries: int) -> bool:
        """Whether a level, not too far from the finest, is small enough."""
        return num_vertices <= self.max_vertices and (
            self.max_level is None or num_entries <= self.max_level)

    @derived
    def in_rounds(self) -> FlowOptions:
        """Return the options for the rounds of a population."""
        return replace(self, alpha=self.alpha_in_rounds, depth=self.depth_in_rounds)


# Sizes of refinement, which determine the lengths of its work arrays ---------------------------


MAX_WEIGHT_COPIES = 256
"""Block weights are distributed over at most this many words."""

BUCKETS = 50
"""Number of buckets of losses for each block."""


@dataclass(frozen=True)
class RefinementSizes:
    """Sizes of a graph that is refined, and sizes that follow from them.

    `finest` is the number of vertices of the finest graph, if that is larger.
    """

    vertices: int
    arcs: int
    blocks: int
    finest: int = 0

    @property
    def stripes(self) -> int:
        """Number of copies of the block weights that moves are added to."""
        return max(1, MAX_WEIGHT_COPIES // self.blocks)

    @property
    def hubs(self) -> int:
        """Maximum number of hubs plus one, for the smallest team."""
        return 1 + self.arcs // max_arcs(1)

    @property
    def sub_buckets(self) -> int:
        """Number of sub-buckets of each bucket."""
        return sub_buckets_for(self.blocks, max(self.vertices, self.finest))

    def with_capacity_for(self, vertices: int) -> RefinementSizes:
        """Return the sizes of work arrays for a graph of this many vertices.

        `self` has the sizes of the finest graph; sizes that follow from the numbers of arcs and
        blocks are the same for all graphs.
        """
        return replace(self, vertices=reserved(vertices, self.vertices),
                       finest=max(self.vertices, self.finest))


def max_arcs(team: int) -> int:
    """Return the maximum number of arcs of a vertex that is no hub, for teams of this size."""
    return max(256, 32 * team)


def sub_buckets_for(num_blocks: int, num_vertices: int) -> int:
    """Return the number of sub-buckets per bucket, a power of two.

    About one for 8 vertices of a block, but so few that the histogram is small.
    """
    share = min(2**20 // (BUCKETS * num_blocks), num_vertices // (8 * num_blocks))
    return 1 << max(0, min(8, share.bit_length() - 1))


# Figures of a level: its sizes, the limits of the pass, and the state of the pass --------------


class Figures(Words):
    """Figures of a level, which the host writes, and the state of its refinement."""

    vertices: int
    blocks: int
    mean_degree: int
    max_low_degree: Any  # vertices of higher degree have many neighbours
    hub_degree: Any  # vertices of higher degree are hubs
    long: Any  # lists of more vertices are processed by single lanes
    slack: Any  # weight that blocks may have above their limits on a coarse level
    seed: int
    stall_limit: int
    iteration_limit: int
    iteration: int
    running: int
    balanced: Any  # no block is overloaded: label propagation is next
    overloaded: Any  # the opposite: rebalancing is next
    stalled: Any  # iterations since the best partition improved enough

"""Parameters of refinement."""

from __future__ import annotations

from dataclasses import dataclass

from portpart.options import check_options, described, option


@described
@dataclass(frozen=True)
class RefinementOptions:
    """A pass of Jet refinement over a level."""

    tolerance: float = option(
        0.999, "What is minimised must fall below this share of the best to count as progress.")
    stall_limit: int = option(12, "Iterations without progress after which a pass ends.", min=0)
    iteration_limit: int = option(
        1000, "Iterations after which a pass ends in any case.", min=0)
    weak_limit: int = option(2, "Weak rebalancings before strong ones.", min=0)
    weak_again: bool = option(
        False, "Whether weak ones follow a strong one, too; else strong ones do.")
    leave_by: str = option(
        "weight", 'Who leaves a block that is too heavy: "weight", vertices that lose least for '
        'what they weigh, of the boundary where those suffice; "loss", of all its vertices those '
        'that lose least, on coarse levels hardly more than have to; "code", the same but by loss '
        "for weight, and who does not fit into a room goes last, as in Jet's released code.",
        choices=("weight", "loss", "code"))
    slack: int = option(
        1, "Mean vertices of a coarse level that a block may weigh above its limit there.", min=0)
    until_balanced: bool = option(
        False, "Whether a block that was too heavy takes nobody until all blocks are within their "
        "limits, and iterations on the way there do not count as without progress.  Where "
        "propagation leaves an eighth of all weight too much, half of those that want to may "
        "move at a time from then on.")

    def __post_init__(self) -> None:
        check_options(self)


@described
@dataclass(frozen=True)
class IndependentOptions:
    """Independent-set refinement of a level."""

    zero_gain: bool = option(
        True, "Whether moves without gain are legal that even out the weights of two blocks.")
    fill_rooms: bool = option(
        True, "Whether moves behind the balanced prefix are made where their blocks have room.")
    tolerance: float = option(
        0.9999, "A cut must fall below this share of the best to count as progress.  The paper's "
        "is 1: rounds go on while moves gain.", above=0, max=1)
    stall_limit: int = option(10, "Rounds without progress after which a level ends.", min=1)
    round_limit: int = option(2**31, "Rounds after which a level ends in any case.", min=1)
    rebalance: bool = option(
        True, "Whether blocks that are too heavy are brought within their limits on every level, "
        "as in Jet; else they only get no heavier.")
    slack: int = option(
        1, "Mean vertices of a coarse level that a block may weigh above its limit there.", min=0)

    def __post_init__(self) -> None:
        check_options(self)


@described
@dataclass(frozen=True)
class TwoDirectionOptions:
    """Refinement of a level in two directions."""

    zero_gain: bool = option(
        True, "Whether moves without gain are legal that even out the weights of two blocks.")
    tolerance: float = option(
        0.9999, "A cut must fall below this share of the best to count as progress.",
        above=0, max=1)
    stall_limit: int = option(
        2, "Rounds, each in one direction, without progress after which a level ends: those of a "
        "pass.", min=1)
    pass_limit: int = option(
        2**30, "Passes, of two rounds each, after which a level ends in any case.", min=1)
    rebalance: bool = option(
        True, "Whether blocks that are too heavy are brought within their limits on every level, "
        "as in Jet; else they only get no heavier.")
    slack: int = option(
        1, "Mean vertices of a coarse level that a block may weigh above its limit there.", min=0)
    spare_sources: bool = option(
        False, "Whether vertices stay in a block that would fall below its mean weight over 1 + "
        "imbalance.")

    def __post_init__(self) -> None:
        check_options(self)

    def of_rounds(self) -> IndependentOptions:
        """The same for rounds that are told apart by nothing."""
        return IndependentOptions(self.zero_gain, False, self.tolerance, self.stall_limit,
                                  2 * self.pass_limit, self.rebalance, self.slack)


@described
@dataclass(frozen=True)
class SequenceOptions:
    """Refinement of a level by sequences of moves."""

    fill_rooms: bool = option(
        True, "Whether moves behind the best prefix are made that gain and whose blocks have room.")
    tolerance: float = option(
        0.9999, "What is minimised must fall below this share of the best to count as progress.  "
        "The paper's is 1: rounds go on while sequences gain.", above=0, max=1)
    stall_limit: int = option(3, "Rounds without progress after which a level ends.", min=1)
    round_limit: int = option(2**31, "Rounds after which a level ends in any case.", min=1)
    rebalance: bool = option(
        True, "Whether blocks that are too heavy are brought within their limits on every level, "
        "as in Jet; else they only get no heavier.")
    hold_heavy: bool = option(True, "Whether vertices that are heavy for a block stay.")
    slack: int = option(
        1, "Mean vertices of a coarse level that a block may weigh above its limit there.", min=0)

    def __post_init__(self) -> None:
        check_options(self)

    def shared(self) -> RefinementOptions:
        """What all refinement has."""
        return RefinementOptions(tolerance=self.tolerance, stall_limit=self.stall_limit,
                                 iteration_limit=self.round_limit, slack=self.slack)

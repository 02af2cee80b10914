"""What a partitioner is given: one value from the public function to the last start."""

from __future__ import annotations

from dataclasses import dataclass

from portpart.algorithms.balance.limits import Balance
from portpart.algorithms.multilevel.constraints import UNCONSTRAINED, Constraints
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.objectives.cut import CUT
from portpart.algorithms.objectives.objective import Objective
from portpart.backends.interface import ExecutionSpace
from portpart.graphs.graph import Graph


@dataclass(frozen=True, eq=False)
class Problem:
    """A graph that is to be divided.

    Attributes
    ----------
    graph : Graph
    balance : Balance
        The number of blocks and what they may weigh.
    seed : int
    trace : Trace
        Told of what is done.
    constraints : Constraints
    objective : Objective
        What is minimised: the cut, if nothing else is said.
    """

    graph: Graph
    balance: Balance
    seed: int
    trace: Trace
    constraints: Constraints = UNCONSTRAINED
    objective: Objective = CUT

    @property
    def space(self) -> ExecutionSpace:
        """Where the graph is, and the work is done."""
        return self.graph.space

    @property
    def num_blocks(self) -> int:
        """Number of blocks."""
        return self.balance.num_blocks

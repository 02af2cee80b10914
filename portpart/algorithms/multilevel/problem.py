"""What a partitioner is given: one value from the public function to the last start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic

from portpart.algorithms.balance.limits import Balance
from portpart.algorithms.coarsening.hierarchy import AnyGraph
from portpart.algorithms.multilevel.constraints import UNCONSTRAINED, Constraints
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.objectives.cut import CUT
from portpart.algorithms.objectives.objective import Objective
from portpart.algorithms.objectives.pin_state import net_rows
from portpart.backends.interface import ExecutionSpace
from portpart.graphs.hypergraph import EitherGraph, Hypergraph
from portpart.graphs.rows import Csr


@dataclass(frozen=True, eq=False)
class Problem(Generic[AnyGraph]):
    """A graph or a hypergraph to divide.

    Attributes
    ----------
    graph : Graph or Hypergraph
    balance : Balance
        The number of blocks and what they may weigh.
    seed : int
    trace : Trace
        Collects what is done.
    constraints : Constraints
    objective : Objective
        What is minimised: the cut, if nothing else is said.
    """

    graph: AnyGraph
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
    def rows(self) -> Csr:
        """The rows of the vertices, with the state of nets where these cost something."""
        return rows_of(self.graph, self.num_blocks)

    @property
    def num_blocks(self) -> int:
        """Number of blocks."""
        return self.balance.num_blocks


def rows_of(graph: EitherGraph, num_blocks: int) -> Csr:
    """The rows of the vertices, with the state of nets, yet to be found, where there are nets."""
    return net_rows(graph, num_blocks) if isinstance(graph, Hypergraph) else graph.csr

"""Rounds of a population, and how much partitions differ."""

from __future__ import annotations

import numpy as np

from portpart.algorithms.multilevel.population import Partition, Population
from portpart.algorithms.multilevel.problem import Constraints, Problem
from portpart.algorithms.multilevel.trace import Trace
from portpart.algorithms.objectives.cut import CUT
from portpart.algorithms.objectives.net_cost import net_objective
from portpart.algorithms.recipes.partitioners import lookup
from portpart.graphs.hypergraph import EitherGraph, Hypergraph
from portpart.options import changed
from tests import oracles
from tests.helpers.refining import balance_of


def of_population(graph: EitherGraph) -> np.ndarray:
    """The blocks after some rounds, and how drawn partitions differ."""
    space, of_nets = graph.space, isinstance(graph, Hypergraph)
    run, config = lookup("portpart", "default", of_nets=of_nets)
    config = changed(config, {"search.population": 2, "coarsening.coarsest_per_block": 2,
                              "coarsening.min_coarsest": 8})
    problem = Problem(graph, balance_of(graph, 3), 4, Trace(space, graph, None),
                      Constraints(rounds=5), net_objective("km1") if of_nets else CUT)
    population, random = Population(problem, 3), np.random.default_rng(1)
    for value in range(3):
        drawn = random.integers(0, 3, graph.num_vertices)
        population.add(Partition(space.asarray(drawn, np.int32), 1, value))
    differing = population.differing(population.members[0].part)[:3]
    return np.append(oracles.host(run(problem, config)), differing)

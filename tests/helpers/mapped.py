"""Mappings by the public function, checked against plain answers."""

from __future__ import annotations

from typing import Any

import numpy as np

import portpart
from portpart.graphs.graph import Graph
from tests import oracles
from tests.oracles import mappings as plain


def mapped(graph: Graph, arities: list[int], lengths: list[int],
           **options: Any) -> portpart.MappingResult:
    """The result; every number that it holds is what a plain loop finds."""
    result = portpart.map_processes(graph, arities, lengths, **options)
    bounds = {name: options[name] for name in ("imbalance", "target", "fixed") if name in options}
    check(graph, result, plain.distances(arities, lengths), **bounds)
    costs = plain.level_costs(graph, oracles.host(result.part), arities, lengths)
    assert result.level_costs.tolist() == costs
    return result


def check(graph: Graph, result: portpart.MappingResult, machine: plain.Machine,
          **bounds: Any) -> None:
    """Part, cut, weights, limits, cost and traffic follow from each other."""
    part, k = oracles.host(result.part), len(machine)
    oracles.assert_partition_is_true(graph, result, k, **bounds)
    assert result.cost == plain.cost(graph, part, machine)
    assert np.array_equal(result.traffic.toarray(), plain.traffic(graph, part, k))

"""Metrics of graphs of several ranks, against those of the whole graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import portpart
from portpart import generators, metrics
from portpart.errors import InputError
from portpart.graphs.ranks.rank_graph import RankGraph
from tests.helpers.each import looped
from tests.helpers.graphs import random_graph
from tests.helpers.ranks.cut_rows import borders
from tests.helpers.ranks.rank_calls import on_ranks

GRAPHS = {
    "mesh": generators.delaunay(1200),
    "weighted": random_graph(300, 900, 1, weighted=True, vertex_weighted=True),
    "skewed": generators.rmat(9, 5),
    "edgeless": portpart.from_edges(np.zeros((0, 2), int), num_vertices=9),
}


METRICS = {
    "cut": lambda graph, part: metrics.cut(graph, part),
    "block_weights": lambda graph, part: metrics.block_weights(graph, part, 7).tolist(),
    "max_block_weight": lambda graph, part: metrics.max_block_weight(graph, part),
    "imbalance": lambda graph, part: metrics.imbalance(graph, part, target=[1, 2, 3, 4, 5]),
    "is_balanced": lambda graph, part: metrics.is_balanced(graph, part, imbalance="40%"),
    "communication_volume": lambda graph, part: metrics.communication_volume(graph, part),
}


@looped("name", GRAPHS)
@looped("metric", METRICS)
def test_metrics_of_ranks_are_those_of_the_whole_graph(metric: str, name: str) -> None:
    graph, measure = GRAPHS[name], METRICS[metric]
    part = np.random.default_rng(1).integers(0, 5, graph.num_vertices)
    part[:1] = 4  # no rank but the first may know of the last block
    found = on_ranks(graph, borders(graph.num_vertices, 4, 7), lambda rows: measure(
        rows, part[rows.first : rows.last]))
    assert found == 4 * [measure(graph, part)]


def test_boundary_vertices_of_ranks_have_their_numbers_in_the_whole_graph() -> None:
    graph = GRAPHS["mesh"]

    def main(rows: RankGraph) -> Any:
        result = portpart.partition(rows, 6)
        assert metrics.cut(rows, result) == result.cut
        assert metrics.block_weights(rows, result).tolist() == result.block_weights.tolist()
        return metrics.boundary_vertices(rows, result)

    found = on_ranks(graph, [0, 500, 500, 1200], main)
    part = portpart.partition(graph, 6).part
    assert np.concatenate(found).tolist() == metrics.boundary_vertices(graph, part).tolist()


@pytest.mark.parametrize(("part", "k", "message"), [
    (lambda rows: [0] * (rows.rank + 8), None, "rank 1: part has shape"),
    (lambda rows: [5 * rows.rank] * 8, 4, r"rank 1: part\[0\] is 5"),
])
def test_blocks_of_one_rank_that_do_not_fit_are_refused_on_all(
    part: Any, k: int | None, message: str
) -> None:
    def main(rows: RankGraph) -> None:
        with pytest.raises(InputError, match=message):
            metrics.block_weights(rows, part(rows), k)

    on_ranks(generators.grid_2d(4), [0, 8, 16], main)


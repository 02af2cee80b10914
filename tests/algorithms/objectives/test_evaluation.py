"""The evaluation that a call begins early has the values of its partition, and of no other."""

from __future__ import annotations

import numpy as np
import pytest

import portpart
from bench.recipes import copied
from portpart import generators
from portpart.algorithms.objectives import Evaluation, evaluation as module
from tests.helpers.emulation.stand_in_gpu import StandInGpu
from tests.helpers.spaces import reference

GRAPH = generators.grid_2d(12, 9)


def _weighted(space):
    weights = np.arange(108) % 7
    return portpart.as_graph(GRAPH.to_scipy(), vertex_weights=weights).to(space), weights


@pytest.mark.parametrize("make", [reference, StandInGpu])
@pytest.mark.parametrize("k", [1, 5, 300])
def test_weights_and_cut_are_those_of_the_partition(make, k):
    graph, weights = _weighted(make())
    blocks = np.random.default_rng(k).integers(0, k, 108).astype(np.int32)
    part = graph.space.asarray(blocks)
    evaluation = Evaluation(graph, k)
    evaluation.begin(graph, part, k)
    assert evaluation.block_weights(part).tolist() == np.bincount(
        blocks, weights, minlength=k).astype(int).tolist()
    matrix = GRAPH.to_scipy().tocoo()
    assert evaluation.cut(part) == (blocks[matrix.row] != blocks[matrix.col]).sum() // 2


def test_another_partition_is_unknown():
    graph, _ = _weighted(reference())
    part, other = (graph.space.zeros(108, np.int32) for _ in range(2))
    evaluation = Evaluation(graph, 2)
    assert evaluation.cut(part) is None
    evaluation.begin(graph, part, 2)
    assert evaluation.cut(other) is None
    assert evaluation.block_weights(other) is None
    evaluation.begin(graph, other, 2)
    assert evaluation.cut(part) is None
    assert evaluation.cut(other) == 0


def test_partitions_of_other_graphs_or_into_more_blocks_are_not_evaluated():
    graph, _ = _weighted(reference())
    part = graph.space.zeros(108, np.int32)
    evaluation = Evaluation(graph, 2)
    evaluation.begin(copied(GRAPH, graph.space), part, 2)
    assert evaluation.cut(part) is None
    evaluation.begin(graph, part, 3)
    assert evaluation.cut(part) is None


def test_the_weights_of_very_many_blocks_are_not_copied_early():
    graph, _ = _weighted(reference())
    part = graph.space.zeros(108, np.int32)
    evaluation = Evaluation(graph, module.MAX_BLOCKS + 1)
    evaluation.begin(graph, part, module.MAX_BLOCKS + 1)
    assert evaluation.block_weights(part) is None


@pytest.mark.parametrize(("preset", "rounds", "begun"),
                         [("default", None, 1), ("strong", None, 0), ("best", 1, 0)])
def test_a_call_of_a_single_walk_evaluates_its_result_once(preset, rounds, begun, monkeypatch):
    parts, begin = [], Evaluation.begin

    def noting(self, graph, part, num_blocks):
        parts.append(np.array(part))
        begin(self, graph, part, num_blocks)

    monkeypatch.setattr(Evaluation, "begin", noting)
    graph = generators.delaunay(3000)
    found = portpart.partition(graph, 4, preset=preset, seed=2, rounds=rounds)
    assert len(parts) == begun
    for part in parts:
        assert part.tolist() == found.part.tolist()
    matrix = graph.to_scipy().tocoo()
    assert found.cut == (found.part[matrix.row] != found.part[matrix.col]).sum() // 2
    assert found.block_weights.tolist() == np.bincount(found.part, minlength=4).tolist()

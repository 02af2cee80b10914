"""Several balance constraints: one loop over a static number of them asks for room."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from portpart.algorithms.refinement.blocks.state import Blocks
from portpart.algorithms.refinement.options import Figures
from portpart.backends import cuda
from portpart.backends.language import Static, device, kernel, static_range
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.structure import Csr
from tests.helpers.refining import copied

VERTICES, BLOCKS = 700, 9


@dataclass(frozen=True)
class Weights(Static):
    """How many weights a vertex has; those of one constraint follow those of the one before."""

    constraints: int = 1


@device
def fits(b, v, graph: Csr, blocks: Blocks, figures: Figures, weights: Weights):
    """Whether block b has room for v by every constraint."""
    ok = True
    for c in static_range(weights.constraints):
        at = c * figures.blocks + b
        own = graph.vertex_weights[c * figures.vertices + v]
        ok = ok and blocks.weight[at] + own <= blocks.limits[at]
    return ok


@kernel
def ask(i, graph: Csr, blocks: Blocks, figures: Figures, found, weights: Weights):
    """found[v, b] = whether v fits into block b."""
    found[i] = 1 if fits(i % figures.blocks, i // figures.blocks, graph, blocks, figures,
                         weights) else 0


def asked(space: ExecutionSpace, own: np.ndarray, weight: np.ndarray,
          limits: np.ndarray) -> np.ndarray:
    constraints, n = own.shape
    k = weight.shape[1]
    graph = Csr(None, None, None, None, space.asarray(own.ravel()), None)
    blocks = Blocks(limits=space.asarray(limits.ravel()), weight=space.asarray(weight.ravel()))
    figures = Figures(space.asarray(np.array(Figures.of(vertices=n, blocks=k).array)))
    found = space.empty(n * k, np.int8)
    space.parallel_for(n * k, ask.bound(weights=Weights(constraints)), graph, blocks, figures,
                       found)
    return copied(found).reshape(n, k)


@pytest.mark.parametrize("constraints", [1, 2, 3])
def test_a_vertex_fits_if_it_does_by_every_constraint(space: ExecutionSpace,
                                                      constraints: int) -> None:
    random = np.random.default_rng(constraints)
    own = random.integers(0, 40, (constraints, VERTICES))
    weight = random.integers(0, 100, (constraints, BLOCKS))
    limits = weight + random.integers(0, 50, (constraints, BLOCKS))
    expected = [[all(weight[c, b] + own[c, v] <= limits[c, b] for c in range(constraints))
                 for b in range(BLOCKS)] for v in range(VERTICES)]
    found = asked(space, own, weight, limits)
    assert found.tolist() == np.array(expected, np.int8).tolist()
    assert 0 < found.sum() < found.size


def test_each_constraint_is_one_comparison() -> None:
    """The loop is unrolled: with one constraint nothing is left that the others would need."""
    records = (Csr(None, None, None, None, np.zeros(2, np.int64), None),
               Blocks(limits=np.zeros(2, np.int64), weight=np.zeros(2, np.int64)),
               Figures(np.zeros(len(Figures.indices), np.int64)), np.zeros(2, np.int8))
    counts = [cuda.source(ask.bound(weights=Weights(constraints)), *records).count("<=")
              for constraints in (1, 2, 3)]
    assert np.diff(counts).tolist() == [1, 1]

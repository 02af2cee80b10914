"""A start below the coarsest hypergraph is a partition of that, and one of those to choose from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import portpart
from portpart import generators
from portpart.algorithms.multilevel import deeper_start, starting
from portpart.algorithms.multilevel.deeper_start import Refined
from portpart.graphs.hypergraph import Hypergraph
from portpart.options import changed
from tests import oracles
from tests.helpers.data_folder import hypergraph_path
from tests.helpers.nets import hypergraph_of
from tests.oracles import nets as net_oracles

WITHOUT = changed(portpart.HypergraphConfig(), {"deeper_per_block": 0})


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Hypergraph, Refined | None]]:
    """The coarsest hypergraphs, and what is found below them."""
    noted: list[tuple[Hypergraph, Refined | None]] = []
    refined = deeper_start.refined_from_below

    def noting(problem: Any, deeper: Any, refiner: Any, coarsest: Hypergraph,
               *others: Any) -> Refined | None:
        result = refined(problem, deeper, refiner, coarsest, *others)
        noted.append((coarsest, result))
        return result

    monkeypatch.setattr(starting, "refined_from_below", noting)
    return noted


@pytest.mark.parametrize("k", [2, 3, 4])
def test_it_is_a_partition_of_the_coarsest_hypergraph(
        found: list[tuple[Hypergraph, Refined | None]], k: int) -> None:
    """Its outcome is its km1, counted net by net; the limits are those of refinement."""
    result = portpart.partition(generators.netlist(9_000), k, seed=3)
    (coarsest, refined), *_ = found
    assert refined is not None
    assert coarsest.num_vertices < 9_000
    part = oracles.host(refined.part)
    assert len(part) == coarsest.num_vertices
    assert net_oracles.values(coarsest, part)["km1"] == refined.outcome["cut"]
    weights = np.bincount(part, oracles.vertex_weights(coarsest), k)
    assert refined.outcome["balanced"]
    assert min(weights) > 0
    assert result.stats["starts"] == {"grown": 2}


def test_the_start_is_not_worse(found: list[tuple[Hypergraph, Refined | None]],
                                monkeypatch: pytest.MonkeyPatch) -> None:
    chosen: list[int] = []
    begin = starting.start_from_best

    def noting(refiner: Any, coarsest: Hypergraph, *given: Any, **others: Any) -> int:
        started: list[np.ndarray] = []
        start = refiner.start

        def noted(graph: Hypergraph, part: Any) -> None:
            started.append(oracles.host(part).copy())
            start(graph, part)

        monkeypatch.setattr(refiner, "start", noted)
        passes = begin(refiner, coarsest, *given, **others)
        chosen.append(net_oracles.values(coarsest, started[-1])["km1"])
        monkeypatch.setattr(refiner, "start", start)
        return passes

    monkeypatch.setattr(starting, "start_from_best", noting)
    for seed in range(3):
        portpart.partition(generators.netlist(6_000, seed=seed), 2, seed=seed)
    costs = [refined.outcome["cut"] for _, refined in found if refined is not None]
    assert len(costs) == len(chosen) == 3
    assert all(cost <= below for cost, below in zip(chosen, costs, strict=True))


@pytest.mark.parametrize(("k", "given"), [
    (8, {}), (2, {"fixed": np.where(np.arange(6_000) < 2, np.arange(6_000), -1)}),
    (2, {"initial": np.arange(6_000) % 2}), (2, {"preset": "fast"}), (2, {"preset": WITHOUT}),
])
def test_there_is_none(found: list[tuple[Hypergraph, Refined | None]], k: int,
                       given: dict[str, Any]) -> None:
    """For more blocks, around fixed vertices, from an initial partition, where not wanted."""
    portpart.partition(generators.netlist(6_000), k, seed=3, **given)
    assert found == []


@pytest.mark.parametrize(("preset", "times"), [("default", 1), ("strong", 1), ("best", 2)])
def test_every_second_run_has_it(found: list[tuple[Hypergraph, Refined | None]], preset: str,
                                 times: int) -> None:
    """`strong` makes two runs and `best` four; cycles and combinations need no start."""
    portpart.partition(generators.netlist(3_000), 2, seed=3, preset=preset)
    assert [refined is not None for _, refined in found] == [True] * times


def test_below_dense_and_tiny_hypergraphs_there_is_none(
        found: list[tuple[Hypergraph, Refined | None]]) -> None:
    random = np.random.default_rng(1)
    dense = [sorted(random.choice(400, 80, replace=False)) for _ in range(700)]
    for nets, n in ((dense, 400), ([[v, v + 1, v + 2] for v in range(98)], 100)):
        portpart.partition(hypergraph_of(nets, n), 2, seed=1)
    assert [refined for _, refined in found] == [None, None]


def test_circuits_into_two_blocks_cut_less() -> None:
    """All grown partitions of this one miss a smaller cut for some seeds."""
    circuit = portpart.io.read_hypergraph(hypergraph_path("cholesky_mc"))
    with_it, without = (sum(portpart.partition(circuit, 2, seed=seed, preset=preset).km1
                            for seed in range(1, 5)) for preset in ("default", WITHOUT))
    assert with_it < without

"""Which runs of a search for partitions of a hypergraph coarsen within communities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import portpart
from portpart import generators
from portpart.algorithms.multilevel import deeper_start, walk
from portpart.algorithms.recipes.portpart_nets import PRESETS
from portpart.generators import delaunay
from portpart.graphs.hypergraph import Hypergraph
from portpart.options import changed
from tests import oracles
from tests.helpers.data_folder import hypergraph_path
from tests.helpers.nets import hypergraph_of
from tests.oracles import nets as net_oracles


@pytest.fixture
def have_communities(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether the runs from scratch have communities, in their order."""
    noted: list[bool] = []
    levels_of = deeper_start.levels_of  # which must not see the other function below

    def noting(problem: Any, recipe: walk.Recipe, seed: int, label: Any = None) -> list[Any]:
        if label is None:
            noted.append(recipe.communities is not None)
        return levels_of(problem, recipe, seed, label)

    monkeypatch.setattr(walk, "levels_of", noting)
    return noted


@pytest.mark.parametrize("k", [2, 8])
@pytest.mark.parametrize(("preset", "expected"), [
    ("fast", [True]), ("default", [True]), ("strong", [True, False]),
    ("best", [True, True, False, False])])
def test_half_of_the_runs_have_none(have_communities: list[bool], preset: str, k: int,
                                 expected: list[bool]) -> None:
    portpart.partition(generators.netlist(6_000), k, seed=3, preset=preset, threads=1)
    assert have_communities == expected


@pytest.mark.parametrize(("turn", "expected"), [
    (None, [True] * 5), (1, [True, False, True, False, True]),
    (2, [True, True, False, False, True]), (9, [True] * 5)])
def test_their_number_is_an_option(have_communities: list[bool], turn: int | None,
                                   expected: list[bool]) -> None:
    preset = changed(PRESETS["strong"], {"communities_in_turn": turn, "search.runs": 5})
    portpart.partition(generators.netlist(6_000), 2, seed=3, preset=preset, threads=1)
    assert have_communities == expected


@pytest.mark.parametrize("turn", [0, 65, 10**9, 1.5])
def test_other_numbers_are_refused(turn: float) -> None:
    """There is a recipe for each run until they repeat."""
    with pytest.raises((ValueError, TypeError), match="communities_in_turn"):
        changed(portpart.HypergraphConfig(), {"communities_in_turn": turn})


def test_edges_of_graphs_have_them_in_all_runs(have_communities: list[bool]) -> None:
    """Their runs were measured with communities only."""
    portpart.partition_edges(delaunay(2_000), 4, preset="strong", threads=1)
    assert have_communities == [True, True]


def test_vertices_of_large_nets_stay_in_the_blocks_that_grew_net_by_net(
        have_communities: list[bool]) -> None:
    """Without them, ratings of clusters would see no net at all."""
    covering = large_nets(6_000)
    portpart.partition(covering, 2, seed=1, preset="strong", threads=1)
    assert have_communities == [True, True]


def large_nets(num_vertices: int) -> Hypergraph:
    """Return a hypergraph whose nets all have more than 300 pins."""
    random = np.random.default_rng(5)
    return hypergraph_of([sorted(random.choice(num_vertices, 400, replace=False))
                          for _ in range(60)], num_vertices)


@pytest.mark.parametrize("name", ["ibm12", "itc99_b17"])
def test_circuits_into_two_blocks_cut_less(name: str) -> None:
    """Their communities cross the smallest cuts that are known."""
    circuit = portpart.io.read_hypergraph(hypergraph_path(name))
    km1 = {}
    for turn in (None, 1):
        preset = changed(PRESETS["strong"], {"communities_in_turn": turn})
        result = portpart.partition(circuit, 2, seed=1, preset=preset)
        km1[turn] = net_oracles.values(circuit, oracles.host(result.part))["km1"]
    assert km1[1] < km1[None]

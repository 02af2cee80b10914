"""Clusters of hypergraphs: wishes are those of plain sums over nets, on every space."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from portpart.algorithms.coarsening import clustering
from portpart.algorithms.coarsening.cluster_ratings import HashRows
from portpart.algorithms.coarsening.cluster_rules import cluster_rule
from portpart.algorithms.coarsening.clustering import cluster
from portpart.algorithms.coarsening.hierarchy import Level, coarsen
from portpart.algorithms.coarsening.net_contraction import contract_nets, merged_nets
from portpart.algorithms.coarsening.net_proposals import (
    MAX_PINS,
    NEAR_ITSELF,
    NetProposals,
    NetRating,
    PinRange,
    propose_cluster_by_nets,
)
from portpart.algorithms.coarsening.options import ClusteringOptions, NetOptions
from portpart.algorithms.coarsening.proposals import Proposals
from portpart.backends.cuda.requirements import check_program, check_width
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.hypergraph import Hypergraph
from tests import oracles
from tests.helpers.emulation.lanes import LanesSpace
from tests.helpers.nets import circuit, hypergraph_of, hypergraphs, nets_of, weights_of
from tests.helpers.spaces import NO_LIMIT, number_of, reference

PROPOSING = NetProposals(NetOptions(40))
ALL_GROUPED = ClusteringOptions(improve_rounds=1, max_left=0.0)


def with_hub(n: int) -> Hypergraph:
    """Close vertices share nets, vertex 0 is in many nets of 40 pins, some are in a large net only.
    """
    random = np.random.default_rng(2)
    near = nets_of(circuit(n, 3, large=n // 2))
    far = [[0, *random.integers(1, n, 39).tolist()] for _ in range(40)]
    return hypergraph_of(near + far, n, random.integers(0, 5, len(near) + 40),
                         random.integers(1, 4, n))


def pins_seen(v: int, row: list[int], looks_near: bool, max_rated: int) -> set[int]:
    """The pins of a net that v looks at: all, or the 32 next to itself, as the page of HyperG says.
    """
    if not looks_near:
        return set(row) if 2 <= len(row) <= max_rated else set()
    size = min(len(row), 32)
    begin = max(0, min(row.index(v) - size // 2, len(row) - size))
    return set(row[begin : begin + size])


def scores_of(hypergraph: Hypergraph, members: np.ndarray, max_rated: int, room: Any,
              unit: int) -> list[dict[int, float]]:
    """For each vertex the ratings of the clusters around it that it may be in."""
    sums: list[dict[int, int]] = [{} for _ in members]
    weights = weights_of(hypergraph.net_weights, hypergraph.num_nets)
    rows = nets_of(hypergraph)
    looks_near = np.ones(len(members), np.bool_)
    looks_near[[v for row in rows if 2 <= len(row) <= max_rated for v in row]] = False
    for row, weight in zip(rows, weights, strict=True):
        for v in row:
            for u in pins_seen(v, row, looks_near[v], max_rated) - {v}:
                c = int(members[u])
                sums[v][c] = sums[v].get(c, 0) + unit * weight // (len(row) - 1)
    heavy = np.zeros(len(members), np.int64)
    np.add.at(heavy, members, weights_of(hypergraph.vertex_weights, len(members)))
    return [{c: float(total) ** 2 / max(1, int(heavy[c])) for c, total in around.items()
             if c == members[v] or heavy[c] <= room[v]} for v, around in enumerate(sums)]


@pytest.mark.parametrize(("team", "slots", "above", "most"), [
    (32, 192, -1, 192), (256, 1024, 192, 10**9)])
def test_wishes_are_the_best_of_plain_sums(space: ExecutionSpace, team: int, slots: int,
                                           above: int, most: int) -> None:
    """In rows of every size, in main memory too, and by the weights that clusters have."""
    n = 1300
    made = with_hub(n)
    members = np.arange(n) // 3 * 3
    masses = np.array(weights_of(made.vertex_weights, n))
    heavy = np.zeros(n, np.int64)
    np.add.at(heavy, members, masses)
    around = PROPOSING.around(made.to(space), 5)
    clusters = Proposals(seed=5, max_weight=11, label=None, proposal=space.full(n, -2, np.int32),
                         total=None, cluster=space.asarray(members.astype(np.int32)),
                         cluster_weight=space.asarray(heavy))
    slots_far = max(1, around.sizes.arcs)
    rows = HashRows(space.empty(slots_far, np.int32), space.empty(slots_far, np.int64))
    listed = space.asarray(np.arange(n, dtype=np.int32))
    proposals = propose_cluster_by_nets.bound(by=NetRating(slots, team))
    space.parallel_for(n, proposals, listed, around.records["graph"], clusters,
                       around.records["rated"], rows, PinRange(above, most), team=team)
    proposal = oracles.host(clusters.proposal)
    pins = oracles.host(around.records["graph"].end)
    assert pins[0] > 1024
    assert (oracles.host(around.records["rated"].log2_rate) == NEAR_ITSELF).any()
    assert around.sizes.arcs > 0
    expected = scores_of(made, members, 40, 11 - masses, 2**20)
    for v in range(n):
        if above < pins[v] <= most:
            best = max(expected[v].values(), default=-1.0)
            assert proposal[v] in [c for c, score in expected[v].items() if score == best] or (
                best < 0 and proposal[v] == -1)
        else:
            assert proposal[v] == -2


def clustered(space: ExecutionSpace, hypergraph: Hypergraph, limit: int,
              label: np.ndarray | None = None) -> np.ndarray:
    """Cluster of each vertex; checks the numbers of the clusters, their limit and their labels."""
    here = None if label is None else space.asarray(label.astype(np.int32))
    found = cluster(space, hypergraph.to(space), limit, 3, ALL_GROUPED, here, PROPOSING)
    result = oracles.host(found.cluster)
    assert np.array_equal(np.unique(result), np.arange(number_of(found)))
    sums = np.zeros(len(result), np.int64)
    np.add.at(sums, result, weights_of(hypergraph.vertex_weights, len(result)))
    assert (sums[np.bincount(result, minlength=len(result)) > 1] <= limit).all()
    if label is not None:
        assert np.unique(np.stack([result, label]), axis=1).shape[1] == len(np.unique(result))
    return result


@pytest.mark.parametrize("limit", [4, NO_LIMIT])
def test_every_space_finds_the_same_clusters(space: ExecutionSpace, limit: int) -> None:
    """With labels and without."""
    made = with_hub(1300)
    for label in (None, np.arange(1300) % 7):
        found = clustered(space, made, limit, label)
        assert found.max() + 1 < 0.7 * 1300
        assert np.array_equal(found, clustered(reference(), made, limit, label))


@given(hypergraph=hypergraphs(), limit=st.integers(0, 2**41), parts=st.integers(1, 3))
@settings(max_examples=60)
def test_limits_and_labels_hold_on_any_hypergraph(hypergraph: Hypergraph, limit: int,
                                                  parts: int) -> None:
    """Huge weights and weights of zero among them."""
    clustered(reference(), hypergraph, limit, np.arange(hypergraph.num_vertices) % parts)


@pytest.mark.parametrize("lanes", [2, 3])
def test_lanes_share_the_pins_of_nets(lanes: int) -> None:
    """Whoever takes which pin."""
    made = circuit(150, 3, large=100)
    assert np.array_equal(clustered(LanesSpace(lanes), made, 8), clustered(reference(), made, 8))


def test_vertices_of_very_many_pins_look_at_some_of_their_nets(space: ExecutionSpace) -> None:
    """At so many as the bound allows, the same on all spaces."""
    n, random = 2000, np.random.default_rng(1)
    rows = [[0, *random.choice(np.arange(1, n), 599, replace=False).tolist()] for _ in range(400)]
    found = []
    for here in (space, reference()):
        around = NetProposals(NetOptions(1000)).around(hypergraph_of(rows, n).to(here), 9)
        pins = oracles.host(around.records["graph"].end)
        log2_rate = oracles.host(around.records["rated"].log2_rate)
        assert 0 < pins[0] <= MAX_PINS
        assert pins[0] % 600 == 0
        assert log2_rate[0] == 1
        assert not log2_rate[1:].any()
        assert around.sizes.arcs == 2 * n * n
        found.append(pins.tolist())
    assert found[0] == found[1]


def levels_of(space: ExecutionSpace, hypergraph: Hypergraph) -> list[Level[Hypergraph]]:
    """The hierarchy of a hypergraph."""
    finest = merged_nets(hypergraph.to(space), hypergraph.num_vertices)
    rule = cluster_rule(finest, 60, NO_LIMIT, ClusteringOptions(), PROPOSING)
    return coarsen(space, finest, rule, stop_at=60, max_kept=0.95, contraction=contract_nets)


def test_hierarchies_are_the_same_on_all_spaces(space: ExecutionSpace) -> None:
    """Weights are kept, and nothing but what crosses clusters costs."""
    made, expected = levels_of(space, with_hub(1300)), levels_of(reference(), with_hub(1300))
    assert made[-1].graph.num_vertices <= 60 < made[-2].graph.num_vertices
    for level, other in zip(made, expected, strict=True):
        assert level.graph.total_vertex_weight == expected[0].graph.total_vertex_weight
        for name, array in level.graph.arrays.items():
            assert np.array_equal(oracles.host(array), other.graph.arrays[name])


def test_scratch_rows_of_a_program_fit_a_block() -> None:
    """Of every width, in one program."""
    hypergraph = circuit(50, 1)
    around = PROPOSING.around(hypergraph.to(reference()), 1)
    records = clustering._records(around, np.zeros(50, np.int32), 1, 1, None)
    program = clustering._record(records, around, ClusteringOptions(), PROPOSING, one_lane=False)
    check_program(program)
    for step in program.launches():
        check_width(step.kernel, step.team)

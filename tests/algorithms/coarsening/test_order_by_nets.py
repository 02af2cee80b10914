"""The order of vertices whose nets are nearly all large, and what depends on numbers no longer."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

import portpart
from portpart.algorithms.coarsening.large_nets import in_order, places_by_nets, reduced_nets
from portpart.algorithms.coarsening.options import NetOptions
from portpart.algorithms.recipes.portpart_nets import HypergraphConfig
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.hypergraph import Hypergraph
from portpart.options import changed
from tests import oracles
from tests.helpers.nets import hypergraph_of, nets_of, weights_of
from tests.helpers.spaces import reference

LARGE = NetOptions(max_rated=8, max_size=100_000)


def covering(rows: int, columns: int, seed: int, alike: bool = True) -> scipy.sparse.csr_array:
    """Few rows, each of many columns, as in set covering; columns differ unless `alike`."""
    random = np.random.default_rng(seed)
    chosen: dict[tuple[int, ...], None] = {}
    while len(chosen) < columns:
        middle, size = random.integers(rows), random.integers(2, 6)
        near = (middle + random.integers(-5, 6, size)) % rows
        column = tuple(np.unique(near).tolist())
        chosen[(*column, -len(chosen)) if alike else column] = None
    entries = [(row, v) for v, column in enumerate(chosen) for row in column if row >= 0]
    row, column = np.array(entries).T
    matrix = scipy.sparse.coo_array((np.ones(len(row), np.int8), (row, column)),
                                    shape=(rows, columns))
    return matrix.tocsr()


def plain_order(hypergraph: Hypergraph) -> list[int]:
    """Vertices sorted by their nets, smallest nets first, equal ones by their numbers."""
    nets = nets_of(hypergraph)
    by_size = sorted(range(len(nets)), key=lambda net: (len(nets[net]), net))
    rank = {net: place for place, net in enumerate(by_size)}
    of_vertex: list[list[int]] = [[] for _ in range(hypergraph.num_vertices)]
    for net, pins in enumerate(nets):
        for v in pins:
            of_vertex[v].append(rank[net])
    bits = len(nets).bit_length()
    fields, last = 62 // bits, 2**bits - 1
    return sorted(range(len(of_vertex)), key=lambda v: (
        (sorted(of_vertex[v]) + [last] * fields)[:fields], v))


@pytest.mark.parametrize(("rows", "columns"), [(3, 40), (40, 700), (600, 9000)])
def test_vertices_are_sorted_by_their_smallest_nets(space: ExecutionSpace, rows: int,
                                                    columns: int) -> None:
    """As a plain loop sorts them, with keys of few and of many fields."""
    given = portpart.as_hypergraph(covering(rows, columns, 1))
    places = places_by_nets(given.to(space), LARGE)
    assert places is not None
    order = plain_order(given)
    assert oracles.host(places)[order].tolist() == list(range(columns))
    made = in_order(given.to(space), places)
    wanted = [tuple(sorted(int(oracles.host(places)[v]) for v in pins))
              for pins in nets_of(given) if len(pins) > 1]
    weights = dict(zip(map(tuple, nets_of(made)), weights_of(made.net_weights, made.num_nets)))
    assert weights == {net: wanted.count(net) for net in wanted}


def test_small_nets_leave_the_order_as_it_is(space: ExecutionSpace) -> None:
    """Where a quarter of the vertices has large nets only, that is few; a vertex more is many."""
    small = [[v, v + 1] for v in range(0, 15, 2)]  # 16 of 20 vertices, then 14 of 20
    given = hypergraph_of([*small, list(range(20))], 20).to(space)
    assert places_by_nets(given, LARGE) is None
    given = hypergraph_of([*small[:-1], list(range(20))], 20).to(space)
    assert places_by_nets(given, LARGE) is not None
    assert places_by_nets(given, NetOptions()) is None


@pytest.mark.parametrize("k", [2, 7])
def test_partitions_do_not_depend_on_the_numbers_of_vertices(k: int) -> None:
    """Columns that differ are partitioned alike however they are numbered."""
    matrix = covering(60, 4000, 2, alike=False)
    config = changed(HypergraphConfig(), {"nets.max_rated": 8})
    first = portpart.partition(portpart.as_hypergraph(matrix), k, preset=config)
    other = np.random.default_rng(3).permutation(4000)
    again = portpart.partition(portpart.as_hypergraph(
        scipy.sparse.csr_array(matrix[:, other])), k, preset=config)
    assert again.km1 == first.km1
    assert np.array_equal(again.part, np.asarray(first.part)[other])


def test_fixed_vertices_keep_their_blocks() -> None:
    """Their blocks are given by the numbers that the caller knows."""
    given = portpart.as_hypergraph(covering(60, 4000, 2))
    fixed = np.where(np.random.default_rng(4).random(4000) < 0.1,
                     np.random.default_rng(5).integers(0, 3, 4000), -1)
    result = portpart.partition(given, 3, fixed=fixed,
                                preset=changed(HypergraphConfig(), {"nets.max_rated": 8}))
    assert result.feasible
    assert np.array_equal(np.asarray(result.part)[fixed >= 0], fixed[fixed >= 0])


def test_huge_nets_stay_where_vertices_have_no_others(space: ExecutionSpace) -> None:
    """Otherwise they are left out, and repeated ones count once in both cases."""
    huge = [list(range(60)), list(range(40, 100)), list(range(60))]
    options = NetOptions(max_size=40, max_share=0.1)
    alone = reduced_nets(hypergraph_of(huge, 100).to(space), options)
    assert nets_of(alone.to(reference())) == huge[:2]
    pairs = [[v, v + 1] for v in range(0, 100, 2)]
    beside = reduced_nets(hypergraph_of([*huge, *pairs], 100).to(space), options)
    assert nets_of(beside.to(reference())) == pairs

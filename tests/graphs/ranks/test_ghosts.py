"""Programs of several ranks read no ghost that is out of date, and a missing push is noticed."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings

from portpart import backends
from portpart.backends import language as kl
from portpart.backends.communication import Local, RankFailed
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.graph import Graph
from portpart.graphs.ranks.distribution import distributed
from tests.helpers.emulation.ghosts import Field, GhostSpace
from tests.helpers.graphs import graphs, random_graph
from tests.helpers.ranks.cut_rows import borders, rows_of
from tests.helpers.ranks.ghost_programs import CASES, FAULTS, ONE_FIELD
from tests.helpers.ranks.rank_rows import SIZES, cut_graphs

MUTATIONS = 20


def ran(name: str, graph: Graph, first: list[int], faulty: int = -1, fault: str = "",
        space: ExecutionSpace | None = None) -> dict[str, list[int]]:
    """What all ranks compute, in a space or watched."""
    fields: defaultdict[str, Field] = defaultdict(lambda: Field(""))
    case = CASES[name]

    def main(comm):
        here = space or GhostSpace(comm.rank)
        low, high = first[comm.rank], first[comm.rank + 1]
        part = distributed(comm, rows_of(graph, low, high, here))
        names = np.concatenate([np.arange(low, high), part.ghost_names]).astype(np.int64)
        bound = case.fields(names, graph.num_vertices)
        if space is None:
            for each in bound:
                fields[each].name = each
                bound[each] = fields[each].watch(part, here, bound[each])
            comm.vote(None)
        own = {each: np.zeros(high - low, kind) for each, kind in case.scratch.items()}
        words = np.array([0, 1, 0])
        here.executable(case.record(part, faulty, fault)).run(
            {**bound, **own, "offsets": part.local.offsets, "targets": part.local.targets,
             "words": words, "changed": np.arange(high - low, dtype=np.int32), "names": names,
             "owners": part.owners, "halo": part.halo, "comm": comm},
            len(names), part.mail_sizes(4))
        return {each: np.asarray(array).view(np.ndarray)[: high - low].tolist()
                for each, array in bound.items()}

    results = Local(len(first) - 1).run(main)
    return {each: [value for result in results for value in result[each]] for each in results[0]}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", CASES)
def test_ranks_compute_what_one_device_does(name, size):
    graph = random_graph(200, 320, size)
    first = borders(200, size, 1)
    for threads in (1, 2):
        found = ran(name, graph, first, space=backends.space("cpu", threads=threads))
        assert found == CASES[name].wanted(graph)


@pytest.mark.parametrize("name", CASES)
@settings(max_examples=60)
@given(drawn=cut_graphs(graphs(60, loops=False).filter(lambda graph: graph.num_vertices >= 10)))
def test_no_ghost_is_read_that_is_out_of_date(name, drawn):
    graph, first = drawn
    assert ran(name, graph, first) == CASES[name].wanted(graph)


@pytest.mark.parametrize("seed", range(MUTATIONS))
def test_a_push_that_is_missing_is_noticed(seed):
    rng = np.random.default_rng(seed)
    name = list(CASES)[seed % len(CASES)]
    fault = FAULTS[seed % len(FAULTS)]
    if fault == ONE_FIELD:
        name = "ways"
    n = int(rng.integers(30, 61))
    graph = random_graph(n, 2 * n, seed)
    first = borders(n, SIZES[1 + seed % 4], seed)
    faulty = int(rng.integers(CASES[name].pushes))
    assert ran(name, graph, first) == CASES[name].wanted(graph)
    with pytest.raises(RankFailed, match="is read, and its owner has changed it since"):
        ran(name, graph, first, faulty, fault)


@kl.kernel
def clear(v, labels):
    """labels[v] = 0."""
    labels[v] = 0


def test_kernels_may_not_write_to_ghosts():
    graph = random_graph(20, 40, 1)

    def main(comm):
        here = GhostSpace(comm.rank)
        part = distributed(comm, rows_of(graph, 10 * comm.rank, 10 * comm.rank + 10, here))
        labels = Field("labels").watch(part, here, np.ones(10 + part.num_ghosts, int))
        here.parallel_for(10, clear, labels)
        here.parallel_for(11, clear, labels)

    with pytest.raises(RankFailed, match=r"rank 0: StaleGhost: clear writes to labels\[10\]"):
        Local(2).run(main)

"""Handles of vertices: own ones and ghosts by local numbers, remote ones from a hash table."""

from __future__ import annotations

import numpy as np
import pytest

from portpart.backends.communication import Local
from portpart.graphs.ranks.distribution import distributed
from portpart.graphs.ranks.handles import Handles
from portpart.primitives import EMPTY
from tests.helpers.graphs import random_graph
from tests.helpers.ranks.cut_rows import borders, rows_of
from tests.helpers.ranks.rank_rows import DEVICES, move_anywhere, space_of

N, SIZE = 400, 3
GRAPH, FIRST = random_graph(N, 300, 1), borders(N, SIZE, 1)


def part_of(comm, space, moves):
    """The rows of a rank; names are other numbers than global ids if vertices have moved."""
    part = distributed(comm, rows_of(GRAPH, FIRST[comm.rank], FIRST[comm.rank + 1], space))
    return move_anywhere(part, 5).graph if moves else part


def ids_by_name(space, moves):
    """The global id of each name."""
    def own(comm):
        part = part_of(comm, space, moves)
        count = part.local.num_vertices
        return [space.to_host(each)[:count] for each in (part.names, part.global_ids)]

    names, ids = (np.concatenate(each) for each in zip(*Local(SIZE).run(own)))
    return ids[np.argsort(names)]


@pytest.mark.parametrize("name", ["cpu-1", "cpu-2", "lanes", "stand-in", *DEVICES[1:]])
@pytest.mark.parametrize("moves", [False, True])
def test_each_vertex_has_one_handle_with_its_name_and_id(name, moves):
    """Also when the table is full, and after it has been made longer."""
    space = space_of(name)
    ids = ids_by_name(space, moves)
    assert sorted(ids) == list(range(N))
    assert (ids.tolist() == list(range(N))) == (not moves)

    def main(comm):
        part = part_of(comm, space, moves)
        known, rng = space.to_host(part.names), np.random.default_rng(comm.rank)
        remote = np.setdiff1d(np.arange(N), known)
        half, rest = remote[: len(remote) // 2], remote[len(remote) // 2 :]
        handles = Handles(part, len(half))

        def of(names):
            kind = part.names.dtype
            found = space.to_host(handles.of(*(space.asarray(each.astype(kind))
                                               for each in (names, ids[names]))))
            assert space.to_host(handles.names)[found].tolist() == names.tolist()
            assert space.to_host(handles.global_ids)[found].tolist() == ids[names].tolist()
            return found

        assert of(known).tolist() == list(range(len(known)))
        assert len(set(of(rng.permutation(np.repeat(half, 3))).tolist())) == len(half)
        assert int(space.to_host(handles.num_remote)[0]) == len(half)
        assert handles.reserve(0) is None
        before = of(half)
        changed = space.to_host(handles.reserve(len(rest)))
        assert changed[before].tolist() == of(half).tolist()
        assert changed[: len(known)].tolist() == list(range(len(known)))
        of(rng.permutation(remote))
        listed = space.to_host(handles.listed)[: len(remote)]
        assert sorted(space.to_host(handles.names)[listed].tolist()) == remote.tolist()
        assert (space.to_host(handles.names)[len(known) :] != EMPTY).sum() == len(remote)
        return len(rest)

    assert min(Local(SIZE).run(main)) > 20

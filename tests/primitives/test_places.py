"""Places in ascending order of numbers that several ranks have."""

from __future__ import annotations

import numpy as np
import pytest

from portpart.backends.communication import Local
from portpart.primitives.messages import held
from portpart.primitives.ranks import places_among_ranks
from tests.helpers.ranks.rank_rows import DEVICES, SIZES, space_of


@pytest.mark.parametrize("name", ["cpu-1", "lanes", "host-cuda", *DEVICES])
@pytest.mark.parametrize("size", SIZES)
def test_places_are_those_among_the_numbers_of_all_ranks(name, size):
    space, rng = space_of(name), np.random.default_rng(size)
    for end in (1, 40, 3000):
        chosen = rng.permutation(end)[: max(1, end // 3)]
        pieces = np.split(chosen, np.sort(rng.integers(0, len(chosen) + 1, size - 1)))

        def main(comm, pieces=pieces, end=end):
            mine = space.asarray(pieces[comm.rank].astype(np.int32))
            return space.to_host(held(comm, space, places_among_ranks(comm, space, mine, end)))

        found = Local(size).run(main)
        ordered = np.sort(chosen)
        for piece, places in zip(pieces, found, strict=True):
            assert places.tolist() == np.searchsorted(ordered, piece).tolist()

"""Names are found by their index where bisection finds them."""

from __future__ import annotations

import numpy as np

from portpart import backends
from portpart.backends import language as kl
from portpart.primitives.basic import NameIndex, name_index, place_of
from tests.helpers.each import looped


@kl.kernel
def look(i, names, index: NameIndex, places):
    """places[i] = the place of a name."""
    places[i] = place_of(names[i], index)


@looped("kind", [np.int32, np.int64])
@looped("names", [
    [], [0], [9], range(10), [0, 9], [3, 4, 5], *(np.unique(np.random.default_rng(n).integers(
        0, 1000, n)) for n in (5, 50, 500)), [*range(100, 200), 999]])
def test_places_are_those_of_bisection(names, kind):
    space = backends.space("cpu", threads=1)
    names = np.array([*names], kind)
    for end in (int(names[-1]) + 1 if len(names) else 1, 1000, 2**30):
        asked = np.unique(np.minimum([*range(1000), end - 1], end - 1))
        places = np.zeros(len(asked), np.int64)
        space.parallel_for(len(asked), look, asked, name_index(space, names, end), places)
        assert places.tolist() == np.searchsorted(names, asked).tolist()

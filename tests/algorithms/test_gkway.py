"""G-kway: what its parameters do."""

from __future__ import annotations

from itertools import pairwise

import portpart
from portpart import GkwayConfig
from portpart.algorithms.coarsening.options import GroupingOptions
from portpart.generators import delaunay
from portpart.options import changed


def test_a_configuration_tells_the_algorithm() -> None:
    config = changed(GkwayConfig(), {"grouping.group_size": 2, "coarsening.coarsest_per_block": 20})
    result = portpart.partition(delaunay(3000), 4, preset=config)
    sizes = [level["vertices"] for level in result.stats["levels"]]
    assert all(fine <= 2 * coarse for fine, coarse in pairwise(sizes))
    assert 20 <= sizes[-1] <= 80


def test_groups_make_few_levels() -> None:
    few, many = (len(portpart.partition(delaunay(20_000), 8, preset=GkwayConfig(
        grouping=GroupingOptions(size))).stats["levels"]) for size in (6, 2))
    assert few < many

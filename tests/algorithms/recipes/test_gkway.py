"""G-kway: what its parameters do."""

from __future__ import annotations

from itertools import pairwise

import portpart
from portpart.algorithms.coarsening.options import GroupingOptions
from portpart.algorithms.recipes.gkway import PRESETS, GkwayConfig
from portpart.generators import delaunay
from portpart.options import changed
from tests.helpers.metis_calls import watching_metis


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


def test_as_published_metis_partitions_the_coarsest_graph() -> None:
    """Once, by its k-way method; coarsening ends at 160 k vertices, however many those are."""
    for k in (4, 250):
        with watching_metis() as asked:
            result = portpart.partition(delaunay(60_000), k, algorithm="gkway", preset="paper")
        sizes = [level["vertices"] for level in result.stats["levels"]]
        assert [each[:3] for each in asked] == [(k, sizes[-1], False)]
        assert sizes[-1] <= 160 * k < sizes[-2]


def test_what_the_last_resort_moves_is_counted() -> None:
    """Where the first neighbour is selected a path is two groups, in which no move gains."""
    path = [(v, v + 1) for v in range(2000)]
    first = changed(PRESETS["paper"], {"grouping.ties": "first"})
    result = portpart.partition(path, 8, preset=first)
    assert result.feasible
    assert result.stats["repaired"] > 1000
    balanced = portpart.partition(delaunay(2000), 2, algorithm="gkway", preset="paper")
    assert balanced.stats["repaired"] == 0

"""Nets that are left out before coarsening: which they are, and that results count all of them."""

from __future__ import annotations

import numpy as np

import portpart
from portpart.algorithms.coarsening.large_nets import reduced_nets, remove_large_nets
from portpart.algorithms.coarsening.options import NetOptions
from portpart.algorithms.recipes.portpart_nets import HypergraphConfig
from portpart.backends.programs.interface import ExecutionSpace
from portpart.graphs.hypergraph import Hypergraph
from portpart.options import changed
from tests import oracles
from tests.helpers.each import looped
from tests.helpers.nets import circuit, hypergraph_of, nets_of, rows_of, weights_of
from tests.helpers.spaces import reference
from tests.oracles import nets as net_oracles


def rows(repeated: int) -> list[list[int]]:
    """Nets of three pins that all differ, and some of them once more."""
    different = [[i, (i + 1) % 90, (i + 7) % 90] for i in range(60)]
    return different + different[:repeated]


def kept(hypergraph: Hypergraph, max_size: int) -> dict[tuple[int, ...], int]:
    """Weights by pins of the nets that can be cut and are not too large."""
    found: dict[tuple[int, ...], int] = {}
    weights = weights_of(hypergraph.net_weights, hypergraph.num_nets)
    for row, weight in zip(nets_of(hypergraph), weights, strict=True):
        if 2 <= len(row) <= max_size:
            found[tuple(row)] = found.get(tuple(row), 0) + weight
    return found


@looped("others", [[], [[5]] * 9, [list(range(80))]])
@looped("repeated", [0, 1, 9])
def test_what_stays_is_what_a_plain_loop_keeps(space: ExecutionSpace, repeated: int,
                                               others: list[list[int]]) -> None:
    """A few repeated nets are not worth it; many are, and nets of one pin, and a huge one."""
    given = hypergraph_of(rows(repeated) + others, 90).to(space)
    fewer = reduced_nets(given, NetOptions(max_size=40, max_share=0.5))
    if repeated == 9 or others:
        found = {tuple(row): int(weight) for row, weight in zip(
            nets_of(fewer.to(reference())), oracles.host(fewer.net_weights), strict=True)}
        assert found == kept(given.to(reference()), 45)
        assert fewer.num_vertices == 90
    else:
        assert fewer is given


def test_results_count_all_nets_and_tell_what_was_left_out() -> None:
    """Values are those of plain loops over what was given; the search has seen less."""
    drawn = [*rows(20), list(range(80))]
    given = portpart.as_hypergraph(
        (np.cumsum([0, *map(len, drawn)]), np.concatenate(drawn)), num_vertices=90)
    config = changed(HypergraphConfig(), {"nets.max_size": 40, "nets.max_share": 0.5})
    result = portpart.partition(given, 3, preset=config)
    values = {name: getattr(result, name) for name in ("km1", "cut", "soed")}
    assert values == net_oracles.values(given, result.part)
    assert result.stats["left_out"] == {"nets": 21, "pins": 140}
    assert result.stats["cuts"][-1] == result.km1 - (len({*result.part[:80]}) - 1)
    everything = portpart.partition(given, 3, preset=changed(config, {"nets.max_size": 80}))
    assert everything.stats["left_out"] == {"nets": 20, "pins": 60}


def test_large_nets_lose_their_pins_and_keep_their_numbers(space: ExecutionSpace) -> None:
    """In both directions; without any the hypergraph is the same object."""
    given = circuit(300, 2, large=120).to(space)
    assert remove_large_nets(given, 120) is given
    for limit in (3, 119):
        found = remove_large_nets(given, limit)
        expected = [row if len(row) <= limit else [] for row in nets_of(given)]
        assert nets_of(found) == expected
        assert rows_of(found.vertex_offsets, found.vertex_nets) == [
            [net for net, row in enumerate(expected) if v in row] for v in range(300)]
        assert found.max_net_size == max(map(len, expected))

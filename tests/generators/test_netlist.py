"""Netlists that are drawn have the sizes, the locality and the wide nets that are promised."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from portpart import generators
from portpart.errors import InputError
from portpart.graphs.hypergraph import Hypergraph


def external_nets(hypergraph: Hypergraph, size: int) -> float:
    """Nets that leave a range of `size` vertices, in the mean."""
    h = hypergraph
    blocks = h.num_vertices // size
    nets = np.repeat(np.arange(h.num_nets), np.diff(h.net_offsets))
    pairs = np.unique(nets * blocks + h.net_pins // size)
    reached = np.bincount(pairs // blocks, minlength=h.num_nets)
    return float(reached[reached > 1].sum() / blocks)


@pytest.mark.parametrize("rent", [0.5, 0.65, 0.8])
def test_nets_that_leave_a_subtree_follow_rents_rule(rent: float) -> None:
    made = generators.netlist(1 << 15, rent=rent)
    sizes = 2 ** np.arange(5, 12)
    slope = np.polyfit(np.log2(sizes), [np.log2(external_nets(made, size)) for size in sizes], 1)[0]
    assert slope == pytest.approx(rent, abs=0.05)


def test_sizes_of_nets() -> None:
    made = generators.netlist(20_000, fanout=2.6)
    sizes = np.diff(made.net_offsets)
    assert (made.num_vertices, made.num_nets) == (20_000, 20_000)
    assert 3.4 < made.num_pins / 20_000 < 3.7
    assert sorted(sizes)[-3] < 40
    assert ((9_700 < sizes[-2:]) & (sizes[-2:] < 10_300)).all()
    assert sizes.min() > 1
    assert made.max_degree < 30


def test_every_net_has_its_driver() -> None:
    made = generators.netlist(777, seed=2)
    nets = np.repeat(np.arange(777), np.diff(made.net_offsets))
    assert (np.unique(nets[made.net_pins == nets]) == np.arange(777)).all()


@pytest.mark.parametrize("n", [0, 1, 2, 3, 63, 64])
def test_small_ones(n: int) -> None:
    made = generators.netlist(n)
    assert (made.num_vertices, made.num_nets) == (n, n)


def test_the_same_arguments_give_the_same_netlist() -> None:
    text = hashlib.sha256()
    for array in (made := generators.netlist(5_000, seed=6)).net_offsets, made.net_pins:
        text.update(array.astype("<i8").tobytes())
    assert text.hexdigest()[:16] == "8784c75907a8e46c"
    other = generators.netlist(5_000, seed=7)
    assert other.num_pins != made.num_pins


@pytest.mark.parametrize("options", [{"fanout": 1.5}, {"rent": 0}, {"rent": 1}, {"fanout": np.inf}])
def test_what_cannot_be_is_refused(options: dict[str, float]) -> None:
    with pytest.raises(InputError, match="fanout is"):
        generators.netlist(100, **options)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="-1 vertices"):
        generators.netlist(-1)

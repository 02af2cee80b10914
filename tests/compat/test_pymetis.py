"""`portpart.compat.pymetis` answers calls written for PyMETIS."""

from __future__ import annotations

import warnings
from array import array
from typing import Any

import numpy as np
import pymetis
import pytest

from portpart.compat import pymetis as ours
from portpart.compat.pymetis import graphs
from portpart.errors import InputError
from tests.helpers.each import looped

PATH = [[1], [0, 2], [1, 3], [2]]
OFFSETS = [0, 1, 3, 5, 6]
TARGETS = [1, 0, 2, 1, 3, 2]


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Record what reaches `portpart.partition`."""
    options: dict[str, Any] = {}
    real = graphs.partition

    def partition(graph: Any, k: int, **keywords: Any) -> Any:
        options.update(keywords, k=k)
        return real(graph, k, **keywords)

    monkeypatch.setattr(graphs, "partition", partition)
    return options


@pytest.mark.parametrize(
    "call",
    [
        {"adjacency": PATH},
        {"adjacency": dict(enumerate(PATH))},
        {"adjacency": [np.array(row) for row in PATH]},
        {"adjacency": pymetis.CSRAdjacency(OFFSETS, TARGETS)},
        {"xadj": OFFSETS, "adjncy": TARGETS},
        {"xadj": np.array(OFFSETS), "adjncy": np.array(TARGETS, np.int32)},
    ],
)
def test_every_form_of_the_graph_gives_the_same_answer(call: dict[str, Any]) -> None:
    cut, part = ours.part_graph(2, **call)
    assert cut == 1
    assert part.tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])


def test_result_is_the_named_tuple_of_pymetis() -> None:
    result, there = (module.part_graph(2, adjacency=PATH) for module in (ours, pymetis))
    assert isinstance(result, pymetis.GraphPartition)
    assert result.edge_cuts == 1
    assert isinstance(result.vertex_part, array)
    assert result.vertex_part.typecode == there.vertex_part.typecode


def test_one_block_holds_everything() -> None:
    assert ours.part_graph(1, adjacency=PATH) == pymetis.part_graph(1, adjacency=PATH)


def test_weights_are_used() -> None:
    cut, part = ours.part_graph(
        2, xadj=OFFSETS, adjncy=TARGETS, vweights=[3, 1, 1, 1], eweights=[1, 1, 5, 5, 5, 5]
    )
    assert cut == 1
    assert part[0] not in part[1:]


def test_seed_and_ufactor_of_the_options_are_used(seen: dict[str, Any]) -> None:
    ours.part_graph(2, adjacency=PATH, options=pymetis.Options(seed=7, ufactor=50))
    assert seen["seed"] == 7
    assert seen["imbalance"] == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("nparts", "recursive", "imbalance"),
    [(2, None, 0.001), (9, None, 0.03), (2, False, 0.03), (9, True, 0.001)],
)
def test_default_balance_is_that_of_metis(
    seen: dict[str, Any], nparts: int, recursive: bool | None, imbalance: float
) -> None:
    ring = [[(v - 1) % 20, (v + 1) % 20] for v in range(20)]
    ours.part_graph(nparts, adjacency=ring, recursive=recursive)
    assert seen["imbalance"] == imbalance


@looped(
    ("keywords", "word"),
    [
        ({"tpwgts": [1.0]}, "length of tpwgts mismatches `nparts`: 1 numbers for 2 blocks"),
        ({"tpwgts": [-1, 2]}, "values of tpwgts should be non-negative"),
        ({"tpwgts": [float("nan"), 2]}, "non-negative"),
        ({"tpwgts": ["a", 2]}, "tpwgts must be a sequence of numbers"),
        ({"tpwgts": 0.5}, "tpwgts must be a sequence of numbers"),
        ({"adjacency": 5}, "adjacency is 5; a sequence of the neighbours"),
        ({"adjacency": [[1], 0]}, r"adjacency\[1\] must be a sequence of vertices"),
        ({"adjacency": [[1], [[0], 1]]}, "cannot be read as an array|must be integers"),
        ({"vweights": [[1], [1, 2]]}, "cannot be read as an array"),
        ({"vweights": [1.5, 2.0, 1.0, 1.0]}, r"vertex_weights\[0\] is 1.5"),
        ({"eweights": [1, 1.5, 1, 1, 1, 1]}, r"edge_weights\[1\] is 1.5"),
        ({"adjacency": [[1], [0, 2.5], [1]]}, "must be integers"),
        ({"adjacency": {0: [2], 2: [0]}}, "none of vertex 1"),
        ({"adjacency": {"a": ["b"], "b": ["a"]}}, "none of vertex 0"),
        ({"eweights": [1, 2, 2, 2, 2, 2]}, "weight"),
        ({"options": pymetis.Options(objtype=pymetis.ObjType.VOL)}, "objtype=VOL"),
        ({"options": pymetis.Options(objtype=7)}, "objtype=7"),
        ({"options": pymetis.Options(minconn=2)}, "minconn=2; it must be 0 or 1"),
        ({"options": pymetis.Options(contig=5)}, "contig=5; it must be 0 or 1"),
        ({"options": pymetis.Options(ncuts=0)}, "ncuts=0; it must be at least 1"),
        ({"options": pymetis.Options(ufactor=0)}, "ufactor=0; it must be at least 1"),
        ({"options": pymetis.Options(numbering=1)}, "METIS numbering option must be set to 0"),
        ({"options": pymetis.Options(contig=0), "contiguous": True}, "either through `options`"),
    ],
)
def test_what_cannot_be_honoured_is_refused(keywords: dict[str, Any], word: str) -> None:
    with pytest.raises(InputError, match=word):
        ours.part_graph(2, **{"adjacency": PATH, **keywords})


@pytest.mark.parametrize("nparts", [0, -1, 1.5, "2", None])
def test_the_number_of_blocks_must_be_a_positive_integer(nparts: Any) -> None:
    with pytest.raises(InputError, match="nparts is"):
        ours.part_graph(nparts, adjacency=PATH)


def test_options_may_hold_whatever_metis_knows(seen: dict[str, Any]) -> None:
    options = pymetis.Options(
        ptype=pymetis.PType.RB, objtype=pymetis.ObjType.CUT, ctype=pymetis.CType.RM,
        iptype=pymetis.IPType.RANDOM, rtype=pymetis.RType.GREEDY, niter=100, nseps=5, no2hop=1,
        compress=1, ccorder=1, pfactor=100, dbglvl=1, minconn=0, numbering=0, seed=-7, ncuts=5)
    assert ours.part_graph(2, adjacency=PATH, options=options).edge_cuts == 1
    assert seen["starts"] == 5
    assert seen["seed"] >= 0


def test_what_has_no_effect_but_might_be_missed_is_told() -> None:
    with pytest.warns(UserWarning, match="minconn=1 has no effect") as caught:
        ours.part_graph(2, adjacency=PATH, options=pymetis.Options(minconn=1))
    assert caught[0].filename == __file__


@pytest.mark.parametrize("keywords", [{"contiguous": True}, {"options": pymetis.Options(contig=1)}])
def test_connected_blocks_are_returned(keywords: dict[str, Any]) -> None:
    assert ours.part_graph(2, adjacency=PATH, **keywords).edge_cuts == 1


@pytest.mark.parametrize("keywords", [{"contiguous": True}, {"options": pymetis.Options(contig=1)}])
def test_blocks_in_pieces_are_refused_if_they_are_to_be_connected(
    keywords: dict[str, Any]
) -> None:
    three_apart = [[1], [0], [3], [2], [5], [4]]
    with pytest.raises(InputError, match=r"block \d has 2 components"):
        ours.part_graph(2, adjacency=three_apart, recursive=False, **keywords)


def test_an_edge_that_stands_at_one_end_only_is_an_edge() -> None:
    cut, part = ours.part_graph(2, ours.CSRAdjacency([0, 1, 2, 3, 3], [1, 2, 3]))
    assert cut == 1
    assert part.tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])


def test_names_are_those_of_pymetis() -> None:
    assert set(pymetis.__all__) <= set(ours.__all__)
    assert all(hasattr(ours, name) for name in ours.__all__)
    assert ours.GType.DUAL == pymetis.GType.DUAL
    assert ours.version == pymetis.version


def test_nested_dissection_says_that_it_is_not_offered() -> None:
    with pytest.raises(InputError, match="nested_dissection is not offered"):
        ours.nested_dissection(adjacency=PATH, vweights=[1, 1, 1, 1])


NATIVE = pymetis.zero_copy_dtype()
OTHER = np.int32 if NATIVE == np.int64 else np.int64


@pytest.mark.parametrize(
    ("starts", "adjacent", "weights", "names"),
    [
        (np.array(OFFSETS, NATIVE), np.array(TARGETS, NATIVE), None, []),
        (np.array(OFFSETS, NATIVE), np.array(TARGETS, NATIVE), np.ones(4, NATIVE), []),
        (OFFSETS, np.array(TARGETS, NATIVE), None, ["xadj: GetBuffer failed"]),
        (np.array(OFFSETS, OTHER), TARGETS, None, ["xadj: unexpected itemsize", "adjncy"]),
        (np.array(OFFSETS, NATIVE), np.array(TARGETS).repeat(2)[::2], None,
         ["adjncy: GetBuffer failed"]),
        (np.array(OFFSETS, NATIVE), np.array(TARGETS, f"u{NATIVE.itemsize}"), None,
         ["adjncy: unexpected dtype"]),
        (np.array(OFFSETS, NATIVE), np.array(TARGETS, NATIVE), np.ones(4, np.int8), ["vwgt"]),
    ],
)  # fmt: skip
def test_copies_are_told_where_pymetis_tells_them(
    starts: Any, adjacent: Any, weights: Any, names: list[str]
) -> None:
    graph = pymetis.CSRAdjacency(starts, adjacent)
    told = []
    for module in (ours, pymetis):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            module.part_graph(2, graph, vweights=weights, warn_on_copies=True)
        assert all(warning.category is BytesWarning for warning in caught)
        told.append([str(warning.message) for warning in caught])
    assert all(f"For {name}" in message for name, message in zip(names, told[0], strict=True))
    assert [message[:20] for message in told[0]] == [message[:20] for message in told[1]]


def test_copies_are_told_only_if_asked_for() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours.part_graph(2, PATH)


def test_equal_shares_are_accepted() -> None:
    assert ours.part_graph(2, adjacency=PATH, tpwgts=[0.5, 0.5]).edge_cuts == 1


def test_shares_are_kept() -> None:
    part = ours.part_graph(2, adjacency=PATH, tpwgts=[0.25, 0.75]).vertex_part
    assert part.count(0) == 1
    assert set(ours.part_graph(2, adjacency=PATH, tpwgts=[0.0, 1.0]).vertex_part) == {1}


@pytest.mark.parametrize("keywords", [{}, {"xadj": OFFSETS}, {"adjacency": PATH, "xadj": OFFSETS}])
def test_graph_must_be_given_once(keywords: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="adj"):
        ours.part_graph(2, **keywords)


def test_answer_is_never_worse_than_half_again_of_metis() -> None:
    side = 24
    ids = np.arange(side * side).reshape(side, side)
    pairs = np.concatenate([
        np.stack([ids[:-1].ravel(), ids[1:].ravel()], 1),
        np.stack([ids[:, :-1].ravel(), ids[:, 1:].ravel()], 1),
    ])  # fmt: skip
    neighbours: list[list[int]] = [[] for _ in range(side * side)]
    for u, v in pairs.tolist():
        neighbours[u].append(v)
        neighbours[v].append(u)
    assert ours.part_graph(16, neighbours).edge_cuts <= 1.5 * (
        pymetis.part_graph(16, neighbours, recursive=False).edge_cuts
    )

"""`portpart.compat.pymetis` answers calls written for PyMETIS."""

from __future__ import annotations

from typing import Any

import numpy as np
import pymetis
import pytest

from portpart.compat import pymetis as ours
from portpart.errors import InputError

PATH = [[1], [0, 2], [1, 3], [2]]
OFFSETS = [0, 1, 3, 5, 6]
TARGETS = [1, 0, 2, 1, 3, 2]


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Record what reaches `portpart.partition`."""
    options: dict[str, Any] = {}
    real = ours.partition

    def partition(graph: Any, k: int, **keywords: Any) -> Any:
        options.update(keywords, k=k)
        return real(graph, k, **keywords)

    monkeypatch.setattr(ours, "partition", partition)
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
    assert part in ([0, 0, 1, 1], [1, 1, 0, 0])


def test_result_is_the_named_tuple_of_pymetis() -> None:
    result = ours.part_graph(2, adjacency=PATH)
    assert isinstance(result, pymetis.GraphPartition)
    assert result.edge_cuts == 1
    assert isinstance(result.vertex_part, list)


def test_one_block_holds_everything() -> None:
    assert ours.part_graph(1, adjacency=PATH) == (0, [0, 0, 0, 0])


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


@pytest.mark.parametrize(
    ("keywords", "word"),
    [
        ({"contiguous": True}, "contiguous"),
        ({"tpwgts": [1.0]}, "1 numbers for 2 blocks"),
        ({"tpwgts": [0.0, 1.0]}, r"target\[0\] is 0.0"),
        ({"vweights": [1.5, 2.0, 1.0, 1.0]}, r"vertex_weights\[0\] is 1.5"),
        ({"eweights": [1, 1.5, 1, 1, 1, 1]}, r"edge_weights\[1\] is 1.5"),
        ({"adjacency": [[1], [0, 2.5], [1]]}, "must be integers"),
        ({"options": pymetis.Options(contig=1)}, "contig"),
        ({"options": pymetis.Options(minconn=1)}, "minconn"),
        ({"options": pymetis.Options(ncuts=3)}, "ncuts"),
        ({"options": pymetis.Options(numbering=1)}, "numbering"),
    ],
)
def test_what_cannot_be_honoured_is_refused(keywords: dict[str, Any], word: str) -> None:
    with pytest.raises(InputError, match=word):
        ours.part_graph(2, **{"adjacency": PATH, **keywords})


def test_equal_shares_are_accepted() -> None:
    assert ours.part_graph(2, adjacency=PATH, tpwgts=[0.5, 0.5]).edge_cuts == 1


def test_shares_are_kept() -> None:
    part = ours.part_graph(2, adjacency=PATH, tpwgts=[0.25, 0.75]).vertex_part
    assert part.count(0) == 1


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

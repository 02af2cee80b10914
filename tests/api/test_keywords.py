"""A keyword that a call has not is told with the one that is meant."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import portpart
from portpart.api.call_options import OTHERS, TABLE

GRID = portpart.generators.grid_2d(3)

CALLS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "partition": (portpart.partition, (GRID,)),
    "repartition": (portpart.repartition, (GRID, [0] * 9)),
    "map_processes": (portpart.map_processes, (GRID, "2:2", "1:10")),
    "Session.__init__": (portpart.Session, (GRID,)),
}


@pytest.mark.parametrize(("call", "given", "meant"), [
    ("partition", {"nparts": 2}, "k"), ("partition", {"k": 2, "epsilon": 0.03}, "imbalance"),
    ("partition", {"k": 2, "imbalence": 0.03}, "imbalance"),
    ("repartition", {"k": 2, "itr": 1000}, "migration"),
    ("partition", {"k": 2, "hewgts": [1]}, "net_weights"),
    ("map_processes", {"ncuts": 3}, "starts"), ("map_processes", {"eps": 0.1}, "imbalance"),
    ("Session.__init__", {"num_blocks": 2}, "k"),
    ("Session.__init__", {"k": 2, "random_state": 1}, "seed"),
])
def test_the_right_keyword_is_named(call: str, given: dict[str, Any], meant: str) -> None:
    function, args = CALLS[call]
    wrong = [name for name in given if name != "k"][-1]
    with pytest.raises(TypeError) as caught:
        function(*args, **given)
    assert str(caught.value) == (f"{call}() got an unexpected keyword argument {wrong!r}; "
                                 f"did you mean {meant}=?")


@pytest.mark.parametrize(("call", "given"), [
    ("partition", {"k": 2, "colour": "red"}), ("map_processes", {"itr": 3})])
def test_nothing_is_named_where_nothing_is_meant(call: str, given: dict[str, Any]) -> None:
    function, args = CALLS[call]
    with pytest.raises(TypeError, match=r"unexpected keyword argument '\w+'$"):
        function(*args, **given)


def test_words_of_others_are_none_of_ours_and_mean_one() -> None:
    own = {name for function, _ in CALLS.values()
           for name in inspect.signature(function).parameters}
    assert set(OTHERS.values()) <= own
    assert not own & set(OTHERS)
    assert len(OTHERS) == sum(len(each.metadata["others"]) for each in TABLE.values())

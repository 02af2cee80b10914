"""Options as people write them, and memory that does not suffice."""

from __future__ import annotations

import importlib
import inspect
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import portpart
from portpart.errors import InputError, OutOfMemory

GRID = portpart.generators.grid_2d(6, 6)
CALLS: dict[str, Any] = {
    "partition": lambda **options: portpart.partition(GRID, 4, **options),
    "map_processes": lambda **options: portpart.map_processes(GRID, "2:2", "1:10", **options),
}


@pytest.mark.parametrize("name", CALLS)
def test_options_that_mean_the_same(name: str) -> None:
    call = CALLS[name]
    expected = call(seed=0).part.tolist()
    for options in ({"seed": None}, {"imbalance": "3%"}, {"device": "cpu:0"}, {"seed": 0.0},
                    {"seed": np.int64(0)}, {"threads": 2.0}, {"threads": 1000}):
        assert call(**options).part.tolist() == expected
    with pytest.raises(InputError, match=r"device|cpu:1"):
        call(device="cpu:1")


def test_numbers_of_blocks_may_be_whole_floats() -> None:
    assert portpart.partition(GRID, 3.0).k == 3  # type: ignore[arg-type]
    for bad in (2.5, "3", float("nan"), float("inf"), None):
        with pytest.raises(InputError, match=r"k is .*must be an integer"):
            portpart.partition(GRID, bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", CALLS)
def test_percents_without_a_sign_are_warned_about(name: str) -> None:
    for imbalance in (3, "300%", 1e300):
        with pytest.warns(UserWarning, match=r'3 % is 0\.03 or "3%"') as caught:
            CALLS[name](imbalance=imbalance)
        assert Path(caught[0].filename) == Path(__file__)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CALLS[name](imbalance=1)


def test_warnings_of_infeasible_results_point_at_the_caller() -> None:
    with pytest.warns(UserWarning, match="vertex 0 weighs 90") as caught:
        portpart.partition([(0, 1), (1, 2)], 2, vertex_weights=[90, 1, 1])
    assert Path(caught[0].filename) == Path(__file__)


def test_absurd_numbers_of_blocks_take_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="k is 2000000000 for a graph of 3 vertices"):
        portpart.partition([(0, 1), (1, 2)], 2_000_000_000)
    with monkeypatch.context() as small:
        small.setattr(type(GRID.space), "free_bytes", lambda space: 2**30)
        with pytest.raises(OutOfMemory, match=r"10000000 blocks take .*whatever the graph"):
            portpart.partition([(0, 1), (1, 2)], 10**7)
    assert portpart.partition([(0, 1), (1, 2)], 1000).k == 1000


@pytest.mark.parametrize(("call", "place"), [
    (lambda: portpart.partition(GRID, 2), "portpart.api.device.graph_on_device"),
    (lambda: portpart.map_processes(GRID, "2", "1"),
     "portpart.api.mapping_call.graph_on_device"),
    (lambda: portpart.as_graph([(0, 1)]), "portpart.graphs.graph_of_rows"),
    (lambda: portpart.from_edges([(0, 1)]), "portpart.inputs.constructors.graph_of_rows"),
    (lambda: portpart.from_adjacency([[]]), "portpart.inputs.constructors.adjacency_graph"),
], ids=["partition", "map_processes", "as_graph", "from_edges", "from_adjacency"])
def test_memory_errors_of_numpy_are_typed(
    call: Any, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: Any, **options: Any) -> None:
        raise MemoryError("Unable to allocate 15.0 GiB for an array with shape (7,)")

    module, _, name = place.rpartition(".")
    monkeypatch.setattr(importlib.import_module(module), name, fail)
    with pytest.raises(OutOfMemory, match=r"memory does not suffice: Unable to allocate 15\.0 GiB"):
        call()


def test_signatures_are_told_as_written() -> None:
    for function in (portpart.partition, portpart.map_processes, portpart.as_graph):
        assert "weight_scale" in inspect.signature(function).parameters


def test_the_package_lists_its_public_names_once() -> None:
    names = dir(portpart)
    assert len(names) == len(set(names))
    assert set(names) - {"__doc__", "__version__"} == set(portpart.__all__)

"""Objects of libraries from which there is a way to a graph: the message names it, and it works."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import portpart
from portpart.api.bounds import block_array
from tests import oracles

CALLS = [portpart.as_graph, lambda data: portpart.partition(data, 2), portpart.as_hypergraph]


def stand_in(package: str, name: str) -> Any:
    """An object of a type with this name of this package, which answers no question."""

    class Silent(type):
        def __getattr__(cls, wanted: str) -> Any:
            raise AttributeError(wanted)

    def refuse(self: Any, wanted: str) -> Any:
        if wanted.startswith("__") or wanted in ("data", "gate_names", "tocsr"):
            raise AttributeError(wanted)
        raise AssertionError(f"asked for {wanted}")

    made = Silent(name, (), {"__module__": f"{package}.inner", "__getattr__": refuse})
    return made()


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(("package", "name", "way"), [
    ("polars", "LazyFrame", r"frame\.collect\(\)"),
    ("dgl", "DGLGraph", r"from_edges\(torch\.stack\(graph\.edges\(\), 1\), num_vertices="),
    ("torch_sparse", "SparseTensor", r'matrix\.to_scipy\("csr"\)')])
def test_types_without_a_reader_name_the_way(package: str, name: str, way: str,
                                             call: Any) -> None:
    with pytest.raises(portpart.InputError, match=f"a {name} of {package} is not taken.*{way}"):
        call(stand_in(package, name))


def test_types_of_other_packages_are_no_such() -> None:
    with pytest.raises(portpart.InputError, match="LazyFrame is not a graph; accepted are"):
        portpart.as_graph(type("LazyFrame", (), {"__module__": "mine"})())


@pytest.mark.parametrize("call", CALLS)
def test_a_lazy_frame_is_told_without_a_warning(call: Any) -> None:
    polars = pytest.importorskip("polars")
    lazy = polars.LazyFrame({"source": [0, 1], "target": [1, 2]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(portpart.InputError, match=r"collect\(\)"):
            call(lazy)
    assert oracles.cut(portpart.as_graph(lazy.collect()), [0, 1, 1]) == 1


def test_blocks_on_a_device_are_brought_to_a_graph_that_is_not() -> None:
    class OnDevice:
        """What a CuPy array shows."""

        __cuda_array_interface__ = {"shape": (16,), "typestr": "<i8", "data": (0, True),
                                    "version": 3}

        def get(self) -> np.ndarray:
            return np.arange(16) % 4

    space = portpart.generators.grid_2d(4).space
    found = block_array(space, OnDevice(), 16, 4, "initial", 0)
    assert isinstance(found, np.ndarray)
    assert found.tolist() == [0, 1, 2, 3] * 4

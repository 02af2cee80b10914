"""Frames of edges: columns by name, text as names, and nothing taken by its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import portpart
from portpart.errors import InputError
from portpart.inputs.convert import as_graph
from tests import oracles


class PlainFrame:
    """What every frame has: names of columns, and columns that become arrays."""

    def __init__(self, columns: dict[str, list[Any]]) -> None:
        self.columns = list(columns)
        self.held = columns
        self.shape = (len(next(iter(columns.values()))), len(columns))

    def __getitem__(self, name: str) -> PlainColumn:
        return PlainColumn(self.held[name])


class PlainColumn:
    """A column of a plain frame."""

    def __init__(self, values: list[Any]) -> None:
        self.values = values

    def to_numpy(self) -> np.ndarray:
        return np.array(self.values, object if None in self.values else None)


def pandas_frame(columns: dict[str, list[Any]]) -> Any:
    return pytest.importorskip("pandas").DataFrame(columns)


def polars_frame(columns: dict[str, list[Any]]) -> Any:
    return pytest.importorskip("polars").DataFrame(columns)


def pyarrow_table(columns: dict[str, list[Any]]) -> Any:
    return pytest.importorskip("pyarrow").table(columns)


@pytest.fixture(params=[PlainFrame, pandas_frame, polars_frame, pyarrow_table],
                ids=["plain", "pandas", "polars", "pyarrow"])
def frame(request: pytest.FixtureRequest) -> Callable[..., Any]:
    made: Callable[..., Any] = request.param
    return made


EXPECTED = [(0, 1, 5), (1, 0, 5), (1, 2, 7), (2, 1, 7)]


@pytest.mark.parametrize(("source", "target", "weight"), [
    ("source", "target", "weight"), ("src", "dst", "w"), ("From", "To", "Weight"), ("u", "v", "w")])
def test_columns_are_found_by_name_wherever_they_are(
    frame: Callable[..., Any], source: str, target: str, weight: str
) -> None:
    for order in ((weight, source, target), (source, target, weight), (target, weight, source)):
        columns = {source: [0, 1], target: [1, 2], weight: [5, 7]}
        graph = as_graph(frame({name: columns[name] for name in order}))
        assert sorted(oracles.arcs(graph)) == EXPECTED
        assert graph.names is None


def test_text_becomes_names(frame: Callable[..., Any]) -> None:
    edges = frame({"source": ["b", "a"], "target": ["a", "c"], "weight": [5, 7], "note": ["", "?"]})
    graph = as_graph(edges)
    assert list(graph.names or ()) == ["b", "a", "c"]
    assert sorted(oracles.arcs(graph)) == EXPECTED
    result = portpart.partition(edges, 2, fixed={"c": 0, "b": 1})
    assert {name: b for b, names in enumerate(result.blocks()) for name in names} == {
        "c": 0, "b": 1, "a": int(result.part[1])}
    assert portpart.map_processes(edges, "3", "1").labels == graph.names


def test_other_columns_are_weights_on_demand(frame: Callable[..., Any]) -> None:
    edges = frame({"u": [0, 1], "v": [1, 2], "bytes": [5, 7], "half": [2.5, 3.5]})
    assert as_graph(edges).weights is None
    assert sorted(oracles.arcs(as_graph(edges, edge_weights="bytes"))) == EXPECTED
    scaled = as_graph(edges, edge_weights="half", weights="round", weight_scale=2)
    assert sorted(oracles.arcs(scaled)) == EXPECTED
    with pytest.raises(InputError, match="edge_weights='cost' is not a column; there are 'u', 'v'"):
        as_graph(edges, edge_weights="cost")
    with pytest.raises(InputError, match="has no attributes of vertices"):
        as_graph(edges, vertex_weights="cost")


@pytest.mark.parametrize("columns", [
    {"a": [0], "b": [1]}, {"source": [0], "b": [1]}, {"weight": [3], "src": [0], "to": [1]},
    {"source": [0], "target": [1], "src": [0], "dst": [1]}])
def test_columns_that_nobody_knows_are_refused(
    frame: Callable[..., Any], columns: dict[str, list[Any]]
) -> None:
    with pytest.raises(InputError, match=r"has the columns .*source/target, src/dst"):
        as_graph(frame(columns))


def test_missing_values_are_refused(frame: Callable[..., Any]) -> None:
    for columns in ({"u": ["a", None], "v": ["b", "c"]}, {"u": [0, None], "v": [1, 2]}):
        with pytest.raises(InputError, match="column 'u' has no value in row 1"):
            as_graph(frame(columns))
    with pytest.raises(InputError, match="column 'w' has no value in row 0"):
        as_graph(frame({"u": [0, 1], "v": [1, 2], "w": [None, 3]}))


def test_ends_are_all_names_or_all_numbers(frame: Callable[..., Any]) -> None:
    with pytest.raises(InputError, match="'u' and 'v' holds numbers and the other does not"):
        as_graph(frame({"u": ["1", "2"], "v": [1, 2]}))
    with pytest.raises(InputError, match=r"column 'v' holds 0\.5 in row 1"):
        as_graph(frame({"u": [0, 1], "v": [1.0, 0.5]}))
    with pytest.raises(InputError, match="column 'u' holds -1 in row 0"):
        as_graph(frame({"u": [-1, 1], "v": [1, 0]}))
    for huge in (float("inf"), 1e12):
        with pytest.raises(InputError, match=rf"column 'u' holds {huge} in row 1"):
            as_graph(frame({"u": [0.0, huge], "v": [1.0, 0.0]}))
    with pytest.raises(InputError, match="vertex_weights hold 1 values for 2 vertices"):
        as_graph(frame({"u": [0], "v": [1]}), vertex_weights=7)
    with pytest.raises(InputError, match="vertex_weights hold 1 values for 2 vertices"):
        as_graph([(0, 1)], vertex_weights=7)


def test_an_array_made_a_frame_is_an_edge_list() -> None:
    pandas = pytest.importorskip("pandas")
    graph = as_graph(pandas.DataFrame(np.array([[0, 1, 5], [1, 2, 7], [2, 1, 7]])))
    assert sorted(oracles.arcs(graph)) == EXPECTED
    with pytest.raises(InputError, match="a square matrix"):
        as_graph(pandas.DataFrame([[0, 1, 1], [1, 0, 1], [1, 1, 0]]))


def test_types_of_pandas_are_understood() -> None:
    pandas = pytest.importorskip("pandas")
    edges = pandas.DataFrame({"u": pandas.array([0, 1], "Int64"), "v": [1, 2],
                              "w": pandas.array([5, 7], "Int64")})
    assert sorted(oracles.arcs(as_graph(edges))) == EXPECTED
    edges.loc[1, "w"] = pandas.NA
    with pytest.raises(InputError, match="column 'w' has no value in row 1"):
        as_graph(edges)
    texts = pandas.DataFrame({"u": pandas.array(["<NA>", None], "string"), "v": ["b", "c"]})
    with pytest.raises(InputError, match="column 'u' has no value in row 1"):
        as_graph(texts)
    assert as_graph(texts[:1]).names == ["<NA>", "b"]
    named = pandas.DataFrame({"u": pandas.Categorical(["b", "a"]), "v": ["a", "c"], "w": [5, 7]})
    assert as_graph(named).names == ["b", "a", "c"]
    weights = pandas.Series(pandas.array([3, 4], "Int64"))
    assert as_graph([(0, 1)], vertex_weights=weights).total_vertex_weight == 7
    with pytest.raises(InputError, match="vertex_weights"):
        as_graph([(0, 1)], vertex_weights=pandas.Series(pandas.array([3, None], "Int64")))


def test_masked_entries_are_refused() -> None:
    masked = np.ma.masked_array([[0, 1], [1, 2]], [[False, False], [False, True]])
    with pytest.raises(InputError, match=r"masked array has no value in \[1, 1\]"):
        as_graph(masked)
    with pytest.raises(InputError, match="masked"):
        as_graph([(0, 1)], vertex_weights=np.ma.masked_less([1, 2], 2))
    with pytest.raises(InputError, match="masked"):
        portpart.partition([(0, 1)], 2, fixed=np.ma.masked_less([0, 1], 1))
    assert as_graph(np.ma.masked_array([[0, 1], [1, 2]])).num_edges == 2

"""What notebooks show: small tables of true numbers, escaped, without colours of their own."""

from __future__ import annotations

import re
from fractions import Fraction
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import portpart
from portpart.graphs.structure import table
from portpart.sessions.update import SessionUpdate
from tests.helpers.graphs import raw_graph


class Cells(HTMLParser):
    """The texts of headers and cells, and what is open."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.open.append(tag)
        if tag in ("th", "td"):
            self.texts.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts[-1] += data

    def facts(self) -> dict[str, str]:
        return dict(zip(self.texts[1::2], self.texts[2::2], strict=True))


class Distant(np.ndarray):
    """An array of a device: its values cannot be read, its length can."""

    def __getitem__(self, key: Any) -> Any:
        raise AssertionError("values of an array were read")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("an array was copied")


def result(kind: type, **own: Any) -> Any:
    return kind(part=np.zeros(5000, np.int32).view(Distant), cut=1234, imbalance=0.0213,
                block_weights=np.array([2400, 2600]), max_block_weight_allowed=2575,
                feasible=False, k=2, seconds=0.5, stats={"device": "cuda:0"}, **own)


def shown(value: Any) -> tuple[str, dict[str, str]]:
    cells = Cells(value._repr_html_())
    return cells.texts[0], cells.facts()


def test_a_partition_tells_what_it_is_and_reads_no_array_of_vertices() -> None:
    title, facts = shown(result(portpart.PartitionResult, km1=77))
    assert title == "PartitionResult"
    assert facts == {"vertices": "5,000", "blocks": "2", "cut": "1,234", "km1": "77",
                     "imbalance": "0.0213", "balance": "NOT kept",
                     "block weights": "2,400 to 2,600", "limit": "2,575", "time": "0.500 s",
                     "device": "cuda:0"}


def test_repartitions_and_mappings_tell_more() -> None:
    _, facts = shown(result(portpart.RepartitionResult, moved=12, migration=30,
                            price=Fraction(1, 20)))
    assert (facts["moved"], facts["migration"], facts["price"]) == ("12", "30", "1/20")
    title, facts = shown(result(portpart.MappingResult, cost=4321, level_costs=np.array([21, 4300]),
                                traffic=None, topology=None))
    assert title == "MappingResult"
    assert (facts["communication cost"], facts["cost by level"]) == ("4,321", "21 + 4,300")


def test_graphs_meshes_and_machines_tell_their_sizes() -> None:
    graph = raw_graph(3, [(0, 1), (1, 2)], weights=[2, 3]).graph()
    assert shown(graph) == ("Graph", {"vertices": "3", "edges": "2", "mean degree": "1.33",
                                      "weights": "edges", "memory of": "cpu"})
    _, facts = shown(portpart.as_hypergraph([[0, 1, 2], [2, 3]]))
    assert (facts["vertices"], facts["nets"], facts["pins"]) == ("4", "2", "5")
    _, facts = shown(portpart.as_mesh([[0, 1, 2], [1, 2, 3, 4]]))
    assert (facts["elements"], facts["nodes"]) == ("2", "5")
    _, facts = shown(portpart.Topology("4:8", "1:10"))
    assert facts == {"elements": "32", "level 1": "4 at distance 1", "level 2": "8 at distance 10"}
    _, facts = shown(portpart.Topology.from_matrix(1 - np.eye(3, dtype=int)))
    assert facts == {"elements": "3", "distances": "by a matrix"}


def test_evaluations_show_what_they_print() -> None:
    for evaluated in (portpart.metrics.evaluate([(0, 1), (1, 2)], [0, 0, 1]),
                      portpart.metrics.evaluate(portpart.as_hypergraph([[0, 1, 2]]), [0, 0, 1])):
        _, facts = shown(evaluated)
        assert list(facts.items()) == [tuple(re.split("  +", line))
                                       for line in str(evaluated).splitlines()]


def test_updates_of_sessions_show_what_was_done() -> None:
    update = SessionUpdate("km1", 1200, True, np.array([5, 5]), 7, 9, 20, "local", 0.00125)
    assert shown(update) == ("SessionUpdate", {
        "km1": "1,200", "imbalance": "0.0000", "balance": "kept", "moved": "7", "migration": "9",
        "affected": "20", "effort": "local", "time": "1.250 ms"})


def test_estimates_and_sessions_have_tables() -> None:
    grid = portpart.generators.grid_2d(4, 4)
    _, facts = shown(portpart.memory_estimate(k=2, like=grid))
    assert "peak" in facts
    _, facts = shown(portpart.Session(grid, 2))
    assert facts == {"vertices": "16", "blocks": "2", "cut": "4", "balance": "kept"}


def test_text_is_escaped_and_takes_the_colours_of_the_page() -> None:
    text = table("<b>", [("<script>", "a & b")])
    assert Cells(text).texts == ["<b>", "<script>", "a & b"]
    assert "<script>" not in text
    assert not re.search(r"(?<!-)color:(?!inherit)|background:(?!none)|#[0-9a-f]{3}", text)


@pytest.mark.parametrize("values", [[], [0]], ids=["no-blocks", "one"])
def test_results_without_vertices_have_tables(values: list[int]) -> None:
    empty = portpart.PartitionResult(np.zeros(0, np.int32), 0, 0.0, np.array(values, np.int64), 0,
                                     True, len(values), 0.0)
    _, facts = shown(empty)
    assert facts["vertices"] == "0"

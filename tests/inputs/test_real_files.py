"""Every real graph reads, with the sizes that the catalogue gives."""

from __future__ import annotations

import pytest

from portpart import io as graph_io
from portpart.errors import GraphFormatError
from tests import oracles
from tests.helpers.data_folder import DATA, Entry, catalogue, graph_path, require

LARGEST = "kmer_bacteria"

ORIGINAL = {
    "4elt.graph": (15606, 45878),
    "bips98_606.mtx": (7135, 15190),
    "bremen_dist.gr.xz": (40461, 47154),
    "commanche_dual.mtx": (7920, 11880),
    "rome99.gr": (3353, 4831),
    "wiki-Vote.txt": (7115, 100762),
}


def check(entry: Entry) -> None:
    graph = graph_io.read(graph_path(entry.name))
    assert (graph.num_vertices, graph.num_edges) == (entry.num_vertices, entry.num_edges)
    assert (graph.weights is not None) == entry.weighted
    assert graph.num_arcs == 2 * entry.num_edges


def test_catalogue_is_complete() -> None:
    require(DATA / "CATALOG.md")
    assert len(catalogue()) == 80


@pytest.mark.parametrize("entry", [e for e in catalogue() if e.name != LARGEST],
                         ids=lambda entry: entry.name)
def test_graph_has_the_sizes_of_the_catalogue(entry: Entry) -> None:
    check(entry)


@pytest.mark.slow
def test_largest_graph_reads() -> None:
    require(DATA)
    check(next(entry for entry in catalogue() if entry.name == LARGEST))


@pytest.mark.parametrize("name", ORIGINAL)
def test_original_files_have_the_sizes_of_their_metis_versions(name: str) -> None:
    path = require(DATA / "graphs" / "original" / name)
    directed = "max" if name.split(".")[1] == "gr" else None
    graph = graph_io.read(path, symmetrize=directed)
    assert (graph.num_vertices, graph.num_edges) == ORIGINAL[name]
    if directed:
        with pytest.raises(GraphFormatError, match=r"edge \(\d+, \d+\) has weight .*=\"max\""):
            graph_io.read(path)


@pytest.mark.parametrize("stem", ["bips98_606.mtx", "commanche_dual.mtx", "4elt.graph",
                                  "wiki-Vote.txt"])
def test_original_file_is_the_same_graph(stem: str) -> None:
    original = graph_io.read(require(DATA / "graphs" / "original" / stem))
    oracles.assert_same_graph(original, graph_io.read(graph_path(stem.partition(".")[0])))

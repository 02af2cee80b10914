"""`portpart.partition`: every option, every kind of graph, and what it says about bad ones."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import portpart
from portpart.algorithms.initial.options import InitialOptions
from portpart.api.call_options import MAX_SEED
from portpart.errors import DeviceUnavailable, InputError, PortpartError
from portpart.generators import delaunay, grid_2d
from portpart.graphs.graph import Graph
from tests import oracles
from tests.helpers.each import looped

MESH = delaunay(1500)
GRID = grid_2d(12)


@pytest.mark.parametrize("preset", ["fast", "default", "strong", "best"])
@pytest.mark.parametrize("k", [2, 7, 64])
def test_a_mesh_in_every_preset(k: int, preset: str) -> None:
    result = portpart.partition(MESH, k, preset=preset)
    oracles.assert_partition_is_true(MESH, result, k)
    assert result.feasible
    worst = oracles.cut(MESH, np.random.default_rng(0).permutation(1500) % k)
    assert result.cut < worst / 2


def test_presets_trade_time_for_cut() -> None:
    cuts = [sum(portpart.partition(MESH, 16, preset=preset, seed=seed).cut for seed in range(3))
            for preset in ("fast", "strong")]
    assert cuts[1] < cuts[0]


def test_a_grid_is_cut_in_halves() -> None:
    result = portpart.partition(GRID, 2)
    assert (result.cut, result.feasible) == (12, True)
    assert result.block_weights.tolist() == [72, 72]


def sources(tmp_path: Path) -> dict[str, Any]:
    """The same grid as each kind of object that holds a graph."""
    matrix = GRID.to_scipy()
    arcs = np.array([(u, v) for u, v, _ in oracles.arcs(GRID)])
    path = tmp_path / "grid.graph"
    portpart.io.write(GRID, path)
    return {
        "graph": GRID,
        "array": matrix,
        "coo": matrix.tocoo(),
        "tuple": (matrix.indptr, matrix.indices),
        "weighted tuple": (matrix.indptr, matrix.indices, np.ones(len(matrix.indices))),
        "lists": (matrix.indptr.tolist(), matrix.indices.tolist()),
        "edge list": arcs[arcs[:, 0] < arcs[:, 1]],
        "networkx": nx.from_scipy_sparse_array(matrix),
        "path": path,
        "text": str(path),
    }


def test_every_kind_of_graph_gives_the_same_partition(tmp_path: Path) -> None:
    expected = portpart.partition(GRID, 5)
    for name, graph in sources(tmp_path).items():
        result = portpart.partition(graph, 5)
        assert result.cut == expected.cut, name
        # rows of a networkx graph or an edge list may come in another order
        assert np.array_equal(result.part, expected.part), name
        assert isinstance(result.part, np.ndarray)


def test_int64_offsets_and_ids_give_the_same_partition() -> None:
    matrix = MESH.to_scipy()
    wide = Graph(MESH.offsets.astype(np.int64), MESH.targets, None, None, MESH.space)
    expected = portpart.partition(MESH, 8).part
    assert np.array_equal(portpart.partition(wide, 8).part, expected)
    for dtype in (np.int64, np.uint32, np.uint64):
        arrays = matrix.indptr.astype(dtype), matrix.indices.astype(dtype)
        assert np.array_equal(portpart.partition(arrays, 8).part, expected), dtype


def test_read_only_and_strided_arrays_are_taken_and_left_alone() -> None:
    matrix = MESH.to_scipy()
    expected = portpart.partition(MESH, 4).part
    offsets, targets = matrix.indptr.copy(), matrix.indices.copy()
    for array in (offsets, targets):
        array.flags.writeable = False
    assert np.array_equal(portpart.partition((offsets, targets), 4).part, expected)
    strided = np.repeat(offsets, 2)[::2], np.repeat(targets, 3)[::3]
    assert np.array_equal(portpart.partition(strided, 4).part, expected)
    backwards = offsets[::-1].copy()[::-1], targets[::-1].copy()[::-1]
    assert np.array_equal(portpart.partition(backwards, 4).part, expected)
    weights = np.arange(3000)[::2]
    portpart.partition(MESH, 4, vertex_weights=weights)
    assert np.array_equal(weights, np.arange(0, 3000, 2))
    assert np.array_equal(targets, matrix.indices)


def test_a_result_unpacks_as_cut_and_part_and_prints_readably() -> None:
    result = portpart.partition(GRID, 2)
    cut, part = result
    assert cut == result.cut
    assert part is result.part
    text = repr(result)
    assert "144 vertices" in text
    assert "cut 12" in text
    assert "out of bounds" not in text


def test_stats_tell_phases_and_levels() -> None:
    result = portpart.partition(MESH, 4)
    stats = result.stats
    assert {"coarsening", "initial", "refinement"} <= set(stats["phases"])
    assert sum(stats["phases"].values()) <= result.seconds
    assert stats["levels"][0]["vertices"] == 1500
    assert stats["levels"][0]["arcs"] == MESH.num_arcs
    sizes = [level["vertices"] for level in stats["levels"]]
    assert sizes == sorted(sizes, reverse=True)
    assert stats["levels"][0]["cut"] == result.cut
    assert stats["launches"] > 0
    assert stats["device"] == "cpu"


def test_weights_are_obeyed() -> None:
    random = np.random.default_rng(0)
    vertex_weights = random.integers(0, 9, 1500)
    matrix = MESH.to_scipy().tocoo()
    edge_weights = (matrix.row + matrix.col) % 7
    weights = {"vertex_weights": vertex_weights, "edge_weights": edge_weights}
    result = portpart.partition(MESH, 6, **weights)
    oracles.assert_partition_is_true(portpart.as_graph(MESH, **weights), result, 6)
    assert result.feasible
    plain = portpart.partition(MESH, 6)
    assert result.cut < oracles.cut(portpart.as_graph(MESH, edge_weights=edge_weights), plain.part)


def test_seeds_are_reproducible_and_differ() -> None:
    parts = [portpart.partition(MESH, 8, seed=seed).part for seed in (0, 0, 1, MAX_SEED)]
    assert np.array_equal(parts[0], parts[1])
    assert not np.array_equal(parts[0], parts[2])
    assert not np.array_equal(parts[0], parts[3])


@pytest.mark.parametrize(
    "imbalance",
    [0, 0.0, 1e-9, 0.1 + 0.2, Fraction(1, 3), "0.05", "1/7", np.float32(0.05), 3, 1e300],
)
def test_any_number_is_an_imbalance(imbalance: Any) -> None:
    result = portpart.partition(GRID, 5, imbalance=imbalance)
    oracles.assert_partition_is_true(GRID, result, 5, imbalance)
    assert result.feasible


def test_more_imbalance_never_forbids() -> None:
    tight, loose = (portpart.partition(MESH, 8, imbalance=i) for i in (0, 0.5))
    assert tight.imbalance == 0
    assert loose.cut < tight.cut


def test_progress_is_told_of_every_level() -> None:
    calls: list[tuple[str, int, int]] = []
    result = portpart.partition(MESH, 4, progress=lambda *call: calls.append(call))
    count = len(result.stats["levels"])
    coarsened = [level for phase, level, _ in calls if phase == "coarsening"]
    refined = [level for phase, level, _ in calls if phase == "refinement"]
    assert coarsened == list(range(count))
    assert sorted(refined, reverse=True) == refined  # coarse levels are refined twice
    assert set(refined) == set(range(count))
    assert all(total <= count for _, _, total in calls)


def test_what_progress_raises_comes_through_and_leaves_the_library_usable() -> None:
    expected = portpart.partition(MESH, 4).part

    def stop(phase: str, level: int, total: int) -> None:
        if phase == "refinement":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        portpart.partition(MESH, 4, progress=stop)
    assert np.array_equal(portpart.partition(MESH, 4).part, expected)


def test_calls_from_several_threads_give_the_same_results() -> None:
    graphs = [MESH, GRID, delaunay(1000, seed=5), delaunay(3000, seed=6)]
    jobs = [(graph, k) for graph in graphs for k in (2, 9, 40)] * 2
    expected = [portpart.partition(graph, k).part for graph, k in jobs]
    together = threading.Barrier(4)

    def work(worker: int) -> list[np.ndarray]:
        together.wait()
        return [portpart.partition(*job).part for job in jobs[worker::4]]

    with ThreadPoolExecutor(4) as pool:
        for worker, parts in enumerate(pool.map(work, range(4))):
            for part, wanted in zip(parts, expected[worker::4]):
                assert np.array_equal(part, wanted)


BAD_OPTIONS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "k zero": ({"k": 0}, ["k is 0", "between 1 and"]),
    "k negative": ({"k": -3}, ["k is -3"]),
    "k float": ({"k": 2.5}, ["k is 2.5", "integer"]),
    "k text": ({"k": "4"}, ["k is '4'", "integer"]),
    "k None": ({"k": None}, ["k is None"]),
    "k too large": ({"k": 2**31}, ["2147483647"]),
    "seed negative": ({"seed": -1}, ["seed is -1"]),
    "seed float": ({"seed": 0.5}, ["seed is 0.5", "integer"]),
    "seed too large": ({"seed": MAX_SEED + 1}, [f"seed is {MAX_SEED + 1}"]),
    "preset unknown": ({"preset": "ultra"}, ["'ultra'", "'fast'", "'default'", "'strong'"]),
    "preset list": ({"preset": ["fast"]}, ["preset", "PortpartConfig"]),
    "preset None": ({"preset": None}, ["preset", "PortpartConfig"]),
    "algorithm unknown": ({"algorithm": "metis"}, ["'metis'", "'jet'"]),
    "algorithm list": ({"algorithm": ["jet"]}, ["algorithm", "'jet'"]),
    "algorithm empty": ({"algorithm": ""}, ["algorithm", "'jet'"]),
    "algorithm of another preset": ({"algorithm": "jet", "preset": portpart.PortpartConfig()},
                                    ["preset", "JetConfig"]),
    "threads zero": ({"threads": 0}, ["threads", "1"]),
    "threads float": ({"threads": 1.5}, ["threads is 1.5", "integer"]),
    "threads text": ({"threads": "2"}, ["threads is '2'", "integer"]),
    "device unknown": ({"device": "tpu"}, ["'tpu'", "'cpu'", "'cuda'"]),
    "device None": ({"device": None}, ["device is None", "'cpu'"]),
    "device number": ({"device": "cuda:x"}, ["'cuda:x'"]),
    "imbalance negative": ({"imbalance": -0.01}, ["imbalance is -0.01"]),
    "imbalance nan": ({"imbalance": float("nan")}, ["imbalance is nan", "finite"]),
    "imbalance infinite": ({"imbalance": float("inf")}, ["imbalance is inf", "finite"]),
    "imbalance None": ({"imbalance": None}, ["imbalance is None"]),
    "imbalance text": ({"imbalance": "3 per cent"}, ["'3 per cent'"]),
    "imbalance over zero": ({"imbalance": "1/0"}, ["'1/0'"]),
    "progress": ({"progress": 5}, ["progress is 5", "callable"]),
    "vertex weights short": ({"vertex_weights": [1, 2]}, ["2 values for 144 vertices"]),
    "vertex weights negative": ({"vertex_weights": -np.ones(144)}, ["vertex 0 has weight -1"]),
    "graph": ({"graph": 17}, ["int is not a graph"]),
}


@looped("name", BAD_OPTIONS)
def test_a_bad_option_is_refused_and_named(name: str) -> None:
    options, pieces = BAD_OPTIONS[name]
    call = {"graph": GRID, "k": 4, **options}
    with pytest.raises(InputError) as caught:
        portpart.partition(**call)
    for piece in pieces:
        assert piece in str(caught.value), str(caught.value)
    # and nothing is left locked or changed
    assert portpart.partition(GRID, 2).cut == 12


def test_bad_options_are_refused_before_the_graph_is_read() -> None:
    with pytest.raises(InputError, match="k is 0"):
        portpart.partition("/no/such/file.graph", 0)


@pytest.mark.parametrize("given", [np.int8(3), np.uint64(3), np.array(3)])
def test_any_integer_is_a_k(given: Any) -> None:
    assert portpart.partition(GRID, given).k == 3


def test_a_configuration_is_a_preset() -> None:
    config = portpart.JetConfig(initial=InitialOptions(starts=1))
    result = portpart.partition(MESH, 8, preset=config)
    assert result.feasible


def test_a_missing_gpu_is_explained() -> None:
    """In a fresh process that sees no device, with or without CuPy."""
    code = (
        "import portpart\n"
        "try:\n"
        "    portpart.partition([(0, 1), (1, 2)], 2, device='cuda')\n"
        "except portpart.DeviceUnavailable as error:\n"
        "    print('refused:', error)\n"
        "print(portpart.partition([(0, 1), (1, 2)], 2).k)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          cwd=Path(__file__).parents[2], check=True,
                          env={**_environment(), "CUDA_VISIBLE_DEVICES": "-1"})
    refused, usable = done.stdout.strip().splitlines()
    assert refused.startswith("refused: ")
    assert len(refused) > 30
    assert usable == "2"


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}


def test_a_device_that_does_not_exist_is_refused() -> None:
    with pytest.raises(DeviceUnavailable):
        portpart.partition(GRID, 2, device="cuda:99")


def test_errors_are_of_one_family() -> None:
    with pytest.raises(PortpartError):
        portpart.partition(GRID, 0)
    with pytest.raises(ValueError, match="k is 0"):
        portpart.partition(GRID, 0)


@pytest.mark.gpu
def test_a_graph_on_the_gpu_returns_a_part_on_the_gpu() -> None:
    from tests.helpers.gpu import require_cupy

    cupy = require_cupy()
    matrix = MESH.to_scipy()
    arrays = cupy.asarray(matrix.indptr), cupy.asarray(matrix.indices)
    result = portpart.partition(arrays, 8)
    assert isinstance(result.part, cupy.ndarray)
    assert result.stats["device"].startswith("cuda")
    assert np.array_equal(result.part.get(), portpart.partition(MESH, 8).part)
    on_host = portpart.partition(MESH, 8, device="cuda")
    assert isinstance(on_host.part, np.ndarray)
    back = portpart.partition(arrays, 8, device="cpu")
    assert np.array_equal(back.part.get(), on_host.part)


INTERRUPTED = """
import _thread, random, threading, time
import numpy as np, portpart
from tests.helpers.threads import use_threads_at_once
use_threads_at_once()
mesh = portpart.generators.delaunay(20_000)
expected = portpart.partition(mesh, 16, threads=2).part
start = time.perf_counter()
portpart.partition(mesh, 16, threads=2)
duration = time.perf_counter() - start
random.seed(1)
for _ in range(20):
    timer = threading.Timer(random.random() * duration, _thread.interrupt_main)
    try:
        timer.start()
        portpart.partition(mesh, 16, threads=2)
        timer.join()
        time.sleep(0.01)
    except KeyboardInterrupt:
        pass
assert np.array_equal(portpart.partition(mesh, 16, threads=2).part, expected)
print("usable")
"""


def test_an_interrupt_at_any_moment_leaves_the_library_usable() -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True,
                          env={**_environment(), "NUMBA_NUM_THREADS": "2"}, timeout=120)
    assert done.stdout.strip() == "usable", done.stderr

"""Several devices of one process come to the partition of one device."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import portpart
from portpart import generators
from portpart.algorithms.coarsening.ranks.hierarchy import Fold
from portpart.algorithms.recipes import portpart_ranks
from portpart.cli import main
from portpart.errors import DeviceUnavailable, InputError
from tests.conftest import cuda_space
from tests.helpers.emulation.stand_in_gpu import in_place
from tests.helpers.gpu import require_cupy
from tests.helpers.graphs import random_graph

MESH = generators.delaunay(6000)
CPUS = ["cpu"] * 3


def check(graph: Any, k: int, devices: Any, **options: Any) -> Any:
    one, several = (portpart.partition(graph, k, devices=each, **options)
                    for each in (None, devices))
    assert np.array_equal(several.part, one.part)
    assert (several.cut, several.feasible) == (one.cut, one.feasible)
    assert several.block_weights.tolist() == one.block_weights.tolist()
    assert several.block_weight_limits.tolist() == one.block_weight_limits.tolist()
    return several


@pytest.mark.parametrize("preset", ["fast", "default"])
def test_logical_devices_come_to_the_partition_of_one(preset):
    result = check(MESH, 8, CPUS, preset=preset, seed=3)
    assert result.stats["devices"] == CPUS
    assert result.stats["ranks"] == 3
    assert "advice" not in result.stats


def test_weights_and_targets_are_those_of_the_call():
    graph = random_graph(3000, 9000, 4, weighted=True, vertex_weighted=True)
    check(graph, 3, CPUS, target=[1, 2, 3], imbalance=0.05)
    weights = np.arange(MESH.num_vertices) % 5 + 1
    check(MESH, 4, ["cpu", "cpu"], vertex_weights=weights)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_searches_and_blocks_of_all_vertices():
    mesh, n = generators.delaunay(1500), 1500
    fixed = np.where(np.arange(n) % 9 == 0, np.arange(n) // 9 % 4, -1)
    initial = np.random.default_rng(1).integers(0, 4, n)
    check(mesh, 4, CPUS, preset="strong")
    check(mesh, 4, CPUS, fixed=fixed, initial=initial, target=[1, 2, 2, 1])
    first = portpart.partition(mesh, 4)
    check(mesh, 4, ["cpu", "cpu"], initial=first, seed=2)
    check(mesh, 4, ["cpu", "cpu"], fixed={0: 3, n - 1: 2})


@pytest.mark.parametrize(("options", "message"), [
    ({"fixed": [0] * 3}, "^fixed has shape"), ({"initial": {0: 1}}, "^initial has no block for"),
    ({"fixed": {-1: 2}}, "^fixed names -1"), ({"k": "a", "fixed": [0]}, "^k is 'a'"),
    ({"initial": [7] * 6000}, r"^initial\[0\] is 7: vertex 0 is in no block")])
def test_blocks_that_do_not_fit_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        portpart.partition(MESH, **{"k": 2, **options}, devices=CPUS)


def test_names_of_vertices_are_kept():
    import networkx

    graph = networkx.relabel_nodes(networkx.grid_2d_graph(9, 9), lambda place: f"v{place}")
    result = check(graph, 3, CPUS, fixed={"v(0, 0)": 2})
    assert set(result.labels) == set(graph)
    assert result.part[list(result.labels).index("v(0, 0)")] == 2


def test_there_may_be_more_devices_than_vertices():
    check(generators.grid_2d(2, 2), 2, ["cpu"] * 9)


@pytest.mark.parametrize(("devices", "message"), [
    ([], "there are 0 devices"), ("both", "devices is 'both'; it must be 'all' or a list"),
    (3, "devices is 3; it must be 'all' or a list"), ([-1], "a device is -1"),
    ([0.5], "a device is 0.5"), (["tpu"], "device must be 'cpu', 'cuda' or 'cuda:N'")])
def test_what_are_no_devices_is_refused(devices, message):
    with pytest.raises(InputError, match=message):
        portpart.partition(MESH, 2, devices=devices)


@pytest.mark.parametrize("options", [
    {"algorithm": "jet"}, {"time_limit": 1},
    {"objective": "volume"}, {"min_block_weight": 3}])
def test_what_one_device_has_alone_is_refused(options):
    with pytest.raises(InputError, match="one device"):
        portpart.partition(MESH, 2, devices=CPUS, **options)


def test_hypergraphs_and_a_device_beside_devices_are_refused():
    with pytest.raises(InputError, match="not hypergraphs"):
        portpart.partition(generators.netlist(100), 2, devices=CPUS)
    with pytest.raises(InputError, match="give one of them"):
        portpart.partition(MESH, 2, devices=CPUS, device="cpu")


def test_a_limit_that_cannot_be_kept_is_told_once():
    weights = np.ones(400, int)
    weights[5] = 300
    with pytest.warns(UserWarning, match="vertex 5") as told:
        portpart.partition(generators.grid_2d(20), 4, vertex_weights=weights, devices=CPUS)
    assert len(told) == 1


def test_no_gpu_is_a_typed_error():
    try:
        portpart.space("cuda")
    except DeviceUnavailable:
        for devices in ("all", [0, 1]):
            with pytest.raises(DeviceUnavailable):
                portpart.partition(MESH, 2, devices=devices)


@pytest.fixture
def every_level(monkeypatch):
    """Small levels belong to ranks, too."""
    monkeypatch.setattr(portpart_ranks, "fold_for", lambda space: Fold(0, 0))


@pytest.mark.parametrize("numbers", [[0, 1], [1, 0, 1]])
def test_stand_ins_of_two_gpus_reach_the_memory_of_each_other(numbers, every_level):
    graph = generators.delaunay(500)
    one = portpart.partition(graph, 5)
    with in_place(2) as spaces:
        several = portpart.partition(graph, 5, devices=numbers)
        assert (several.cut, several.part.tolist()) == (one.cut, one.part.tolist())
        there = portpart.partition(graph.to(spaces[1]), 5, devices=numbers)
        assert there.part.device.id == 1
        assert spaces[1].to_host(there.part).tolist() == one.part.tolist()
        transfer = spaces[0]._transfer
        assert any(len(each) == 2 and found for each, found in transfer._together.items())


@pytest.mark.gpu
@pytest.mark.parametrize("preset", ["fast", "default"])
def test_two_gpus_come_to_the_partition_of_one(preset, every_level):
    cupy = require_cupy()
    if (count := cupy.cuda.runtime.getDeviceCount()) < 2:
        pytest.skip(f"two GPUs are needed, and there is {count}")
    for graph in (MESH, MESH.to("cuda:1")):
        one, several = (portpart.partition(graph, 8, preset=preset, devices=devices)
                        for devices in (None, [0, 1]))
        space = portpart.space("cuda:1")
        assert type(several.part) is type(one.part)
        assert space.to_host(space.asarray(several.part)).tolist() == space.to_host(
            space.asarray(one.part)).tolist()


@pytest.mark.gpu
def test_logical_devices_on_a_gpu_come_to_the_partition_of_one():
    space = cuda_space()
    for graph in (MESH, MESH.to(space)):
        for devices in ("all", [0], [0, 0, 0]):
            one = portpart.partition(graph, 8)
            several = portpart.partition(graph, 8, devices=devices)
            assert type(several.part) is type(one.part)
            assert space.to_host(space.asarray(several.part)).tolist() == space.to_host(
                space.asarray(one.part)).tolist()
            assert several.stats["advice"]


def test_the_command_line_takes_devices(tmp_path, capsys):
    path = tmp_path / "mesh.graph"
    portpart.io.write(MESH, path)
    found = []
    for devices in ([], ["--devices", "cpu,cpu,cpu"]):
        output = tmp_path / "part"
        arguments = ["partition", str(path), "-k", "8", "-q", "--json", "-o", str(output), *devices]
        assert main(arguments) == 0
        found.append((output.read_text(), json.loads(capsys.readouterr().out)["cut"]))
    assert found[0] == found[1]
    assert main(["partition", str(path), "-k", "8", "--devices", "tpu"]) != 0
    assert "device must be" in capsys.readouterr().err

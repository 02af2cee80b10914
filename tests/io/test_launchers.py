"""Files of launchers are followed as the launchers do: each rank is where its mapping has it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import portpart
from portpart.cli import main
from portpart.errors import InputError
from portpart.graphs.topology import Topology
from portpart.io import read_machine, write_rank_order, write_rankfile, write_slurm_hostfile
from tests.helpers.ranks.mpi_jobs import ENVIRONMENT, MPIEXEC
from tests.oracles import mappings as plain

MPIRUN = MPIEXEC and shutil.which("mpirun", path=os.path.dirname(MPIEXEC))
RECORDED = Path(__file__).parents[1] / "io" / "recorded"
MACHINE = Topology("2:2:3", "1:10:100")
HOSTS = ["a", "b", "c"]
RING = portpart.from_edges([(rank, (rank + 1) % 12) for rank in range(12)])


def started_by_slurm(hosts: Path, binding: str) -> list[tuple[str, int]]:
    """Node and CPU of each task: the n-th task of a node, by its rank, gets the n-th CPU."""
    cpus = [int(cpu) for cpu in binding.removeprefix("map_cpu:").split(",")]
    tasks: dict[str, int] = {}
    found = []
    for name in hosts.read_text().split():
        found.append((name, cpus[tasks.get(name, 0) % len(cpus)]))
        tasks[name] = tasks.get(name, 0) + 1
    return found


def cost(elements: list[int]) -> int:
    return plain.cost(RING, elements, plain.distances([2, 2, 3], [1, 10, 100]))


def test_slurm_puts_ranks_where_they_cost_as_much_as_in_the_mapping(tmp_path: Path) -> None:
    placed = portpart.map_processes(RING, topology=MACHINE, imbalance=0)
    path = tmp_path / "hosts"
    binding = write_slurm_hostfile(placed, MACHINE, path, hosts=HOSTS)
    assert binding is not None
    started = started_by_slurm(path, binding)
    assert len(set(started)) == 12
    assert [name for name, _ in started] == [HOSTS[element // 4] for element in placed.part]
    assert cost([4 * HOSTS.index(name) + cpu for name, cpu in started]) == placed.cost


@pytest.mark.parametrize("seed", range(5))
def test_one_list_of_cpus_is_given_only_if_it_is_right_for_all_nodes(seed: int,
                                                                    tmp_path: Path) -> None:
    part = np.random.default_rng(seed).permutation(12)
    binding = write_slurm_hostfile(part, MACHINE, tmp_path / "hosts", hosts=HOSTS)
    patterns = set()
    for node in range(3):
        sockets = [element // 2 for element in part if element // 4 == node]
        patterns.add(tuple(socket == sockets[0] for socket in sockets))
    assert (binding is not None) == (len(patterns) == 1)
    if binding is not None:
        started = started_by_slurm(tmp_path / "hosts", binding)
        assert cost([4 * HOSTS.index(name) + cpu for name, cpu in started]) == cost(part.tolist())


def test_ranks_are_bound_one_by_one_as_the_page_shows(tmp_path: Path) -> None:
    """Its shell line, with a `taskset` that tells what it is asked for."""
    page = (Path(__file__).parents[2] / "docs" / "howto" / "launch.md").read_text()
    (line,) = re.findall(r"bash -c \\\n *'(.*?)'", page, re.S)
    (tmp_path / "taskset").write_text('#!/bin/sh\necho "$@"\n')
    (tmp_path / "taskset").chmod(0o755)
    cpus = (0, 2, 4, 6, 1, 3, 5, 7)
    line = line.replace("(0 1 2 3 4 5 6 7)", f"({' '.join(map(str, cpus))})")
    part = np.random.default_rng(0).permutation(40)[:32]
    (tmp_path / "placed.map").write_text("".join(f"{element}\n" for element in part))
    for rank, element in enumerate(part.tolist()):
        told = subprocess.run(
            ["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=True,
            env={"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "SLURM_PROCID": str(rank)})
        assert told.stdout.split() == ["-c", str(cpus[element % 8]), "./solver"]


def test_nodes_with_fewer_ranks_take_the_begin_of_the_list(tmp_path: Path) -> None:
    def binding(part: list[int], **options: Any) -> str | None:
        return write_slurm_hostfile(part, MACHINE, tmp_path / "hosts", hosts=HOSTS, **options)

    assert binding([0, 1, 2, 4, 5]) == "map_cpu:0,1,2"
    assert binding([0, 2, 4, 5]) is None
    assert binding([3, 2, 11, 10], cpus=[0, 2, 1, 3]) == "map_cpu:0,2"
    assert binding([3, 3, 9], oversubscribe=True) == "map_cpu:0,0"
    assert binding([]) == "map_cpu:"
    ring = Topology.from_matrix([[0, 1], [1, 0]])
    assert write_slurm_hostfile([1, 0], ring, tmp_path / "hosts", hosts=["x", "y"]) == "map_cpu:0"
    assert (tmp_path / "hosts").read_text() == "y\nx\n"


def test_rank_order_lists_the_rank_of_each_slot(tmp_path: Path) -> None:
    part = np.random.default_rng(1).permutation(12)
    binding = write_rank_order(part, MACHINE, tmp_path / "order", cpus=[0, 2, 1, 3])
    assert binding == "map_cpu:0,2,1,3"
    lines = [line for line in (tmp_path / "order").read_text().splitlines() if line[0] != "#"]
    slots = [int(rank) for line in lines for rank in line.split(",")]
    assert [int(part[rank]) for rank in slots] == list(range(12))
    large = Topology("64:2", "1:10")
    write_rank_order(np.arange(128), large, tmp_path / "order", node_levels=1)
    lines = (tmp_path / "order").read_text().splitlines()
    assert max(map(len, lines)) < 80
    assert ",".join(lines[1:5]) == ",".join(map(str, range(64)))


def test_nodes_of_a_rank_order_have_as_many_ranks(tmp_path: Path) -> None:
    path = tmp_path / "order"
    assert write_rank_order([0, 1, 4, 5, 9], MACHINE, path) is None  # the last has another core
    assert write_rank_order([0, 1, 4, 5, 8], MACHINE, path) == "map_cpu:0,1"
    path.unlink()
    for part in ([0, 1, 4, 8, 9], [0, 4, 8, 9]):
        with pytest.raises(InputError, match=r"node \d has 1 ranks, .*needs as many on each"):
            write_rank_order(part, MACHINE, path)
    assert not path.exists()


@pytest.mark.parametrize(("part", "options", "message"), [
    ([0, 1], {"hosts": None}, "hosts is None; a SLURM_HOSTFILE needs the names"),
    ([0, 1], {"hosts": ["a"]}, "hosts holds 1 names for 3 nodes"),
    ([0, 12], {}, r"part\[1\] is 12; elements must lie in 0 ... 11"),
    ([0, 0], {}, "ranks 0 and 1 are both on element 0"),
    ([0, 1], {"cpus": [0, 1]}, "one number of a CPU is needed for each of the 4 elements"),
    ([0, 1], {"cpus": [0, 1, 2, -3]}, "one number of a CPU is needed"),
    ([0, 1], {"cpus": "0123"}, "one number of a CPU is needed"),
])
def test_what_makes_no_hostfile_is_refused_and_nothing_is_written(
    part: list[int], options: dict[str, Any], message: str, tmp_path: Path,
) -> None:
    with pytest.raises(InputError, match=message):
        write_slurm_hostfile(part, MACHINE, tmp_path / "hosts", **{"hosts": HOSTS, **options})
    assert not list(tmp_path.iterdir())


@pytest.fixture
def traffic(tmp_path: Path) -> str:
    portpart.io.write(portpart.generators.grid_2d(4, 4), tmp_path / "traffic.graph")
    return str(tmp_path / "traffic.graph")


def test_the_command_line_writes_all_files_for_a_machine_of_hwloc(
    traffic: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    files = {name: tmp_path / name for name in ("rankfile", "slurm-hostfile", "rank-order")}
    options = [word for name, path in files.items() for word in (f"--{name}", str(path))]
    assert main(["map", traffic, "--machine", str(RECORDED / "node.xml"), "--nodes", "2", *options,
                 "--nodelist", "node[1-2]", "-o", str(tmp_path / "part"), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["k"] == 16
    assert report["nodes"] == 2
    assert report["launch"]["MPICH"] == (
        "MPICH_RANK_REORDER_METHOD=3 --cpu-bind=map_cpu:0,2,4,6,1,3,5,7")
    assert report["launch"]["srun"].startswith("--distribution=arbitrary")
    part = np.loadtxt(tmp_path / "part", int)
    assert files["slurm-hostfile"].read_text().split() == [
        f"node{element // 8 + 1}" for element in part]
    assert files["rankfile"].read_text().splitlines()[0] == (
        f"rank 0=node{part[0] // 8 + 1} slot={part[0] % 8}")
    assert main(["evaluate", traffic, str(tmp_path / "part"), "--machine",
                 str(RECORDED / "node.xml"), "--nodes", "2", "--imbalance", "0", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cost"] == report["cost"]


def test_the_command_line_tells_how_to_start(traffic: str, tmp_path: Path,
                                             capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["map", traffic, "-H", "2:2:4", "-D", "1:10:100", "--nodelist", "n[1-4]",
                 "--slurm-hostfile", str(tmp_path / "hosts"), "-q"]) == 0
    assert "srun" in (told := capsys.readouterr().out)
    assert "--distribution=arbitrary" in told
    assert str(tmp_path / "hosts") in told


@pytest.mark.parametrize(("arguments", "message"), [
    (["--slurm-hostfile", "f"], "needs the names of the nodes: pass --hosts, or --nodelist"),
    (["--rank-order", "f", "--oversubscribe"], "does not go with --rank-order"),
    (["--rank-order", "f", "--rankfile", "f"], "--rankfile and --rank-order are the same file"),
    (["--rank-order", "-", "-o", "-"], "can have standard output"),
    (["--machine", "m"], "--machine replaces -H"),
])
def test_wrong_usage_is_explained(traffic: str, arguments: list[str], message: str,
                                  capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["map", traffic, "-H", "2:2:4", "-D", "1:10:100", *arguments]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.skipif(MPIRUN is None, reason="there is no mpirun")
def test_mpirun_binds_ranks_as_the_rankfile_of_this_node_says(tmp_path: Path) -> None:
    if not os.path.isdir("/sys/devices/system/cpu/cpu0/topology"):
        pytest.skip("there is no /sys")
    try:
        machine = read_machine("/sys")
    except InputError as problem:
        pytest.skip(str(problem))
    if len(machine.cpus) < 2:
        pytest.skip("this node has one core")
    write_rankfile([1, 0], machine.topology, tmp_path / "ranks", hosts=["localhost"],
                   node_levels=machine.node_levels)
    as_root = {name: value for name, value in ENVIRONMENT.items() if "ROOT" in name}
    done = subprocess.run(
        [str(MPIRUN), "-n", "2", "--rankfile", str(tmp_path / "ranks"), "--report-bindings",
         "true"], env={**os.environ, **as_root}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    cores = dict(re.findall(r"Rank (\d) bound to package\[0\]\[core:L(\d+)\]",
                            done.stdout + done.stderr))
    assert cores == {"0": "1", "1": "0"}

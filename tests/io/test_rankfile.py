"""Rankfiles, and the command line that writes them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import portpart
from portpart.cli import main
from portpart.errors import InputError
from portpart.graphs.topology import Topology
from portpart.io import Host, read_hosts, write_rankfile
from tests.oracles import mappings as plain

MACHINE = Topology("2:3:2", "1:5:9")


def lines(path: Path, part: Any, machine: Topology = MACHINE, **options: Any) -> list[str]:
    write_rankfile(part, machine, path / "ranks", **options)
    return (path / "ranks").read_text().splitlines()


def test_ranks_have_a_node_a_socket_and_a_core(tmp_path: Path) -> None:
    assert lines(tmp_path, [0, 11, 3, 6]) == [
        "rank 0=+n0 slot=0:0", "rank 1=+n1 slot=2:1", "rank 2=+n0 slot=1:1", "rank 3=+n1 slot=0:0"]


def test_names_and_levels_of_nodes(tmp_path: Path) -> None:
    assert lines(tmp_path, [5, 8], hosts=["a", "b"]) == ["rank 0=a slot=2:1", "rank 1=b slot=1:0"]
    assert lines(tmp_path, [5], node_levels=1) == ["rank 0=+n2 slot=1"]
    assert lines(tmp_path, [5], node_levels=0) == ["rank 0=+n5 slot=0"]
    assert lines(tmp_path, [11], node_levels=3) == ["rank 0=+n0 slot=11"]
    ring = Topology.from_matrix([[0, 1], [1, 0]])
    assert lines(tmp_path, [1, 0], ring) == ["rank 0=+n1 slot=0", "rank 1=+n0 slot=0"]
    assert lines(tmp_path, [3], Topology("4", "1")) == ["rank 0=+n0 slot=3"]


def test_a_result_has_the_elements_of_its_ranks(tmp_path: Path) -> None:
    mapped = portpart.map_processes(portpart.generators.grid_2d(4, 4), "2:2:2", "1:2:3")
    assert lines(tmp_path, mapped, mapped.topology, oversubscribe=True) == lines(
        tmp_path, mapped.part, mapped.topology, oversubscribe=True)


def test_an_element_gets_one_rank_unless_more_are_allowed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"ranks 1 and 3 are both on element 5: .*"
                                         r"oversubscribe=True \(--oversubscribe\)"):
        lines(tmp_path, [7, 5, 2, 5, 7])
    with pytest.raises(InputError, match="13 vertices are ranks, but there are 12 elements"):
        lines(tmp_path, [*range(12), 0])
    assert not (tmp_path / "ranks").exists()
    with pytest.raises(InputError, match="oversubscribe is 1; it must be True or False"):
        lines(tmp_path, [0], oversubscribe=1)
    assert len(set(lines(tmp_path, [7, 5, 2, 5, 7], oversubscribe=True))) == 5


def test_the_command_gives_each_rank_of_a_process_graph_its_own_core(
        tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    processes, ranks = str(tmp_path / "p.graph"), tmp_path / "ranks"
    portpart.io.write(portpart.generators.grid_2d(8, 4), processes)
    machine = ["-H", "4:2:4", "-D", "1:10:100"]
    assert main(["map", processes, *machine, "--imbalance", "0", "--nodelist", "node[01-04]",
                 "--rankfile", str(ranks), "-q"]) == 0
    places = [line.split("=", 1) for line in ranks.read_text().splitlines()]
    assert [name for name, _ in places] == [f"rank {rank}" for rank in range(32)]
    assert {place for _, place in places} == {
        f"node0{node} slot={socket}:{core}"
        for node in (1, 2, 3, 4) for socket in (0, 1) for core in range(4)}


def test_the_command_refuses_a_mesh_before_it_is_mapped(
        mesh: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setattr("portpart.api.map_processes", None)
    ranks = tmp_path / "ranks"
    assert main(["map", mesh, "-H", "2:3:2", "-D", "1:5:9", "--rankfile", str(ranks)]) == 2
    told = capsys.readouterr().err
    assert "144 vertices are ranks, but there are 12 elements" in told
    assert "--oversubscribe" in told
    assert not ranks.exists()


def test_what_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="hosts holds 1 names for 2 nodes"):
        lines(tmp_path, [0], hosts=["a"])
    with pytest.raises(InputError, match="node_levels is 4; the hierarchy has 3 levels"):
        lines(tmp_path, [0], node_levels=4)
    with pytest.raises(InputError, match=r"part\[1\] is 12"):
        lines(tmp_path, [0, 12])


def test_a_host_that_comes_twice_or_has_too_few_slots_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"hosts\[1\] is 'a' again, after hosts\[0\]"):
        lines(tmp_path, [0], hosts=["a", "a"])
    with pytest.raises(InputError, match="b has 5 slots for the 6 elements of a node"):
        lines(tmp_path, [0], hosts=[Host("a", 6), Host("b", 5)])


def test_hosts_of_a_hostfile_name_the_nodes(tmp_path: Path) -> None:
    (tmp_path / "hostfile").write_text("# mine\nleft slots=6\n\nright slots=8 max_slots=9\n")
    with pytest.warns(UserWarning, match="right has 8 slots for the 6 elements of a node"):
        assert lines(tmp_path, [0, 11], hosts=read_hosts(tmp_path / "hostfile")) == [
            "rank 0=left slot=0:0", "rank 1=right slot=2:1"]


def test_surplus_hosts_are_told(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="hosts holds 4 names for 2 nodes; c and what follows"):
        assert lines(tmp_path, [11], hosts=["a", "b", "c", "d"]) == ["rank 0=b slot=2:1"]


def test_names_are_made_for_the_nodes_that_are_used(tmp_path: Path) -> None:
    machine = Topology([2**30], [1])
    assert lines(tmp_path, [2**30 - 1], machine, node_levels=0) == [
        f"rank 0=+n{2**30 - 1} slot=0"]


@pytest.mark.parametrize(("part", "options", "message"), [
    ([0.5], {}, "one integer for each rank"),
    ([[0]], {}, r"shape \(1, 1\)"),
    (["a"], {}, "one integer for each rank"),
    ([0], {"node_levels": 1.5}, "node_levels is 1.5"),
    ([0], {"hosts": "ab"}, "of str; a sequence of names"),
    ([0], {"hosts": np.array("ab")}, "of ndarray; a sequence of names"),
    ([0], {"hosts": 5}, "of int; a sequence of names"),
    ([0], {"hosts": ["a b", "c"]}, r"hosts\[0\] is 'a b'"),
    ([0], {"hosts": [b"a", b"b"]}, r"hosts\[0\] is b'a'"),
])
def test_what_makes_no_rankfile_is_refused(tmp_path: Path, part: Any, options: dict[str, Any],
                                           message: str) -> None:
    with pytest.raises(InputError, match=message):
        lines(tmp_path, part, **options)
    assert not (tmp_path / "ranks").exists()


@pytest.fixture
def mesh(tmp_path: Path) -> str:
    path = tmp_path / "mesh.graph"
    portpart.io.write(portpart.generators.grid_2d(12), path)
    return str(path)


def test_the_command_line_maps(mesh: str, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    output, ranks, hosts = (tmp_path / name for name in ("out", "ranks", "hosts"))
    hosts.write_text("left right\n")
    assert main(["map", mesh, "-H", "2:3:2", "-D", "1:5:9", "--algorithm", "two-phase", "-o",
                 str(output), "--rankfile", str(ranks), "--hosts", str(hosts), "--oversubscribe",
                 "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    part = np.loadtxt(output, int)
    costs = plain.level_costs(portpart.generators.grid_2d(12), part, [2, 3, 2], [1, 5, 9])
    assert report["level_costs"] == costs
    assert report["cost"] == sum(costs)
    assert report["k"] == 12
    assert ranks.read_text().splitlines()[0].startswith(
        "rank 0=left" if part[0] < 6 else "rank 0=right")


@pytest.mark.parametrize(("file", "arguments"), [
    ("# nodes\nnode01 slots=6\nnode02 slots=6\nlogin\n", []),
    ("node01:6\nnode02:6 binding=user:0,1\nnode03:6\n", []),
    ("node01\n" * 6 + "node02\n" * 6 + "x\n", []),
    ("node[01-03]\n", []),
    (None, ["--nodelist", "node[01-02,07],login1"]),
], ids=["Open MPI", "MPICH", "machinefile", "Slurm", "list"])
def test_hostfiles_and_node_lists_name_the_nodes(
    file: str | None, arguments: list[str], mesh: str, tmp_path: Path,
    capsys: pytest.CaptureFixture,
) -> None:  # fmt: skip
    ranks, hosts = tmp_path / "ranks", tmp_path / "hosts"
    if file is not None:
        hosts.write_text(file)
        arguments = ["--hosts", str(hosts)]
    assert main(["map", mesh, "-H", "2:3:2", "-D", "1:5:9", "--rankfile", str(ranks),
                 "--oversubscribe", *arguments]) == 0
    names = {line.split("=")[1].split()[0] for line in ranks.read_text().splitlines()}
    assert names == {"node01", "node02"}
    assert capsys.readouterr().err.count("names for 2 nodes") == 1


def test_the_command_line_evaluates_a_mapping(mesh: str, tmp_path: Path,
                                              capsys: pytest.CaptureFixture) -> None:
    made, machine = str(tmp_path / "mesh.map"), ["-H", "2:3", "-D", "1:7"]
    assert main(["map", mesh, *machine, "-o", made, "--json"]) == 0
    mapped = json.loads(capsys.readouterr().out)
    assert main(["evaluate", mesh, made, *machine, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {name: told[name] for name in ("k", "cut", "cost", "level_costs", "block_weights")} == {
        name: mapped[name] for name in ("k", "cut", "cost", "level_costs", "block_weights")}
    assert main(["evaluate", mesh, made, *machine]) == 0
    levels = " + ".join(f"{cost:,}" for cost in mapped["level_costs"])
    told = dict(line.split("  ", 1) for line in capsys.readouterr().out.splitlines())
    assert told["communication cost"].strip() == f"{mapped['cost']:,}"
    assert told["cost by level"].strip() == levels
    assert main(["evaluate", mesh, made, "--json"]) == 0
    assert "cost" not in json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(("arguments", "message"), [
    (["-H", "2:3"], "pass -H and -D"), (["-H", "2:2", "-D", "1:7"], "block numbers must lie"),
    (["--matrix", "-"], "only one of PART and --matrix"),
])
def test_a_machine_that_does_not_fit_a_mapping_is_refused(
    mesh: str, tmp_path: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture,
) -> None:
    made = tmp_path / "mesh.map"
    assert main(["map", mesh, "-H", "2:3", "-D", "1:7", "-o", str(made), "-q"]) == 0
    part = "-" if "-" in arguments else str(made)
    assert main(["evaluate", mesh, part, *arguments]) == 2
    assert message in capsys.readouterr().err


def test_the_command_line_prints_facts(mesh: str, capsys: pytest.CaptureFixture) -> None:
    assert main(["map", mesh, "-H", "2:2", "-D", "1:10"]) == 0
    printed = capsys.readouterr().out
    assert "by level: " in printed
    assert "144 vertices" in printed


def test_the_command_line_takes_a_matrix(mesh: str, tmp_path: Path,
                                         capsys: pytest.CaptureFixture) -> None:
    matrix = tmp_path / "matrix"
    matrix.write_text("0 1 2\n1 0 1\n2 1 0\n")
    arguments = ["map", mesh, "--matrix", str(matrix), "--algorithm", "two-phase", "--json"]
    assert main(arguments) == 0
    assert json.loads(capsys.readouterr().out)["k"] == 3
    for same in ("0,1,2\n1,0,1\n2,1,0\n", "0, 1, 2\r\n1, 0, 1\r\n2, 1, 0\r\n"):
        matrix.write_bytes(same.encode())
        assert main(arguments) == 0
        assert json.loads(capsys.readouterr().out)["k"] == 3
    matrix.write_text("0,,2\n,0,1\n2,1,0\n")
    assert main(arguments) == 2
    matrix.write_text("0 1\n1 x\n")
    assert main(arguments) == 2


def test_what_metis_prints_is_no_part_of_the_result(tmp_path: Path) -> None:
    """It cannot bisect this one: of 15 vertices one has nearly all the weight."""
    path = tmp_path / "heavy.graph"
    weights = np.ones(15, int)
    weights[0] = 1000
    portpart.io.write(portpart.as_graph(portpart.generators.grid_2d(5, 3), vertex_weights=weights),
                      path)
    run = subprocess.run(
        [sys.executable, "-m", "portpart.cli", "map", path, "-H", "8", "-D", "1", "--algorithm",
         "two-phase", "--preset", "jet", "--device", "cpu", "--json"],
        capture_output=True, text=True, check=False)  # fmt: skip
    assert json.loads(run.stdout)["k"] == 8
    assert "***" not in run.stderr


def test_swaps_can_be_asked_for_and_left_out(mesh: str,
                                             capsys: pytest.CaptureFixture) -> None:
    costs = {}
    for algorithm in ("identity", "two-phase"):
        for swaps in ("--swaps", "--no-swaps"):
            assert main(["map", mesh, "-H", "2:3:2", "-D", "1:5:90", "--algorithm", algorithm,
                         swaps, "--json"]) == 0
            costs[algorithm, swaps] = json.loads(capsys.readouterr().out)["cost"]
    assert costs["identity", "--swaps"] == costs["two-phase", "--swaps"]
    assert costs["identity", "--no-swaps"] == costs["two-phase", "--no-swaps"]
    assert costs["identity", "--swaps"] < costs["identity", "--no-swaps"]


@pytest.mark.filterwarnings("ignore:vertex 1 weighs")
def test_a_mapping_that_cannot_be_balanced_is_told_by_the_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture,
) -> None:  # fmt: skip
    path = tmp_path / "heavy.graph"
    path.write_text("4 3 010\n1 2\n9 1 3\n1 2 4\n1 3\n")
    assert main(["map", str(path), "-H", "2", "-D", "1"]) == 1
    assert "NOT KEPT" in capsys.readouterr().out


@pytest.mark.parametrize(("names", "arguments", "message"), [
    ("left", [], "hosts holds 1 names for 2 nodes"),
    ("left right", ["--node-levels", "7"], "node_levels is 7; the hierarchy has 3 levels"),
    ("left \xff right", ["--node-levels", "0"], "is not the name of a node"),
    ("a b c", ["--node-levels", "0"], "hosts holds 3 names for 12 nodes"),
    ("a slots=6\nb slots=4", [], "b has 4 slots for the 6 elements of a node"),
    ("a slots=6\nb cores=4", [], "unknown key 'cores'"),
    (None, [], "hosts"),
], ids=["too few names", "too many levels", "not in UTF-8", "no name for each element",
         "too few slots", "unknown key", "no such file"])
def test_a_rankfile_that_cannot_be_written_is_told_before_the_work(
    names: str | None, arguments: list[str], message: str, mesh: str, tmp_path: Path,
    capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr("portpart.api.map_processes",
                        lambda *_, **__: pytest.fail("worked"))
    hosts = tmp_path / "hosts"
    if names is not None:
        hosts.write_text(names, "latin-1")
    assert main(["map", mesh, "-H", "2:3:2", "-D", "1:5:9", "--rankfile", str(tmp_path / "ranks"),
                 "--hosts", str(hosts), *arguments]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "ranks").exists()


@pytest.mark.parametrize(("arguments", "message"), [
    ([], "pass -H and -D"),
    (["-H", "2:x", "-D", "1:2"], "level 2 of hierarchy '2:x' is 'x'"),
    (["-H", "2", "-D", "1", "--matrix", "m"], "replaces -H and -D"),
    (["-H", "2", "-D", "1", "-o", "-", "--json"], "standard output"),
    (["-H", "2", "-D", "1", "--algorithm", "x"], "algorithm is 'x'"),
    (["-H", "2", "-D", "1", "--node-levels", "1"], "are for --rankfile"),
    (["-H", "2", "-D", "1", "-o", "f", "--rankfile", "f"], "are the same file"),
    (["--matrix", "-", "--rankfile", "f", "--hosts", "-"], "can be standard input"),
    (["-H", "2", "-D", "1", "--nodelist", "a"], "are for --rankfile"),
    (["-H", "2", "-D", "1", "--oversubscribe"], "is for --rankfile"),
    (["-H", "2", "-D", "1", "--rankfile", "f", "--nodelist", "a", "--hosts", "h"], "replaces"),
    (["-H", "2", "-D", "1", "--rankfile", "f", "--nodelist", "n[2-1]"], "nor a range of numbers"),
    (["-H", "2", "-D", "1", "--nodes", "2"], "--nodes is for --machine"),
    (["--machine", "m.xml", "-H", "2"], "--machine replaces -H"),
])
def test_wrong_usage_is_explained(mesh: str, arguments: list[str], message: str,
                                  capsys: pytest.CaptureFixture) -> None:
    assert main(["map", mesh, *arguments]) == 2
    assert message in capsys.readouterr().err

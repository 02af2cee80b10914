"""Machines of hwloc's files, which are recorded, and of /sys, whose files are written here."""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
from pathlib import Path

import pytest

import portpart
from portpart.errors import GraphFormatError, InputError
from portpart.io import read_machine

RECORDED = Path(__file__).parent / "recorded"
NODE = (RECORDED / "node.xml").read_text()
LSTOPO = shutil.which("lstopo-no-graphics")


def write_sys(folder: Path, packages: int = 2, caches: int = 2, cores: int = 2,
              threads: int = 2) -> Path:
    """Write what Linux shows of a node: second threads are numbered behind all first ones."""
    count = packages * caches * cores
    cpus = folder / "devices/system/cpu"

    def members(first: int, size: int) -> str:
        return ",".join(f"{first + count * thread}-{first + count * thread + size - 1}"
                        for thread in range(threads))

    for cpu in range(count * threads):
        core = cpu % count
        about = cpus / f"cpu{cpu}"
        files = {
            "topology/core_cpus_list": members(core, 1).replace(f"{core}-{core}", f"{core}"),
            "topology/package_cpus_list": members(core - core % (caches * cores), caches * cores),
            "cache/index0/level": "1", "cache/index0/shared_cpu_list": members(core, 1),
            "cache/index3/level": "3",
            "cache/index3/shared_cpu_list": members(core - core % cores, cores),
        }
        for name, text in files.items():
            (about / name).parent.mkdir(parents=True, exist_ok=True)
            (about / name).write_text(f"{text}\n")
    (cpus / "cpufreq").mkdir()
    (cpus / f"cpu{count * threads}").mkdir()  # offline
    return folder


def test_a_node_of_hwloc_has_packages_and_caches_as_levels() -> None:
    machine = read_machine(RECORDED / "node.xml")
    assert machine.topology.arities == (2, 2, 2)
    assert machine.topology.level_distances == (1, 10, 100)
    assert machine.level_names == ("L3 cache", "package", "node")
    assert machine.node_levels == 3
    assert machine.cpus == (0, 2, 4, 6, 1, 3, 5, 7)


def test_several_nodes_are_one_more_level() -> None:
    machine = read_machine(RECORDED / "node.xml", nodes=3, distances="1:2:5:20")
    assert machine.topology.arities == (2, 2, 2, 3)
    assert machine.topology.level_distances == (1, 2, 5, 20)
    assert machine.level_names[-1] == "machine"
    assert machine.node_levels == 3
    with pytest.raises(InputError, match="hierarchy has 4 levels and distances has 2"):
        read_machine(RECORDED / "node.xml", nodes=3, distances="1:2")
    with pytest.raises(InputError, match="nodes is 0"):
        read_machine(RECORDED / "node.xml", nodes=0)


def test_files_of_version_1_and_packed_ones_are_read(tmp_path: Path) -> None:
    machine = read_machine(RECORDED / "node-v1.xml")
    assert machine.topology.arities == (2, 2, 2)
    assert machine.level_names == ("L3 cache", "NUMA node", "node")
    (tmp_path / "node.xml.gz").write_bytes(gzip.compress(NODE.encode()))
    assert read_machine(tmp_path / "node.xml.gz").cpus == (0, 2, 4, 6, 1, 3, 5, 7)


def test_threads_without_cores_are_elements(tmp_path: Path) -> None:
    path = tmp_path / "node.xml"
    path.write_text('<topology><object type="Machine">'
                    + "".join(f'<object type="PU" os_index="{cpu}"/>' for cpu in (3, 1))
                    + "</object></topology>")
    assert read_machine(path).cpus == (3, 1)
    assert read_machine(path).topology.arities == (2,)


@pytest.mark.parametrize(("text", "message"), [
    ("", r"node.xml:1: no element found; a file of lstopo is XML"),
    ("<html/>", r":1: begins with <html>; a file of lstopo begins with <topology>"),
    (NODE[:3000], r":\d+: unclosed token"),
    ("<topology/>", "holds no cores"),
    ('<topology><object type="Core"/></topology>', "holds no cores"),
    ('<topology>\n<object type="PU"/></topology>', r":2: a PU has os_index ''"),
    ('<topology><object type="PU" os_index="9999999999"/></topology>', "os_index '9999999999'"),
    ('<!DOCTYPE topology [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><topology>&b;</topology>',
     "declares the entity 'a'"),
    ('<!DOCTYPE topology [<!ENTITY a SYSTEM "/etc/passwd">]><topology>&a;</topology>',
     "declares the entity 'a'"),
    ("<topology>" + '<object type="Group">' * 99, "more than 64 deep"),
    ("<topology>&nbsp;</topology>", "undefined entity"),
    (NODE.replace('type="Package" os_index="1"', 'type="Die" os_index="1"'),
     r":\d+: CPU 1 is in .*die.* and CPU 0 in .*package"),
], ids=["empty", "another root", "cut off", "nothing", "core without PU", "PU without number",
        "huge number", "entities", "external entity", "deep", "unknown entity", "mixed"])
def test_what_is_no_node_of_hwloc_is_refused_by_line(text: str, message: str,
                                                     tmp_path: Path) -> None:
    (tmp_path / "node.xml").write_text(text)
    with pytest.raises(GraphFormatError, match=message):
        read_machine(tmp_path / "node.xml")


def test_parts_that_differ_in_size_are_refused_by_the_cpu(tmp_path: Path) -> None:
    lines = NODE.splitlines()
    place = next(place for place, line in enumerate(lines) if 'os_index="7"' in line)
    begin = max(number for number in range(place) if 'type="Core"' in lines[number])
    (tmp_path / "node.xml").write_text("\n".join(lines[:begin] + lines[begin + 4:]))
    with pytest.raises(GraphFormatError, match=r"L3 cache of CPU 7 has 1 of kind core and that of "
                                               r"CPU 0 has 2; .*--restrict"):
        read_machine(tmp_path / "node.xml")


def test_sys_has_the_same_levels(tmp_path: Path) -> None:
    machine = read_machine(write_sys(tmp_path), nodes=2)
    assert machine.topology.arities == (2, 2, 2, 2)
    assert machine.level_names == ("L3 cache", "package", "node", "machine")
    assert machine.cpus == tuple(range(8))


def test_numa_nodes_divide_packages_and_those_of_memory_count_for_nothing(tmp_path: Path) -> None:
    write_sys(tmp_path, packages=1, caches=1, cores=4, threads=1)
    for node, cpus in enumerate(("0,2", "1,3", "")):
        folder = tmp_path / f"devices/system/node/node{node}"
        folder.mkdir(parents=True)
        (folder / "cpulist").write_text(f"{cpus}\n")
    machine = read_machine(tmp_path)
    assert machine.cpus == (0, 2, 1, 3)
    assert machine.level_names == ("NUMA node", "node")


def test_parts_that_overlap_are_no_hierarchy(tmp_path: Path) -> None:
    write_sys(tmp_path, packages=2, caches=1, cores=2, threads=1)
    for node, cpus in enumerate(("0,2", "1,3")):
        folder = tmp_path / f"devices/system/node/node{node}"
        folder.mkdir(parents=True)
        (folder / "cpulist").write_text(cpus)
    with pytest.raises(GraphFormatError, match=r"NUMA node of CPU 2 has cores of two of kind "
                                               r"package; .*from_matrix"):
        read_machine(tmp_path)


@pytest.mark.parametrize(("file", "text", "message"), [
    ("topology/core_cpus_list", None, "core_cpus_list: is missing"),
    ("topology/core_cpus_list", "0-x", "core_cpus_list: holds '0-x'; a list of CPUs like 0-3,8"),
    ("topology/package_cpus_list", "0-999999999", "more than 1048576 CPUs"),
    ("topology/core_cpus_list", "5-1", "holds '5-1'"),
    ("cache/index3/shared_cpu_list", None, "shared_cpu_list: is missing"),
    ("cache/index3/shared_cpu_list", "0", "package of CPU 4 has 2 of kind L3 cache and"),
])
def test_a_copy_of_sys_with_holes_is_refused_by_file(file: str, text: str | None, message: str,
                                                     tmp_path: Path) -> None:
    path = write_sys(tmp_path) / "devices/system/cpu/cpu0" / file
    path.unlink() if text is None else path.write_text(text)
    with pytest.raises(GraphFormatError, match=message):
        read_machine(tmp_path)


def test_a_folder_that_is_not_sys_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"devices/system/cpu cannot be read: No such file"):
        read_machine(tmp_path)
    (tmp_path / "devices/system/cpu/cpu0").mkdir(parents=True)
    with pytest.raises(GraphFormatError, match="no CPU has a folder topology"):
        read_machine(tmp_path)
    with pytest.raises(InputError, match=r"none.xml cannot be read"):
        read_machine(tmp_path / "none.xml")


@pytest.mark.skipif(LSTOPO is None, reason="hwloc is not installed")
@pytest.mark.parametrize("made", ["package:2 l3:3 core:4 pu:2", "numa:4 core:2 pu:1", "pu:6",
                                  "package:2 numa:2 l3:2 l2:2 core:2 pu:1"])
def test_what_lstopo_writes_is_read(made: str, tmp_path: Path) -> None:
    path = tmp_path / "node.xml"
    subprocess.run([str(LSTOPO), "-i", made, "--of", "xml", str(path)], check=True,
                   capture_output=True)
    counts = [int(part.split(":")[1]) for part in made.split() if "pu" not in part]
    wanted = [count for count in reversed(counts or [6]) if count > 1]
    assert list(read_machine(path).topology.arities) == wanted


@pytest.mark.skipif(LSTOPO is None, reason="hwloc is not installed")
@pytest.mark.skipif(not os.path.isdir("/sys/devices/system/cpu/cpu0/topology"), reason="no /sys")
def test_this_node_is_the_same_in_both(tmp_path: Path) -> None:
    subprocess.run([str(LSTOPO), "--of", "xml", str(tmp_path / "node.xml")], check=True,
                   capture_output=True)
    try:
        of_sys = read_machine("/sys")
    except GraphFormatError as problem:
        pytest.skip(str(problem))
    assert portpart.io.read_machine(tmp_path / "node.xml").cpus == of_sys.cpus

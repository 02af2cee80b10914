"""Hostfiles of MPI libraries and node lists of Slurm become clean names of nodes."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from portpart.errors import GraphFormatError, InputError
from portpart.io import Host, expand_nodelist, read_hosts

SOON = 2.0


def hosts(folder: Path, text: str | bytes) -> list[tuple[str, int | None]]:
    path = folder / "hostfile"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    found = read_hosts(path)
    assert all(isinstance(host, Host) for host in found)
    return [tuple(host) for host in found]


FILES = {
    "Open MPI": ("node01 slots=4\nnode02 slots=4\n", [("node01", 4), ("node02", 4)]),
    "Open MPI with limits": ("a slots=2 max_slots=8\nb slots = 2 max-slots=4\nc max_slots=3",
                             [("a", 2), ("b", 2), ("c", 3)]),
    "comments and blank lines": ("# nodes\n\n  node01 slots=4 # the first\n#node02\n\nnode03\r\n",
                                 [("node01", 4), ("node03", None)]),
    "MPICH": ("node01:4\nnode02:8 binding=user:0,1\n", [("node01", 4), ("node02", 8)]),
    "MPICH with an interface": ("n1:2 ifname=eth1\nn2:2 user=me\n", [("n1", 2), ("n2", 2)]),
    "names alone": ("left right\n", [("left", None), ("right", None)]),
    "one name a line": ("a\nb\nc", [("a", None), ("b", None), ("c", None)]),
    "commas": ("a,b:2, c\n", [("a", None), ("b", 2), ("c", None)]),
    "a line for each process": ("a\na\nb\nb\n", [("a", 2), ("b", 2)]),
    "slots that add up": ("a slots=2\nb slots=3\na slots=2\n", [("a", 4), ("b", 3)]),
    "Slurm": ("node[01-02,07],login1\n",
              [("node01", None), ("node02", None), ("node07", None), ("login1", None)]),
    "Slurm with slots": ("node[1-2]:4\nnode[3-4] slots=8",
                         [("node1", 4), ("node2", 4), ("node3", 8), ("node4", 8)]),
    "addresses": ("10.0.0.1 slots=2\n::1\n[fe80::2]:4\n",
                  [("10.0.0.1", 2), ("::1", None), ("fe80::2", 4)]),
    "relative names": ("+n0\n+n1 slots=2\n", [("+n0", None), ("+n1", 2)]),
    "byte order mark": (b"\xef\xbb\xbfnode01\n", [("node01", None)]),
    "full names": ("c1-0.cluster.example.org slots=1\n", [("c1-0.cluster.example.org", 1)]),
}


@pytest.mark.parametrize("name", FILES)
def test_every_kind_of_hostfile_gives_names_and_slots(name: str, tmp_path: Path) -> None:
    text, expected = FILES[name]
    assert hosts(tmp_path, text) == expected


@pytest.mark.parametrize(("text", "message"), [
    ("", "no names; a hostfile has"),
    ("# nothing\n\n", "no names"),
    ("slots=4\n", ":1: 'slots=4' precedes a name"),
    ("a\nb cores=4\n", ":2: unknown key 'cores'; known are slots, max_slots"),
    ("a slots=x\n", "the slots of 'a' are 'x'; a positive integer"),
    ("a slots=0\n", "the slots of 'a' are '0'"),
    ("a:-1\n", "the slots of 'a' are '-1'"),
    ("a:\n", "the slots of 'a' are ''"),
    ("a slots=" + "9" * 5000, "the slots of 'a' are '999"),
    ("a:" + "0" * 5000 + "1", "the slots of 'a' are '000"),
    ("a slots=4 slots=5\n", "a has 4 slots and 5"),
    ("a slots=4 max_slots=2\n", "a has 4 slots, more than its most, 2"),
    ("node01 4\n", "'4' is not the name of a node; slots are written node01:4"),
    ("^node01\n", "'^node01' is not the name"),
    (b"left \xff right", "is not the name of a node"),
    ("n[0-99999]\n" * 4, ":3: node lists up to here have more than 262144 names"),
    (b"a\0b\n", "is not the name of a node"),
    ("node[1-", "is not the name of a node"),
    ("n[0-99999999]", ":1: 'n[0-99999999]' has more than 262144 names"),
    ("(null)\n", "'(null)' is not the name of a node"),
    ("None assigned\nx/y\n", ":2: 'x/y' is not the name"),
])
def test_what_is_no_hostfile_is_refused_with_its_line(text: str | bytes, message: str,
                                                      tmp_path: Path) -> None:
    with pytest.raises(GraphFormatError) as caught:
        hosts(tmp_path, text)
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / "hostfile"))


@pytest.mark.parametrize(("text", "expected"), [
    ("node[01-03,07],login1", ["node01", "node02", "node03", "node07", "login1"]),
    ("n[8-11]", ["n8", "n9", "n10", "n11"]),
    ("n[098-101]", ["n098", "n099", "n100", "n101"]),
    ("n[5]", ["n5"]),
    ("r[1-2]n[01-02]-ib", ["r1n01-ib", "r1n02-ib", "r2n01-ib", "r2n02-ib"]),
    ("a, b\nc", ["a", "b", "c"]),
    ("login1", ["login1"]),
])
def test_node_lists_are_expanded_with_their_zeros(text: str, expected: list[str]) -> None:
    assert expand_nodelist(text) == expected


@pytest.mark.parametrize(("text", "message"), [
    ("", "holds no names"),
    (" , ", "holds no names"),
    ("n[3-1]", "'3-1' in 'n[3-1]' is neither a number nor a range"),
    ("n[]", "'' in 'n[]' is neither a number"),
    ("n[1-2-3]", "'1-2-3' in"),
    ("n[a-b]", "'a-b' in"),
    ("n[[1]]", "is not the name of a node"),
    ("n[1-2", "is not the name of a node"),
    ("n[0-999999999]", "more than 262144 names"),
    ("n" + "[0-99999]" * 1000, "more than 262144 names"),
    ("n[0-99999]," * 50, "more than 262144 names"),
    ("n[" + "9" * 5000 + "]", "is neither a number"),
    (b"n1", "it must be text"),
    (None, "it must be text"),
])
def test_a_list_that_cannot_be_expanded_is_refused_at_once(text: str, message: str) -> None:
    begin = time.process_time()
    with pytest.raises(InputError) as caught:
        expand_nodelist(text)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 250
    assert time.process_time() - begin < SOON


def test_a_hostfile_of_a_hundred_thousand_processes_is_read_soon(tmp_path: Path) -> None:
    begin = time.process_time()
    found = hosts(tmp_path, "".join(f"node{number // 50}\n" for number in range(100_000)))
    assert found == [(f"node{number}", 50) for number in range(2_000)]
    assert time.process_time() - begin < 5 * SOON

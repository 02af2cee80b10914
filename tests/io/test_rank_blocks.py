"""Partition files that several ranks read: each gets the blocks of its vertices."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from portpart.backends.communication import Local
from portpart.errors import InputError
from portpart.io import read_partition
from portpart.io.rank_partition_file import read_own_blocks
from tests.helpers.ranks.cut_rows import borders


def read_by_ranks(path: Path, first: list[int], free: bool) -> list[int]:
    """The blocks of all vertices."""
    found = Local(len(first) - 1).run(
        lambda comm: read_own_blocks(comm, path, np.array(first), free))
    assert [len(each) for each in found] == np.diff(first).tolist()
    assert all(each.dtype == np.int32 for each in found)
    return [block for each in found for block in each.tolist()]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-1, 1200), max_size=40), st.sampled_from([1, 2, 3, 8]),
       st.integers(0, 99), st.booleans(), st.data())
def test_ranks_read_what_one_process_reads(tmp_path_factory: Any, part: list[int], size: int,
                                           seed: int, are_pairs: bool, data: Any) -> None:
    path = tmp_path_factory.mktemp("blocks") / "part"
    lines = [f"{vertex + 1} {block}" for vertex, block in enumerate(part)
             if block >= 0] if are_pairs else [str(block) for block in part]
    if are_pairs:
        lines = data.draw(st.permutations(lines))
    for place in data.draw(st.lists(st.integers(0, len(lines)), max_size=3)):
        lines.insert(place, data.draw(st.sampled_from(["% a comment", "", "  ", "# 1 2"])))
    path.write_text("\n".join(lines) + data.draw(st.sampled_from(["", "\n", "\r\n"])))
    first = borders(len(part), size, seed)
    if not (are_pairs and not any(block >= 0 for block in part)):  # no line is no pair
        assert read_by_ranks(path, first, True) == read_partition(
            path, len(part), free=True).tolist()


def test_a_packed_file_and_one_with_a_mark_are_read(tmp_path: Path) -> None:
    text = b"0\n1\n2\n1\n"
    (tmp_path / "a.part.gz").write_bytes(gzip.compress(text))
    (tmp_path / "b.part").write_bytes(b"\xef\xbb\xbf" + text)
    for name in ("a.part.gz", "b.part"):
        assert read_by_ranks(tmp_path / name, [0, 1, 1, 4], False) == [0, 1, 2, 1]


WRONG = [
    ("0\n1\n1\nx\n", False, r"rank 1: .*part:4: 'x' is not an integer"),
    ("0\n1\n-1\n0\n", False, r"rank 1: .*part:3: -1 is not a block number"),
    ("0\n1\n%\n-2\n0\n", True, r"rank [01]: .*part:4: -2 is not a block number"),
    ("0\n1\n1\n", False, r"part: 3 lines for 4 vertices"),
    ("0\n1\n1 1\n0\n", False, r"rank [01]: .*part:3: expected one block number per line$"),
    ("1 0\n2 1\n3\n", True, r"part:1: expected one block number per line, or a vertex and"),
    ("1 0\n2 1\n5 1\n", True, r"rank 1: .*part:3: 5 is not a vertex; vertices are 1 ... 4"),
    ("1 0\n2 1\n1 1\n", True, r"rank 0: .*part: a second block for vertex 1"),
    ("", False, "part: 0 lines for 4 vertices"),
]


@pytest.mark.parametrize(("text", "free", "message"), WRONG, ids=range(len(WRONG)))
def test_what_is_wrong_is_told_on_all_ranks(
    tmp_path: Path, text: str, free: bool, message: str
) -> None:
    (tmp_path / "part").write_text(text)

    def main(comm: Any) -> str:
        with pytest.raises(InputError, match=message) as problem:
            read_own_blocks(comm, tmp_path / "part", np.array([0, 2, 4]), free)
        return str(problem.value)

    told = Local(2).run(main)
    assert told[0] == told[1]


@pytest.mark.parametrize(("name", "message"), [
    ("-", "ranks read files, not standard input"), ("none", "none cannot be read"),
    (".", "cannot be read")])
def test_what_is_no_file_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)

    def main(comm: Any) -> None:
        with pytest.raises(InputError, match=f"rank 0: .*{message}"):
            read_own_blocks(comm, name, np.array([0, 2, 4]), False)

    Local(2).run(main)

"""What killed processes leave behind is cleared away; a file is never overwritten in place."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from portpart import io as graph_io
from portpart.errors import InputError
from portpart.formats.text import files

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="locks are those of Unix")

WRITER = """
import sys, time
from portpart.formats.text.files import write_chunks
def chunks():
    yield b"half"
    print("writing", flush=True)
    time.sleep(60)
write_chunks(sys.argv[1], chunks())
"""


def unclustered(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"{files.TEMPORARY}*"))


def test_a_killed_writer_leaves_nothing_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "part").write_text("before")
    writer = subprocess.Popen([sys.executable, "-c", WRITER, tmp_path / "part"],
                              stdout=subprocess.PIPE, text=True)
    try:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "writing\n"
        old = time.time() - 2 * files.ABANDONED_AFTER
        for file in unclustered(tmp_path):
            os.utime(file, (old, old))
        graph_io.write_partition([1], tmp_path / "other")
        assert len(unclustered(tmp_path)) == 1  # its process lives
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        monkeypatch.setattr(files, "ABANDONED_AFTER", 1e6)
        graph_io.write_partition([1], tmp_path / "other")
        assert len(unclustered(tmp_path)) == 1  # it is young
        monkeypatch.undo()
        graph_io.write_partition([1], tmp_path / "other")
        assert unclustered(tmp_path) == []
        assert (tmp_path / "part").read_text() == "before"
    finally:
        writer.kill()
        writer.wait()
        if writer.stdout:
            writer.stdout.close()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write all")
def test_a_folder_that_may_not_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "part").write_text("before")
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(InputError, match="never overwritten in place; write it elsewhere"):
            graph_io.write_partition([1], tmp_path / "part")
    finally:
        tmp_path.chmod(0o700)
    assert (tmp_path / "part").read_text() == "before"


def test_a_refused_new_file_is_told_with_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.mkstemp", refuse)
    with pytest.raises(InputError, match=r"part cannot be written: no new file may be made in .*"
                                         r"standard output \(-\)"):
        graph_io.write_partition([1], tmp_path / "part")

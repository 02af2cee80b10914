"""Processes that start together do not all compile the same kernels."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from portpart.base import cache_folder
from tests.backends.cpu.test_cpu_space import ROOT

COUNTS = """
import sys
from portpart import backends
from portpart.backends.cpu import compile as cpu_compile, helper
from portpart.primitives import basic, reduce, scan
import numpy as np
made, compile = [], cpu_compile.object_code
cpu_compile.object_code = lambda text: made.append(text) or compile(text)
helper.queue = helper.Queue(usable=False)
print("ready", flush=True)
sys.stdin.readline()
space = backends.space("cpu", threads=1)
values = basic.iota(space, 500)
assert reduce.sum_of(space, values) == 124750 and reduce.max_of(space, values) == 499
assert scan.offsets_from_counts(space, values, np.int64)[-1] == 124750
print(len(made))
"""

DIGEST = 32
"""Bytes of a file that tells that a kernel's types fit, and holds nothing."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(cache_folder, "cache_folders", lambda: (tmp_path,))
    return tmp_path


def test_one_at_a_time_makes_a_file(folder: Path) -> None:
    begun, ended = [], []

    def make() -> None:
        with cache_folder.claimed("one.kernel"):
            begun.append(time.monotonic())
            time.sleep(0.05)
            ended.append(time.monotonic())

    threads = [threading.Thread(target=make) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(after >= before for before, after in zip(ended, begun[1:]))
    assert not list(folder.iterdir())


def test_others_are_not_waited_for(folder: Path) -> None:
    with cache_folder.claimed("one.kernel"):
        begin = time.monotonic()
        with cache_folder.claimed("two.kernel"):
            assert time.monotonic() - begin < cache_folder.MAX_WAIT / 2


def test_what_an_ended_process_has_claimed_is_taken_over(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_folder, "MAX_WAIT", 0.05)
    (folder / "portpart-one.kernel.tmp").write_text("")
    with cache_folder.claimed("one.kernel"):
        pass
    assert not list(folder.iterdir())


def test_a_folder_that_is_not_there_is_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_folder, "cache_folders", lambda: (tmp_path / "none",))
    begin = time.monotonic()
    with cache_folder.claimed("one.kernel"):
        assert time.monotonic() - begin < cache_folder.MAX_WAIT / 2


def test_processes_that_start_together_compile_each_kernel_about_once(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    jobs = [subprocess.Popen([sys.executable, "-c", COUNTS], cwd=ROOT, text=True,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             env={**os.environ, "PORTPART_CACHE_DIR": str(folder)})
            for _ in range(3)]
    for job in jobs:
        assert job.stdout is not None
        assert job.stdout.readline() == "ready\n"
    for job in jobs:
        assert job.stdin is not None
        job.stdin.write("go\n")
        job.stdin.flush()
    made = [int(job.communicate()[0]) for job in jobs]
    assert all(job.returncode == 0 for job in jobs)
    kept = [path for path in folder.glob("*.kernel") if path.stat().st_size > DIGEST]
    assert len(kept) <= sum(made) < 2 * len(kept)  # not 3: what took long may be made twice
    assert not list(folder.glob("portpart-*"))

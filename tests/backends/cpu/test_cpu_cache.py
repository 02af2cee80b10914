"""The CPU space's cache of compiled kernels."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from portpart.backends.cpu.space import CpuSpace
from portpart.backends.cuda.nvrtc import do_without_folder
from portpart.backends.language import device, int64, kernel, team_array
from portpart.base import cache_folder
from portpart.cli import main
from tests.backends.cpu.test_cpu_space import ROOT, run_python
from tests.backends.expressions_in_both import load_module

COMPILES = """
    from portpart import backends
    from portpart.backends.cpu import compile as cpu_compile
    from portpart.primitives.basic import iota
    texts, compile = [], cpu_compile.object_code
    cpu_compile.object_code = lambda text: texts.append(text) or compile(text)
    assert iota(backends.space("cpu"), 5).tolist() == [0, 1, 2, 3, 4]
    from portpart.backends.cpu.parallel_loop import loop
    print(len(texts), loop.cache_hits)
"""
NOTHING, ALL = "2 0", "0 1"
"""Modules compiled (the driver, a kernel) and loops loaded, with nothing or all in the cache."""


@pytest.fixture(scope="module")
def filled(tmp_path_factory) -> Path:
    """A folder that a first process has filled."""
    folder = tmp_path_factory.mktemp("kernels") / "cache"
    assert run_python(COMPILES, PORTPART_CACHE_DIR=str(folder)) == NOTHING
    return folder


def test_second_process_finds_compiled_kernels(filled):
    assert run_python(COMPILES, PORTPART_CACHE_DIR=str(filled)) == ALL
    names = sorted(path.name for path in filled.iterdir())
    assert [name.rpartition("_")[0] for name in names] == [
        "drive", "driver", "write_index", "write_index"]
    assert all(name.endswith(".kernel") for name in names)


def shorter(name: str, code: bytes) -> bytes:
    return code[:-1]


def changed(name: str, code: bytes) -> bytes:
    return code[:-1] + bytes([code[-1] ^ 1])


def empty(name: str, code: bytes) -> bytes:
    return b""


def whole_and_wrong(name: str, code: bytes) -> bytes:
    garbage = b"no code of Numba's"
    return hashlib.sha256(name.encode() + b"\0" + garbage).digest() + garbage


def of_another(name: str, code: bytes) -> bytes:
    return hashlib.sha256(b"another.kernel\0" + code[32:]).digest() + code[32:]


@pytest.mark.parametrize("damages", [
    {"drive": whole_and_wrong, "driver": shorter, "write_index": of_another},
    {"drive": changed, "driver": empty, "write_index": shorter},
], ids=["wrong", "empty"])
def test_damaged_files_of_the_cache_are_compiled_again(filled, tmp_path, damages):
    folder = shutil.copytree(filled, tmp_path / "cache")
    for name, damage in damages.items():
        files = [each for each in folder.iterdir() if each.name.rpartition("_")[0] == name]
        file = max(files, key=lambda each: each.stat().st_size)  # the other one says that it fits
        file.write_bytes(damage(file.name, file.read_bytes()))
    assert run_python(COMPILES, PORTPART_CACHE_DIR=str(folder)) == NOTHING
    assert run_python(COMPILES, PORTPART_CACHE_DIR=str(folder)) == ALL


def test_a_kernel_is_known_by_its_source_and_by_what_its_names_mean():
    @kernel
    def same(i, result):
        result[i] = 0

    @kernel
    def other(i, result):
        result[i] = 1

    def valued(number):
        @device
        def value(i):
            return number + i

        @kernel
        def write_value(i, result):
            result[i] = value(i)

        return write_value

    def scratch(size):
        @kernel
        def use_scratch(i, result):
            words = team_array(int64, size)
            words[0] = i
            result[i] = words[0]

        return use_scratch

    kernels = [same, other, valued(1), valued(2), valued(1.0), valued(True), scratch(1), scratch(2)]
    assert len({each.fingerprint for each in kernels}) == len(kernels)
    assert valued(1).fingerprint == valued(1).fingerprint


PAIR = """
from typing import Any
from portpart.backends.language import Record, kernel

class Pair(Record):
    {0}: Any
    {1}: Any

@kernel
def copy_second(i, pair: Pair):
    pair.first[i] = pair.second[i]
"""


def test_a_kernel_is_known_by_the_order_of_the_fields_of_its_records(tmp_path):
    space = CpuSpace()
    for fields in (("first", "second"), ("second", "first")):
        module = load_module(PAIR.format(*fields), tmp_path)
        pair = module.Pair(first=np.zeros(3, np.int32), second=np.arange(3, dtype=np.int32))
        space.parallel_for(3, module.copy_second, pair)
        assert pair.first.tolist() == pair.second.tolist() == [0, 1, 2]


# where nothing can be kept --------------------------------------------------------------------

USES = """
    import warnings
    import portpart
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        graph = portpart.as_graph([(0, 1)])  # here
        graph = portpart.as_graph([(0, 1), (1, 2)])
    assert graph.num_edges == 2
    print(len(caught), *[f"{each.filename}:{each.lineno}: {each.message}" for each in caught],
          sep="|")
"""


def run_bare(code: str, *before: str, cwd: Path = ROOT, **environment: str) -> str:
    """Output of `code` in a fresh interpreter that has no variables but these."""
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **environment}
    done = subprocess.run([*before, sys.executable, "-c", textwrap.dedent(code)], cwd=cwd,
                          capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


def only_warning(code: str, *before: str, **settings: str) -> str:
    """The one warning of `code` (`USES` at its end), which must name the line of the call."""
    count, warning = run_bare(code, *before, **settings).split("|")
    assert count == "1"
    lines = textwrap.dedent(code).splitlines()
    here = next(i for i, line in enumerate(lines, 1) if line.endswith("# here"))
    place, _, message = warning.partition(": ")
    assert place == f"<string>:{here}"
    return message


needs_posix = pytest.mark.skipif(sys.platform == "win32", reason="homes are found in other ways")
UNKNOWN_USER = """
    import pwd
    def unknown(*_):
        raise KeyError("no such user")
    pwd.getpwuid = unknown
"""


@needs_posix
def test_without_user_and_home_all_works_with_one_warning():
    message = only_warning(UNKNOWN_USER + USES)
    assert message.startswith("compiled kernels cannot be kept (no user folder is known), so")
    assert "PORTPART_CACHE_DIR" in message


@needs_posix
def test_without_user_and_home_the_folder_for_caches_is_enough(tmp_path):
    assert run_bare(UNKNOWN_USER + USES, XDG_CACHE_HOME=str(tmp_path)) == "0"
    assert list((tmp_path / "portpart").glob("*.kernel"))


@needs_posix
def test_an_identity_that_the_system_does_not_know_can_work(tmp_path):
    if not shutil.which("setpriv") or os.geteuid() != 0:
        pytest.skip("to become nobody needs setpriv and root")
    nobody = ("setpriv", "--reuid=12345", "--regid=12345", "--clear-groups")
    may_read = subprocess.run([*nobody, sys.executable, "-c", "import portpart"], cwd="/",
                              env={"PYTHONPATH": str(ROOT)}, check=False, capture_output=True)
    if may_read.returncode != 0:
        pytest.skip("nobody may not read this installation")
    only_warning(USES, *nobody, cwd="/")


FULL = """
    import errno, os
    import portpart
    class Full:
        def __init__(self, *_): ...
        def __enter__(self): return self
        def __exit__(self, *_): ...
        def write(self, _): raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    os.fdopen = Full
"""


def test_a_full_disk_is_done_without_and_told_once(tmp_path):
    message = only_warning(FULL + USES, PORTPART_CACHE_DIR=str(tmp_path))
    assert f"cannot be kept in {tmp_path} (No space left on device)" in message
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_is_done_without(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    message = only_warning(USES, PORTPART_CACHE_DIR=str(tmp_path / "file" / "cache"))
    assert "(Not a directory)" in message or sys.platform == "win32"


def test_a_folder_that_may_only_be_read_is_read(filled):
    """As root may write anywhere, writing is made to fail."""
    read_only = """
    import errno, os
    open_file = os.open
    def refuse(*given, **_):
        if len(given) < 2 or given[1] & os.O_CREAT:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return open_file(*given)
    os.mkdir = os.open = refuse
    """ + COMPILES
    assert run_python(read_only, PORTPART_CACHE_DIR=str(filled)) == ALL


# which folder ---------------------------------------------------------------------------------


@pytest.fixture
def home(monkeypatch, tmp_path):
    for name in ("PORTPART_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


def folder() -> Path:
    only, = cache_folder.cache_folders.__wrapped__()
    return only


def test_the_folder_follows_the_environment(monkeypatch, tmp_path, home):
    monkeypatch.setenv("PORTPART_CACHE_DIR", str(tmp_path / "here"))
    assert folder() == tmp_path / "here"
    monkeypatch.setenv("PORTPART_CACHE_DIR", "here")  # stays there when the process moves on
    assert folder() == tmp_path / "here"


@needs_posix
@pytest.mark.parametrize(("name", "value", "wanted"), [
    ("PORTPART_CACHE_DIR", "", "home/.cache/portpart"),
    ("PORTPART_CACHE_DIR", "~/kernels", "home/kernels"),
    ("XDG_CACHE_HOME", "", "home/.cache/portpart"),
    ("XDG_CACHE_HOME", "relative", "home/.cache/portpart"),
    ("XDG_CACHE_HOME", "/caches", "/caches/portpart"),
])
def test_the_rules_of_xdg_hold(monkeypatch, tmp_path, home, name, value, wanted):
    monkeypatch.setenv(name, value)
    assert folder() == tmp_path / wanted


@pytest.fixture
def two(monkeypatch, tmp_path):
    """A list of two folders."""
    first, second = tmp_path / "first", tmp_path / "second"
    monkeypatch.setenv("PORTPART_CACHE_DIR", f"{first}{os.pathsep}{second}")
    monkeypatch.setattr(cache_folder, "cache_folders", cache_folder.cache_folders.__wrapped__)
    return first, second


def test_files_are_looked_for_in_all_folders_of_a_list(two):
    first, second = two
    cache_folder.write("a.kernel", b"one")
    assert [path.name for path in first.iterdir()] == ["a.kernel"]
    second.mkdir()
    (first / "a.kernel").rename(second / "a.kernel")
    assert cache_folder.read("a.kernel") == b"one"
    cache_folder.write("a.kernel", b"two")
    assert cache_folder.read("a.kernel") == b"two"  # the first that has it
    (first / "a.kernel").write_bytes(b"damaged")
    assert cache_folder.read("a.kernel") == b"one"
    assert cache_folder.read("b.kernel") is None


@pytest.mark.parametrize("bad", [0, 1])
def test_new_files_go_to_the_first_folder_that_can_be_written(two, bad, recwarn):
    two[bad].parent.mkdir(exist_ok=True)
    two[bad].write_text("a file, where no folder can be made")
    cache_folder.write("a.kernel", b"one")
    assert [path.name for path in two[1 - bad].iterdir()] == ["a.kernel"]
    assert cache_folder.read("a.kernel") == b"one"
    assert not recwarn.list


# the command ----------------------------------------------------------------------------------


@pytest.fixture
def here(monkeypatch, tmp_path):
    monkeypatch.setenv("PORTPART_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(cache_folder, "cache_folders", cache_folder.cache_folders.__wrapped__)
    return tmp_path / "cache"


def test_the_cache_is_shown_and_its_own_files_are_cleared(here, capsys):
    assert main(["cache", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "folder": str(here), "files": 0, "bytes": 0, "cleared": False}
    old = here / f"cpu_driver_{'0' * 24}" / "backends_12"
    old.mkdir(parents=True)
    ours = [here / cache_folder.file_of("scan", "words"), here / "portpart-abc.tmp",
            old / "cpu_driver.drive-52.py311.nbi"]
    others = [here / "mine.kernel", here / "notes.txt", here / "x.tmp"]
    for file in (*ours, *others):
        file.write_bytes(b"12345")
    assert main(["cache", "--show"]) == 0
    assert f"{here}\n" in (shown := capsys.readouterr().out)
    assert "3, 0.0 MB" in shown
    assert main(["cache", "--clear", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "folder": str(here), "files": 3, "bytes": 15, "cleared": True}
    assert sorted(here.iterdir()) == sorted(others)
    assert main(["cache", "--show", "--clear"]) == 2


# CuPy's ---------------------------------------------------------------------------------------


@pytest.fixture
def cupys(monkeypatch):
    """No choice of the user's, and what the library chooses is taken back."""
    monkeypatch.setenv("CUPY_CACHE_DIR", "")  # so that it is put back
    monkeypatch.delenv("CUPY_CACHE_DIR")
    monkeypatch.setenv("CUPY_CACHE_IN_MEMORY", "")
    monkeypatch.setattr(cache_folder, "_warned", [])
    return monkeypatch


def in_memory() -> bool:
    do_without_folder()
    return bool(os.environ["CUPY_CACHE_IN_MEMORY"])


def test_cupy_keeps_kernels_in_its_folder_if_it_can(cupys, tmp_path):
    cupys.setenv("HOME", str(tmp_path))
    cupys.setenv("USERPROFILE", str(tmp_path))
    assert not in_memory()
    assert list((tmp_path / ".cupy" / "kernel_cache").iterdir()) == []


@needs_posix
@pytest.mark.parametrize("case", ["no folder", "full"])
def test_cupy_keeps_kernels_in_memory_if_its_folder_cannot_be_written(cupys, tmp_path, case):
    (tmp_path / "file").write_text("not a folder")
    folder = tmp_path / "file" / "cache" if case == "no folder" else tmp_path
    cupys.setenv("CUPY_CACHE_DIR", str(folder))
    if case == "full":
        cupys.setattr("tempfile.TemporaryFile", lambda **_: open("/dev/full", "wb"))
    with pytest.warns(UserWarning, match="CUDA kernels cannot be kept in .*CUPY_CACHE_DIR") as told:
        assert in_memory()
    assert len(told) == 1
    assert os.path.isdir(os.environ["CUPY_CACHE_DIR"])  # CuPy makes it when it is imported


@needs_posix
def test_cupy_makes_no_folder_for_a_user_without_home(cupys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    with pytest.warns(UserWarning, match=r"CUDA kernels cannot be kept \(no user folder is known"):
        assert in_memory()
    assert not list(tmp_path.iterdir())

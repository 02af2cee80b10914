"""The CPU space's cache of compiled kernels."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from portpart.backends import cpu_compile
from portpart.backends.language import device, int64, kernel, team_array
from tests.backends.test_cpu_space import run_python

COMPILES = """
    from pathlib import Path
    from portpart import backends
    from portpart.backends import cpu_compile
    from portpart.primitives.basic import iota
    texts, compile = [], cpu_compile.object_code
    cpu_compile.object_code = lambda text: texts.append(text) or compile(text)
    assert iota(backends.space("cpu"), 5).tolist() == [0, 1, 2, 3, 4]
    print(len(texts))
"""


def test_second_process_finds_compiled_kernels(tmp_path):
    folder = str(tmp_path / "cache")
    assert run_python(COMPILES, PORTPART_CACHE_DIR=folder) == "1"
    assert run_python(COMPILES, PORTPART_CACHE_DIR=folder) == "0"
    assert list((tmp_path / "cache").glob("cpu_driver_*/*/*.drive-*.nbi")), "not beside the source"
    assert not list((tmp_path / "cache").glob("*.tmp"))


@pytest.mark.parametrize("damage", [lambda code: b"", lambda code: code[:-1],
                                    lambda code: code[:-1] + bytes([code[-1] ^ 1])])
def test_a_damaged_file_of_the_cache_is_compiled_again(tmp_path, damage):
    assert run_python(COMPILES, PORTPART_CACHE_DIR=str(tmp_path)) == "1"
    (file,) = tmp_path.glob("*.kernel")
    file.write_bytes(damage(file.read_bytes()))
    assert run_python(COMPILES, PORTPART_CACHE_DIR=str(tmp_path)) == "1"
    assert run_python(COMPILES, PORTPART_CACHE_DIR=str(tmp_path)) == "0"


def test_a_cache_that_is_full_is_done_without(tmp_path):
    full = COMPILES.replace("texts, compile", """
    def full(*arguments, **options):
        raise OSError("no space left on device")
    cpu_compile.tempfile.mkstemp = full
    texts, compile""", 1)
    assert [run_python(full, PORTPART_CACHE_DIR=str(tmp_path)) for _ in range(2)] == ["1", "1"]


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


def test_unwritable_cache_folder_is_replaced_for_one_process(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    code = """
        import warnings
        from portpart import backends
        from portpart.backends.cpu_compile import cache_folder
        from portpart.primitives.basic import iota
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            iota(backends.space("cpu"), 5)
        print(cache_folder().is_dir(), len(caught), cache_folder(), caught[0].message, sep="|")
    """
    exists, count, folder, message = run_python(
        code, PORTPART_CACHE_DIR=str(blocked / "cache")).split("|")
    assert (exists, count) == ("True", "1")
    assert "cannot be kept in" in message
    assert not Path(folder).exists()


def test_cache_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("PORTPART_CACHE_DIR", str(tmp_path / "here"))
    assert cpu_compile.cache_folder.__wrapped__() == tmp_path / "here"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PORTPART_CACHE_DIR", "here")  # stays there when the process moves on
    assert cpu_compile.cache_folder.__wrapped__() == tmp_path / "here"
    monkeypatch.delenv("PORTPART_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    if sys.platform != "win32":
        assert cpu_compile.cache_folder.__wrapped__() == tmp_path / "portpart"

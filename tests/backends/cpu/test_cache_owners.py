"""Code in cache folders is that of its name, and of this user or root: nobody else's is run."""

from __future__ import annotations

import inspect
import os
import stat
import sys
from pathlib import Path

import pytest

from portpart.backends.cuda.modules import Modules
from portpart.backends.cuda.nvrtc import do_without_folder
from portpart.base import cache_folder
from tests.backends.cpu.test_cpu_cache import USES, only_warning

STRANGER = 12345

needs_posix = pytest.mark.skipif(sys.platform == "win32", reason="files have no such owners there")
needs_root = pytest.mark.skipif(getattr(os, "geteuid", lambda: 1)() != 0,
                                reason="to give files away needs root")

pytestmark = needs_posix


@pytest.fixture
def folder(monkeypatch, tmp_path) -> Path:
    """The only cache folder, which is not there yet."""
    return use(monkeypatch, tmp_path / "cache")


def use(monkeypatch, *folders: Path) -> Path:
    monkeypatch.setenv("PORTPART_CACHE_DIR", os.pathsep.join(map(str, folders)))
    cache_folders = cache_folder.cache_folders
    monkeypatch.setattr(cache_folder, "cache_folders", inspect.unwrap(cache_folders))
    monkeypatch.setattr(cache_folder, "_warned", [])
    return folders[0]


@pytest.fixture
def give_away(monkeypatch):
    """Make a path another user's: root can do so, others pretend to be somebody else."""
    def give(path: Path) -> None:
        if os.geteuid() == 0:
            os.chown(path, STRANGER, -1, follow_symlinks=False)
        else:
            monkeypatch.setattr(cache_folder, "own_id", lambda: STRANGER)

    return give


# names ----------------------------------------------------------------------------------------


def test_code_under_the_name_of_other_code_is_no_code(folder):
    for name in ("a", "b"):
        cache_folder.write(f"{name}.kernel", b"of " + name.encode())
    swap(folder / "a.kernel", folder / "b.kernel")
    assert cache_folder.read("a.kernel") is None
    assert cache_folder.read("b.kernel") is None
    swap(folder / "a.kernel", folder / "b.kernel")
    assert cache_folder.read("a.kernel") == b"of a"


def swap(one: Path, other: Path) -> None:
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)


def test_cuda_modules_under_each_others_names_are_not_there(folder):
    modules = Modules(90, "14.0")
    files = [modules.file_of(words, quick=False) for words in ("one", "other")]
    for file in files:
        cache_folder.write(file, file.encode())
    assert Modules(90, "14.0").kept("one").wait() == files[0].encode()
    swap(*(folder / file for file in files))
    assert Modules(90, "14.0").kept("one") is None


# owners ---------------------------------------------------------------------------------------


def only_message(recwarn) -> str:
    """The text of the only warning so far."""
    only, = recwarn.list
    return str(only.message)


def test_the_folder_of_another_user_is_ignored_with_one_warning(folder, give_away, recwarn):
    cache_folder.write("a.kernel", b"code")
    give_away(folder)
    assert cache_folder.read("a.kernel") is None
    cache_folder.write("b.kernel", b"code")
    assert not list(cache_folder.files())
    assert cache_folder.clear() == (0, 0)
    assert only_message(recwarn) == (
        f"compiled kernels in {folder} are ignored, as it belongs to another user; they must "
        "belong to you or to root; set PORTPART_CACHE_DIR to another folder")
    assert os.listdir(folder) == ["a.kernel"]


@needs_root
def test_new_files_go_past_the_folder_of_another_user(monkeypatch, tmp_path, give_away, recwarn):
    first, second = tmp_path / "first", tmp_path / "second"
    use(monkeypatch, first, second)
    first.mkdir(mode=0o777)
    give_away(first)
    cache_folder.write("a.kernel", b"code")
    assert cache_folder.read("a.kernel") == b"code"
    assert not os.listdir(first)
    assert "another user" in only_message(recwarn)


def test_a_file_of_another_user_is_ignored_with_one_warning(folder, give_away):
    for name in ("a.kernel", "b.kernel"):
        cache_folder.write(name, b"code")
    os.chmod(folder, 0o1777)  # anybody may put files there
    give_away(folder / "a.kernel")
    with pytest.warns(UserWarning, match="another user") as told:
        assert [cache_folder.read("a.kernel") for _ in range(3)] == [None] * 3
    assert len(told) == 1
    assert os.geteuid() != 0 or cache_folder.read("b.kernel") == b"code"


@needs_root
def test_a_file_of_another_user_is_replaced_where_that_can_be(folder, give_away):
    cache_folder.write("a.kernel", b"code")
    give_away(folder / "a.kernel")
    with pytest.warns(UserWarning, match="another user"):
        assert cache_folder.read("a.kernel") is None
    cache_folder.write("a.kernel", b"mine")
    assert cache_folder.read("a.kernel") == b"mine"


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_can_write_is_ignored(folder, mode):
    cache_folder.write("a.kernel", b"code")
    os.chmod(folder / "a.kernel", mode)
    with pytest.warns(UserWarning, match="a.kernel are ignored, as it can be written by other us"):
        assert cache_folder.read("a.kernel") is None


def test_a_folder_that_others_can_write_has_files_that_only_this_user_can(folder, recwarn):
    """With some settings (umask 002) every new folder is one; a file is judged by itself."""
    folder.mkdir()
    for mode in (0o775, 0o777, 0o1777):
        os.chmod(folder, mode)
        cache_folder.write("a.kernel", str(mode).encode())
        assert cache_folder.read("a.kernel") == str(mode).encode()
    assert not recwarn.list


@needs_root
def test_files_of_root_are_everybodys(folder, monkeypatch, recwarn):
    """As in an image of a container; here root takes itself for somebody else."""
    cache_folder.write("a.kernel", b"code")
    monkeypatch.setattr(cache_folder, "own_id", lambda: STRANGER)
    assert cache_folder.read("a.kernel") == b"code"
    assert not recwarn.list


@needs_root
def test_a_link_that_another_user_has_made_leads_nowhere(folder, give_away, tmp_path, recwarn):
    (tmp_path / "private").mkdir()
    folder.symlink_to(tmp_path / "private")
    cache_folder.write("a.kernel", b"code")
    assert cache_folder.read("a.kernel") == b"code"
    give_away(folder)
    assert cache_folder.read("a.kernel") is None
    cache_folder.write("b.kernel", b"code")
    assert os.listdir(tmp_path / "private") == ["a.kernel"]
    assert "another user" in only_message(recwarn)


def test_a_pipe_or_a_folder_in_place_of_a_file_is_not_waited_for(folder):
    folder.mkdir()
    os.mkfifo(folder / "a.kernel")
    (folder / "b.kernel").mkdir()
    assert cache_folder.read("a.kernel") is None
    assert cache_folder.read("b.kernel") is None


def test_new_folders_are_private_and_files_can_be_shared(monkeypatch, tmp_path):
    folder = use(monkeypatch, tmp_path / "new" / "cache")
    before = os.umask(0o022)
    try:
        cache_folder.write("a.kernel", b"code")
    finally:
        os.umask(before)
    modes = [stat.S_IMODE(path.stat().st_mode)
             for path in (folder.parent, folder, folder / "a.kernel")]
    assert modes == [0o700, 0o700, 0o644]


def test_where_files_have_no_owners_all_are_read(folder, monkeypatch, recwarn):
    cache_folder.write("a.kernel", b"code")
    os.chmod(folder / "a.kernel", 0o666)
    monkeypatch.delattr(os, "geteuid")
    assert cache_folder.read("a.kernel") == b"code"
    assert not recwarn.list


@needs_root
def test_kernels_of_another_user_are_compiled_anew_and_the_caller_is_told(tmp_path, give_away):
    folder = tmp_path / "cache"
    folder.mkdir()
    give_away(folder)
    message = only_warning(USES, PORTPART_CACHE_DIR=str(folder))
    assert message.startswith(f"compiled kernels in {folder} are ignored, as it belongs to another")


def test_cupys_folder_of_another_user_is_done_without(monkeypatch, tmp_path, give_away):
    monkeypatch.setenv("CUPY_CACHE_DIR", str(tmp_path / "cupy"))
    monkeypatch.setenv("CUPY_CACHE_IN_MEMORY", "")
    monkeypatch.setattr(cache_folder, "_warned", [])
    (tmp_path / "cupy").mkdir()
    give_away(tmp_path / "cupy")
    with pytest.warns(UserWarning, match=r"CUDA kernels cannot be kept .*\(it belongs to another"):
        do_without_folder()
    assert os.environ["CUPY_CACHE_IN_MEMORY"] == "1"


def test_a_folder_without_a_home_is_left_out_of_a_list(monkeypatch, tmp_path):
    def unknown(path):
        if path.parts[:1] == ("~",):
            raise RuntimeError
        return path

    monkeypatch.setattr(Path, "expanduser", unknown)
    use(monkeypatch, Path("~/kernels"), tmp_path)
    assert cache_folder.cache_folders() == (tmp_path,)
    use(monkeypatch, Path("~/kernels"))
    with pytest.raises(FileNotFoundError):
        cache_folder.cache_folders()

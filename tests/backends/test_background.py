"""The process in the background finishes what it was given, whatever becomes of the one before it.

It compiles with a stand-in of CuPy, which notes who has called.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from portpart.backends import cache_folder, python_process
from portpart.backends.cuda import background, background_journal, nvrtc
from portpart.backends.cuda.background import Queue
from portpart.backends.cuda.modules import Modules
from portpart.backends.cuda.program_text import ProgramText
from portpart.backends.cuda.words import CUDA_PRELUDE
from portpart.backends.program import Program
from tests.backends import fake_cupy
from tests.backends.fake_cupy import file_of, offer
from tests.backends.sample_programs import record_nested

pytestmark = pytest.mark.skipif(os.name != "posix", reason="there is none where locks are others")

ROOT = Path(__file__).parents[2]

ONE, TWO = record_nested(1), record_nested(8)
NAME_OF_ONE = ProgramText(ONE).symbol


def code_of(program: Program) -> bytes:
    return (CUDA_PRELUDE + ProgramText(program).write()).encode()


def until(happened: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.fixture
def cache(monkeypatch, tmp_path) -> Path:
    """The cache folder, which is not there yet."""
    monkeypatch.setenv("PORTPART_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PORTPART_BACKGROUND", "1")
    monkeypatch.setattr(cache_folder, "cache_folders", cache_folder.cache_folders.__wrapped__)
    return tmp_path / "cache"


@pytest.fixture
def folder(cache, monkeypatch, tmp_path) -> Iterator[Path]:
    """The folder of the stand-in; in the end none of its processes is left."""
    made = fake_cupy.make(tmp_path / "fake")
    monkeypatch.syspath_prepend(str(made))
    yield made
    left = [each for each in fake_cupy.processes(made) if fake_cupy.is_there(each)]
    for each in left:
        os.kill(each, signal.SIGKILL)
    assert not left


@pytest.fixture
def queue(cache, monkeypatch) -> Queue:
    """One that hands over when it is told to."""
    made = Queue(usable=True)
    monkeypatch.setattr(made, "_start_thread", lambda: None)
    return made


def hand_over(queue: Queue) -> None:
    """Hand over, and wait until all processes have ended."""
    queue._hand_over()
    for process in queue._given.values():
        process.wait(60)


def journal(cache: Path) -> dict[str, tuple[float, str]]:
    return json.loads((cache / background_journal.FILE).read_bytes() or b"{}")


SHORT_PROCESS = """
    import os, threading
    from portpart.backends.cuda import background
    from tests.backends.fake_cupy import offer
    from tests.backends.sample_programs import record_nested
    one = record_nested(1)
    {change}
    assert offer(background.queue, one)
"""


def short_process(end: str = "", change: str = "") -> subprocess.CompletedProcess[str]:
    """A process that wants a program, and ends; it is waited for as a shell's pipe would."""
    code = textwrap.dedent(SHORT_PROCESS).format(change=change) + textwrap.dedent(end)
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True,
                          timeout=60, check=False,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})


def test_a_short_process_leaves_one_behind_that_does_its_work_and_ends(folder, cache):
    (folder / "held").write_text(NAME_OF_ONE)
    done = short_process()
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert cache_folder.read(file_of(ONE)) is None
    until(lambda: len(fake_cupy.processes(folder)) == 1)
    (process, (nice, session, devices, *files)), = fake_cupy.processes(folder).items()
    assert (nice, session, devices) == ("19", str(process), "")
    assert not [file for file in files if file.startswith(("pipe:", "socket:"))]
    (folder / "held").unlink()
    until(lambda: not fake_cupy.is_there(process))
    assert cache_folder.read(file_of(ONE)) == code_of(ONE)
    assert journal(cache) == {}
    left = {path.name for path in cache.iterdir()
            if not path.name.endswith(cache_folder.SUFFIX)}
    assert left == {background_journal.FILE}


@pytest.mark.parametrize(("change", "end"), [
    ("", "raise KeyboardInterrupt"),
    ("background.PAUSE = 0.01", """
     while not background.queue._given:
         threading.Event().wait(0.01)
     os._exit(0)
     """),
], ids=["interrupted", "without an end"])
def test_it_is_started_however_the_process_ends(folder, change, end):
    short_process(end, change)
    until(lambda: cache_folder.read(file_of(ONE)) == code_of(ONE))
    until(lambda: not any(map(fake_cupy.is_there, fake_cupy.processes(folder))))


def test_programs_go_to_one_process_at_a_time(folder, queue):
    (folder / "held").write_text(NAME_OF_ONE)
    assert offer(queue, ONE)
    queue._hand_over()
    until(lambda: len(fake_cupy.processes(folder)) == 1)
    other = Queue(usable=True)  # in another process
    for each in (queue, other):
        each._start_thread = lambda: None
        assert offer(each, TWO)
        each._hand_over()
        assert file_of(TWO) not in each._given
        assert offer(each, TWO)  # it waits
    (folder / "held").unlink()
    queue._given[file_of(ONE)].wait(60)
    hand_over(queue)
    assert cache_folder.read(file_of(TWO)) == code_of(TWO)
    hand_over(other)
    assert not other._given
    assert len(fake_cupy.processes(folder)) == 2


def test_what_takes_the_compiler_down_is_not_tried_by_every_process(folder, cache, queue,
                                                                    monkeypatch):
    (folder / "killing").write_text(NAME_OF_ONE)
    assert offer(queue, ONE)
    hand_over(queue)
    assert not offer(queue, ONE)
    (begun, problem), = journal(cache).values()
    assert problem == "did not end"
    (folder / "killing").unlink()
    later = Queue(usable=True)
    later._start_thread = lambda: None
    for each in (ONE, TWO):
        assert offer(later, each)
    hand_over(later)
    assert not offer(later, ONE)
    assert cache_folder.read(file_of(ONE)) is None
    assert cache_folder.read(file_of(TWO)) == code_of(TWO)
    monkeypatch.setattr(background_journal, "RETRY", time.time() - begun)
    much_later = Queue(usable=True)
    much_later._start_thread = lambda: None
    assert offer(much_later, ONE)
    hand_over(much_later)
    assert cache_folder.read(file_of(ONE)) == code_of(ONE)
    assert journal(cache) == {}


def test_what_is_refused_is_told_and_keeps_nothing_else_from_being_compiled(folder, cache, queue):
    (folder / "refused").write_text(NAME_OF_ONE)
    for program in (ONE, TWO):
        assert offer(queue, program)
    hand_over(queue)
    assert cache_folder.read(file_of(TWO)) == code_of(TWO)
    (file, (_, problem)), = journal(cache).items()
    assert file == file_of(ONE)
    assert "NVRTC: no" in problem


def test_it_makes_what_this_process_would_make(queue):
    cupy = pytest.importorskip("cupy")
    modules = Modules(90, cupy.__version__)
    file = modules.file_of(ProgramText(ONE).words, quick=False)
    assert queue.offer(file, modules.capability, ONE)
    hand_over(queue)
    assert cache_folder.read(file) == nvrtc.compiled(code_of(ONE).decode(), nvrtc.Target(90))


def test_a_program_that_is_another_one_there_is_not_compiled(folder, cache, queue):
    file = "program_000000000000000000000000.kernel"
    assert queue.offer(file, 90, ONE)
    hand_over(queue)
    assert cache_folder.read(file) is None
    assert "are not those of the process that wants them" in journal(cache)[file][1]


def test_a_journal_that_breaks_off_is_begun_anew(folder, cache, queue):
    cache.mkdir()
    (cache / background_journal.FILE).write_text('{"a file": [17')
    assert offer(queue, ONE)
    hand_over(queue)
    assert cache_folder.read(file_of(ONE)) == code_of(ONE)
    assert journal(cache) == {}


def test_an_environment_variable_switches_it_off(folder, cache, queue, monkeypatch):
    monkeypatch.setenv("PORTPART_BACKGROUND", "0")
    assert not offer(queue, ONE)
    hand_over(queue)
    assert not cache.exists()


def test_without_a_python_there_is_none(monkeypatch):
    assert python_process.can_be_started()
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert not python_process.can_be_started()
    monkeypatch.delattr(sys, "frozen")
    for name in (None, "/bin/app"):
        monkeypatch.setattr(sys, "executable", name)
        assert not python_process.can_be_started()
    assert not offer(Queue(usable=False), ONE)


def test_where_nothing_can_be_kept_there_is_none(folder, cache, queue):
    cache.write_text("a file in the place of the folder")
    assert offer(queue, ONE)
    hand_over(queue)
    assert not queue._given
    assert not offer(queue, ONE)


def test_folders_that_cannot_be_written_are_passed_over(folder, cache, queue, monkeypatch):
    other = folder / "no folder"
    other.write_text("a file")
    monkeypatch.setenv("PORTPART_CACHE_DIR", os.pathsep.join(map(str, (other, cache))))
    assert offer(queue, ONE)
    hand_over(queue)
    assert {file_of(ONE), background_journal.FILE} <= {path.name for path in cache.iterdir()}


def test_a_python_that_cannot_be_started_is_done_without(folder, queue, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert offer(queue, ONE)
    hand_over(queue)
    assert not offer(queue, ONE)


def test_a_fork_hands_nothing_over(folder):
    done = short_process("""
    import sys, warnings
    from pathlib import Path
    warnings.simplefilter("ignore")  # newer Pythons warn of forks beside threads
    child = os.fork()
    if child == 0:
        assert not offer(background.queue, one)
        sys.exit()  # as a whole process ends
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    print(list(Path(os.environ["PORTPART_CACHE_DIR"]).glob("*.json")))
    """)
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr
    until(lambda: cache_folder.read(file_of(ONE)) is not None)
    until(lambda: not any(map(fake_cupy.is_there, fake_cupy.processes(folder))))
    assert len(fake_cupy.processes(folder)) == 1


def test_what_has_come_meanwhile_is_not_asked_for_again(folder, queue):
    assert offer(queue, ONE)
    cache_folder.write(file_of(ONE), b"code")
    hand_over(queue)
    assert not queue._given


def test_the_files_are_those_of_the_library(folder, cache, queue):
    assert offer(queue, ONE)
    hand_over(queue)
    names = {path.name for path in cache_folder.files()}
    assert names >= {file_of(ONE), background_journal.FILE}
    cache_folder.clear()
    assert not list(cache.iterdir())


def test_tests_leave_nothing_behind_unless_they_say_so():
    assert os.environ.get(background.VARIABLE) == "0"

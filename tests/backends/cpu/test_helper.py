"""The process that compiles beside: it helps, and whatever becomes of it nothing depends on it."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from portpart.backends.cpu import code, helper
from tests.backends.cpu.test_cpu_space import ROOT, run_python

needs_posix = pytest.mark.skipif(os.name != "posix", reason="signals and forks are POSIX's")

COLD = """
    import os, sys, threading, time
    from portpart.backends.cpu import compile as cpu_compile, helper
    helper.has_a_core = lambda: True  # however much this machine has to do
    answers, ask = [], helper.answer
    helper.answer = lambda *given: answers.append(ask(*given)) or answers[-1]
    texts, make = [], cpu_compile.object_code
    cpu_compile.object_code = lambda text: texts.append(text) or make(text)
    from portpart.backends.cpu.space import CpuSpace
    from tests.backends.cpu.test_compile_when_called import program_of, run
"""
WAITING = """
    executable = CpuSpace(2).executable(program_of(*range(12)))
"""
"""Twelve small kernels wait, enough for the process to be started."""
CALLED = """
    assert run(executable, [3] * 12) == [66] * 3
"""


def cold(code: str, folder: Path, **environment: str) -> str:
    """Output of a process that has nothing in its cache and may use two cores."""
    return run_python(COLD + code, PORTPART_CACHE_DIR=str(folder / "cache"),
                      **{"NUMBA_NUM_THREADS": "2", **environment})


def is_there(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def waited_for(condition) -> bool:
    end = time.monotonic() + 20
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return condition()


def test_it_compiles_kernels_and_ends_when_there_is_nothing_to_do(tmp_path):
    told = cold("""
    import portpart
    threads, answer = [], helper.answer
    helper.answer = lambda *given: threads.append(threading.active_count()) or answer(*given)
    ring = [(i, (i + 1) % 100) for i in range(100)]
    assert portpart.partition(ring, 4).cut == 4
    process = helper.queue._process
    while threading.active_count() > 1:
        time.sleep(0.02)
    print(len(answers), len(texts), max(threads), process.poll() is not None)
    """, tmp_path).split()
    assert int(told[0]) > 0
    assert int(told[1]) > 0
    assert told[2:] == ["2", "True"]
    kernels = [path for path in (tmp_path / "cache").iterdir() if b"ELF" in path.read_bytes()[:64]]
    assert sys.platform != "linux" or len(kernels) == int(told[0]) + int(told[1])


def test_what_it_makes_is_what_is_made_here():
    text = "define i64 @twice(i64 %x) {\n  %y = mul i64 %x, 2\n  ret i64 %y\n}\n"
    with helper.started() as process:
        assert helper.read_frame(process.stdout).decode() == code.fingerprint()
        assert helper.answer(process, text.encode()) == code.object_code(text)
        assert helper.answer(process, text.encode()) == code.object_code(text)
        process.kill()


@pytest.mark.parametrize("script", [
    "exit 1",
    "exec sleep 100",
    "printf '\\003\\000\\000\\000\\000\\000\\000\\000abc'; exec sleep 100",
    "printf 'abc'",
], ids=["dies", "hangs", "other compiler", "breaks off"])
@needs_posix
def test_one_that_fails_is_done_without(tmp_path, script):
    python = tmp_path / "python-that-fails"
    python.write_text(f"#!/bin/sh\nexec 2>&-\n{script}\n")
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    told = cold(f"""
    sys.executable, helper.PATIENCE = {str(python)!r}, 1.0
    {WAITING.strip()}
    assert helper.queue._thread is not None
    {CALLED.strip()}
    print(len(answers))
    """, tmp_path)
    assert told == "0"


@pytest.mark.parametrize("change", [
    "sys.executable = None", "sys.executable = '/nowhere/python'",
    "sys.executable, sys.frozen = '/bin/app', True",
])
def test_where_it_cannot_be_started_it_is_done_without(tmp_path, change):
    told = cold(f"""
    {change}
    helper.queue = helper.Queue(helper.can_be_started())
    {WAITING.strip()}
    {CALLED.strip()}
    print(len(answers))
    """, tmp_path)
    assert told == "0"


def test_there_is_none_without_a_free_core(monkeypatch):
    for cores, load, wanted in ((1, 0.0, False), (2, 0.3, True), (2, 2.0, False), (8, 7.5, True)):
        monkeypatch.setattr(helper, "available_threads", lambda cores=cores: cores)
        monkeypatch.setattr(os, "getloadavg", lambda load=load: (load, 0, 0), raising=False)
        assert helper.has_a_core() == wanted


def test_one_that_dies_on_its_way_is_done_without(tmp_path):
    told = cold("""
    def answer(process, text):
        if len(answers) == 2:
            process.kill()
        answers.append(ask(process, text))
        return answers[-1]
    helper.answer = answer
    """ + WAITING + """
    while helper.queue._usable:
        time.sleep(0.01)
    """ + CALLED + "    print(len(answers))", tmp_path)
    assert told == "2"


@needs_posix
def test_a_fork_beside_it_compiles_by_itself(tmp_path):
    told = cold(WAITING + """
    import warnings
    warnings.simplefilter("ignore")  # newer Pythons warn of forks beside threads
    assert threading.active_count() == 2
    child = os.fork()
    if child == 0:
        before = len(texts)
        right = run(executable, [3] * 12) == [66] * 3
        os._exit(0 if right and len(texts) > before and not helper.queue._usable else 1)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """, tmp_path)
    assert told == "0"


@needs_posix
def test_an_interrupt_ends_it_with_its_process_and_it_says_nothing(tmp_path):
    code = COLD + """
    import signal
    signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs ignore it
    def answer(process, text):
        print(process.pid, flush=True)
        return ask(process, text)
    helper.answer = answer
    """ + WAITING + "    threading.Event().wait()\n"
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True, cwd=ROOT,
        stderr=subprocess.PIPE, start_new_session=True,
        env={**os.environ, "PORTPART_CACHE_DIR": str(tmp_path), "NUMBA_NUM_THREADS": "2"})
    beside = int(process.stdout.readline())
    assert is_there(beside)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    _, errors = process.communicate(timeout=60)
    assert process.returncode != 0
    assert errors.count("Traceback") == 1
    assert errors.strip().endswith("KeyboardInterrupt")
    assert waited_for(lambda: not is_there(beside))


@needs_posix
def test_it_ends_when_its_process_is_killed(tmp_path):
    code = COLD + """
    def answer(process, text):
        print(process.pid, flush=True)
        return ask(process, text)
    helper.answer = answer
    """ + WAITING + "    threading.Event().wait()\n"
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True, cwd=ROOT,
        env={**os.environ, "PORTPART_CACHE_DIR": str(tmp_path), "NUMBA_NUM_THREADS": "2"})
    beside = int(process.stdout.readline())
    process.kill()
    process.wait()
    assert waited_for(lambda: not is_there(beside))

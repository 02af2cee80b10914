"""Ctrl-C: while code is compiled it waits, and is never lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from portpart.backends.interrupts import late_interrupts

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT to send")


@pytest.fixture(autouse=True)
def usual_handler():
    """As in the foreground: background jobs ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_an_interrupt_waits_for_the_end_of_the_block():
    done = []

    @late_interrupts()
    def work():
        interrupt()
        done.append(1)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == [1]
    with pytest.raises(KeyboardInterrupt):
        interrupt()


def test_a_second_interrupt_is_obeyed_at_once():
    done = []

    @late_interrupts()
    def work():
        interrupt()
        interrupt()
        done.append(1)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert not done


def test_an_interrupt_is_not_lost_in_a_finaliser_nor_behind_an_error():
    class Module:
        def __del__(self):
            interrupt()

    @late_interrupts()
    @late_interrupts()
    def work():
        Module()
        raise ValueError

    with pytest.raises(KeyboardInterrupt):
        work()


def test_handlers_of_the_users_stay():
    seen = []
    signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    with late_interrupts():
        interrupt()
        assert not seen
    assert seen == [signal.SIGINT]
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with late_interrupts():
        interrupt()
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_other_threads_have_no_interrupts():
    entered = []

    def enter() -> None:
        with late_interrupts():
            entered.append(1)

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert entered == [1]


@pytest.mark.parametrize("delay", [0.3, 0.9])
def test_an_interrupted_command_says_so_while_it_compiles(delay, tmp_path):
    """It prints when it begins; then it imports and compiles."""
    code = ("import signal, sys, portpart.cli; "
            "signal.signal(signal.SIGINT, signal.default_int_handler); print('begun', flush=True); "
            "sys.exit(portpart.cli.main(['generate', 'delaunay', '20000', '-o', sys.argv[1]]) "
            "or portpart.cli.main(['partition', sys.argv[1], '-k', '64', '--preset', 'strong']))")
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "mesh.graph")], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PORTPART_CACHE_DIR": str(tmp_path / "cache")})
    assert process.stdout.readline() == "begun\n"
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors.splitlines()[-1:]) == (130, ["portpart: interrupted"])
    assert "Exception ignored" not in errors

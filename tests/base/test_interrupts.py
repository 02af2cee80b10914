"""Ctrl-C: while code is imported or compiled it waits, and is never lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from portpart.base.interrupts import late_interrupts, late_signals
from tests.backends.cpu.test_cpu_space import ROOT, run_python

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT to send")


@pytest.fixture(autouse=True)
def usual_handler():
    """As in the foreground: background jobs ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt(number: int = signal.SIGINT) -> None:
    os.kill(os.getpid(), number)


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


def test_all_signals_wait_for_the_end_of_an_import_and_each_is_handled_once():
    seen = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: seen.append(number))

    @late_interrupts()
    @late_signals()
    def work():
        for _ in range(5):
            interrupt()
            interrupt(signal.SIGALRM)
        seen.append("end")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert seen == ["end", signal.SIGALRM]
    interrupt(signal.SIGALRM)
    assert len(seen) == 3
    signal.signal(signal.SIGALRM, before)
    with pytest.raises(KeyboardInterrupt):
        interrupt()


@pytest.mark.parametrize("block", [late_signals, late_interrupts])
def test_a_process_forked_off_meanwhile_can_be_interrupted(block):
    """Not by the thread that is in the block, which would leave it in the fork, too."""
    ends = []

    def fork() -> None:
        child = os.fork()
        if child == 0:
            try:
                interrupt()
                time.sleep(20)
            except KeyboardInterrupt:
                os._exit(3)
            os._exit(4)
        ends.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

    with block():
        thread = threading.Thread(target=fork)
        thread.start()
        thread.join()
    assert ends == [3]


PRESSES = """
    import os, random, signal, sys
    import portpart

    signal.signal(signal.SIGINT, signal.default_int_handler)

    class Presses:
        "Ctrl-C when a module of a package is looked for, at places that are drawn."
        def __init__(self, package, drawn):
            self.package, self.seen = package, 0
            self.places = sorted(drawn.sample(range(60), {count}))
            sys.meta_path.insert(0, self)
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] == self.package:
                while self.seen in self.places:
                    self.places.remove(self.seen)
                    os.kill(os.getpid(), signal.SIGINT)
                self.seen += 1

    def interrupted(call):
        try:
            call()
        except KeyboardInterrupt:
            return True

    drawn = random.Random({count})
    presses = Presses("numpy", drawn)
    assert interrupted(lambda: portpart.generators.grid_2d(100)) and not presses.places
    mesh = portpart.generators.grid_2d(100)
    part = portpart.partition(mesh, 4, threads=2).part
    from portpart.backends.cpu.driver_module import state
    from portpart.backends.cpu.driver_module import DRIVE, WORK, WORK_BEFORE_THREADS
    presses, state[WORK] = Presses("numba", drawn), WORK_BEFORE_THREADS
    assert interrupted(lambda: portpart.partition(mesh, 4, threads=2)) and not presses.places
    same = [(portpart.partition(mesh, 4, threads=2).part == part).all() for _ in range(2)]
    print(*same, bool(state[DRIVE]))
"""


@pytest.mark.parametrize("count", [1, 2, 5])
def test_after_interrupts_of_the_first_call_every_call_works(count):
    """As in a notebook: one says KeyboardInterrupt, and the process goes on to be used."""
    code = PRESSES.replace("{count}", str(count))
    assert run_python(code, NUMBA_NUM_THREADS="2") == "True True True"


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

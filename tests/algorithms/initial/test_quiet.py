"""METIS prints nothing into a caller's standard output, and nothing else is silenced."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import warnings
from typing import Any

import numpy as np
import pytest

import portpart
from portpart.algorithms.initial.metis import silenced_c_stdout

if sys.platform == "win32" or not (sys.platform == "darwin"
                                   or hasattr(ctypes.CDLL(None), "gnu_get_libc_version")):
    pytest.skip("this C library's standard output cannot be changed", allow_module_level=True)

C = ctypes.CDLL(None)


def printed(capfd: pytest.CaptureFixture) -> str:
    """What has arrived at the standard output, what the C library has kept back included."""
    C.fflush(None)
    return capfd.readouterr().out


@pytest.mark.parametrize("options", [
    {"algorithm": "jet"}, {"fixed": np.where(np.arange(64) == 5, 3, -1)},
])
def test_one_vertex_heavier_than_all_others_makes_metis_print_nothing(
    options: dict[str, Any], capfd: pytest.CaptureFixture
) -> None:
    grid, weights = portpart.generators.grid_2d(8, 8), [10**6] + [1] * 63
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = portpart.partition(grid, 16, vertex_weights=weights, **options)
    assert not result.feasible
    assert printed(capfd) == ""


def test_c_code_is_heard_before_and_after_and_python_meanwhile(
    capfd: pytest.CaptureFixture
) -> None:
    C.puts(b"before")
    with silenced_c_stdout(), silenced_c_stdout():
        C.puts(b"silent")
        os.write(1, b"python\n")
    C.puts(b"after")
    assert sorted(printed(capfd).split()) == ["after", "before", "python"]


def test_threads_do_not_take_the_output_from_each_other(capfd: pytest.CaptureFixture) -> None:
    start = threading.Barrier(4)

    def print_quietly() -> None:
        start.wait()
        for _ in range(200):
            with silenced_c_stdout():
                C.puts(b"silent")

    threads = [threading.Thread(target=print_quietly) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    C.puts(b"after")
    assert printed(capfd) == "after\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_can_call_metis_while_another_thread_does() -> None:
    entered, leave = threading.Event(), threading.Event()

    def wait_quietly() -> None:
        with silenced_c_stdout():
            entered.set()
            leave.wait(0.2)

    thread = threading.Thread(target=wait_quietly)
    thread.start()
    entered.wait()
    child = os.fork()
    if child == 0:
        with silenced_c_stdout():
            os._exit(0)
    leave.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

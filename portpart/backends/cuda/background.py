"""A process in the background that compiles resident kernels, which take seconds each.

It is given programs, writes and compiles their texts without a device, puts the code into the cache
folder, and ends.  It gives way to other processes, and outlives the one that has started it: short
processes would never have resident kernels else.
"""

from __future__ import annotations

import atexit
import os
import pickle
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from portpart.backends import cache_folder
from portpart.backends.cuda import background_journal
from portpart.backends.cuda.background_journal import Journal
from portpart.backends.cuda.program_pickle import to_bytes
from portpart.backends.program import Program
from portpart.backends.python_process import can_be_started

if TYPE_CHECKING:
    from subprocess import Popen

VARIABLE = "PORTPART_BACKGROUND"
"""Environment variable that switches it off if it is 0."""

PAUSE = 2.0
"""Seconds in which programs gather; a process that ends before hands them over at its end."""

PROCESS = "portpart.backends.cuda.background_process"


class Order(NamedTuple):
    """A resident kernel to be compiled.

    Attributes
    ----------
    file : str
        Name of its file in the cache folder.
    capability : int
        Compute capability.
    program : bytes
    """

    file: str
    capability: int
    program: bytes


class Queue:
    """What waits for the process, and what it has been given."""

    def __init__(self, usable: bool) -> None:
        self._usable = usable
        self._lock = threading.Lock()
        self._waiting: dict[str, Order] = {}
        self._given: dict[str, Popen[bytes]] = {}
        self._refused: set[str] = set()
        self._thread: threading.Thread | None = None

    def offer(self, file: str, capability: int, program: Program) -> bool:
        """Have the resident kernel of a program compiled; whether that may be hoped for."""
        with self._lock:
            if file in self._given:
                return self._given[file].poll() is None
            if not self._usable or file in self._refused or os.environ.get(VARIABLE) == "0":
                return False
            if file not in self._waiting:
                try:
                    self._waiting[file] = Order(file, capability, to_bytes(program))
                except pickle.PicklingError:
                    self._refused.add(file)
                    return False
                self._start_thread()
            return True

    def close(self) -> None:
        """Hand over what waits, and leave the process alone."""
        self._hand_over()
        with self._lock:
            self._usable = False
            for process in self._given.values():
                process.returncode = 0  # else Python would complain that it is left

    def _start_thread(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name="portpart-background",
                                            daemon=True)
            with suppress(RuntimeError):  # at the end of Python, when `close` will do it
                self._thread.start()

    def _serve(self) -> None:
        while True:
            time.sleep(PAUSE)
            self._hand_over()
            with self._lock:
                if not self._waiting:
                    self._thread = None
                    return

    def _hand_over(self) -> None:
        """Start the process for what waits, unless another one is at work."""
        with self._lock:
            self._waiting = {file: order for file, order in self._waiting.items()
                             if cache_folder.read(file) is None}
            if self._waiting:
                try:
                    with background_journal.opened() as journal:
                        if journal.is_locked():
                            self._start(journal)
                except OSError:  # no folder can be written or locked, or no process started
                    self._usable = False
                    self._waiting.clear()

    def _start(self, journal: Journal) -> None:
        self._refused |= self._waiting.keys() & journal.tried().keys()
        orders = [order for file, order in self._waiting.items() if file not in self._refused]
        self._waiting.clear()
        if orders:
            process = started(orders, journal)
            self._given |= {order.file: process for order in orders}


def started(orders: list[Order], journal: Journal) -> Popen[bytes]:
    """The process, which has the lock from now on and nothing else of this one."""
    import subprocess

    folders = os.pathsep.join(map(str, cache_folder.cache_folders()))
    modules = os.pathsep.join([*map(os.path.abspath, sys.path), str(Path(__file__).parents[3])])
    environment = {**os.environ, cache_folder.VARIABLE: folders, "PYTHONPATH": modules,
                   "PYTHONSAFEPATH": "1", "CUDA_VISIBLE_DEVICES": ""}
    with tempfile.TemporaryFile(dir=journal.folder) as given:
        pickle.dump(orders, given)
        given.seek(0)
        return subprocess.Popen(
            [sys.executable, "-m", PROCESS, str(journal.fileno())], stdin=given,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=os.path.abspath(os.sep),
            env=environment, pass_fds=[journal.fileno()], start_new_session=True)


def _in_a_fork() -> None:
    """A fork leaves to the process that it comes from what waits there."""
    global queue
    queue = Queue(usable=False)


queue = Queue(sys.platform != "win32" and can_be_started())
atexit.register(lambda: queue.close())
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_a_fork)

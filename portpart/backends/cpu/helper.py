"""A second process that compiles kernels which have not been called yet.

It runs while there is much to compile, as in the first call after an installation. Nothing depends
on it: kernels that it does not compile are compiled in this process.
"""

from __future__ import annotations

import atexit
import os
import struct
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING

import llvmlite

from portpart.backends.cpu import code
from portpart.backends.cpu.memory import available_threads
from portpart.base import cache_folder

if TYPE_CHECKING:
    from subprocess import Popen

ENOUGH = 8
"""Number of waiting kernels at which the process is started, which takes a tenth of a second."""

IDLE = 1.0
"""Seconds without work after which the process ends."""

PATIENCE = 20.0
"""Seconds for one kernel, after which this process compiles it."""


class CompileJob:
    """A kernel to be compiled.

    Parameters
    ----------
    file : str
        Its name in the cache folder.
    text : callable
        Returns its LLVM module.
    """

    def __init__(self, file: str, text: Callable[[], str]) -> None:
        self.file, self.text = file, text
        self.size = 0
        self.is_served = False
        self.code: bytes | None = None
        self.done = threading.Event()


class Queue:
    """Kernels that wait, and the thread that sends them to the process."""

    def __init__(self, usable: bool) -> None:
        self._change = threading.Condition()
        self._jobs: list[CompileJob] = []
        self._thread: threading.Thread | None = None
        self._process: Popen[bytes] | None = None
        self._usable = usable

    def offer(self, job: CompileJob, size: int) -> None:
        """Add a job. The process starts if enough jobs wait; it compiles large ones first."""
        with self._change:
            job.size = size
            self._jobs.append(job)
            needed = self._usable and len(self._jobs) >= ENOUGH
            if needed and self._thread is None and has_a_core():
                self._thread = threading.Thread(target=self._serve, daemon=True)
                self._thread.start()
            self._change.notify()

    def taken(self, job: CompileJob) -> bytes | None:
        """Return the code of a kernel that is called; None if the process does not compile it."""
        with self._change:
            if job in self._jobs:
                self._jobs.remove(job)
                return None
        if self._usable and job.is_served:
            job.done.wait(PATIENCE)
        return job.code

    def stop(self) -> None:
        """Kill the process."""
        self._usable = False
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _serve(self) -> None:
        job = None
        try:
            with started() as self._process:
                if read_frame(self._process.stdout).decode() != code.fingerprint():
                    raise OSError("another compiler")
                while (job := self._next()) is not None:
                    job.code = cache_folder.read(job.file)  # another process may have compiled it
                    if job.code is None:
                        job.code = answer(self._process, job.text().encode())
                        cache_folder.write(job.file, job.code)
                    job.done.set()
                self._process.kill()
        except Exception:  # whatever the error: compiling the kernel here will show it
            self.stop()
            if job is not None:
                job.done.set()

    def _next(self) -> CompileJob | None:
        """Return the largest kernel, or None if none has arrived for a while."""
        with self._change:
            if not self._jobs:
                self._change.wait(IDLE)
            if not self._jobs or not self._usable:
                self._thread = None
                return None
            job = max(self._jobs, key=lambda each: each.size)
            self._jobs.remove(job)
            job.is_served = True
            return job


def started() -> Popen[bytes]:
    """Start the process, which first sends the fingerprint of its compiler."""
    import subprocess

    command = [sys.executable, "-I", "-S", str(Path(__file__).with_name("helper_process.py")),
               str(Path(code.__file__)), str(Path(llvmlite.__file__).parents[1])]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0))


def answer(process: Popen[bytes], text: bytes) -> bytes:
    """Return the code that the process compiles from a module."""
    assert process.stdin is not None
    process.stdin.write(struct.pack("<q", len(text)) + text)
    process.stdin.flush()
    return read_frame(process.stdout)


def read_frame(stream: IO[bytes] | None) -> bytes:
    """Read a frame: a length and this many bytes."""
    assert stream is not None
    head = stream.read(8)
    content = stream.read(*struct.unpack("<q", head)) if len(head) == 8 else b""
    if not content:
        raise EOFError
    return content


def can_be_started() -> bool:
    """Whether a Python interpreter can run a file."""
    return (Path(sys.executable or "").name.lower().startswith("python")
            and not getattr(sys, "frozen", False) and Path(code.__file__).is_file())


def has_a_core() -> bool:
    """Whether a core is free for the process, which otherwise would only take time."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0
    return max(1, load) < available_threads()


def _in_a_fork() -> None:
    """Make a new queue: a fork has no thread, and its lock may be taken."""
    global queue
    queue = Queue(usable=False)


queue = Queue(can_be_started())
atexit.register(lambda: queue.stop())
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_a_fork)

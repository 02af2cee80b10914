"""A package in place of CuPy, for processes that compile without it: code is what was compiled."""

from __future__ import annotations

import os
from pathlib import Path

from portpart.backends.cuda.background import Queue
from portpart.backends.cuda.modules import Modules
from portpart.backends.cuda.program_text import ProgramText
from portpart.backends.program import Program

VERSION = "14.0"
MODULES = Modules(90, VERSION)

NVRTC = '''
"""Notes what process this is, and does to kernels what files of that name say."""
import os, time
from pathlib import Path

FOLDER = Path(__file__).parents[2]
class NVRTCError(RuntimeError): pass

def descriptors():
    names = os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else []
    return sorted({os.readlink(f"/proc/self/fd/{name}") for name in names
                   if os.path.exists(f"/proc/self/fd/{name}")})

(FOLDER / "processes").mkdir(exist_ok=True)
note = FOLDER / f"note-{os.getpid()}"
note.write_text("\\n".join([str(os.nice(0)), str(os.getsid(0)), os.environ["CUDA_VISIBLE_DEVICES"],
                            *descriptors()]))
note.rename(FOLDER / "processes" / str(os.getpid()))

def named(what, program):
    try:
        return any(name in program for name in (FOLDER / what).read_text().split())
    except FileNotFoundError:
        return False

def getVersion(): return 12, 8
def getSupportedArchs(): return [75, 90]
def createProgram(text, *given): return text
def getProgramLog(program): return "refused"
def getCUBIN(program): return program.encode()
def destroyProgram(program): pass

def compileProgram(program, options):
    while named("held", program):
        time.sleep(0.01)
    if named("killing", program):
        os.kill(os.getpid(), 9)
    if named("refused", program):
        raise NVRTCError("no")
'''


def make(folder: Path) -> Path:
    """Write it; returns the folder that has to be among those of modules."""
    package = folder / "cupy"
    (package / "cuda").mkdir(parents=True)
    (package / "__init__.py").write_text(f"__version__ = {VERSION!r}\n")
    (package / "cuda" / "__init__.py").write_text("")
    (package / "cuda" / "nvrtc.py").write_text(NVRTC)
    return folder


def file_of(program: Program) -> str:
    """Name of the file that its resident kernel gets."""
    return MODULES.file_of(ProgramText(program).words, quick=False)


def offer(queue: Queue, program: Program) -> bool:
    """Offer a program for a device of the stand-in."""
    return queue.offer(file_of(program), MODULES.capability, program)


def processes(folder: Path) -> dict[int, list[str]]:
    """The processes that have compiled: nice, session, devices, then what they had open."""
    found = sorted(folder.glob("processes/*"))
    return {int(path.name): path.read_text().split("\n") for path in found}


def is_there(process: int) -> bool:
    """Whether a process has not ended; nobody may have asked for what it ended with."""
    try:
        os.kill(process, 0)
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return not Path("/proc/self").exists()

"""How the process of the command line ends: at once, but not before what has to be done."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

PRELUDE = """
import os, sys
from portpart.cli.process import run

end = os._exit
os._exit = lambda code: (sys.stderr.write("at once"), sys.stderr.flush(), end(code))
sys.argv = ["portpart", "algorithms", "portpart"]
"""


def ended(code: str, *options: str, stdout: int = subprocess.PIPE) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, *options, "-c", PRELUDE + code], stdout=stdout, stderr=subprocess.PIPE,
        text=True, check=False, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, input="")


def test_the_process_ends_at_once_after_exit_functions() -> None:
    done = ended("import atexit\natexit.register(print, 'farewell')\nsys.exit(run())")
    assert (done.returncode, done.stderr) == (0, "at once")
    assert done.stdout.startswith("portpart")
    assert done.stdout.endswith("farewell\n")


def test_the_exit_code_is_that_of_the_command() -> None:
    done = ended("sys.argv[1] = 'nonsense'\nsys.exit(run())")
    assert done.returncode == 2
    assert "nonsense" in done.stderr


@pytest.mark.parametrize("code", [
    "import threading\nlast = threading.main_thread().join\n"
    "threading.Thread(target=lambda: (last(), print('joined at last'))).start()\nsys.exit(run())",
    "sys.setprofile(lambda *_: None)\nsys.exit(run())",
    "sys.settrace(lambda *_: None)\nsys.exit(run())",
], ids=["thread", "profile", "trace"])
def test_where_somebody_waits_python_ends_as_usual(code: str) -> None:
    done = ended(code)
    assert (done.returncode, done.stderr) == (0, "")
    assert ("joined at last" in done.stdout) == ("joined at last" in code)


@pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="threads are not listed")
def test_numpy_starts_no_threads() -> None:
    code = "import os, sys\nfrom portpart.__main__ import run\nend = os._exit\n" \
           "os._exit = lambda code: (print(os.listdir('/proc/self/task')), sys.stdout.flush(), " \
           "end(code))\nsys.argv = ['portpart', 'algorithms', 'jet']\nrun()"
    environment = {name: value for name, value in os.environ.items()
                   if name != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True,
                          check=True, cwd=ROOT, env=environment)
    assert len(ast.literal_eval(done.stdout.splitlines()[-1])) == 1


def test_a_profile_is_shown() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cProfile", "-m", "portpart.cli", "algorithms", "portpart"],
        capture_output=True, text=True, check=True, cwd=ROOT)
    assert "function calls" in done.stdout


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")
def test_output_that_is_lost_is_told() -> None:
    with open("/dev/full", "w") as full:
        done = ended("sys.exit(run())", stdout=full.fileno())
    assert done.returncode != 0
    assert "No space left" in done.stderr

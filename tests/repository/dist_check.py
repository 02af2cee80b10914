"""Wheel and source distribution, each installed in an environment of its own and tested there.

``python -m tests.repository.dist_check dist build/dist-test`` takes the files of a folder; names
of other interpreters may follow.  The tests are those of the source distribution, without the
package beside them, so that they see what was installed.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path

TESTS = ("tests/repository/test_public_names.py", "tests/docs/test_docstrings.py",
         "tests/api/test_api.py", "tests/cli/test_cli.py", "tests/metrics", "tests/compat")
ABOUT = """
import portpart, pathlib
place = pathlib.Path(portpart.__file__).parent
assert "site-packages" in place.parts, place
assert (place / "py.typed").exists() and (place / "plot" / "report.html").exists()
result = portpart.partition(portpart.generators.delaunay(2_000), 8)
assert result.feasible
print(place, result.cut)
"""


def main(built: Path, work: Path, interpreters: Sequence[str]) -> None:
    """Check both files of `built` by each interpreter, all that is made being below `work`."""
    (wheel,), (source,) = built.glob("*.whl"), built.glob("*.tar.gz")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    with tarfile.open(source) as archive:
        archive.extractall(work, filter="data")
    (unpacked,) = (each for each in work.iterdir() if each.is_dir())
    tests = unpacked.rename(work / "source")
    shutil.rmtree(tests / "portpart")
    for interpreter in interpreters:
        for file in (wheel, source):
            environment = f"{Path(interpreter).name}-{file.suffix[1:]}"
            check(file.resolve(), work.resolve() / environment, tests, interpreter)


def check(file: Path, environment: Path, tests: Path, interpreter: str) -> None:
    """Install a file, and see that the package, its command and its tests work."""
    run(tests, interpreter, "-m", "venv", environment)
    python = environment / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    run(tests, python, "-m", "pip", "install", "--quiet", f"{file}[dev,plot]")
    run(environment, python, "-c", ABOUT)
    run(environment, python, "-m", "portpart", "generate", "grid", "20", "20", "-o", "grid.graph")
    run(environment, python.with_name("portpart"), "partition", "grid.graph", "-k", "4")
    run(tests, python, "-m", "pytest", "-q", "-m", "not gpu and not slow", *TESTS)
    print(f"{file.name}: installed and tested by {interpreter}", flush=True)


def run(folder: Path, *command: str | Path) -> None:
    """Run a command, and end where it fails."""
    subprocess.run([*map(str, command)], cwd=folder, check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:] or [sys.executable])

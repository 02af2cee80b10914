"""Mutants: one changed line each, and the tests that notice; those that none notices are listed.

    make mutants SEED=1 MUTANTS=67    # python -m tests.repository.mutants --seed 1 --mutants 67

Tests run in a copy of the repository, the nearest first: those that name the module or what it
defines, then by the number of imports in between; recorded digests come last and are counted
apart.  A mutant is done when a test fails, when nothing happens for a while (a hang counts as
killed), or when its processor time is used up.  Results are lines of JSON in build/mutants.jsonl; a
later run goes on where that ends.  mutmut and cosmic-ray neither order tests nor know kernels,
whose source is compiled.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from portpart.base.cache_folder import cache_folders
from tests.helpers.data_folder import DATA
from tests.repository.mutations import Mutation, drawn
from tests.test_layers import ROOT, imports

BUILD = ROOT / "build"
RESULTS, COPY = BUILD / "mutants.jsonl", BUILD / "mutants"
CACHES = BUILD / "mutants-cache", *cache_folders()

RECORDED = "test_golden"
"""How files of tests begin that compare with recorded digests."""

QUIET = 200.0
"""Seconds without the end of a test after which it hangs."""

ENDS = "PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS|Fatal"
"""What stands behind the name of a test that has ended, or ended the process."""

FIRST_FILES = 4
"""Files of tests in the first process; each further one has twice as many."""

OPTIONS = ["-x", "-v", "-p", "no:cacheprovider", "-m", "not gpu and not slow", "-k",
           "not host-cuda"]
"""Of pytest: kernels that are compiled twice, for another space, tell no more."""


_broken: list[str] = []
"""Tests that fail without a change, too."""


def main() -> None:
    """Try mutants until there are so many."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--mutants", type=int, default=67)
    parser.add_argument("--seconds", type=float, default=100.0, help="of processor time for each")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the tests end, too
    print(f"seed {given.seed}")
    copy_tree()
    known = {(each["seed"], each["number"], each["file"], each["after"]): each
             for each in results()}
    valid = 0
    for number, mutation in enumerate(drawn(COPY, given.seed), 1):
        if valid >= given.mutants:
            break
        source = (COPY / mutation.file).read_bytes()
        before, after = mutation.shown(source)
        result = known.get((given.seed, number, mutation.file, after))
        if result is None:
            result = {"seed": given.seed, "number": number, "file": mutation.file,
                      "line": mutation.line, "kind": mutation.kind, "before": before,
                      "after": after, **report_data(mutation, source, given.seconds)}
            with RESULTS.open("a") as file:
                file.write(json.dumps(result) + "\n")
            print(f"{number} {mutation.file}:{mutation.line}: {before}  ->  {after}\n    "
                  f"{result['verdict']} {result['by']} ({result['seconds']:.0f} s)", flush=True)
        valid += result["verdict"] != "invalid"
    tell([each for each in results() if each["seed"] == given.seed])


def results() -> list[dict[str, Any]]:
    """What earlier runs have found."""
    return [json.loads(line) for line in RESULTS.read_text().splitlines()] if (
        RESULTS.exists()) else []


def tell(found: list[dict[str, Any]]) -> None:
    """Print how many mutants had which end."""
    ends = [each["verdict"] for each in found]
    print(*(f"{end}: {ends.count(end)}" for end in sorted(set(ends))), sep=", ")


def copy_tree() -> None:
    """Make the copy that is changed: all files of the repository, as they are now."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others",
                             "--exclude-standard"], cwd=ROOT, capture_output=True, check=True)
    shutil.rmtree(COPY, ignore_errors=True)
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (COPY / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, COPY / name)


def report_data(mutation: Mutation, source: bytes, seconds: float) -> dict[str, Any]:
    """What becomes of a mutant, by which test, and after how many seconds."""
    begin = time.monotonic()
    near, recorded = tests_for(mutation.file)
    try:
        write(mutation.file, mutation.applied(source))
        verdict, by = "survived", ""
        if not imported(mutation.file):
            verdict = "invalid"
        elif by := killer(mutation, source, near, seconds):
            verdict = "killed"
        elif by := killer(mutation, source, recorded, seconds):
            verdict = "recorded"
    finally:
        write(mutation.file, source)
    return {"verdict": verdict, "by": by, "seconds": round(time.monotonic() - begin, 1)}


def write(name: str, source: bytes) -> None:
    """Change a file of the copy; Python must not take the code that it has compiled of it before.

    It looks at size and second of change only.
    """
    path = COPY / name
    path.write_bytes(source)
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        compiled.unlink()


def imported(name: str) -> bool:
    """Whether the module can be imported: kernels that are none are no mutants."""
    module = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return started("-c", f"import {module}").wait() == 0


def killer(mutation: Mutation, source: bytes, files: list[str], seconds: float) -> str:
    """The first test that fails or hangs, and does not without the change."""
    count = FIRST_FILES
    while files and seconds > 0:
        by, how, worked = failing(files[:count], seconds)
        if by:
            write(mutation.file, source)
            if not failing([by], 10 * QUIET)[0]:
                return f"{by} {how}".rstrip()
            _broken.append(by)
            write(mutation.file, mutation.applied(source))
        else:
            files, count = files[count:], 2 * count
        seconds -= worked
    return ""


def failing(tests: list[str], seconds: float) -> tuple[str, str, float]:
    """The first test that fails, if any, what else it does, and how long the tests have worked."""
    output = BUILD / "mutants.out"
    without = [f"--deselect={each}" for each in _broken]
    process = started("-m", "pytest", *OPTIONS, *without, *tests, output=output)
    begin = change = time.monotonic()
    size, worked = 0, 0.0
    try:
        while process.poll() is None:
            time.sleep(0.1)
            worked = work_of(process.pid, worked, begin)
            if worked > seconds:
                return "", "", worked
            if output.stat().st_size != size:
                size, change = output.stat().st_size, time.monotonic()
            if time.monotonic() > change + QUIET:
                return last_begun(output.read_text()), "hangs", worked
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    failed = re.findall(r"^(?:FAILED|ERROR) (tests/.*?)(?: - .*)?$", output.read_text(), re.M)
    if failed or process.returncode in (0, 5):
        return (failed or [""])[0], "", worked
    return last_begun(output.read_text()), "ends the process", worked


def work_of(process: int, before: float, begin: float) -> float:
    """Seconds of processor time, also of what has ended beside it; where none are told, seconds."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return before if Path("/proc/self/stat").exists() else time.monotonic() - begin
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def last_begun(output: str) -> str:
    """The test that has begun last."""
    begun = re.findall(rf"^(tests/.*?\.py::.+?)(?: (?:{ENDS})\b.*)? *$", output, re.M)
    return begun[-1] if begun else "tests"


def started(*arguments: str, output: Path | None = None) -> subprocess.Popen[bytes]:
    """Python in the copy, with kernels kept apart."""
    environment = {**os.environ, "PYTHONPATH": str(COPY), "PORTPART_DATA": str(DATA),
                   "PORTPART_CACHE_DIR": os.pathsep.join(map(str, CACHES))}
    with (output or Path(os.devnull)).open("wb") as file:
        return subprocess.Popen([sys.executable, *arguments], cwd=COPY, env=environment,
                                stdout=file, stderr=file, start_new_session=True)


def tests_for(name: str) -> tuple[list[str], list[str]]:
    """Files of tests for a module, the nearest first; those of recorded digests apart."""
    words = words_of(COPY / name)
    steps = distances(name)
    tests = sorted((COPY / "tests").rglob("test_*.py"),
                   key=lambda path: rank(path, Path(name).stem, words, steps))
    names = [path.relative_to(COPY).as_posix() for path in tests]
    recorded = [each for each in names if Path(each).name.startswith(RECORDED)]
    return [each for each in names if each not in recorded], recorded


def words_of(path: Path) -> set[str]:
    """Names that a module defines for others."""
    body = ast.parse(path.read_text()).body
    defined = (ast.FunctionDef, ast.ClassDef)
    return {node.name for node in body if isinstance(node, defined) and node.name[0] != "_"}


def rank(test: Path, stem: str, words: set[str], steps: dict[str, int]) -> tuple[float, ...]:
    """How near a file of tests is: the same words in names, what it mentions, then imports."""
    text = test.read_text()
    alike = len(set(stem.split("_")) & set(test.stem.split("_")))
    mentions = sum(bool(re.search(rf"\b{word}\b", text)) for word in words)
    far = steps.get(test.relative_to(COPY).as_posix(), 99)
    return (not (alike or mentions), -alike - min(mentions, 3), far, len(text))


def distances(name: str) -> dict[str, int]:
    """Imports between files and a module, by the shortest way."""
    importers: dict[str, set[str]] = {}
    for path in [*(COPY / "portpart").rglob("*.py"), *(COPY / "tests").rglob("*.py")]:
        for imported_file in files_imported(path):
            importers.setdefault(imported_file, set()).add(path.relative_to(COPY).as_posix())
    found, front, step = {name: 0}, {name}, 0
    while front:
        step += 1
        front = {each for file in front for each in importers.get(file, ())} - set(found)
        found |= dict.fromkeys(front, step)
    return found


def files_imported(path: Path) -> Iterator[str]:
    """Files of the repository that a file imports; the door of the package is no way in."""
    for module, _ in imports(path):
        for file in (f"{module.replace('.', '/')}.py",
                     f"{module.rpartition('.')[0].replace('.', '/')}.py"):
            if (COPY / file).is_file():
                yield file
                break


if __name__ == "__main__":
    main()

"""``python -m tests.fuzz``: run mutated inputs, keep those with an unclean outcome."""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from pathlib import Path

from tests.fuzz.campaign import counts_of, report, run
from tests.fuzz.cases import ACCEPTED, REFUSED, outcome
from tests.fuzz.keep import keep_all
from tests.fuzz.targets import TARGETS
from tests.fuzz.worker import Settings


def main() -> int:
    options = _options()
    targets = [options.target] if options.target else list(TARGETS)
    settings = Settings(options.seed, options.seconds, options.memory << 20)
    if options.file:
        return _one(options.target, options.file, options.seconds)
    print(f"seed {settings.seed}", flush=True)
    begin = time.perf_counter()
    found = run(counts_of(options.cases, targets), settings, options.jobs)
    print(report(found), flush=True)
    print(f"{time.perf_counter() - begin:.0f} s in {options.jobs} processes, "
          f"{len(found.unclean)} unclean")
    for line in keep_all(found.unclean, settings, options.keep):
        print(line, flush=True)
    return 1 if found.unclean else 0


def _one(target: str, path: Path, seconds: float) -> int:
    with tempfile.TemporaryDirectory() as folder:
        told = outcome(target, path.read_bytes(), Path(folder), seconds)
    print(told)
    return 0 if told in (ACCEPTED, REFUSED) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--target", "--format", choices=list(TARGETS), help="default: all")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--seconds", type=float, default=10.0, help="limit of a case")
    parser.add_argument("--memory", type=int, default=2048, help="limit of a case in MiB")
    parser.add_argument("--keep", type=Path, default=Path("build/fuzz"), metavar="FOLDER")
    parser.add_argument("--file", type=Path, help="run this file alone; --target says as what")
    options = parser.parse_args()
    if options.file and not options.target:
        parser.error("--file needs --target")
    return options


if __name__ == "__main__":
    sys.exit(main())

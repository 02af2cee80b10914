"""One partitioner on one graph, in a process of its own: peers crash or hang on some inputs.

Child side (``python -m bench.worker ALGORITHM GRAPH.npz THREADS``): reads jobs as JSON lines and
answers each with a JSON line.  Parent side: `Worker`, which restarts the child when it dies and
ends it when a job takes too long.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import numpy as np

from bench.peers import HostGraph, Unavailable, load

WARM_UP_ARCS = 400_000  # smaller graphs warm up for every k, larger ones once
ROOT = Path(__file__).resolve().parents[1]
QUIET = {"OPENBLAS_NUM_THREADS": "1"}  # its threads spin and count as processor time
START_LIMIT = 300.0  # seconds to read the graph and build the peer's own


class Worker:
    """Runs one algorithm on one graph, job after job; use as a context manager.

    Parameters
    ----------
    algorithm
        A key of `bench.peers.ALGORITHMS`.
    graph_file
        What `HostGraph.save` wrote.
    threads
        Threads the partitioner may use.
    """

    def __init__(self, algorithm: str, graph_file: Path, threads: int) -> None:
        self.command = [sys.executable, "-m", "bench.worker", algorithm, str(graph_file),
                        str(threads)]  # fmt: skip
        self.part_file = graph_file.with_suffix(f".{algorithm}.npy")
        self.log = tempfile.TemporaryFile()
        self.process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()
        self.log.close()

    def run(self, k: int, imbalance: float, seed: int, limit: float) -> dict[str, Any]:
        """Return ``{"seconds", "cpu_seconds", "part", ...}``, or why there is nothing.

        The reason stands under ``"unavailable"``, ``"error"`` (an exception, the time limit) or
        ``"died"``.

        A child that dies after earlier jobs gets a second chance with a fresh process: some peers
        survive only one call.
        """
        fresh = self.process is None
        answer = self._ask(k, imbalance, seed, limit)
        if "died" in answer and not fresh:
            answer = self._ask(k, imbalance, seed, limit)
        if "seconds" in answer:
            answer["part"] = np.load(self.part_file)
        return answer

    def _ask(self, k: int, imbalance: float, seed: int, limit: float) -> dict[str, Any]:
        if self.process is None:
            ready = self._start()
            if ready.keys() != {"ready"}:
                self._stop()
                return ready
        job = {"k": k, "imbalance": imbalance, "seed": seed, "part_file": str(self.part_file)}
        runs = 2 if _needs_warm_up(self.command[3]) else 1
        return self._exchange(json.dumps(job), runs * limit)

    def _start(self) -> dict[str, Any]:
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self.log, text=True, env=os.environ | QUIET, cwd=ROOT,
        )  # fmt: skip
        return self._exchange(None, START_LIMIT)

    def _exchange(self, line: str | None, limit: float) -> dict[str, Any]:
        """Send a line, wait for the answer; end the child if it takes longer than `limit`."""
        process = self.process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        timer = threading.Timer(limit, process.kill)
        timer.start()
        try:
            if line is not None:
                process.stdin.write(line + "\n")
                process.stdin.flush()
            reply = process.stdout.readline()
        except OSError:
            reply = ""
        finally:
            timed_out = not timer.is_alive()
            timer.cancel()
        if reply:
            answer: dict[str, Any] = json.loads(reply)
            return answer
        code = process.wait()
        self._stop()
        if timed_out:
            return {"error": f"over {limit:.0f} s"}
        return {"died": f"crashed ({code}) {self._last_words()}".rstrip()}

    def _last_words(self) -> str:
        """Return the last line the child wrote on stderr."""
        self.log.seek(0)
        lines = self.log.read().decode(errors="replace").split("\n")
        return next((line.strip()[:200] for line in reversed(lines) if line.strip()), "")

    def _stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
        self.process = None


def main() -> None:
    """Serve jobs until standard input ends."""
    algorithm, graph_file, threads = sys.argv[1:]
    # peers print on file descriptor 1: keep the channel to the parent apart from it
    channel = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    try:
        graph = HostGraph.load(Path(graph_file))
        solve = load(algorithm)(graph, int(threads))
    except Unavailable as error:
        channel.write(json.dumps({"unavailable": str(error)}) + "\n")
        return
    channel.write(json.dumps({"ready": True}) + "\n")
    warm: set[int] = set()
    for line in sys.stdin:
        job = json.loads(line)
        part_file = job.pop("part_file")
        warm_up = None
        if _needs_warm_up(algorithm) and not _is_warm(warm, job["k"], graph):
            warm_up = solve(**job)[1].seconds
            warm.add(job["k"])
        channel.write(json.dumps(_measure(solve, job, part_file, warm_up)) + "\n")


def _needs_warm_up(algorithm: str) -> bool:
    """Tell whether the first call compiles; the compiled peers start at full speed."""
    return algorithm.startswith("portpart")


def _is_warm(warm: set[int], k: int, graph: HostGraph) -> bool:
    return k in warm or (bool(warm) and len(graph.targets) > WARM_UP_ARCS)


def _measure(solve: Any, job: dict[str, Any], part_file: str, warm_up: float | None) -> Any:
    try:
        part, watch = solve(**job)
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:300]}
    np.save(part_file, part)
    return vars(watch) | {"first_seconds": warm_up}


if __name__ == "__main__":
    main()

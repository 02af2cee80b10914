"""One partitioner in a process of its own: peers crash or hang on some inputs.

Child side (``python -m bench.worker ALGORITHM THREADS``): reads graph files and jobs as JSON lines
and answers each with a JSON line.  Parent side: `Worker`, which restarts the child when it dies and
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

from bench.peers import HostGraph, Solver, Unavailable, Unsuitable, load

WARM_UP_ARCS = 400_000  # on a CPU smaller graphs warm up for every k, larger ones once
ROOT = Path(__file__).resolve().parents[1]
QUIET = {"OPENBLAS_NUM_THREADS": "1"}  # its threads spin and count as processor time
START_LIMIT = 300.0  # seconds to read the graph and build the peer's own


class Worker:
    """Runs one algorithm, graph after graph and job after job; use as a context manager.

    Parameters
    ----------
    algorithm
        A key of `bench.peers.ALGORITHMS`.
    threads
        Threads the partitioner may use.
    """

    def __init__(self, algorithm: str, threads: int) -> None:
        self.algorithm = algorithm
        self.command = [sys.executable, "-m", "bench.worker", algorithm, str(threads)]
        self.folder = tempfile.TemporaryDirectory()
        self.part_file = Path(self.folder.name) / "part.npy"
        self.log = tempfile.TemporaryFile()
        self.process: subprocess.Popen[str] | None = None
        self.graph_file = Path()
        self.opened: Path | None = None

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        self._stop()
        self.log.close()
        self.folder.cleanup()

    def open(self, graph_file: Path) -> None:
        """The next jobs are on this graph: what `HostGraph.save` wrote."""
        self.graph_file = graph_file

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
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=self.log, text=True, env=os.environ | QUIET, cwd=ROOT,
            )  # fmt: skip
        if self.opened != self.graph_file:
            ready = self._exchange({"graph_file": str(self.graph_file)}, START_LIMIT)
            if ready.keys() != {"ready"}:
                self._stop()
                return ready
            self.opened = self.graph_file
        job = {"k": k, "imbalance": imbalance, "seed": seed, "part_file": str(self.part_file)}
        runs = 2 if _needs_warm_up(self.algorithm) else 1
        return self._exchange(job, runs * limit)

    def _exchange(self, message: dict[str, Any], limit: float) -> dict[str, Any]:
        """Send a message, wait for the answer; end the child if it takes longer than `limit`."""
        process = self.process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        timer = threading.Timer(limit, process.kill)
        timer.start()
        try:
            process.stdin.write(json.dumps(message) + "\n")
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
        self.process = self.opened = None


def main() -> None:
    """Serve graphs and jobs until standard input ends."""
    algorithm, threads = sys.argv[1:]
    # peers print on file descriptor 1: keep the channel to the parent apart from it
    channel = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    server = Server(algorithm, int(threads))
    for line in sys.stdin:
        message = json.loads(line)
        answer = server.open(**message) if "graph_file" in message else server.job(**message)
        channel.write(json.dumps(answer) + "\n")


class Server:
    """The child's side: the graph in the partitioner's own form, and what has been warmed up."""

    def __init__(self, algorithm: str, threads: int) -> None:
        self.algorithm = algorithm
        self.threads = threads
        self.solve: Solver | None = None
        self.num_arcs = 0
        self.warm: set[int] = set()

    def open(self, graph_file: str) -> dict[str, Any]:
        """Take a graph in place of the one before."""
        self.solve = None  # gives the memory back first
        self.warm = set()
        graph = HostGraph.load(Path(graph_file))
        self.num_arcs = len(graph.targets)
        try:
            self.solve = load(self.algorithm)(graph, self.threads)
        except Unavailable as error:
            return {"unavailable": str(error)}
        except Unsuitable as error:
            return {"error": str(error)}
        return {"ready": True}

    def job(self, k: int, imbalance: float, seed: int, part_file: str) -> dict[str, Any]:
        """Partition, after a first call where that compiles."""
        assert self.solve is not None
        try:
            warm_up = None
            if _needs_warm_up(self.algorithm) and not self._is_warm(k):
                warm_up = self.solve(k, imbalance, seed)[1].seconds
                self.warm.add(k)
            part, watch = self.solve(k, imbalance, seed)
        except Exception as error:
            return {"error": f"{type(error).__name__}: {error}"[:300]}
        np.save(part_file, part)
        return vars(watch) | {"first_seconds": warm_up}

    def _is_warm(self, k: int) -> bool:
        on_device = self.algorithm.startswith("portpart-cuda")
        return k in self.warm or (bool(self.warm) and self.num_arcs > WARM_UP_ARCS
                                  and not on_device)


def _needs_warm_up(algorithm: str) -> bool:
    """Tell whether the first call compiles; the compiled peers start at full speed."""
    return algorithm.startswith("portpart")


if __name__ == "__main__":
    main()

"""One partitioner in a process of its own: peers crash or hang on some inputs.

`Worker`, the parent's side, restarts the child when it dies and ends it when a job takes too long;
`serve` is the child's.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bench.peers import Solver

WARM_UP_ARCS = 400_000  # on a CPU smaller graphs warm up for every k, larger ones once
START_LIMIT = 300.0  # seconds to read the graph and build the peer's own

Answer = dict[str, Any]
Serve = Callable[[Connection, str, int], None]


class Worker:
    """Runs one algorithm, graph after graph and job after job; use as a context manager.

    Parameters
    ----------
    algorithm
        A key of `bench.peers.ALGORITHMS`.
    threads
        Threads the partitioner may use.
    """

    def __init__(self, algorithm: str, threads: int, serving: Serve | None = None) -> None:
        self.algorithm, self.threads = algorithm, threads
        self.serving = serving or serve
        self.log = tempfile.NamedTemporaryFile()
        self.process: Any = None
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

    def open(self, graph_file: Path) -> None:
        """The next jobs are on this graph: what `HostGraph.save` wrote."""
        self.graph_file = graph_file

    def run(self, k: int, imbalance: float, seed: int, limit: float) -> Answer:
        """Return ``{"seconds", "cpu_seconds", "part", ...}``, or why there is nothing.

        The reason stands under ``"unavailable"``, ``"error"`` (an exception, the time limit) or
        ``"died"``.

        A child that dies after earlier jobs gets a second chance with a fresh process: some peers
        survive only one call.
        """
        fresh = self.process is None
        answer = self._ask((k, imbalance, seed), limit)
        return self._ask((k, imbalance, seed), limit) if "died" in answer and not fresh else answer

    def _ask(self, job: tuple[int, float, int], limit: float) -> Answer:
        if self.process is None:
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # others spin: processor time
            context = multiprocessing.get_context("spawn")  # CUDA does not survive a fork
            self.channel, there = context.Pipe()
            self.process = context.Process(
                target=_child, args=(self.serving, there, self.log.name, self.algorithm,
                                     self.threads), daemon=True)  # fmt: skip
            self.process.start()
            there.close()
        if self.opened != self.graph_file:
            ready = self._exchange(self.graph_file, START_LIMIT)
            if ready.keys() != {"ready"}:
                self._stop()
                return ready
            self.opened = self.graph_file
        return self._exchange(job, (2 if _needs_warm_up(self.algorithm) else 1) * limit)

    def _exchange(self, message: Any, limit: float) -> Answer:
        """Send a message, wait for the answer; end the child if it takes longer than `limit`."""
        try:
            self.channel.send(message)
            if self.channel.poll(limit):
                answer: Answer = self.channel.recv()
                return answer
        except (OSError, EOFError):
            self.process.join()
            code = self.process.exitcode
            self._stop()
            return {"died": f"crashed ({code}) {self._last_words()}".rstrip()}
        self._stop()
        return {"error": f"over {limit:.0f} s"}

    def _last_words(self) -> str:
        """Return the last line the child wrote on stderr."""
        lines = Path(self.log.name).read_text(errors="replace").split("\n")
        return next((line.strip()[:200] for line in reversed(lines) if line.strip()), "")

    def _stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.channel.close()
        self.process = self.opened = None


def _child(serving: Serve, channel: Connection, log: str, algorithm: str, threads: int) -> None:
    """Write what peers print to the log, and serve."""
    sys.stdout.flush()
    with open(log, "ab") as file:
        for descriptor in (1, 2):
            os.dup2(file.fileno(), descriptor)
    serving(channel, algorithm, threads)


def serve(channel: Connection, algorithm: str, threads: int) -> None:
    """Answer graph files and jobs until the parent is gone."""
    from bench.peers import HostGraph, Unavailable, Unsuitable, load

    solve: Solver | None = None
    warm: set[int] = set()
    num_arcs = 0
    while True:
        try:
            message = channel.recv()
        except EOFError:
            return
        if isinstance(message, Path):
            solve, warm = None, set()  # gives the memory back first
            graph = HostGraph.load(message)
            num_arcs = len(graph.targets)
            try:
                solve = load(algorithm)(graph, threads)
                channel.send({"ready": True})
            except Unavailable as error:
                channel.send({"unavailable": str(error)})
            except Unsuitable as error:
                channel.send({"error": str(error)})
        else:
            assert solve is not None
            again = bool(warm) and num_arcs > WARM_UP_ARCS and not algorithm.startswith(
                "portpart-cuda")
            compiles = _needs_warm_up(algorithm) and message[0] not in warm and not again
            channel.send(_answer(solve, message, compiles))
            warm.add(message[0])


def _answer(solve: Solver, job: tuple[int, float, int], compiles: bool) -> Answer:
    """Partition, after a first call where that compiles."""
    try:
        first = solve(*job)[1].seconds if compiles else None
        part, watch = solve(*job)
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:300]}
    return vars(watch) | {"first_seconds": first, "part": part}


def _needs_warm_up(algorithm: str) -> bool:
    """Tell whether the first call compiles; the compiled peers start at full speed."""
    return algorithm.startswith("portpart")

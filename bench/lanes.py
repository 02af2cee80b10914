"""The work of a comparison: graph after graph, what has one thread beside the rest if wanted."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import click
import numpy as np

from bench.graph_files import GraphFiles
from bench.instances import Instance
from bench.worker import Worker

ONE_THREAD = ("pymetis", "kahip")
"""Columns of these peers use one thread, whatever they are given."""

Record = dict[str, Any]
Result = tuple[Instance, Record]
"""A graph and a job with its answer: ``part``, or under ``error`` why there is none."""


@dataclass
class Task:
    """Jobs on one graph, by algorithm."""

    instance: Instance
    jobs: dict[str, list[Record]]


@dataclass
class Limits:
    """How long a call may take, when all has to end, and what is known not to work here."""

    time_limit: float
    deadline: float
    threads: int
    unavailable: dict[str, str]


def results(tasks: list[Task], files: GraphFiles, limits: Limits, beside: int) -> Iterator[Result]:
    """Yield what the partitioners answer, the jobs of one graph before those of the next.

    With `beside` above zero, so many lanes take the columns of one thread, graph by graph, while
    one lane does the others.
    """
    if beside == 0:
        yield from lane(iter(tasks), files, limits)
        return
    alone, shared = ([Task(task.instance, {name: jobs for name, jobs in task.jobs.items()
                                           if name.startswith(ONE_THREAD) == of_one_thread})
                      for task in tasks] for of_one_thread in (False, True))  # fmt: skip
    for_all = iter(shared)
    yield from merged([lane(iter(alone), files, limits),
                       *(lane(for_all, files, limits) for _ in range(beside))])  # fmt: skip


def lane(tasks: Iterator[Task], files: GraphFiles, limits: Limits) -> Iterator[Result]:
    """Work on one task after the other, with a process for each algorithm."""
    workers: dict[str, Worker] = {}
    try:
        for task in tasks:
            for algorithm, jobs in task.jobs.items():
                if not jobs or algorithm in limits.unavailable:
                    continue
                if time.monotonic() > limits.deadline:
                    return
                if algorithm not in workers:
                    workers[algorithm] = Worker(algorithm, limits.threads)
                workers[algorithm].open(files.path(task.instance))
                yield from ((task.instance, answer)
                            for answer in _answers(workers[algorithm], jobs, limits))
    finally:
        for worker in workers.values():
            worker.close()


def _answers(worker: Worker, jobs: list[Record], limits: Limits) -> Iterator[Record]:
    with np.load(worker.graph_file) as arrays:
        num_vertices = len(arrays["offsets"]) - 1
    slow: set[int] = set()  # a k that ran out of time once does so for every seed
    for job in jobs:
        if time.monotonic() > limits.deadline:
            return
        if job["k"] > num_vertices or job["k"] in slow:
            continue
        answer = worker.run(job["k"], job["imbalance"], job["seed"], limits.time_limit)
        if "unavailable" in answer:
            limits.unavailable[job["algorithm"]] = answer["unavailable"]
            click.echo(f"left out: {job['algorithm']}: {answer['unavailable']}", err=True)
            return
        if "seconds" not in answer:
            slow.add(job["k"])
            answer = {"error": answer.get("died") or answer["error"]}
        yield job | answer


def merged(lanes: Iterable[Iterator[Result]]) -> Iterator[Result]:
    """Yield what the lanes do in threads of their own, as it comes."""
    box: queue.SimpleQueue[Result | BaseException | None] = queue.SimpleQueue()

    def work(own: Iterator[Result]) -> None:
        try:
            for result in own:
                box.put(result)
            box.put(None)
        except BaseException as error:
            box.put(error)

    threads = [threading.Thread(target=work, args=(own,), daemon=True) for own in lanes]
    for thread in threads:
        thread.start()
    running = len(threads)
    while running:
        item = box.get()
        if isinstance(item, BaseException):
            raise item
        if item is None:
            running -= 1
        else:
            yield item

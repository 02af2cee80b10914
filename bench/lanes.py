"""The work of a comparison: graph after graph, what has one thread beside the rest if wanted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
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
Put = Callable[[Instance, Record], None]
"""Takes a graph and a job with its answer: ``part``, or under ``error`` why there is none."""


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


def work(tasks: list[Task], files: GraphFiles, limits: Limits, beside: int, put: Put) -> None:
    """Give `put` what the partitioners answer, the jobs of one graph before those of the next.

    With `beside` above zero, so many lanes take the columns of one thread, graph by graph, while
    one lane does the others.
    """
    if beside == 0:
        lane(iter(tasks), files, limits, put)
        return
    alone, shared = (iter([Task(task.instance, {name: jobs for name, jobs in task.jobs.items()
                                                if name.startswith(ONE_THREAD) == of_one_thread})
                           for task in tasks]) for of_one_thread in (False, True))  # fmt: skip
    with ThreadPoolExecutor(beside + 1) as pool:
        lanes = [pool.submit(lane, own, files, limits, put) for own in (alone, *[shared] * beside)]
        try:
            for each in as_completed(lanes):
                each.result()
        finally:
            limits.deadline = 0.0  # where one fails the others end


def lane(tasks: Iterator[Task], files: GraphFiles, limits: Limits, put: Put) -> None:
    """Work on one task after the other, with a process for each algorithm."""
    with ExitStack() as stack:
        workers: dict[str, Worker] = {}
        for task in tasks:
            for algorithm, jobs in task.jobs.items():
                if not jobs or algorithm in limits.unavailable:
                    continue
                if time.monotonic() > limits.deadline:
                    return
                if algorithm not in workers:
                    workers[algorithm] = stack.enter_context(Worker(algorithm, limits.threads))
                workers[algorithm].open(files.path(task.instance))
                for record in _answers(workers[algorithm], jobs, limits):
                    put(task.instance, record)


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

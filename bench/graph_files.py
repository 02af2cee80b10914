"""Graphs as npz files, read or made by other processes ahead of those who ask for them."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterable
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from bench.instances import GRAPH_CACHE, Instance, prepare, select


class GraphFiles:
    """The files of `instances`, in their order; use as a context manager.

    Parameters
    ----------
    instances
        What will be asked for.  Generated graphs stay on file for the next time.
    processes
        How many work ahead; none: each graph is read when it is asked for, by who asks.
    """

    def __init__(self, instances: Iterable[Instance], processes: int | None = None) -> None:
        self.instances = list(instances)
        self.folder = tempfile.TemporaryDirectory()
        self.executor: ProcessPoolExecutor | None = None
        self.lock = threading.Lock()
        self.files: dict[str, Future[Path]] = {}
        processes = min(3, os.cpu_count() or 1) if processes is None else processes
        if processes > 0:
            context = get_context("spawn")
            self.executor = ProcessPoolExecutor(processes, mp_context=context)
            self.files |= {instance.name: self.executor.submit(written, instance.name, self._folder)
                           for instance in self.instances}

    @property
    def _folder(self) -> Path:
        return Path(self.folder.name)

    def __enter__(self) -> GraphFiles:
        return self

    def __exit__(self, *_: object) -> None:
        if self.executor is not None:
            self.executor.shutdown(wait=False, cancel_futures=True)
        self.folder.cleanup()

    def path(self, instance: Instance) -> Path:
        """Return the file of a graph, once it is there."""
        with self.lock:
            if instance.name not in self.files:
                self.files[instance.name] = Future()
                self.files[instance.name].set_result(written(instance.name, self._folder))
        return self.files[instance.name].result()


def written(name: str, folder: Path) -> Path:
    """Write the file of a graph: a generated one to the cache, a real one to `folder`."""
    instance = select([name])[0]
    if instance.made_by_us:
        prepare(name)
        return GRAPH_CACHE / f"{name}.npz"
    path = folder / f"{name}.npz"
    instance.make().save(path)
    return path

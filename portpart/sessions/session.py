"""The public class for graphs that change."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn, SupportsIndex

import numpy as np

from portpart import api, backends
from portpart.algorithms.edits import Batch
from portpart.algorithms.incremental import PartitionFigures
from portpart.algorithms.multilevel import Progress
from portpart.base.interrupts import late_interrupts
from portpart.errors import InputError, shown, typed_memory_errors
from portpart.formats.text import PathLike
from portpart.graphs import Blocks, Graph, GraphLike, Numbers
from portpart.options import exact_fraction
from portpart.sessions.file import first_request, read_session, write_session
from portpart.sessions.levels import SessionOptions, editable, first_blocks, kept
from portpart.sessions.state import SessionMark, SessionState
from portpart.sessions.update import SessionUpdate
from portpart.sessions.view import SessionView

if TYPE_CHECKING:
    from portpart.options import Configuration, WrittenNumber


class Session(SessionView):
    """A partition of a graph or hypergraph that changes in batches of edits.

    After each batch, only vertices around the edits are examined, in time that does not depend on
    the size of the graph.  After many edits, all levels are refined.

    Parameters
    ----------
    graph : Graph, Hypergraph or any other input of :func:`portpart.partition`
        Parallel edges are merged; their weights are added.
    k : int
        Number of blocks.
    imbalance, objective, preset, algorithm, device, threads, seed
        As in :func:`portpart.partition`, except for ``objective="volume"``.  The first partition
        is computed with these.
    vertex_weights, edge_weights, net_weights, symmetrize, weights, weight_scale
        As in :func:`portpart.partition`, for reading the graph.
    target, fixed, min_block_weight
        As in :func:`portpart.partition`.  New vertices are not fixed; ``set_fixed`` of batches
        fixes vertices and releases them.
    initial : array_like of int, shape (n,), dict, PartitionResult or Session, optional
        The first partition, from any source.  It is kept unchanged if it violates no limit and no
        block is empty without need.  Otherwise only the moves that repair this are made.  Vertices
        that are fixed to another block move first.
    migration : int, float, str or Fraction, default 0.05
        Cost of moving a vertex of size 1, in edge or net weight, as in
        :func:`portpart.repartition`.  Local refinement rounds it up to an integer: with a factor of
        at most 1, each move must have a gain of at least 2.
    vertex_sizes : array_like of int, shape (n,), optional
        Amount of data that moves with each vertex; 1 by default and for new vertices.
    escalate : {"auto", "never"}, default "auto"
        Whether all levels are refined when many edits or a worse objective require it.  This is so
        when the edits since the last time exceed 2.5 % of all arcs or pins, when the objective has
        grown by 5 % relative to the total weight of edges or pins, or when a limit is exceeded.  A
        new partition is used instead if it costs 2 % less and its migration cost pays off within
        256 rounds.  If the edits exceed half of all arcs or pins, the graph is partitioned from
        scratch.  Algorithms without migration costs (`igkway`, `ihyperg`) partition from scratch in
        all these cases and keep the cheaper blocks.
    progress : bool or callable, optional
        As in :func:`portpart.partition`, for the first partition.

    Raises
    ------
    InputError
        As in :func:`portpart.partition`, or if migration costs could overflow.

    Notes
    -----
    The same batches give the same partitions on every device and any number of threads.  Methods
    may be called from several threads; they take turns.

    Examples
    --------
    >>> import portpart
    >>> session = portpart.Session(portpart.generators.grid_2d(8, 8), 2)
    >>> batch = session.batch()
    >>> new = batch.insert_vertices(count=2)
    >>> batch.insert_edges([new[0], new[0], new[1]], [0, 1, new[0]])
    >>> update = session.apply(batch)
    >>> update.cut, update.feasible, len(session.part)
    (9, True, 66)
    """

    @api.takes_progress
    def __init__(self, graph: GraphLike, k: int, *, imbalance: float | str = 0.03,
                 vertex_weights: Numbers | None = None, edge_weights: Numbers | None = None,
                 net_weights: Numbers | None = None, objective: str | None = None,
                 preset: str | Configuration = "default", algorithm: str | None = None,
                 device: str = "auto", threads: int | None = None, seed: int | None = 0,
                 target: Numbers | None = None, fixed: Blocks | None = None,
                 initial: Blocks | None = None, min_block_weight: int | None = None,
                 migration: WrittenNumber = api.SESSION_MIGRATION,
                 vertex_sizes: Numbers | None = None,
                 escalate: str = "auto", symmetrize: bool | str = False,
                 weights: bool | str | None = None, weight_scale: float | None = None,
                 progress: Progress | bool | None = None) -> None:
        self._given: dict[str, Any] = {"objective": objective, "algorithm": algorithm,
                                       "preset": preset, "seed": seed}
        request = first_request(graph, api.CallOptions(
            k, imbalance=imbalance, vertex_weights=vertex_weights, edge_weights=edge_weights,
            net_weights=net_weights, target=target, fixed=fixed, initial=initial,
            min_block_weight=min_block_weight, migration=migration, device=device,
            threads=threads, escalate=escalate, symmetrize=symmetrize, weights=weights,
            weight_scale=weight_scale, progress=progress, **self._given))
        options = request.options
        sizes = api.checked_sizes(request.problem.graph, vertex_sizes)
        session_options = kept(SessionOptions(
            imbalance, target, options.min_block_weight or 0, exact_fraction(options.migration),
            options.escalate == "auto"), request, sizes)
        part, block_weights = first_blocks(request)
        request.is_kept(block_weights, stacklevel=4)
        known = None
        if isinstance(request.problem.graph, Graph):  # nets are counted by the first round
            costs = request.measured(part, request.problem.trace)
            usual = api.default_objective(request.problem.graph)
            known = PartitionFigures(costs[objective or usual], block_weights)
        request.problem.trace.summary()  # reports the end to `progress`
        self._begin(SessionState(request, editable(request.problem.graph, request.config), part,
                                 sizes, request.problem.constraints.fixed, session_options,
                                 known=known))

    def _begin(self, rounds: SessionState) -> None:
        self._rounds = rounds
        self.k = rounds.request.problem.num_blocks
        usual = api.default_objective(rounds.request.problem.graph)
        self.objective = self._given["objective"] or usual
        self._lock, self._version, self._busy = threading.RLock(), 0, False

    @contextmanager
    def _alone(self) -> Iterator[SessionState]:
        """Yield the state for a change; raise if `progress` calls it during another change."""
        with self._lock:
            self._rounds.finish()
            if self._busy:
                raise InputError("the session is being changed; progress= may only examine it")
            try:
                self._busy = True
                yield self._rounds
            finally:
                self._busy = False

    def batch(self) -> Batch:
        """Return an empty batch, which collects edits in the order of the calls."""
        with self._state() as rounds:
            return rounds.edited.batch()

    @api.with_deferred_interrupts
    def apply(self, batch: Batch, effort: str = "auto", *,
              progress: Progress | bool | None = None) -> SessionUpdate:
        """Apply all edits of a batch, or none, and update the partition.

        Parameters
        ----------
        batch : Batch
            A batch that :meth:`batch` returned.
        effort : {"auto", "none", "local", "cycle", "full"}, default "auto"
            How much is refined after a batch.  ``"none"`` only assigns new vertices; ``"local"``
            also refines around the edits; ``"cycle"`` also refines all levels; ``"full"``
            partitions from scratch and numbers the blocks by their overlap with the old ones.
            ``"auto"`` decides by counts of edits and the objective, see `escalate`.
        progress : bool or callable, optional
            As in :func:`portpart.partition`, for the efforts ``"cycle"`` and ``"full"``.  The
            callable may read the session, but not change, mark or save it.  If it raises an
            exception, the session is unchanged.

        Returns
        -------
        SessionUpdate

        Raises
        ------
        InputError
            For the first edit that cannot be applied, or if weights become invalid.  The session is
            then unchanged.
        """
        begin = time.perf_counter()
        chosen, reported = api.checked("effort", effort), api.checked("progress", progress)
        if not isinstance(batch, Batch):
            raise InputError(f"batch is {shown(batch)}; it must be one of Session.batch()")
        with self._alone() as rounds, late_interrupts():
            update, done = rounds.apply(batch, chosen, reported)
            self._version += 1
            version = self._version
            return SessionUpdate(
                self.objective, rounds.last.cost, rounds.feasible, rounds.last.weights.copy(),
                done.moved, done.migration, done.affected, done.effort,
                time.perf_counter() - begin, update.loops, update.merged, update.missing,
                rounds.options.target, lambda name: self._value(name, version))

    def mark(self) -> SessionMark:
        """Mark the current state for `undo`.  A mark needs memory until it is deleted.

        Batches that were created before may be applied later.
        """
        with self._alone() as rounds:
            return rounds.mark()

    @typed_memory_errors
    def undo(self, mark: SessionMark) -> None:
        """Undo all batches since a mark: restore graph and partition.

        Ids that were assigned since then are not reused.

        Raises
        ------
        InputError
            If the mark belongs to another session or is no longer valid.
        """
        with self._alone() as rounds, late_interrupts():
            self._version += rounds.undo(mark)

    @typed_memory_errors
    def compact(self) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Give the existing vertices the ids 0, 1, ... in order, and free the memory of deleted
        ones.

        All marks become invalid, and open batches can no longer be applied.

        Returns
        -------
        numpy.ndarray of int64, or two of them for hypergraphs
            The new id of each old vertex id (and net id), -1 for deleted ones.
        """
        with self._alone() as rounds, late_interrupts():
            renamed = rounds.compact()
            self._version += 1
            return renamed

    def save(self, path: PathLike) -> None:
        """Write the session to an .npz file, without marks and open batches.

        The file is written to a temporary name and then renamed, so it is never incomplete.
        """
        with self._alone() as rounds:
            write_session(path, rounds, self._given)

    @classmethod
    @typed_memory_errors
    def load(cls, path: PathLike, *, device: str = "auto", threads: int | None = None) -> Session:
        """Read a session that `save` has written.  It continues with the same results.

        Parameters
        ----------
        path : str or path-like
        device, threads
            As in :func:`portpart.partition`; ``"auto"`` is the CPU.

        Raises
        ------
        GraphFormatError
            If the file is damaged or is not a file of a session.
        """
        session = cls.__new__(cls)
        space = backends.space("cpu" if device == "auto" else device, threads=threads)
        rounds, session._given = read_session(path, space)
        session._begin(rounds)
        return session

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise InputError("a session can be neither pickled nor copied; save() writes it to a file "
                         "and Session.load reads it")

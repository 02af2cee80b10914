"""The public view of a session between its changes."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from portpart.api import members_of_blocks
from portpart.backends.programs import Array
from portpart.errors import InputError
from portpart.graphs import Graph, Hypergraph, read_only, table
from portpart.options import checked_flag
from portpart.sessions.levels import made
from portpart.sessions.state import SessionState
from portpart.sessions.update import PartitionValues, refuse_uncounted

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import ArrayLike


class SessionView(PartitionValues):
    """The blocks of a session, their cost and weights, and the current graph.

    Attributes
    ----------
    k : int
    objective : str
    """

    k: int
    objective: str
    _rounds: SessionState
    _lock: threading.RLock
    _version: int

    @contextmanager
    def _state(self) -> Iterator[SessionState]:
        """Yield the state, for one thread at a time."""
        with self._lock:
            self._rounds.finish()
            yield self._rounds

    @property
    def part(self) -> Array:
        """The block of each id that was given out, -1 for ids that do not exist; on the device.

        A copy.  It is read-only on the CPU; CuPy has no read-only arrays.
        """
        with self._state() as rounds:
            part = rounds.incremental.existing_part()
            read_only([part])
            return part

    @property
    def fixed(self) -> Array:
        """The block that each id is fixed to, -1 for free ids; a copy like `part`."""
        with self._state() as rounds:
            fixed = rounds.incremental.existing_fixed()
            read_only([fixed])
            return fixed

    @property
    def labels(self) -> Sequence[Hashable] | None:
        """The name of each id that was given out, in the order of `part`.

        None for ids that have no name or do not exist.  None instead of a sequence if vertices have
        no names.
        """
        return self._labels(0)

    @property
    def net_labels(self) -> Sequence[Hashable] | None:
        """The same for the net ids of a hypergraph."""
        return self._labels(1)

    def _labels(self, kind: int) -> Sequence[Hashable] | None:
        with self._state() as rounds:
            tables = rounds.edited.tables[kind : kind + 1]
            return tables[0].labels() if tables else None

    def blocks(self) -> list[np.ndarray] | list[list[Hashable]]:
        """Return the vertices of each block: k arrays of ids, or k lists of names if there are any.

        Among names, a vertex without a name is given by its id.
        """
        with self._state() as rounds:
            part = rounds.edited.space.to_host(rounds.incremental.existing_part())
            return members_of_blocks(part, self.k, rounds.edited.vertices.labels())

    def ids_of(self, names: ArrayLike, nets: bool = False) -> np.ndarray:
        """Return the ids of vertices, or of nets, by their names.

        Parameters
        ----------
        names : sequence, or a single name
            Text, or any other values that are not numbers.
        nets : bool
            Whether the names are names of nets.

        Raises
        ------
        InputError
            If no existing vertex or net has the name; the nearest names are suggested.
        """
        with self._state() as rounds:
            tables = rounds.edited.tables[1 if checked_flag("nets", nets) else 0 :]
            if not tables:
                raise InputError("a graph has no nets; nets=True is for hypergraphs")
            return rounds.edited.batch().names.alive(tables[0], names)

    @property
    def ids(self) -> np.ndarray:
        """The ids of the existing vertices, ascending."""
        with self._state() as rounds:
            return rounds.edited.ids

    @property
    def block_weights(self) -> np.ndarray:
        """Weights of the blocks, int64, shape (k,)."""
        with self._state() as rounds:
            return rounds.last.weights.copy()

    def graph(self) -> Graph | Hypergraph:
        """Return the existing vertices, and nets, in the order of their ids, as a graph.

        The graph is on the session's device and has the names.
        """
        with self._state() as rounds:
            graph, (names, *net_names) = made(rounds.edited), (
                table.existing_names() for table in rounds.edited.tables)
            if isinstance(graph, Graph):
                return replace(graph, names=names)
            return replace(graph, names=names, net_names=net_names[0])

    def _repr_html_(self) -> str:
        with self._state() as rounds:
            return table("Session", [
                ("vertices", rounds.edited.vertices.num_alive), ("blocks", self.k),
                (self.objective, rounds.last.cost),
                ("balance", "kept" if rounds.feasible else "NOT kept")])

    def __repr__(self) -> str:
        with self._state() as rounds:
            return (f"<Session: {rounds.edited.vertices.num_alive:,} vertices in {self.k:,} "
                    f"blocks, {self.objective} {rounds.last.cost:,}>")

    def _value(self, name: str, version: int | None = None) -> int:
        """Return a value of the partition; raise if `version` is no longer the current one."""
        with self._state() as rounds:
            if version not in (None, self._version):
                refuse_uncounted(name)
            if name == self.objective:
                return rounds.last.cost
            return rounds.measured(name)

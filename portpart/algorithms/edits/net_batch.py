"""Batches of edits of hypergraphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from portpart.algorithms.edits.batch import Batch, integers, kind_of_deletion
from portpart.algorithms.edits.id_table import IdTable
from portpart.algorithms.edits.operations import INSERT, Edited
from portpart.graphs import Numbers, RowTerms, check_offsets, space_of, tails

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


WORDS = RowTerms("offsets", "pins", "pins", "insert_nets")


class NetBatch(Batch):
    """Edits of a hypergraph."""

    def __init__(self, owner: Edited, nets: IdTable) -> None:
        super().__init__(owner)
        self.nets = nets

    def insert_nets(self, offsets: ArrayLike, pins: ArrayLike, weights: Numbers = 1,
                    names: Any = None) -> np.ndarray:
        """Insert nets and return their ids.

        Parameters
        ----------
        offsets : array of integers, shape (count + 1,)
            The pins of net i are the vertices ``pins[offsets[i]:offsets[i + 1]]``, each once.
        pins : array of integers, or names
        weights : int or array of integers, default 1
        names : sequence, optional
            Names of the new nets, if nets have names; as in `insert_vertices`.
        """
        name = "insert_nets"
        begins = integers(offsets, f"{name}: offsets")
        vertices = self._checked_ids(pins, self.owner.vertices, name)
        space = space_of(begins)
        check_offsets(space, begins, len(vertices), WORDS)
        ids = self._insert(self.nets, weights, len(begins) - 1, name, names)
        if len(vertices):
            rows = tails(space, begins, len(vertices)) + np.int32(ids[0])
            self._pins(name, INSERT, rows, vertices)
        else:
            self.num_calls += 1
        return ids

    def delete_nets(self, ids: ArrayLike, missing: str = "raise") -> None:
        """Delete nets; ``missing="ignore"`` ignores nets that do not exist."""
        self._delete(self.nets, ids, missing, "delete_nets")

    def insert_pins(self, nets: ArrayLike, vertices: ArrayLike) -> None:
        """Add vertices[i] to nets[i]; existing pins are counted and stay."""
        self._pins("insert_pins", INSERT, nets, vertices)

    def delete_pins(self, nets: ArrayLike, vertices: ArrayLike, missing: str = "raise") -> None:
        """Remove vertices[i] from nets[i]; ``missing="ignore"`` ignores missing pins."""
        self._pins("delete_pins", kind_of_deletion(missing, "delete_pins"), nets, vertices)

    def set_net_weights(self, ids: ArrayLike, weights: Numbers) -> None:
        """Set weights of nets: one for all, or one for each."""
        self._weigh(self.nets, ids, weights, "set_net_weights")

    def _pins(self, name: str, kind: int, nets: ArrayLike, vertices: ArrayLike) -> None:
        self._pairs(name, kind, (nets, vertices), (self.nets, self.owner.vertices))

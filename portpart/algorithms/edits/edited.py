"""What is edited: kinds of ids, stores of pairs, and their sums."""

from __future__ import annotations

from portpart.algorithms.edits.id_table import IdTable
from portpart.algorithms.edits.operations import Side
from portpart.backends.interface import ExecutionSpace


class Edited:
    """What graphs and hypergraphs have in common that are edited.

    Attributes
    ----------
    space : ExecutionSpace
    tables : list of IdTable
        The kinds of ids.
    vertices : IdTable
        The first of them.
    num_pairs, pair_weight : int
        Arcs or pins, and their total weight.
    sides : list of Side
        The stores, and what their rows are.
    numbering : object
        Another one after ids have been given again.
    num_blocks : int
        Of the partition that follows the edits; 0 if there is none.
    """

    sides: list[Side]

    def __init__(self, space: ExecutionSpace, tables: list[IdTable], num_pairs: int,
                 pair_weight: int) -> None:
        self.space, self.tables, self.vertices = space, tables, tables[0]
        self.num_pairs, self.pair_weight = num_pairs, pair_weight
        self.numbering = object()
        self.num_blocks = 0

    def reserve_ids(self) -> None:
        """Have rows for all ids that have been given out."""
        for table in self.tables:
            table.reserve(weighted=False)
        for side in self.sides:
            side.store.reserve_rows(side.table.count)

"""Edits of graphs, in batches: rows with spare room, undo."""

from portpart.algorithms.edits.apply import Update
from portpart.algorithms.edits.batch import Batch, GraphBatch
from portpart.algorithms.edits.editable import Editable, EditableGraph, Mark
from portpart.algorithms.edits.edited import Edited
from portpart.graphs.row_store import bucket_list

__all__ = ["Batch", "Editable", "EditableGraph", "Edited", "GraphBatch", "Mark", "Update",
           "bucket_list"]

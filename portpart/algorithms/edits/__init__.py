"""Edits of graphs and hypergraphs, in batches: rows with spare room, undo."""

from portpart.algorithms.edits.apply import Update
from portpart.algorithms.edits.batch import Batch, GraphBatch
from portpart.algorithms.edits.editable import Editable, EditableGraph, Mark
from portpart.algorithms.edits.editable_nets import EditableHypergraph
from portpart.algorithms.edits.edited import Edited
from portpart.algorithms.edits.net_batch import NetBatch
from portpart.algorithms.edits.saved import load, save
from portpart.graphs.row_store import bucket_list

__all__ = ["Batch", "Editable", "EditableGraph", "EditableHypergraph", "Edited", "GraphBatch",
           "Mark", "NetBatch", "Update", "bucket_list", "load", "save"]

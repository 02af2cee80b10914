from .batch import Batch as Batch, InsertedIds as InsertedIds
from .counters import (
    OF_SECOND as OF_SECOND,
    OF_VERTICES as OF_VERTICES,
    BatchCounters as BatchCounters,
    EditCounters as EditCounters,
)
from .editable import (
    Editable as Editable,
    EditableGraph as EditableGraph,
    EditableHypergraph as EditableHypergraph,
    Mark as Mark,
)
from .id_table import (
    ALIVE as ALIVE,
    DeletedIds as DeletedIds,
    IdTable as IdTable,
    WeightChanges as WeightChanges,
)
from .names import IdNames as IdNames
from .operations import LOW_HALF as LOW_HALF, Changes as Changes, Edited as Edited
from .plan import PredictedOutcome as PredictedOutcome
from .saved import (
    ARRAYS as ARRAYS,
    Saved as Saved,
    arrays_of as arrays_of,
    edited_of as edited_of,
    existing_graph as existing_graph,
)
from .update import Update as Update, fixings_of as fixings_of
from .wide_rows import begins_row as begins_row

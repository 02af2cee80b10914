from .critical_pins import CRITICAL_PINS as CRITICAL_PINS
from .edits import LivePartition as LivePartition, MoveLog as MoveLog, RoundResult as RoundResult
from .incremental_refiner import (
    IncrementalRefiner as IncrementalRefiner,
    PartitionFigures as PartitionFigures,
)
from .pseudo import PSEUDO_BLOCK as PSEUDO_BLOCK

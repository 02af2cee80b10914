from .calls import (
    GivenSizes as GivenSizes,
    MemoryEstimate as MemoryEstimate,
    check_memory_limit as check_memory_limit,
    counted as counted,
    margin_for as margin_for,
    offset_bytes as offset_bytes,
    partition_call as partition_call,
    sizes_of as sizes_of,
)
from .dry_run import dry_run as dry_run, dry_run_edges as dry_run_edges
from .levels import Search as Search, ways_to_shrink as ways_to_shrink
from .mapping import check_memory as check_memory, mapping_estimate as mapping_estimate
from .space import Shrinking as Shrinking, SizingSpace as SizingSpace

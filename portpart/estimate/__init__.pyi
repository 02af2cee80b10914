from .dry_run import dry_run as dry_run
from .levels import levels_for as levels_for
from .mapping import check_memory as check_memory, mapping_estimate as mapping_estimate
from .model import (
    OF_VERTEX as OF_VERTEX,
    OF_WORD as OF_WORD,
    LevelSize as LevelSize,
    MemoryEstimate as MemoryEstimate,
    MemoryModel as MemoryModel,
    check_memory_limit as check_memory_limit,
    level_size as level_size,
    offset_bytes as offset_bytes,
    size_of as size_of,
)
from .net_levels import net_estimate as net_estimate
from .nets import (
    NET_MODELS as NET_MODELS,
    NetLevelSize as NetLevelSize,
    net_level_size as net_level_size,
    size_of_nets as size_of_nets,
)
from .search import SearchLevels as SearchLevels, SearchModel as SearchModel

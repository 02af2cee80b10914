from .swaps import (
    MAX_SWAPPED as MAX_SWAPPED,
    BlockPlaces as BlockPlaces,
    SwapProposals as SwapProposals,
)
from .traffic import (
    has_table as has_table,
    swap_groups as swap_groups,
    traffic_of as traffic_of,
    well_placed as well_placed,
    with_swaps as with_swaps,
)

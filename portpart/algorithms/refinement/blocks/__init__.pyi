from .previous_blocks import (
    PreviousBlocks as PreviousBlocks,
    has_moved as has_moved,
    migration_gain as migration_gain,
    previous_blocks_on as previous_blocks_on,
)
from .state import (
    CLOSING as CLOSING,
    OPEN as OPEN,
    Blocks as Blocks,
    TargetCapacity as TargetCapacity,
    add_block_weight as add_block_weight,
    find_overloaded as find_overloaded,
    first_of_most as first_of_most,
    free_capacity as free_capacity,
    has_heavy as has_heavy,
    heavy_weights as heavy_weights,
    set_limit as set_limit,
    set_limits as set_limits,
    set_move_cost as set_move_cost,
    with_heavy as with_heavy,
)

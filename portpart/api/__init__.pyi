from .bounds import (
    FREE as FREE,
    Bounds as Bounds,
    LimitRule as LimitRule,
    block_array as block_array,
    bounds_for as bounds_for,
    fixed_weights as fixed_weights,
)
from .call_options import (
    MAX_SEED as MAX_SEED,
    SESSION_MIGRATION as SESSION_MIGRATION,
    TABLE as TABLE,
    CallOptions as CallOptions,
    checked as checked,
)
from .compile_ahead import compile_for_cpu as compile_for_cpu, compile_for_gpu as compile_for_gpu
from .edge_call import (
    EdgePartitionResult as EdgePartitionResult,
    partition_edges as partition_edges,
)
from .mapping_call import map_processes as map_processes
from .memory import memory_estimate as memory_estimate
from .migration import (
    PreviousPartition as PreviousPartition,
    check_migration_factor as check_migration_factor,
)
from .objective_specs import (
    amounts as amounts,
    checked_objective as checked_objective,
    checked_sizes as checked_sizes,
    default_objective as default_objective,
)
from .partition_call import partition as partition
from .progress import (
    Report as Report,
    phase_display as phase_display,
    takes_progress as takes_progress,
    with_deferred_interrupts as with_deferred_interrupts,
)
from .rank_call import check_options as check_options
from .repartition_call import (
    PRICED as PRICED,
    FactorSearch as FactorSearch,
    repartition as repartition,
)
from .request import (
    Request as Request,
    block_weights_of as block_weights_of,
    checked_request as checked_request,
    cost_of as cost_of,
)
from .results import (
    MappingResult as MappingResult,
    PartitionResult as PartitionResult,
    RankPartitionResult as RankPartitionResult,
    RepartitionResult as RepartitionResult,
    members_of_blocks as members_of_blocks,
)

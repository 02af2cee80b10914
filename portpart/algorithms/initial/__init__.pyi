from .bisection import (
    bisections_into_halves as bisections_into_halves,
    splits_of as splits_of,
    splits_side_by_side as splits_side_by_side,
)
from .deep_multilevel import grown_partitions as grown_partitions, seen_by_vertex as seen_by_vertex
from .fixed_vertices import (
    FreeCapacity as FreeCapacity,
    best_names as best_names,
    greedy_names as greedy_names,
    grown_partition as grown_partition,
    start_partition as start_partition,
)
from .metis import trivial_partition as trivial_partition
from .net_growth import partition_net_by_net as partition_net_by_net
from .options import (
    GROWING_ON_NETS as GROWING_ON_NETS,
    GrowingOptions as GrowingOptions,
    InitialOptions as InitialOptions,
)
